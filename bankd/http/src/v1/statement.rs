//! Statements: opening, credits, debits and closing of accounts, and charges of users and machines
//! (ledger.md 7, decision note 0055).
//!
//! A statement is read in several questions, each bounded: the journal only grows, so that they are
//! of the same state. That balances and movements agree is checked for each account at every call.

mod of;
mod shaped;

use std::collections::BTreeSet;

use bank_api::v1::{List, StatementLine, StatementLineQuery, StatementQuery};
use bank_core::ids::AccountId;
use bank_core::refusal::Refusal;
use bank_core::time::{Timestamp, Window};
use bankd_store as store;
use bankd_store::read::burn::{self, Burn};
use bankd_store::read::statement::{self, Frame, Movement, Position, Reading, Sums, Whose};

use self::of::StatementRequest;
use super::call::{Call, Handled, ok};
use super::view::Lookup as _;
use super::view::View;
use super::{balance, json, pages};
use crate::error::Failure;
use rusqlite::Connection;

/// Instants at which a statement gives the amounts.
const SAMPLES_MAX: u32 = 100;
/// `GET /api/v1/statements`
pub(super) async fn show(call: Call) -> Handled {
    let query: StatementQuery = call.query()?;
    let request = StatementRequest::read(&call, &query)?;
    let now = call.now();
    let (of, period, known) = (request.subject.clone(), request.period, request.known);
    let view = call.view.clone();
    let samples = query.samples.unwrap_or(0);
    if samples > SAMPLES_MAX {
        let refusal = Refusal::bad_value("samples", "a number from 1 to 100");
        return Err(call.refused(&refusal));
    }
    let first = move |connection: &_| {
        let accounts = of.accounts(connection, &view, &period)?;
        let frame = statement::frame(connection, &accounts, &period, now, known)?;
        let end = frame.period.end.unwrap_or(now);
        let burn = burn::before(connection, &accounts, end)?;
        let samples = statement::samples(connection, &accounts, &frame, samples)?;
        let empty_at = empty_at(connection, &accounts, &burn, (end, now))?;
        Ok((accounts, frame, burn, empty_at, samples))
    };
    let (accounts, frame, burn, empty_at, samples) = call.ask(first).await?;
    request.check(&accounts)?;
    let sums = added_up(&call, &request, &accounts, &frame).await?;
    if request.subject.is_unknown() && sums.entries == 0 {
        return Err(call
            .view
            .unknown(request.subject.kind(), request.subject.name()));
    }
    agree(&call, &frame, &sums, &accounts).await?;
    ok(&shaped::statement(
        &call,
        &request,
        &StatementData {
            accounts,
            frame,
            sums,
            burn,
            empty_at,
            samples,
        },
    ))
}

/// The data of a statement.
struct StatementData {
    accounts: BTreeSet<AccountId>,
    frame: Frame,
    sums: Sums,
    burn: Burn,
    /// When the last of the accounts has nothing left, by the forecast.
    empty_at: Option<Timestamp>,
    samples: Vec<(Timestamp, Reading)>,
}

/// When the last of the accounts has nothing left, as `report forecast` computes it. None for a period that is over.
fn empty_at(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    burn: &Burn,
    (end, now): (Timestamp, Timestamp),
) -> Result<Option<Timestamp>, store::Error> {
    let mut last = None;
    for id in accounts.iter().filter(|_| end >= now) {
        match balance::future_of(connection, *id, burn, now)?.empty_at {
            Some(at) => last = last.max(Some(at)),
            None => return Ok(None),
        }
    }
    Ok(last.filter(|at| *at > now))
}

/// Reads the movements in bounded queries.
async fn added_up(
    call: &Call,
    request: &StatementRequest,
    accounts: &BTreeSet<AccountId>,
    frame: &Frame,
) -> Result<Sums, Failure> {
    let whose = request.subject.whose(accounts);
    let mut sums = Sums::default();
    let mut next = Some(frame.first);
    while let Some(from) = next {
        let (whose, frame, view) = (whose.clone(), frame.clone(), call.view.clone());
        let question = move |connection: &_| {
            let mut sums = sums;
            let is_of_use = !matches!(whose, Whose::Accounts(_));
            let next = statement::scan(connection, &frame, &whose, from, |movement| {
                let is_seen = sees(&view, movement);
                if !is_of_use {
                    sums.take(&frame, movement, is_seen || movement.user.is_empty());
                } else if is_seen {
                    sums.take_use(&frame, movement);
                }
                true
            })?;
            Ok((sums, next))
        };
        (sums, next) = call.services.readers.run(question).await?;
    }
    Ok(sums)
}

