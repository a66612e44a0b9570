//! Projects and their members.

use super::{Change, account, check_organization, project_lists};
use crate::command::{AddProject, SetMember, SetProject};
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::{MachineId, ProjectId, check_listed_name};
use crate::model::{Account, Dimension, Machine, Member, MemberRole, Project, User};
use crate::refusal::Refusal;
use crate::view::{Context, View};

pub(super) fn add(add: &AddProject, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    check_listed_name(&add.name)?;
    check_organization(&add.organization)?;
    let directory = ctx.directory;
    let taken = || Refusal::AlreadyExists {
        kind: "project".into(),
        name: add.name.clone(),
    };
    let id = directory.number_for("project", &add.name);
    let id = ProjectId(id.ok_or_else(taken)?);
    let account = add.with_account;
    let account = account.then(|| account::number(&add.name, view, ctx));
    let account = account.transpose()?;
    let parent = add
        .parent
        .as_deref()
        .map(|name| named(name, ctx))
        .transpose()?;
    let project = Project {
        id,
        name: add.name.clone(),
        parent: parent.map(|p| p.id),
        active: true,
        deleted: false,
        mode: add.mode,
        description: add.description.clone(),
        organization: add.organization.clone(),
        machines: machines(&add.machines, ctx)?,
    };
    let mut rows = vec![DirectoryRow::Project(project.clone())];
    for name in &add.members {
        let user = member(name, ctx)?.id;
        rows.push(DirectoryRow::Member(Member {
            project: id,
            user,
            active: true,
            role: MemberRole::Member,
        }));
    }
    if let Some(id) = account {
        rows.push(DirectoryRow::Account(Account {
            id,
            name: add.name.clone(),
            priority: 0,
            fallback: None,
            blocked: false,
            deleted: false,
            description: String::new(),
            constraints: project_lists(&add.name),
            link: None,
            discrete: false,
        }));
    }
    let detail = format!("project={}", add.name);
    Ok(Change {
        rows,
        outcome: Outcome::Project(project),
        detail,
    })
}

pub(super) fn set(set: &SetProject, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut project = named(&set.name, ctx)?.clone();
    let mut detail = format!("project={}", set.name);
    if let Some(active) = set.active {
        project.active = active;
        detail = format!("{detail} active={active}");
    }
    if let Some(parent) = &set.parent {
        project.parent = match parent {
            Some(name) => Some(new_parent(&project, name, ctx)?),
            None => None,
        };
        detail = format!("{detail} parent={}", parent.as_deref().unwrap_or("none"));
    }
    if let Some(mode) = set.mode {
        detail = format!("{detail} mode={}", super::switched(project.mode, mode));
        project.mode = mode;
    }
    if let Some(description) = &set.description {
        project.description.clone_from(description);
    }
    if let Some(organization) = &set.organization {
        check_organization(organization)?;
        project.organization.clone_from(organization);
        detail = format!("{detail} organization={organization}");
    }
    if let Some(names) = &set.machines {
        project.machines = machines(names, ctx)?;
        detail = format!("{detail} machines={}", names.join(","));
    }
    let rows = vec![DirectoryRow::Project(project.clone())];
    Ok(Change {
        rows,
        outcome: Outcome::Project(project),
        detail,
    })
}

/// A project cannot come under itself (case 20 for projects).
fn new_parent(project: &Project, name: &str, ctx: &Context<'_>) -> Result<ProjectId, Refusal> {
    let parent = named(name, ctx)?;
    if ctx
        .directory
        .lineage(parent.id)
        .iter()
        .any(|p| p.id == project.id)
    {
        return Err(Refusal::Cycle {
            name: name.to_owned(),
        });
    }
    Ok(parent.id)
}

pub(super) fn remove(name: &str, view: &View, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let project = named(name, ctx)?;
    let directory = ctx.directory;
    let used = |by: String| {
        Err(Refusal::InUse {
            name: name.to_owned(),
            by,
        })
    };
    if let Some(child) = directory.projects().find(|p| p.parent == Some(project.id)) {
        return used(format!("project {}", child.name));
    }
    let lists = |a: &&Account| {
        a.constraints
            .iter()
            .any(|c| c.dimension == Dimension::Project && c.value == name)
    };
    if let Some(account) = directory.accounts().find(lists) {
        return used(format!("account {}", account.name));
    }
    if let Some(user) = directory
        .users()
        .find(|u| u.default_project == Some(project.id))
    {
        return used(format!("user {}", user.name));
    }
    let reserves = |m: &&Machine| m.reservation_account.as_deref() == Some(name);
    if let Some(machine) = directory.machines().find(reserves) {
        return used(format!("machine {} for its reservations", machine.name));
    }
    if view.open_instances > 0 {
        return used(format!("{} open jobs", view.open_instances));
    }
    let gone = Project {
        deleted: true,
        active: false,
        ..project.clone()
    };
    let rows = vec![DirectoryRow::Project(gone)];
    Ok(Change {
        rows,
        outcome: Outcome::Removed(name.to_owned()),
        detail: format!("project={name}"),
    })
}

pub(super) fn set_member(set: &SetMember, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let project = named(&set.project, ctx)?.id;
    let user = member(&set.user, ctx)?.id;
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

pub(super) fn remove_member(
    name: &str,
    user_name: &str,
    ctx: &Context<'_>,
) -> Result<Change, Refusal> {
    let project = named(name, ctx)?.id;
    let user = member(user_name, ctx)?.id;
    if ctx.directory.membership(project, user).is_none() {
        return Err(Refusal::not_found("member", user_name));
    }
    Ok(Change {
        rows: vec![DirectoryRow::MemberGone(project, user)],
        outcome: Outcome::Removed(user_name.to_owned()),
        detail: format!("project={name} user={user_name}"),
    })
}

pub(super) fn named<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a Project, Refusal> {
    ctx.directory
        .project_named(name)
        .ok_or_else(|| Refusal::not_found("project", name))
}

/// The machines of these names, by number.
fn machines(names: &[String], ctx: &Context<'_>) -> Result<Vec<MachineId>, Refusal> {
    let found = names.iter().map(|name| {
        let machine = ctx.directory.machine_named(name);
        machine
            .map(|m| m.id)
            .ok_or_else(|| Refusal::not_found("machine", name))
    });
    let mut machines = found.collect::<Result<Vec<_>, _>>()?;
    machines.sort_unstable();
    machines.dedup();
    Ok(machines)
}

fn member<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a User, Refusal> {
    ctx.directory
        .user_named(name)
        .ok_or_else(|| Refusal::not_found("user", name))
}
