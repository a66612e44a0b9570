//! Users.

use axum::extract::Path;
use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewUser, PatchUser};
use bank_core::command::{Command, SetUser};
use bank_core::effects::Outcome;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::project::Empty;
use super::shape::{self, cleared};
use crate::answer::Answer;
use crate::writer::Decided;

/// `GET /api/v1/users`: those in view, by name.
pub(super) async fn list(call: Call) -> Handled {
    call.query::<Empty>()?;
    let directory = call.directory();
    let seen = directory.users().filter(|u| call.view.sees_user(u));
    let mut items: Vec<v1::User> = seen
        .map(|u| shape::user(directory, u, Some(&call.view)))
        .collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    ok(&List::whole(items))
}

/// `GET /api/v1/users/{name}`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let user = call.view.user(&name)?;
    ok(&shape::user(call.directory(), user, Some(&call.view)))
}

/// `POST /api/v1/users`
pub(super) async fn add(call: Call) -> Handled {
    call.admin()?;
    let new: NewUser = call.json()?;
    let command = Command::AddUser(SetUser {
        name: new.name,
        active: None,
        common_name: new.common_name,
        email: new.email,
        default_project: new.default_project.map(cleared),
        organization: new.organization,
        phone: new.phone,
        description: new.description,
        aliases: new.aliases,
    });
    Ok(call.write(command, render_added).await?.into_response())
}

/// `PATCH /api/v1/users/{name}`
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    call.admin()?;
    let patch: PatchUser = call.json()?;
    let command = Command::SetUser(SetUser {
        name,
        active: patch.active,
        common_name: patch.common_name,
        email: patch.email,
        default_project: patch.default_project.map(cleared),
        organization: patch.organization,
        phone: patch.phone,
        description: patch.description,
        aliases: patch.aliases,
    });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/users/{name}`
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    call.admin()?;
    let command = Command::RemoveUser(name);
    Ok(call.write(command, removed).await?.into_response())
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::User(user) => {
            let shape = shape::user(decided.directory, user, None);
            Some(new_state(shape, decided))
        }
        _ => None,
    })
}

fn render_added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn render(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}
