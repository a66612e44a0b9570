//! Query of Project.

use std::sync::Arc;

use bank_core::command::Scope;
use bank_core::directory::Directory;
use bank_core::model::Project;
use bankd_services::Services;

use super::cell::{Cell, Kind};
use super::select::{Select, Shape};
use super::{Call, Fault, written};
use crate::Verified;

const SHAPE: Shape = Shape {
    usual: &["Name", "Active", "Organization", "Description"],
    special: &[],
    conditions: &[
        ("Name", Kind::Text),
        ("Active", Kind::Flag),
        ("Special", Kind::Flag),
    ],
    relations: &["User"],
};

/// The projects of an answer.
pub(super) fn rows(
    services: &Arc<Services>,
    request: &Verified,
    query: &Call,
) -> Result<Vec<String>, Fault> {
    let select = Select::read(query, &SHAPE)?;
    let directory = services.writer.directory();
    let has_member = |project: &Project, name: &str| {
        let user = directory.user_named(name);
        user.is_some_and(|user| directory.is_member(project.id, user.id))
    };
    let has_all = |project: &&Project| {
        let mut relations = select.relations().iter();
        relations.all(|(_, must, name)| has_member(project, name) == *must)
    };
    let scope = &request.peer.scope;
    let seen = directory.projects().filter(|p| sees(&directory, scope, p));
    let mut projects: Vec<&Project> = seen.filter(has_all).collect();
    projects.retain(|project| select.accepts(|name| cell(project, name)));
    projects.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(written(&select, "Project", projects, |project, name| {
        cell(project, name)
    }))
}

/// Whether the scope of a key contains a project.
pub(super) fn sees(directory: &Directory, scope: &Scope, project: &Project) -> bool {
    scope.has_project(directory, Some(project.id), &project.name)
}

fn cell(project: &Project, attribute: &str) -> Cell {
    match attribute {
        "Name" => Cell::text(&project.name),
        "Active" => Cell::Flag(project.active),
        "Organization" => Cell::text(&project.organization),
        "Special" => Cell::Flag(false),
        _ => Cell::text(&project.description),
    }
}
