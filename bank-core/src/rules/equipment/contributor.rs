//! Contributors: names in reports, with their projects.

use super::{Change, bad, has_room, text};
use crate::command::SetContributor;
use crate::contribution::UNASSIGNED;
use crate::effects::{DirectoryRow, Outcome};
use crate::ids::check_name;
use crate::model::Contributor;
use crate::refusal::Refusal;
use crate::view::Context;

/// Most projects of one contributor.
const PROJECTS_MAX: usize = 1_000;

pub(super) fn add(set: &SetContributor, ctx: &Context<'_>) -> Result<Change, Refusal> {
    check_name(&set.name)?;
    // Reports have a row of that name.
    if set.name == UNASSIGNED {
        return Err(Refusal::BadName {
            name: set.name.clone(),
        });
    }
    if ctx.directory.equipment.contributor(&set.name).is_some() {
        return Err(Refusal::AlreadyExists {
            kind: "contributor",
            name: set.name.clone(),
        });
    }
    let [_, _, _, rows] = ctx.directory.equipment.rows();
    has_room(rows)?;
    let new = Contributor {
        name: set.name.clone(),
        user: String::new(),
        exempt: false,
        projects: Vec::new(),
        description: String::new(),
        deleted: false,
    };
    change(new, set, ctx)
}

pub(super) fn set(set: &SetContributor, ctx: &Context<'_>) -> Result<Change, Refusal> {
    change(known(&set.name, ctx)?, set, ctx)
}

/// One that something is credited to stays: its contributions would count for nobody.
pub(super) fn remove(name: &str, ctx: &Context<'_>) -> Result<Change, Refusal> {
    let mut own = known(name, ctx)?;
    let all = ctx.directory.equipment.all_contributions();
    let count = all.filter(|c| c.contributor == name).count();
    if count > 0 {
        return Err(Refusal::InUse {
            name: name.to_owned(),
            by: format!("{count} contributions"),
        });
    }
    own.deleted = true;
    Ok(Change {
        detail: shown(&own),
        row: DirectoryRow::Contributor(own),
        outcome: Outcome::Removed(name.to_owned()),
    })
}

fn known(name: &str, ctx: &Context<'_>) -> Result<Contributor, Refusal> {
    let known = ctx.directory.equipment.contributor(name);
    known
        .cloned()
        .ok_or_else(|| Refusal::not_found("contributor", name))
}

fn change(
    mut own: Contributor,
    set: &SetContributor,
    ctx: &Context<'_>,
) -> Result<Change, Refusal> {
    if let Some(user) = &set.user {
        own.user.clone_from(user);
    }
    own.exempt = set.exempt.unwrap_or(own.exempt);
    if let Some(projects) = &set.projects {
        own.projects.clone_from(projects);
        own.projects.sort_unstable();
        own.projects.dedup();
        check_projects(&own, ctx)?;
    }
    if let Some(description) = &set.description {
        own.description.clone_from(description);
    }
    text("user", &own.user)?;
    text("description", &own.description)?;
    Ok(Change {
        detail: shown(&own),
        row: DirectoryRow::Contributor(own.clone()),
        outcome: Outcome::Contributor(Box::new(own)),
    })
}

/// Each project is there, and nobody else's: usage would count twice.
fn check_projects(own: &Contributor, ctx: &Context<'_>) -> Result<(), Refusal> {
    if own.projects.len() > PROJECTS_MAX {
        return Err(bad("projects", "at most 1000 of them"));
    }
    for name in &own.projects {
        if ctx.directory.project_named(name).is_none() {
            return Err(Refusal::not_found("project", name));
        }
        let holder = ctx.directory.equipment.holder(name);
        if let Some(other) = holder.filter(|other| other.name != own.name) {
            return Err(Refusal::InUse {
                name: name.clone(),
                by: format!("contributor {}", other.name),
            });
        }
    }
    Ok(())
}

/// A contributor as the journal has it.
fn shown(own: &Contributor) -> String {
    format!(
        "contributor={} user={} exempt={} projects={}",
        own.name,
        own.user,
        own.exempt,
        own.projects.join(",")
    )
}
