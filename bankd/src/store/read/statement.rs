//! The statement of an account: what its active money was at the start of a period, what came and
//! went in it, and what it was at the end (ledger.md 7).
//!
//! Everything counts when it took effect, so that a statement does not depend on when somebody last
//! used the bank: a window that ended at midnight is in the statement of the day that began then.

use super::super::Error;
use super::money;
use super::past::walk;
use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::Phase;
use bank_core::time::{Timestamp, Window};
use rusqlite::Connection;

/// A statement: opening + credits + debits = closing, in minor units of active money.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// What the active allocations had when the period began.
    pub opening: i128,
    /// The sum of what came in.
    pub credits: i128,
    /// The sum of what went out; zero or below.
    pub debits: i128,
    /// What they had when it ended.
    pub closing: i128,
    /// What moved active money, by effective time and then by entry.
    pub lines: Vec<Line>,
}

/// One movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// When it counts.
    pub at: Timestamp,
    /// Its entry.
    pub entry: i64,
    /// Its transaction.
    pub tx: i64,
    /// What it is.
    pub kind: EntryKind,
    /// On which allocation.
    pub allocation: AllocationId,
    /// Its signed effect; never zero.
    pub active: i64,
}

/// The statement of an account over a period `[start, end)`; an unbounded side is the beginning of
/// the bank, or now.
pub fn statement(
    connection: &Connection,
    account: AccountId,
    period: &Window,
) -> Result<Statement, Error> {
    let mut statement = Statement::default();
    for allocation in money::allocations_of(connection, account)? {
        if allocation.phase == Phase::Active {
            statement.closing += i128::from(allocation.amount.0);
        }
        walk(connection, allocation.last_entry, |step| {
            let line = Line {
                at: step.effective,
                entry: step.entry,
                tx: step.tx,
                kind: step.kind,
                allocation: allocation.id,
                active: step.delta.active,
            };
            if period.is_over(line.at) {
                statement.closing -= i128::from(line.active);
            } else if period.contains(line.at) && line.active != 0 {
                statement.lines.push(line);
            }
            // Nothing takes effect after it was recorded.
            period.start.is_none_or(|start| step.recorded >= start)
        })?;
    }
    statement.lines.sort_unstable_by_key(|l| (l.at, l.entry));
    for line in &statement.lines {
        let active = i128::from(line.active);
        if active > 0 {
            statement.credits += active;
        } else {
            statement.debits += active;
        }
    }
    statement.opening = statement.closing - statement.credits - statement.debits;
    Ok(statement)
}

impl Statement {
    /// The sum of the lines of one kind.
    pub fn of(&self, kind: EntryKind) -> i128 {
        let own = self.lines.iter().filter(|line| line.kind == kind);
        own.map(|line| i128::from(line.active)).sum()
    }
}
