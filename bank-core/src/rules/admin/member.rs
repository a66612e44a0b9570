//! Members of projects.

use super::Change;
use crate::command::SetMember;
use crate::effects::{DirectoryRow, Outcome};
use crate::model::{Member, MemberRole, Project, User};
use crate::refusal::{Refusal, short};
use crate::view::Context;

pub(super) fn set(set: &SetMember, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let project = project(&set.project, ctx)?.id;
    let user = user(&set.user, ctx)?.id;
    let known = ctx.directory.membership(project, user);
    let row = Member {
        project,
        user,
        active: set.active.unwrap_or(known.is_none_or(|m| m.active)),
        role: set
            .role
            .unwrap_or(known.map_or(MemberRole::Member, |m| m.role)),
    };
    let mut detail = format!(
        "project={} user={} active={}",
        set.project, set.user, row.active
    );
    if set.role.is_some() {
        detail = format!("{detail} role={}", row.role.word());
    }
    Ok(Change {
        rows: vec![DirectoryRow::Member(row)],
        outcome: Outcome::Member(row),
        detail,
    })
}

pub(super) fn remove(name: &str, user_name: &str, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let project = project(name, ctx)?.id;
    let user = user(user_name, ctx)?.id;
    if ctx.directory.membership(project, user).is_none() {
        let member = format!("member {:?}", short(user_name));
        return Err(Refusal::no_part("project", name, member));
    }
    Ok(Change {
        rows: vec![DirectoryRow::MemberGone(project, user)],
        outcome: Outcome::Removed(user_name.to_owned()),
        detail: format!("project={name} user={user_name}"),
    })
}

fn project<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a Project, Refusal> {
    let found = ctx.directory.project_named(name);
    found.ok_or_else(|| Refusal::not_found("project", name))
}

fn user<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a User, Refusal> {
    let found = ctx.directory.user_named(name);
    found.ok_or_else(|| Refusal::not_found("user", name))
}
