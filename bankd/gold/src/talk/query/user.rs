//! The users that schedulers ask for: the list of default projects that Maui keeps until it restarts
//! (`gold-wire.md` 3.1).

use std::collections::HashSet;
use std::sync::Arc;

use bank_core::directory::Directory;
use bank_core::domain::is_sendable;
use bank_core::model::{Project, User};
use bankd_ledger::view::View;
use bankd_services::Services;
use bankd_store::read::jobs;

use super::{Call, Fault, ask};
use crate::Verified;

/// Users that Maui has room for; one more overwrites its memory.
const MAUI_USERS_MAX: usize = 1023;

/// The names of the users in the answer for a scheduler: those with a default project. `None` for all other
/// queries.
pub(super) async fn listed(
    services: &Arc<Services>,
    request: &Verified,
    view: &View,
    call: &Call,
) -> Result<Option<Vec<String>>, Fault> {
    let names: Vec<&str> = call.wanted.iter().map(|own| own.name.as_str()).collect();
    let looked_up = ["Name", "DefaultProject"];
    let asks_default =
        names.contains(&"DefaultProject") && names.iter().all(|own| looked_up.contains(own));
    if !request.is_maui && !asks_default {
        return Ok(None);
    }
    let directory = view.directory();
    let all = directory.users().filter(|user| view.sees_user(user));
    let mut users: Vec<&User> = all
        .filter(|user| default_project(directory, user).is_some())
        .collect();
    users.sort_by(|a, b| a.name.cmp(&b.name));
    if request.is_maui {
        keep_sendable(directory, &mut users);
        if users.len() > MAUI_USERS_MAX {
            let most = MAUI_USERS_MAX;
            let lately = ask(services, move |connection| {
                jobs::latest_users(connection, most)
            })
            .await?;
            keep_latest(&mut users, &lately);
        }
    }
    Ok(Some(
        users.into_iter().map(|user| user.name.clone()).collect(),
    ))
}

fn default_project<'a>(directory: &'a Directory, user: &User) -> Option<&'a Project> {
    let project = user.default_project.and_then(|id| directory.project(id));
    project.filter(|p| !p.deleted)
}

/// Excludes users that Maui would read with another name or project.
fn keep_sendable(directory: &Directory, users: &mut Vec<&User>) {
    let before = users.len();
    users.retain(|user| {
        let project = default_project(directory, user);
        is_sendable(&user.name) && project.is_none_or(|p| is_sendable(&p.name))
    });
    let left_out = before.saturating_sub(users.len());
    if left_out > 0 {
        tracing::warn!(
            left_out,
            "Maui gets no users with &, < or > in name or default project, or with names that are too long"
        );
    }
}

/// Keeps as many users as Maui can store: those with the latest work, then by name.
fn keep_latest(users: &mut Vec<&User>, lately: &[String]) {
    let all = users.len();
    let lately: HashSet<&str> = lately.iter().map(String::as_str).collect();
    let active = users
        .iter()
        .filter(|u| lately.contains(u.name.as_str()))
        .count();
    let mut room = MAUI_USERS_MAX.saturating_sub(active);
    users.retain(|user| {
        if lately.contains(user.name.as_str()) {
            return true;
        }
        let fits = room > 0;
        room = room.saturating_sub(1);
        fits
    });
    tracing::warn!(
        listed = users.len(),
        left_out = all.saturating_sub(users.len()),
        "Maui has no room for more users: those without work lately are left out"
    );
}
