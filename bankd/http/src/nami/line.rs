//! The result of a command, as the line for the scheduler's script.
//!
//! These functions run inside the ledger's transaction, so that the answer is stored with it. A line
//! contains no balance except that of the paying account, and no secrets.

use bank_api::nami::Line;
use bank_core::directory::Directory;
use bank_core::effects::{Billing, Charged, Outcome, Quoted, Reserved};
use bank_core::ids::{AccountId, UNBILLED};
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use crate::answer::{credits, line_answer, plain, refused};

/// The answer to a quote: its cost, and its TID, if any.
pub fn quoted(decided: &Decided<'_>) -> Answer {
    line_answer(&of(decided, |outcome| match outcome {
        Outcome::Quoted(Quoted { cost, quote, .. }) => {
            let tid = quote.as_ref().map(|quote| quote.tid.clone());
            Some(Line::cost(plain(*cost, &decided.directory.bank), tid))
        }
        _ => None,
    }))
}

/// The answer to a create: its TID, if requested.
pub fn created(decided: &Decided<'_>) -> Answer {
    line_answer(&of(decided, |outcome| match outcome {
        Outcome::Created(created) => Some(match &created.tid {
            Some(tid) => Line::Tid(tid.clone()),
            None => Line::ok("created"),
        }),
        _ => None,
    }))
}

/// The answer to a modify.
pub fn modified(decided: &Decided<'_>) -> Answer {
    line_answer(&of(decided, |outcome| match outcome {
        Outcome::Modified(_) => Some(Line::ok("kept")),
        _ => None,
    }))
}

/// The answer to a reserve.
pub fn reserved(decided: &Decided<'_>) -> Answer {
    line_answer(&of(decided, |outcome| match outcome {
        Outcome::Reserved(reserved) => Some(lien(decided.directory, reserved)),
        _ => None,
    }))
}

/// The answer to a charge.
pub fn charged(decided: &Decided<'_>) -> Answer {
    line_answer(&of(decided, |outcome| match outcome {
        Outcome::Charged(charged) => Some(charge(decided.directory, charged)),
        _ => None,
    }))
}

/// The answer to a delete.
pub fn deleted(decided: &Decided<'_>) -> Answer {
    line_answer(&of(decided, |outcome| match outcome {
        Outcome::Closed(closed) if closed.released.is_zero() => Some(Line::ok("deleted")),
        Outcome::Closed(closed) => {
            let released = credits(closed.released, &decided.directory.bank);
            Some(Line::ok(format!("deleted, {released} released")))
        }
        _ => None,
    }))
}

fn of(decided: &Decided<'_>, accepted: impl FnOnce(&Outcome) -> Option<Line>) -> Line {
    match decided.decision {
        // Another kind of outcome than that of the command cannot come; it would be our bug.
        Ok(outcome) => accepted(outcome)
            .unwrap_or_else(|| Line::error("internal", "an answer of another kind")),
        Err(refusal) => refused(refusal, &decided.directory.bank),
    }
}

fn lien(directory: &Directory, reserved: &Reserved) -> Line {
    let held = credits(reserved.held, &directory.bank);
    if let Some(short) = reserved.fallback_from {
        let short = account(directory, Some(short));
        let holds = account(directory, reserved.accounts.first().copied());
        return Line::warning(
            "fallback",
            format!("{short} is short, lien {held} on {holds}"),
        );
    }
    if reserved.quote_invalid {
        return Line::warning("quote_invalid", format!("today's price holds, lien {held}"));
    }
    if reserved.absorbed {
        return Line::ok("start after the end, nothing held");
    }
    if let Some(refusal) = &reserved.would_refuse {
        let code = refusal.code();
        return Line::ok(format!("lien {held}, strict mode would refuse: {code}"));
    }
    if reserved.lien.is_none() {
        return Line::ok("nothing to hold");
    }
    if reserved.outlives_allocation {
        return Line::ok(format!("lien {held}, an allocation ends before it"));
    }
    Line::ok(format!("lien {held}"))
}

fn charge(directory: &Directory, charged: &Charged) -> Line {
    let bank = &directory.bank;
    let amount = credits(charged.amount, bank);
    match charged.billing {
        Billing::Refund | Billing::Unbilled => {
            let project = &charged.project;
            let why = match directory.any_project_named(project) {
                _ if project.is_empty() => "no project named".to_owned(),
                None => format!("no project \"{project}\""),
                Some(_) => format!("project \"{project}\" could not be billed"),
            };
            return Line::warning("unbilled", format!("{why}: {amount} kept in {UNBILLED}"));
        }
        Billing::Shadow => return Line::ok(format!("recorded {amount}")),
        Billing::Billed => {}
    }
    if let Some(source) = &charged.kept_for {
        let text = format!("not charged, {source} charges this use (bank machine set --source)");
        return Line::warning("kept", text);
    }
    let balance = plain(charged.balance, bank);
    let done = format!("charged {amount}, balance {balance}");
    if charged.repeats {
        let text = format!("{done}, this time is billed already: the document adds nothing");
        return Line::ok(text);
    }
    if charged.disputed.0 > 0 {
        let disputed = charged.disputed.0;
        let text = format!("{done}, {disputed} s are more than can have been used");
        return Line::warning("disputed", text);
    }
    if !charged.debt.is_zero() {
        let debt = plain(charged.debt, bank);
        let account = account(directory, charged.account);
        return Line::warning(
            "charge_debt",
            format!("{account}: {done}, {debt} not covered"),
        );
    }
    if charged.quote_invalid {
        return Line::warning("quote_invalid", format!("today's price holds, {done}"));
    }
    if charged.unpriced && charged.amount.is_zero() {
        return Line::warning("unpriced", format!("no rate matches this usage, {done}"));
    }
    if charged.late {
        return Line::ok(format!("{done}, after the close"));
    }
    Line::ok(done)
}

fn account(directory: &Directory, id: Option<AccountId>) -> &str {
    let account = id.and_then(|id| directory.account(id));
    account.map_or("the account", |account| account.name.as_str())
}

#[cfg(test)]
mod tests;
