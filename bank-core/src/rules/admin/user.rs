//! Users.

use super::{Change, check_listed_name, check_organization, project};
use crate::command::SetUser;
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::UserId;
use crate::model::User;
use crate::refusal::Refusal;
use crate::view::{Context, View};

pub(super) fn add(set: &SetUser, ctx: &Context<'_>) -> Result<Change, Refusal> {
    check_listed_name(&set.name)?;
    let taken = || Refusal::AlreadyExists {
        kind: "user",
        name: set.name.clone(),
    };
    let id = ctx.directory.number_for("user", &set.name);
    let id = UserId(id.ok_or_else(taken)?);
    let user = User {
        id,
        name: set.name.clone(),
        active: true,
        deleted: false,
        common_name: String::new(),
        email: String::new(),
        default_project: None,
        organization: String::new(),
        phone: String::new(),
        description: String::new(),
    };
    change(user, set, ctx)
}

pub(super) fn set(set: &SetUser, ctx: &Context<'_>) -> Result<Change, Refusal> {
    change(named(&set.name, ctx)?.clone(), set, ctx)
}

pub(super) fn remove(name: &str, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let user = named(name, ctx)?;
    super::no_open_jobs(name, view)?;
    let directory = ctx.directory;
    let memberships = directory
        .projects()
        .filter(|p| directory.membership(p.id, user.id).is_some());
    let mut rows: Vec<DirectoryRow> = memberships
        .map(|p| DirectoryRow::MemberGone(p.id, user.id))
        .collect();
    rows.push(DirectoryRow::User(User {
        deleted: true,
        active: false,
        ..user.clone()
    }));
    Ok(Change {
        rows,
        outcome: Outcome::Removed(name.to_owned()),
        detail: format!("user={name}"),
    })
}

fn change(mut user: User, set: &SetUser, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut detail = format!("user={}", set.name);
    if let Some(active) = set.active {
        user.active = active;
        detail = format!("{detail} active={active}");
    }
    if let Some(common_name) = &set.common_name {
        user.common_name.clone_from(common_name);
    }
    if let Some(email) = &set.email {
        user.email.clone_from(email);
    }
    if let Some(default) = &set.default_project {
        let found = default
            .as_deref()
            .map(|name| project::named(name, ctx))
            .transpose()?;
        user.default_project = found.map(|p| p.id);
        detail = format!(
            "{detail} default_project={}",
            default.as_deref().unwrap_or("none")
        );
    }
    if let Some(organization) = &set.organization {
        check_organization(organization)?;
        user.organization.clone_from(organization);
        detail = format!("{detail} organization={organization}");
    }
    if let Some(phone) = &set.phone {
        user.phone.clone_from(phone);
    }
    if let Some(description) = &set.description {
        user.description.clone_from(description);
    }
    let rows = vec![DirectoryRow::User(user.clone())];
    Ok(Change {
        rows,
        outcome: Outcome::User(user),
        detail,
    })
}

fn named<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a User, Refusal> {
    ctx.directory
        .user_named(name)
        .ok_or_else(|| Refusal::not_found("user", name))
}