/// Checks that the movements of each account lead from its opening to its closing. If not, the answer is an
/// error with the faulty transaction.
async fn agree(
    call: &Call,
    frame: &Frame,
    sums: &Sums,
    accounts: &BTreeSet<AccountId>,
) -> Result<(), Failure> {
    let Some((account, led)) = sums.differing(frame, accounts).next() else {
        return Ok(());
    };
    let closing = sums.closing(frame, account).amount;
    let frame = frame.clone();
    let found = call
        .ask(move |connection| statement::offender(connection, &frame, account))
        .await?;
    let directory = call.directory();
    let bank = &directory.bank;
    let name = directory.account(account).map_or("", |a| a.name.as_str());
    let (led, closing) = (json::sum(led, bank), json::sum(closing, bank));
    let mut detail = format!(
        "account {name:?}: the movements lead to {led}, its balance at the end is {closing}"
    );
    if let Some(found) = found {
        let on = found.allocation.map(|id| format!("allocation {}: ", id.0));
        let on = on.unwrap_or_default();
        detail = format!("{detail}; transaction {}: {on}{}", found.tx, found.what);
    }
    tracing::error!(%detail, "a statement does not add up");
    Err(Failure::new("statement_differs", detail)
        .hint("`bankd verify` compares the whole bank with its journal"))
}

/// `GET /api/v1/statements/entries`: the lines, in order of time.
pub(super) async fn lines(call: Call) -> Handled {
    let query: StatementLineQuery = call.query()?;
    let limit = pages::limit(query.limit, pages::USUAL_OF_LONG).map_err(|r| call.refused(&r))?;
    let after = query.after.as_deref().map(place).transpose();
    let after = after.map_err(|()| call.refused(&pages::bad_cursor()))?;
    let (after, before) = match after {
        Some((after, before)) => (Some(after), before),
        None => (None, Some(0)),
    };
    let upto = query.transaction;
    let request = StatementRequest::read(&call, &of::summary(query))?;
    let now = call.now();
    let (subject, period, known) = (request.subject.clone(), request.period, request.known);
    let view = call.view.clone();
    let question = move |connection: &_| {
        let accounts = subject.accounts(connection, &view, &period)?;
        let whose = subject.whose(&accounts);
        let frame = statement::frame_of_lines(connection, &period, now, known, upto)?;
        let from = after.unwrap_or_else(|| Position::first(&frame));
        let mut found: Vec<(Movement, Option<statement::Object>)> = Vec::new();
        let mut failed = None;
        let mut is_full = false;
        let next = statement::by_time(connection, &frame, &whose, from, |movement| {
            if is_line(&view, &frame, &whose, movement) {
                // The first line of the next page shows that there is one.
                if found.len() >= limit {
                    is_full = true;
                    return false;
                }
                match statement::object(connection, movement) {
                    Ok(object) => found.push((movement.clone(), object)),
                    Err(error) => failed = Some(error),
                }
            }
            failed.is_none()
        })?;
        let next = next.map(|next| if is_full { next.again() } else { next });
        match failed {
            Some(error) => Err(error),
            None => Ok((accounts, found, next)),
        }
    };
    let (accounts, found, next) = call.ask(question).await?;
    request.check(&accounts)?;
    let of_use = !request.subject.has_balances();
    let mut running = before;
    let line = |(movement, object): &(Movement, Option<statement::Object>)| {
        let moved = shaped::moved(movement, of_use);
        running = running.map(|sum: i128| sum.saturating_add(moved.into()));
        let sum = running.map(|sum| json::sum(sum, &call.directory().bank));
        StatementLine {
            running: sum,
            ..shaped::line(&call, movement, object.as_ref(), of_use)
        }
    };
    let items: Vec<StatementLine> = found.iter().map(line).collect();
    ok(&List {
        items,
        next: next.map(|next| match running {
            Some(running) => format!("{next}~{running}"),
            None => next.to_string(),
        }),
    })
}

/// A cursor: the place behind a line, and the sum of the lines up to it.
fn place(text: &str) -> Result<(Position, Option<i128>), ()> {
    let Some((place, sum)) = text.split_once('~') else {
        return Ok((text.parse()?, None));
    };
    Ok((place.parse()?, Some(sum.parse().map_err(|_| ())?)))
}

/// Whether the owner of a movement is visible. A plain member sees the movements of others, but not their
/// names.
fn sees(view: &View, movement: &Movement) -> bool {
    view.sees_work(&movement.project, &movement.user, &movement.machine)
}

/// Whether a movement is a line of the statement.
fn is_line(view: &View, frame: &Frame, whose: &Whose, movement: &Movement) -> bool {
    let moved = match whose {
        Whose::Accounts(_) => movement.active != 0,
        _ => movement.amount != 0 && sees(view, movement),
    };
    moved && movement.tx <= frame.upto && frame.period.contains(movement.booked)
}

/// A period in a query.
fn period(from: Option<&str>, until: Option<&str>) -> Result<Window, Refusal> {
    let bound = |text: Option<&str>, field, unbounded| match text {
        Some(text) => json::read_bound(text, field, unbounded),
        None => Ok(None),
    };
    let window: Window = Window {
        start: bound(from, "from", "-infinity")?,
        end: bound(until, "until", "infinity")?,
    };
    if window.is_proper() {
        return Ok(window);
    }
    Err(Refusal::BadWindow)
}
