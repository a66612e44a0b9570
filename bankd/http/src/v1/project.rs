//! Projects and their members.

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewMember, NewProject, PatchProject};
use bank_core::command::{AddProject, Command, SetMember, SetProject};
use bank_core::domain::is_sendable;
use bank_core::effects::Outcome;
use bankd_ledger::writer::{Decided, Render};
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::historical;
use super::json::{self, cleared, read_mode};
use super::path::Path;

/// The warning about a name that Maui cannot read (gold-wire.md 5.1).
const UNSENDABLE: &str = "unsendable: Maui cannot read names with &, < or >, or with more than 63 bytes; \
    the gateway does not report this one as a default project";

/// `GET /api/v1/projects`: those in view, by name.
pub(super) async fn list(call: Call) -> Handled {
    let (then, turn) = historical::listed(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let seen = directory.projects().filter(|p| view.sees_project(p));
    let mut items: Vec<v1::Project> = seen
        .map(|p| json::project(directory, p, Some(view)))
        .collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    let page = turn.by(items, |row| row.name.clone());
    let (items, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List { items, next })
}

/// `GET /api/v1/projects/{name}`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let then = historical::requested(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let project = view.project(&name)?;
    ok(&json::project(view.directory(), project, Some(view)))
}

/// `POST /api/v1/projects`
pub(super) async fn add(call: Call) -> Handled {
    let new: NewProject = call.json()?;
    let mode = new.mode.as_deref().map(read_mode).transpose();
    let has_gateway = !call.services.gold.listen.is_empty();
    let render: Render = if has_gateway && !is_sendable(&new.name) {
        render_unsendable
    } else {
        render_added
    };
    let command = Command::AddProject(AddProject {
        name: new.name,
        parent: new.parent.and_then(cleared),
        with_account: !new.no_account,
        members: new.members,
        mode: mode.map_err(|r| call.refused(&r))?.flatten(),
        description: new.description.unwrap_or_default(),
        organization: new.organization.unwrap_or_default(),
        machines: new.machines,
    });
    Ok(call.write(command, render).await?.into_response())
}

/// `PATCH /api/v1/projects/{name}`
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    let patch: PatchProject = call.json()?;
    let mode = patch.mode.as_deref().map(read_mode).transpose();
    let command = Command::SetProject(SetProject {
        name,
        active: patch.active,
        parent: patch.parent.map(cleared),
        mode: mode.map_err(|r| call.refused(&r))?,
        description: patch.description,
        organization: patch.organization,
        machines: patch.machines,
    });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/projects/{name}`
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    let command = Command::RemoveProject(name);
    Ok(call.write(command, removed).await?.into_response())
}

/// `GET /api/v1/projects/{name}/members`
pub(super) async fn members(Path(name): Path<String>, call: Call) -> Handled {
    let (then, turn) = historical::listed(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let project = view.project(&name)?;
    let members = json::members(view.directory(), project);
    let page = turn.by(members, |row| row.user.clone());
    let (items, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List { items, next })
}

/// `POST /api/v1/projects/{name}/members`
pub(super) async fn set_member(Path(name): Path<String>, call: Call) -> Handled {
    let new: NewMember = call.json()?;
    let role = new.role.as_deref().map(json::read_member_role).transpose();
    let command = Command::SetMember(SetMember {
        project: name,
        user: new.user,
        // A change of the role alone does not change `active`.
        active: new.active.or(new.role.is_none().then_some(true)),
        role: role.map_err(|r| call.refused(&r))?,
    });
    Ok(call.write(command, render_member).await?.into_response())
}

/// `DELETE /api/v1/projects/{name}/members/{user}`
pub(super) async fn remove_member(
    Path((name, user)): Path<(String, String)>,
    call: Call,
) -> Handled {
    let command = Command::RemoveMember(name, user);
    Ok(call.write(command, removed).await?.into_response())
}

/// A query without parameters.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

fn written(decided: &Decided<'_>, status: u16, warning: Option<&str>) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Project(project) => {
            let shape = json::project(decided.directory, project, None);
            let mut written = new_state(shape, decided);
            written.warnings.extend(warning.map(str::to_owned));
            Some(written)
        }
        _ => None,
    })
}

fn render_added(decided: &Decided<'_>) -> Answer {
    written(decided, 201, None)
}

fn render_unsendable(decided: &Decided<'_>) -> Answer {
    written(decided, 201, Some(UNSENDABLE))
}

fn render(decided: &Decided<'_>) -> Answer {
    written(decided, 200, None)
}

fn render_member(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Member(member) => {
            let shape = json::member(decided.directory, member);
            shape.map(|member| new_state(member, decided))
        }
        _ => None,
    })
}
