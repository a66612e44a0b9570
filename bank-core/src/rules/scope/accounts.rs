//! Account changes by callers with a scope of single projects: the accounts stay in that scope, and no other
//! account pays for them.

use super::{account, machine, project, user};
use crate::access::{Held, held};
use crate::command::SetAccount;
use crate::model::{Constraint, Dimension};
use crate::refusal::Refusal;
use crate::role::Role;
use crate::select;
use crate::view::Context;

/// Refuses a row of a list that names an object outside the caller's scope. A row that the account has
/// already names no new user or machine.
pub(super) fn row(name: &str, row: &Constraint, ctx: &Context<'_>) -> Result<(), Refusal> {
    let value = row.value.as_str();
    let is_word = value == "ANY" || value == "MEMBERS";
    let known = ctx.directory.account_named(name);
    let is_there = || known.is_some_and(|account| account.constraints.contains(row));
    match &row.dimension {
        // A word would let every project in.
        Dimension::Project if !is_word || row.allow => project(value, ctx),
        Dimension::User | Dimension::Machine if is_word || is_there() => Ok(()),
        Dimension::User => user(value, ctx),
        Dimension::Machine => machine(value, ctx),
        Dimension::Project
        | Dimension::Class
        | Dimension::Qos
        | Dimension::Group
        | Dimension::Organization
        | Dimension::Attribute(_) => Ok(()),
    }
}

/// Refuses an account whose lists admit everybody, or for which others would pay.
pub(super) fn stays(set: &SetAccount, is_new: bool, ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.scope.projects.is_empty() {
        return Ok(());
    }
    let narrows = |rows: &[Constraint]| {
        let mut own = rows.iter().filter(|c| c.dimension == Dimension::Project);
        own.any(|c| c.allow)
    };
    let whole = set.constraints.as_deref().map(narrows);
    let mut lists = set.lists.iter().rev();
    let single = lists.find(|(d, _)| *d == Dimension::Project);
    let narrowed = single.map(|(_, rows)| narrows(rows)).or(whole);
    if !narrowed.unwrap_or(!is_new) {
        return Err(open_to_all(set));
    }
    if set.parent.is_none() && set.share.is_none() && set.overflow.is_none() {
        return Ok(());
    }
    let known = ctx.directory.account_named(&set.name);
    let above = known.and_then(|a| ctx.directory.parent_of(a));
    above.map_or(Ok(()), |above| account(&above.name, ctx))
}

/// An account that no project list narrows down is everybody's.
fn open_to_all(set: &SetAccount) -> Refusal {
    Refusal::NotAllowed {
        what: format!(
            "account {} without a list of projects",
            crate::refusal::short(&set.name)
        ),
    }
}

/// A manager moves money inside one project, not from one of theirs to another.
pub(super) fn inside_one(from: &str, to: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let Some(who) = &ctx.scope.who else {
        return Ok(());
    };
    let held = held(ctx.scope, who, ctx.directory, ctx.now);
    let of = |roles: [Role; 2]| {
        let fitting = held.iter().filter(move |h: &&Held| roles.contains(&h.role));
        fitting.flat_map(|h| h.projects.iter())
    };
    let anywhere =
        |h: &Held| h.projects.is_empty() && matches!(h.role, Role::Admin | Role::Operator);
    let names = [from, to].map(|name| projects_of(name, ctx)).concat();
    let covered = |roots: &[&String]| {
        names.iter().all(|name| {
            let known = ctx.directory.project_named(name);
            let line = known
                .map(|p| ctx.directory.lineage(p.id))
                .unwrap_or_default();
            let reaches = |root: &&String| *root == name || line.iter().any(|p| p.name == **root);
            roots.iter().any(reaches)
        })
    };
    let everywhere: Vec<&String> = of([Role::Admin, Role::Operator]).collect();
    let mut one_by_one = of([Role::Manager, Role::Manager]);
    let fits = held.iter().any(anywhere)
        || covered(&everywhere)
        || one_by_one.any(|root| covered(&[root]));
    if fits {
        return Ok(());
    }
    Err(Refusal::NotAllowed {
        what: "a manager moves money inside one project".to_owned(),
    })
}

/// The projects that an account's lists name.
fn projects_of(name: &str, ctx: &Context<'_>) -> Vec<String> {
    let Ok(account) = select::account_by_name(ctx.directory, name) else {
        return vec![name.to_owned()];
    };
    let rows = account.constraints.iter();
    let own = rows.filter(|c| c.dimension == Dimension::Project && c.allow);
    own.map(|c| c.value.clone()).collect()
}
