//! Statements: the active money at the start of a period, its movements, and the money at the end
//! (ledger.md 7, decision note 0055).
//!
//! The two ends are read from balances, the movements between them from the journal; every run
//! compares them for each account. A statement covers the journal up to one transaction, so that
//! its parts can be read in several questions: the journal only grows. For a closed period that
//! transaction is its close, so that later entries do not change it.
//!
//! [`frame`] is the first question; [`scan`] goes through the movements, a bounded number at a time;
//! [`by_time`] lists them in order of time; [`Sums`] adds them up; [`offender`] looks for what does
//! not add up.

mod by_time;
mod differs;
mod scan;
mod sums;

pub use by_time::{Position, by_time};
pub use differs::{Differs, offender};
pub use scan::{Movement, Object, Whose, object, scan};
pub use sums::{Group, Heading, Moved, Part, Side, Sums};

use super::super::Error;
use super::past::{self, AsOf};
use super::{closes, money, statement_ends};
use crate::numbers::{first_entry_of, first_recorded_from, last_entry, last_transaction};
use bank_core::ids::{AccountId, TxId};
use bank_core::period::{ClosedPeriod, Closes};
use bank_core::time::{Timestamp, Window};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// The money of one account at one end of a period, in minor units: over the allocations active
/// then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The remaining amount.
    pub amount: i128,
    /// Held by liens.
    pub held: i128,
    /// How far below zero it could go.
    pub credit_limit: i128,
    /// How many liens held it.
    pub liens: i64,
}

/// The readings of all accounts at one end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// By account.
    pub of: BTreeMap<AccountId, Reading>,
    /// They are from a close: without later entries.
    pub is_kept: bool,
}

/// The scope of a statement: fixed by its first question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The period: start inclusive, end exclusive and never after now.
    pub period: Window,
    /// The valid closes.
    pub closes: Closes,
    /// The close that covers the period, where one does.
    pub closed: Option<ClosedPeriod>,
    /// The last transaction that counts.
    pub upto: i64,
    /// The first transaction that can be about the period.
    pub first_tx: i64,
    /// The first entry to look at.
    pub first: i64,
    /// The last entry to look at.
    pub last: i64,
    /// Readings at the start of the period.
    pub opening: Readings,
    /// Readings at its end.
    pub closing: Readings,
}

/// Reads both ends of a statement of these accounts; none for a statement of uses only. `now` is
/// the ledger's clock: later entries are left out. With `known` only entries and closes recorded up
/// to then count.
pub fn frame(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    period: &Window,
    now: Timestamp,
    known: Option<Timestamp>,
) -> Result<Frame, Error> {
    let newest = match known {
        None => last_transaction(connection)?,
        Some(at) => {
            first_recorded_from(connection, Timestamp(at.0.saturating_add(1)))?.saturating_sub(1)
        }
    };
    let closes = closes::standing_by(connection, TxId(newest))?;
    let after_now = Timestamp(now.0.saturating_add(1));
    let wanted = period.end.unwrap_or(after_now);
    let covering = closes.covering(wanted).copied();
    let end = if covering.is_some() {
        wanted
    } else {
        wanted.min(after_now)
    };
    let by = known.map_or(TxId(i64::MAX), |_| TxId(newest));
    let by = covering.map_or(by, |close| close.tx);
    // A future period is empty.
    let start = period.start.map(|start| start.min(end));
    let opening = match start {
        None => Readings {
            is_kept: true,
            ..Readings::default()
        },
        Some(start) => readings(connection, accounts, &closes, start, by)?,
    };
    let closing = readings(connection, accounts, &closes, end, by)?;
    let upto = by.0.min(newest);
    let last = last_entry(connection)?;
    let from = match start {
        None => 1,
        Some(start) => first_recorded_from(connection, start)?,
    };
    Ok(Frame {
        period: Window {
            start,
            end: Some(end),
        },
        first_tx: from,
        first: first_entry_of(connection, from, last)?,
        last: if covering.is_some() || known.is_some() {
            first_entry_of(connection, upto.saturating_add(1), last)?.saturating_sub(1)
        } else {
            last
        },
        closes,
        closed: covering,
        upto,
        opening,
        closing,
    })
}

