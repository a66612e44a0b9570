//! Roles of people.

use crate::command::{GrantRole, RevokeRole};
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::{GrantId, ProjectId, check_name};
use crate::model::Grant;
use crate::postings::Postings;
use crate::refusal::{Refusal, short};
use crate::role::Role;
use crate::view::{Context, View};

/// Gives a role, or gives one that is there another end.
pub(super) fn grant(new: &GrantRole, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check_name(&new.name)?;
    let project = project(new.project.as_deref(), ctx)?;
    if [Role::User, Role::Partner].contains(&new.role) {
        return Err(Refusal::BadValue {
            field: "role",
            expected: "admin, operator, manager, pi, auditor, scheduler or collector: \
                       everybody is a user, and partner is a role of keys",
        });
    }
    if new.role.is_of_projects() && project.is_none() {
        return Err(Refusal::MissingField { field: "project" });
    }
    if new.until.is_some_and(|until| until <= ctx.now) {
        return Err(Refusal::WindowInPast);
    }
    let directory = ctx.directory;
    let same = |g: &&Grant| g.name == new.name && g.role == new.role && g.project == project;
    let known = directory.grants().find(same);
    if known.is_some_and(|g| g.counts(ctx.now) && g.until == new.until) {
        return Err(Refusal::HasPart {
            holder: format!("user {:?}", new.name),
            part: described(new.role, new.project.as_deref()),
        });
    }
    let grant = Grant {
        id: known.map_or_else(|| GrantId(directory.next_id("grant")), |g| g.id),
        name: new.name.clone(),
        role: new.role,
        project,
        until: new.until,
        revoked: false,
    };
    let mut postings = Postings::new(view);
    postings.begin("role_grant", ctx.now);
    postings.remark(&remark(&grant, new.project.as_deref()));
    postings.directory.push(DirectoryRow::Grant(grant.clone()));
    Ok(postings.finish(Outcome::Granted(grant)))
}

/// Takes a role back.
pub(super) fn revoke(
    revoke: &RevokeRole,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let named = revoke.project.as_deref();
    let id = named
        .and_then(|name| ctx.directory.any_project_named(name))
        .map(|p| p.id);
    let same = |g: &&Grant| {
        let of_project = g.project == id && g.project.is_some() == named.is_some();
        g.name == revoke.name && g.role == revoke.role && of_project && !g.revoked
    };
    let unknown = || Refusal::no_part("user", &revoke.name, described(revoke.role, named));
    let known = ctx.directory.grants().find(same).ok_or_else(unknown)?;
    let gone = Grant {
        revoked: true,
        ..known.clone()
    };
    let mut postings = Postings::new(view);
    postings.begin("role_revoke", ctx.now);
    postings.remark(&remark(&gone, named));
    postings.directory.push(DirectoryRow::Grant(gone));
    let of = named.map_or_else(String::new, |project| format!(" of {project}"));
    let what = format!("{} {}{of}", revoke.name, revoke.role.word());
    Ok(postings.finish(Outcome::Removed(what)))
}

fn project(name: Option<&str>, ctx: &Context<'_>) -> Result<Option<ProjectId>, Refusal> {
    let Some(name) = name else {
        return Ok(None);
    };
    let project = ctx.directory.project_named(name);
    let unknown = || Refusal::not_found("project", name);
    project.map(|p| Some(p.id)).ok_or_else(unknown)
}

/// `role operator in project "chem"`.
fn described(role: Role, project: Option<&str>) -> String {
    let role = role.word();
    match project {
        Some(project) => format!("role {role} in project {:?}", short(project)),
        None => format!("role {role}"),
    }
}

fn remark(grant: &Grant, project: Option<&str>) -> String {
    let mut text = format!("name={} role={}", grant.name, grant.role.word());
    if let Some(project) = project {
        text = format!("{text} project={project}");
    }
    match grant.until {
        Some(until) => format!("{text} until={}", until.0),
        None => text,
    }
}
