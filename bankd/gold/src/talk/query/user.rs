//! Query of User: the list of default projects that Maui keeps until it restarts, and anything else
//! about users (`gold-wire.md` 3.1).

use std::collections::HashSet;
use std::sync::Arc;

use bank_core::command::Scope;
use bank_core::directory::Directory;
use bank_core::domain::is_sendable;
use bank_core::model::{Project, User};
use bankd_services::Services;
use bankd_store::read::jobs;

use super::cell::{Cell, Kind};
use super::select::{Select, Shape};
use super::{Call, Fault, ask, project, written};
use crate::Verified;

const SHAPE: Shape = Shape {
    usual: &[
        "Name",
        "Active",
        "CommonName",
        "PhoneNumber",
        "EmailAddress",
        "DefaultProject",
        "Organization",
        "Description",
    ],
    special: &[],
    conditions: &[
        ("Name", Kind::Text),
        ("Active", Kind::Flag),
        ("DefaultProject", Kind::Text),
        ("Special", Kind::Flag),
    ],
    relations: &[],
};

/// Users that Maui has room for; one more overwrites its memory.
const MAUI_USERS_MAX: usize = 1023;

/// The users of an answer.
pub(super) async fn rows(
    services: &Arc<Services>,
    request: &Verified,
    query: &Call,
) -> Result<Vec<String>, Fault> {
    let select = Select::read(query, &SHAPE)?;
    let directory = services.writer.directory();
    let cell = |user: &&User, name: &str| cell(&directory, user, name);
    let seen = directory
        .users()
        .filter(|u| sees(&directory, &request.peer.scope, u));
    let mut users: Vec<&User> = seen.collect();
    users.retain(|user| select.accepts(|name| cell(user, name)));
    if request.is_maui || select.asks_for("DefaultProject") {
        users.retain(|user| default_project(&directory, user).is_some());
    }
    users.sort_by(|a, b| a.name.cmp(&b.name));
    if request.is_maui {
        keep_sendable(&directory, &mut users);
        if users.len() > MAUI_USERS_MAX {
            let most = MAUI_USERS_MAX;
            let lately = ask(services, move |connection| {
                jobs::latest_users(connection, most)
            })
            .await?;
            keep_latest(&mut users, &lately);
        }
    }
    Ok(written(&select, "User", users, cell))
}

fn sees(directory: &Directory, scope: &Scope, user: &User) -> bool {
    let mut projects = directory.projects();
    scope.projects.is_empty()
        || projects.any(|p| {
            project::sees(directory, scope, p) && directory.membership(p.id, user.id).is_some()
        })
}

fn default_project<'a>(directory: &'a Directory, user: &User) -> Option<&'a Project> {
    let project = user.default_project.and_then(|id| directory.project(id));
    project.filter(|p| !p.deleted)
}

fn cell(directory: &Directory, user: &User, attribute: &str) -> Cell {
    match attribute {
        "Name" => Cell::text(&user.name),
        "Active" => Cell::Flag(user.active),
        "CommonName" => Cell::text(&user.common_name),
        "PhoneNumber" => Cell::text(&user.phone),
        "EmailAddress" => Cell::text(&user.email),
        "DefaultProject" => {
            let project = default_project(directory, user);
            Cell::text(project.map_or("", |p| p.name.as_str()))
        }
        "Organization" => Cell::text(&user.organization),
        "Special" => Cell::Flag(false),
        _ => Cell::text(&user.description),
    }
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
