//! Users.

use super::{Change, check_organization, project};
use crate::command::SetUser;
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::UserId;
use crate::ids::check_listed_name;
use crate::model::{ALIASES_MAX, User};
use crate::refusal::Refusal;
use crate::view::{Context, View};

pub(super) fn add(set: &SetUser, ctx: &Context<'_>) -> Result<Change, Refusal> {
    check_listed_name(&set.name)?;
    let taken = || Refusal::AlreadyExists {
        kind: "user".into(),
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
        aliases: Vec::new(),
    };
    if let Some(owner) = ctx.directory.user_with_alias(&set.name) {
        return Err(Refusal::InUse {
            name: set.name.clone(),
            by: format!("user {} as another name", owner.name),
        });
    }
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
        aliases: Vec::new(),
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
    if let Some(aliases) = &set.aliases {
        user.aliases = own_aliases(&user.name, aliases, ctx)?;
        detail = format!("{detail} aliases={}", user.aliases.len());
    }
    let rows = vec![DirectoryRow::User(user.clone())];
    Ok(Change {
        rows,
        outcome: Outcome::User(user),
        detail,
    })
}

/// Other names of a user, in order and without doubles; each is nobody else's.
fn own_aliases(name: &str, aliases: &[String], ctx: &Context<'_>) -> Result<Vec<String>, Refusal> {
    let mut own: Vec<String> = aliases.iter().filter(|a| *a != name).cloned().collect();
    own.sort_unstable();
    own.dedup();
    if own.len() > ALIASES_MAX {
        return Err(Refusal::BadValue {
            field: "aliases",
            expected: "at most 64 other names",
        });
    }
    for alias in &own {
        check_listed_name(alias)?;
        let taken = ctx.directory.user_known_as(alias);
        if let Some(owner) = taken.filter(|owner| owner.name != name) {
            return Err(Refusal::InUse {
                name: alias.clone(),
                by: format!("user {}", owner.name),
            });
        }
    }
    Ok(own)
}

fn named<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a User, Refusal> {
    ctx.directory
        .user_named(name)
        .ok_or_else(|| Refusal::not_found("user", name))
}
