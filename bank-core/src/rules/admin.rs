//! Projects, users, machines, memberships and accounts: added, changed, removed. Each change is a
//! journal transaction without entries; nothing is physically removed (ledger.md 2.11).

mod account;
mod link;
mod merge;
mod project;
mod user;

use crate::command::Command;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::ids::check_listed_name;
use crate::model::{Account, Constraint, Dimension, Mode};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::view::{Context, View};

pub(super) use account::unused;
pub(super) use merge::merge_user;

/// Decides a change of the reference data.
pub(super) fn decide(
    command: &Command,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let change = match command {
        Command::AddProject(add) => project::add(add, view, ctx)?,
        Command::SetProject(set) => project::set(set, ctx)?,
        Command::RemoveProject(name) => project::remove(name, view, ctx)?,
        Command::SetMember(set) => project::set_member(set, ctx)?,
        Command::RemoveMember(name, user) => project::remove_member(name, user, ctx)?,
        Command::AddUser(set) => user::add(set, ctx)?,
        Command::SetUser(set) => user::set(set, ctx)?,
        Command::RemoveUser(name) => user::remove(name, view, ctx)?,
        Command::AddAccount(set) => account::add(set, view, ctx)?,
        Command::SetAccount(set) => account::set(set, view, ctx)?,
        Command::RemoveAccount(name) => account::remove(name, view, ctx)?,
        _ => {
            return Err(Refusal::BadValue {
                field: "command",
                expected: "an administrative one",
            });
        }
    };
    let mut postings = Postings::new(view);
    let tx = postings.begin(command.op(), ctx.now);
    postings.remark(&change.detail);
    postings.directory = change.rows;
    if let Command::RemoveAccount(name) = command {
        let account = ctx.directory.account_named(name);
        postings.removals.extend(account.map(|a| (a.id, tx)));
    }
    Ok(postings.finish(change.outcome))
}

/// A change of the reference data, and its text in the journal.
struct Change {
    rows: Vec<DirectoryRow>,
    outcome: Outcome,
    detail: String,
}

/// An organisation is a name, or empty for none.
fn check_organization(name: &str) -> Result<(), Refusal> {
    if name.is_empty() {
        return Ok(());
    }
    Ok(check_listed_name(name)?)
}

/// A switch of modes for the journal: what it was, and what it is.
fn switched(old: Option<Mode>, new: Option<Mode>) -> String {
    let word = |mode: Option<Mode>| mode.map_or("default", Mode::word);
    format!("{}>{}", word(old), word(new))
}

/// Refuses to remove an object that open jobs name: their liens and charges would lose it.
pub(super) fn no_open_jobs(name: &str, view: &View) -> Result<(), Refusal> {
    if view.open_instances == 0 {
        return Ok(());
    }
    Err(Refusal::InUse {
        name: name.to_owned(),
        by: format!("{} open jobs", view.open_instances),
    })
}

/// A fallback must be an account that is there, and not the account itself. That no chain grows
/// longer than one is checked over all settings together ([`crate::rules`]).
fn check_fallback(owner: Option<&Account>, value: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let name = match (value.strip_prefix('+'), owner) {
        (Some(""), _) => {
            return Err(Refusal::BadValue {
                field: "fallback",
                expected: "an account or +suffix",
            });
        }
        (Some(_), None) => return Ok(()),
        (Some(suffix), Some(owner)) => format!("{}{suffix}", owner.name),
        (None, _) => value.to_owned(),
    };
    let unknown = || Refusal::not_found("account", &name);
    let target = ctx.directory.account_named(&name).ok_or_else(unknown)?;
    if owner.is_some_and(|o| o.id == target.id) {
        return Err(Refusal::FallbackChain { name });
    }
    Ok(())
}

/// The lists of the account that comes with a project: the project, its members, any machine.
fn project_lists(project: &str) -> Vec<Constraint> {
    let row = |dimension, value: &str| Constraint {
        dimension,
        value: value.to_owned(),
        allow: true,
        subtree: false,
    };
    vec![
        row(Dimension::Project, project),
        row(Dimension::User, "MEMBERS"),
    ]
}
