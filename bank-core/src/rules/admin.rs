//! Projects, users, machines, memberships and accounts: added, changed, removed. Each change is a
//! journal transaction without entries; nothing is physically removed (ledger.md 2.11).

mod account;
mod machine;
mod project;
mod user;

use crate::command::Command;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::model::{Account, Constraint, Dimension};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::view::{Context, View};

/// Decides a change of the reference data.
pub(super) fn decide(
    command: &Command,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let change = match command {
        Command::AddProject(add) => project::add(add, ctx)?,
        Command::SetProject(set) => project::set(set, ctx)?,
        Command::RemoveProject(name) => project::remove(name, view, ctx)?,
        Command::SetMember(set) => project::set_member(set, ctx)?,
        Command::RemoveMember(name, user) => project::remove_member(name, user, ctx)?,
        Command::AddUser(set) => user::add(set, ctx)?,
        Command::SetUser(set) => user::set(set, ctx)?,
        Command::RemoveUser(name) => user::remove(name, ctx)?,
        Command::AddMachine(set) => machine::add(set, ctx)?,
        Command::SetMachine(set) => machine::set(set, ctx)?,
        Command::RemoveMachine(name) => machine::remove(name, ctx)?,
        Command::AddAccount(set) => account::add(set, ctx)?,
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

/// A change of the reference data, and what the journal says of it.
struct Change {
    rows: Vec<DirectoryRow>,
    outcome: Outcome,
    detail: String,
}

/// A fallback must be an account that has no fallback of its own, and nobody's fallback may get
/// one: a chain is never longer than one (nami.md 5). A `+suffix` is tested for the account's own
/// name.
fn check_fallback(owner: Option<&Account>, value: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let directory = ctx.directory;
    let chain = |name: &str| Refusal::FallbackChain {
        name: name.to_owned(),
    };
    let name = match (value.strip_prefix('+'), owner) {
        (Some(""), _) | (None, None) if value.len() <= 1 && value.starts_with('+') => {
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
    let target = directory.account_named(&name).ok_or_else(unknown)?;
    if owner.is_some_and(|o| o.id == target.id) || target.fallback.is_some() {
        return Err(chain(&name));
    }
    let points_here = |a: &&Account| {
        let owner = owner.map(|o| o.id);
        owner.is_some() && directory.fallback_of(a, None).map(|f| f.id) == owner
    };
    match directory.accounts().find(points_here) {
        Some(account) => Err(chain(&account.name)),
        None => Ok(()),
    }
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
