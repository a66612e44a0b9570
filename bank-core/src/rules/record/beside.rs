//! Rows that change with a record: what a new project comes with, and what a removed machine or user takes
//! along.

use crate::effects::DirectoryRow;
use crate::ids::{ProjectId, UserId};
use crate::kind::{Key, Kind, Record, Value};
use crate::model::{Account, Constraint, Dimension, Member, MemberRole};
use crate::refusal::Refusal;
use crate::rules::admin::account_number;
use crate::view::{Context, View};

/// The projects that list a removed machine, without it.
pub(super) fn projects_without(gone: &Record, ctx: &Context<'_>) -> Vec<Record> {
    if !gone.deleted || gone.kind != "machine" {
        return Vec::new();
    }
    let lists = |project: &&Record| project.list("machines").iter().any(|m| m == gone.name());
    let projects = ctx.directory.records.all("project").filter(lists);
    let without = projects.map(|project| {
        let mut project = project.clone();
        let mut machines = project.list("machines").to_vec();
        machines.retain(|machine| machine != gone.name());
        project.set("machines", Value::List(machines));
        project
    });
    without.collect()
}

/// The memberships of a removed user, which end.
pub(super) fn memberships(gone: &Record, ctx: &Context<'_>) -> Vec<DirectoryRow> {
    if !gone.deleted || gone.kind != "user" {
        return Vec::new();
    }
    let user = UserId(gone.id);
    let projects = ctx.directory.projects();
    let of = projects.filter(|project| ctx.directory.membership(project.id, user).is_some());
    of.map(|project| DirectoryRow::MemberGone(project.id, user))
        .collect()
}

/// The members and the account of a new project (decisions.md 16).
pub(super) fn of_new(
    record: &Record,
    arguments: &Record,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Vec<DirectoryRow>, Refusal> {
    if record.kind != "project" {
        return Ok(Vec::new());
    }
    let project = ProjectId(record.id);
    let records = &ctx.directory.records;
    let users = arguments.list("members").iter();
    let users = users.filter_map(|name| records.number_of("user", name).map(UserId));
    let members = users.map(|user| {
        DirectoryRow::Member(Member {
            project,
            user,
            active: true,
            role: MemberRole::Member,
        })
    });
    let mut rows: Vec<DirectoryRow> = members.collect();
    if !arguments.flag("no_account") {
        rows.push(DirectoryRow::Account(account(record.name(), view, ctx)?));
    }
    Ok(rows)
}

/// The account of a new project: for its members, on any machine.
fn account(project: &str, view: &View, ctx: &Context<'_>) -> Result<Account, Refusal> {
    let row = |dimension, value: &str| Constraint {
        dimension,
        value: value.to_owned(),
        allow: true,
        subtree: false,
    };
    Ok(Account {
        id: account_number(project, view, ctx)?,
        name: project.to_owned(),
        priority: 0,
        fallback: None,
        blocked: false,
        deleted: false,
        description: String::new(),
        constraints: vec![
            row(Dimension::Project, project),
            row(Dimension::User, "MEMBERS"),
        ],
        link: None,
        discrete: false,
    })
}

/// The values of a command that the record does not keep.
pub(super) fn arguments(
    kind: &Kind,
    values: Vec<(String, Value)>,
    ctx: &Context<'_>,
) -> Result<Record, Refusal> {
    let mut own = Record::new(&kind.word, Key::Number(0));
    for (name, value) in values {
        if let Some(argument) = kind.arguments.iter().find(|own| own.name == name) {
            own.set(&name, argument.checked(&value, ctx)?);
        }
    }
    Ok(own)
}
