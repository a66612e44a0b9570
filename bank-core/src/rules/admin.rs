//! Memberships and accounts: added, changed, removed. Each change is a
//! journal transaction without entries; nothing is physically removed (ledger.md 2.11).

mod account;
mod link;
mod member;

use crate::command::Command;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::model::Account;
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::view::{Context, View};

pub(super) use account::{number as account_number, unused};

/// Decides a change of the reference data.
pub(super) fn decide(
    command: &Command,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let change = match command {
        Command::SetMember(set) => member::set(set, ctx)?,
        Command::RemoveMember(name, user) => member::remove(name, user, ctx)?,
        Command::AddAccount(set) => account::add(set, view, ctx)?,
        Command::SetAccount(set) => account::set(set, view, ctx)?,
        Command::RemoveAccount(name) => account::remove(name, view, ctx)?,
        _ => {
            return Err(Refusal::bad_value("command", "an administrative one"));
        }
    };
    let mut postings = Postings::new(view);
    if change.rows.iter().all(|row| is_there(row, ctx)) {
        // A change that changes nothing makes no transaction.
        return Ok(postings.finish(change.outcome));
    }
    let tx = postings.begin(command.op(), ctx.now);
    postings.remark(&change.detail);
    postings.directory = change.rows;
    if let Command::RemoveAccount(name) = command {
        let account = ctx.directory.account_named(name);
        postings.removals.extend(account.map(|a| (a.id, tx)));
    }
    Ok(postings.finish(change.outcome))
}

/// Whether a row is in the directory as it is.
fn is_there(row: &DirectoryRow, ctx: &Context<'_>) -> bool {
    match row {
        DirectoryRow::Member(own) => {
            let known = ctx.directory.membership(own.project, own.user);
            known.is_some_and(|known| known == *own)
        }
        DirectoryRow::Account(own) => ctx.directory.account(own.id) == Some(own),
        _ => false,
    }
}

/// A change of the reference data, and its text in the journal.
struct Change {
    rows: Vec<DirectoryRow>,
    outcome: Outcome,
    detail: String,
}

/// Refuses to remove an object that open jobs name: their liens and charges would lose it.
pub(super) fn no_open_jobs(name: &str, view: &View) -> Result<(), Refusal> {
    if view.open_instances == 0 {
        return Ok(());
    }
    Err(Refusal::in_use(
        name,
        format!("{} open jobs", view.open_instances),
    ))
}

/// A fallback must be an account that is there, and not the account itself. That no chain grows
/// longer than one is checked over all settings together ([`crate::rules`]).
fn check_fallback(owner: Option<&Account>, value: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let name = match (value.strip_prefix('+'), owner) {
        (Some(""), _) => {
            return Err(Refusal::bad_value("fallback", "an account or +suffix"));
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