/// The frame for lines only: without balances. `upto` is the last transaction that counts, if an
/// earlier statement fixed it.
///
/// # Errors
/// If the store cannot be read.
pub fn frame_of_lines(
    connection: &Connection,
    period: &Window,
    now: Timestamp,
    known: Option<Timestamp>,
    upto: Option<i64>,
) -> Result<Frame, Error> {
    let mut frame = frame(connection, &BTreeSet::new(), period, now, known)?;
    let Some(upto) = upto.filter(|upto| *upto < frame.upto) else {
        return Ok(frame);
    };
    frame.upto = upto.max(0);
    let after = first_entry_of(connection, frame.upto.saturating_add(1), frame.last)?;
    frame.last = after.saturating_sub(1);
    Ok(frame)
}

/// The money of accounts at so many instants of a period with a start, evenly spaced from it on.
///
/// # Errors
/// If the store cannot be read.
pub fn samples(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    frame: &Frame,
    count: u32,
) -> Result<Vec<(Timestamp, Reading)>, Error> {
    let (Some(start), Some(end)) = (frame.period.start, frame.period.end) else {
        return Ok(Vec::new());
    };
    let length = end.0.saturating_sub(start.0);
    let Some(step) = length
        .checked_div(count.into())
        .filter(|_| !accounts.is_empty())
    else {
        return Ok(Vec::new());
    };
    let at = |n: i64| Timestamp(start.0.saturating_add(step.saturating_mul(n)));
    let mut found = Vec::new();
    for at in (0..count.into()).map(at) {
        let of = readings(connection, accounts, &frame.closes, at, TxId(frame.upto))?.of;
        let mut sum = Reading::default();
        for own in of.values() {
            sum.amount = sum.amount.saturating_add(own.amount);
            sum.held = sum.held.saturating_add(own.held);
        }
        found.push((at, sum));
    }
    Ok(found)
}

/// The money of accounts just before an instant: from a close, or from balances as known after a
/// transaction.
fn readings(
    connection: &Connection,
    accounts: &BTreeSet<AccountId>,
    closes: &Closes,
    at: Timestamp,
    known: TxId,
) -> Result<Readings, Error> {
    let mut of: BTreeMap<AccountId, Reading> = BTreeMap::new();
    let close = closes.ending_at(at);
    if accounts.is_empty() {
        let is_kept = close.is_some();
        return Ok(Readings { of, is_kept });
    }
    if let Some(close) = close {
        let totals = closes::totals(connection, close.tx)?.into_iter();
        for total in totals.filter(|total| accounts.contains(&total.account)) {
            let reading = Reading {
                amount: total.amount.into(),
                held: total.held.into(),
                credit_limit: total.credit_limit.into(),
                liens: total.liens,
            };
            of.insert(total.account, reading);
        }
        return Ok(Readings { of, is_kept: true });
    }
    let last = Timestamp(at.0.saturating_sub(1));
    let ids: Vec<AccountId> = accounts.iter().copied().collect();
    for (account, figures) in ids.iter().zip(past::figures(
        connection,
        &ids,
        AsOf::known_by(last, known),
    )?) {
        let own = money::allocations_of(connection, *account)?;
        let booked = |tx: i64, effective| closes.booked(TxId(tx), effective);
        let beside = statement_ends::at(connection, &own, last, known, booked)?;
        let reading = Reading {
            amount: figures.amount.saturating_add(beside.ahead),
            held: figures.held,
            credit_limit: figures.credit_limit,
            liens: beside.liens,
        };
        of.insert(*account, reading);
    }
    Ok(Readings { of, is_kept: false })
}

/// A statement of one piece, with every movement in order of time: for tests and for accounts with few of them.
///
/// # Errors
/// If the store cannot be read.
pub fn whole(
    connection: &Connection,
    account: AccountId,
    period: &Window,
    now: Timestamp,
) -> Result<(Frame, Sums, Vec<Movement>), Error> {
    let accounts = BTreeSet::from([account]);
    let frame = frame(connection, &accounts, period, now, None)?;
    let (mut sums, mut lines) = (Sums::default(), Vec::new());
    let whose = Whose::Accounts(accounts);
    let mut next = Some(frame.first);
    while let Some(from) = next {
        next = scan(connection, &frame, &whose, from, |movement| {
            sums.take(&frame, movement, true);
            true
        })?;
    }
    let mut next = Some(Position::first(&frame));
    while let Some(from) = next {
        next = by_time(connection, &frame, &whose, from, |movement| {
            if frame.period.contains(movement.booked) && movement.active != 0 {
                lines.push(movement.clone());
            }
            true
        })?;
    }
    Ok((frame, sums, lines))
}
