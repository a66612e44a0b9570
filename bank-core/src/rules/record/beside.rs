//! Rows that change with a record: what a new project comes with, and what a removed machine or user takes
//! along.

use crate::effects::DirectoryRow;
use crate::history::PastRecord;
use crate::ids::{ProjectId, UserId};
use crate::kind::{Key, Kind, Record, Value};
use crate::model::{Account, Constraint, Dimension, Member, MemberRole};
use crate::refusal::Refusal;
use crate::rules::admin::account_number;
use crate::view::{Context, View};

/// The projects that list a removed machine, without it; not those that an undo restores with it.
pub(super) fn projects_without(
    gone: &Record,
    restored: &[PastRecord],
    ctx: &Context<'_>,
) -> Vec<Record> {
    if !gone.deleted || gone.kind != "machine" {
        return Vec::new();
    }
    let lists = |project: &&Record| project.list("machines").iter().any(|m| m == gone.name());
    let is_restored = |project: &Record| {
        let mut all = restored.iter().map(|past| &past.after);
        all.any(|own| own.kind == project.kind && own.key == project.key)
    };
    let projects = ctx.directory.records.all("project").filter(lists);
    let projects = projects.filter(|project| !is_restored(project));
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
    let of = ctx.directory.memberships_of(user).into_iter();
    of.map(|project| DirectoryRow::MemberGone(project, user))
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
    // A removed project of this name may have had others.
    let old = ctx.directory.members_of(project).into_iter();
    let old = old.map(|member| DirectoryRow::MemberGone(project, member.user));
    let mut rows: Vec<DirectoryRow> = old.chain(members).collect();
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
