//! Users.

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewUser, PatchUser};
use bank_core::command::{Command, SetUser};
use bank_core::effects::Outcome;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::historical;
use super::json::{self, cleared};
use super::path::Path;

/// `GET /api/v1/users`: those in view, by name.
pub(super) async fn list(call: Call) -> Handled {
    let (then, turn) = historical::listed(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let seen = directory.users().filter(|u| view.sees_user(u));
    let mut items: Vec<v1::User> = seen.map(|u| json::user(directory, u, Some(view))).collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    let page = turn.by(items, |row| row.name.clone());
    let (items, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List { items, next })
}

/// `GET /api/v1/users/{name}`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let then = historical::requested(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let user = view.user(&name)?;
    ok(&json::user(view.directory(), user, Some(view)))
}

/// `POST /api/v1/users`
pub(super) async fn add(call: Call) -> Handled {
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
    let command = Command::RemoveUser(name);
    Ok(call.write(command, removed).await?.into_response())
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::User(user) => {
            let shape = json::user(decided.directory, user, None);
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
