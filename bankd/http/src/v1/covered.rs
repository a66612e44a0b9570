//! Visibility of rows about access and intake. An unlimited caller sees all. Others see rows that concern
//! only projects, users and machines in view.

use bank_core::kind::{Concern, Kind, Record, Whose};
use bank_core::model::{Grant, Key, Limit, LimitOf};

use super::view::View;

/// Whether a key or token is limited to projects and machines in view. A key without limits applies to the
/// whole bank.
pub(super) fn key(view: &View, key: &Key) -> bool {
    let [projects, machines] = view.limits();
    let is_seen = |name: &String| {
        let project = view.directory().project_named(name);
        project.is_some_and(|project| view.sees_project(project))
    };
    view.is_unlimited()
        || (is_within(projects, &key.projects, is_seen)
            && is_within(machines, &key.machines, |name| view.sees_machine(name)))
}

/// Whether all names are visible, for a limited caller.
fn is_within(is_limited: bool, names: &[String], sees: impl Fn(&String) -> bool) -> bool {
    !is_limited || (!names.is_empty() && names.iter().all(sees))
}

/// Whether a granted role applies to a project in view. A role for the whole bank is visible to callers who
/// see its user.
pub(super) fn grant(view: &View, grant: &Grant) -> bool {
    let directory = view.directory();
    match grant.project {
        _ if view.is_unlimited() => true,
        Some(id) => directory.project(id).is_some_and(|p| view.sees_project(p)),
        None => user(view, &grant.name),
    }
}

/// Whether a limit applies to a role, or to a visible user.
pub(super) fn limit(view: &View, limit: &Limit) -> bool {
    match &limit.of {
        LimitOf::Role(_) => true,
        LimitOf::Name(_) if view.is_unlimited() => true,
        LimitOf::Name(name) => user(view, name) || of_key(view, name),
    }
}

/// Whether a name is that of a visible key, or of its client.
fn of_key(view: &View, name: &str) -> bool {
    let keys = view.directory().keys();
    let mut own = keys.filter(|k| k.id == name || k.client == name).peekable();
    own.peek().is_some() && own.all(|own| key(view, own))
}

fn user(view: &View, name: &str) -> bool {
    let known = view.directory().user_named(name);
    known.is_some_and(|user| view.sees_user(user))
}

/// Whether an object or record of a kind is in view, by its name or number.
pub(super) fn name(view: &View, kind: &str, key: &str) -> bool {
    if view.is_unlimited() {
        return true;
    }
    let directory = view.directory();
    match kind {
        "machine" => view.sees_machine(key),
        "account" => {
            let known = directory.account_named(key);
            known.is_some_and(|account| view.sees_account(account))
        }
        _ => {
            let records = &directory.records;
            let known = records.kind(kind).and_then(|kind| {
                let key = records.spelled(kind, &kind.read_key(key)?);
                Some((kind, records.get(&kind.word, &key)?))
            });
            known.is_some_and(|(kind, known)| record(view, kind, known))
        }
    }
}

/// Whether the machines, the project and the user that a record is about are in view.
pub(super) fn record(view: &View, kind: &Kind, record: &Record) -> bool {
    let Some(concerns) = kind.concerns.filter(|_| !view.is_unlimited()) else {
        return true;
    };
    let Concern { machines, whose } = concerns(record);
    let [projects, _] = view.limits();
    machines.iter().all(|name| view.sees_machine(name))
        && match whose {
            Whose::Everyone => true,
            _ if !projects => true,
            Whose::Unknown => false,
            Whose::Project(name) => {
                let meant = view.meant(&name);
                meant.is_some_and(|project| view.sees_project(project))
            }
            Whose::User(name) => user(view, &name),
        }
}
