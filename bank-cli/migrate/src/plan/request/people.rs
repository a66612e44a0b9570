//! Machines, projects, users and members.

use bank_api::v1::{MigrationKind, MigrationMember};
use serde_json::{Map, Value, json};

use super::{Items, Names, parents_first, value};
use crate::{fault::Fault, old::Old};

/// Longest text of a field, in bytes.
pub(super) const TEXT_MAX: usize = 256;
/// Longest description, in bytes.
pub(super) const DESCRIPTION_MAX: usize = 1024;

pub(super) fn add(old: &Old, names: &Names, items: &mut Items) -> Result<(), Fault> {
    machines(old, names, items);
    projects(old, names, items);
    users(old, names, items);
    for own in &old.members {
        let body = MigrationMember {
            project: names
                .projects
                .get(&own.project)
                .cloned()
                .unwrap_or_default(),
            user: names.users.get(&own.user).cloned().unwrap_or_default(),
            active: own.active,
            role: own.role.clone(),
        };
        let id = format!("member {} {}", own.project, own.user);
        items.add(MigrationKind::Member, &id, value(&body)?);
    }
    Ok(())
}

fn machines(old: &Old, names: &Names, items: &mut Items) {
    for own in &old.machines {
        let Some(name) = names.machines.get(&own.name).cloned() else {
            continue;
        };
        let body = record(
            &name,
            own.active,
            &[
                ("description", &own.description, DESCRIPTION_MAX),
                ("architecture", &own.architecture, TEXT_MAX),
                ("operating_system", &own.operating_system, TEXT_MAX),
            ],
        );
        items.add(
            MigrationKind::Machine,
            &format!("machine {}", own.name),
            body.into(),
        );
    }
}

fn projects(old: &Old, names: &Names, items: &mut Items) {
    for own in parents_first(&old.projects, |own| &own.name, |own| Some(&own.parent)) {
        let Some(name) = names.projects.get(&own.name).cloned() else {
            continue;
        };
        let mut body = record(
            &name,
            own.active,
            &[
                ("description", &own.description, DESCRIPTION_MAX),
                ("organization", organization(&own.organization), TEXT_MAX),
            ],
        );
        body.insert("no_account".to_owned(), json!(true));
        let machines = own.machines.iter();
        let machines: Vec<&String> = machines
            .filter_map(|name| names.machines.get(name))
            .collect();
        if !machines.is_empty() {
            body.insert("machines".to_owned(), json!(machines));
        }
        if let Some(parent) = names.projects.get(&own.parent) {
            body.insert("parent".to_owned(), json!(parent));
        }
        items.add(
            MigrationKind::Project,
            &format!("project {}", own.name),
            body.into(),
        );
    }
}

fn users(old: &Old, names: &Names, items: &mut Items) {
    for own in &old.users {
        let Some(name) = names.users.get(&own.name).cloned() else {
            continue;
        };
        let mut body = record(
            &name,
            own.active,
            &[
                ("common_name", &own.common_name, TEXT_MAX),
                ("email", &own.email, TEXT_MAX),
                ("phone", &own.phone, TEXT_MAX),
                ("organization", organization(&own.organization), TEXT_MAX),
                ("description", &own.description, DESCRIPTION_MAX),
            ],
        );
        if let Some(project) = names.projects.get(&own.default_project) {
            body.insert("default_project".to_owned(), json!(project));
        }
        items.add(
            MigrationKind::User,
            &format!("user {}", own.name),
            body.into(),
        );
    }
}

/// A record without its empty fields.
fn record(name: &str, active: bool, fields: &[(&str, &str, usize)]) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("name".to_owned(), json!(name));
    body.insert("active".to_owned(), json!(active));
    for (field, text, most) in fields {
        let text = cut(text, *most);
        if !text.is_empty() {
            body.insert((*field).to_owned(), json!(text));
        }
    }
    body
}

/// A text on one line that is not too long.
pub(super) fn cut(text: &str, most: usize) -> String {
    let letter = |c: char| if c.is_control() { ' ' } else { c };
    let mut text: String = text.chars().map(letter).collect();
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    text.trim().to_owned()
}

/// An organization is a name: without `#` in front.
fn organization(text: &str) -> &str {
    match text.trim_start_matches('#').trim() {
        "ANY" | "MEMBERS" | "NONE" => "",
        name => name,
    }
}
