//! An instant of the past, and the journal entries that count at it.

use super::super::super::{Error, numbers};
use bank_core::ids::TxId;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// A view of the bank: an instant, and the known part of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsOf(Instant);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instant {
    /// Entries effective at an instant as known today, or as known after a transaction.
    At(Timestamp, Option<TxId>),
    /// Entries recorded by an instant.
    Recorded(Timestamp),
    /// Entries recorded up to a transaction.
    After(TxId),
}

impl AsOf {
    /// Entries effective at an instant, whenever recorded: the view of `--at`.
    pub fn effective(at: Timestamp) -> AsOf {
        AsOf(Instant::At(at, None))
    }

    /// The same, as known after a transaction.
    pub fn known_by(at: Timestamp, tx: TxId) -> AsOf {
        AsOf(Instant::At(at, Some(tx)))
    }

    /// The state known at an instant: without later recordings.
    pub fn recorded(at: Timestamp) -> AsOf {
        AsOf(Instant::Recorded(at))
    }

    /// The bank as a transaction left it, at the instant at which it was recorded.
    pub fn after(tx: TxId) -> AsOf {
        AsOf(Instant::After(tx))
    }
}

impl From<Timestamp> for AsOf {
    fn from(at: Timestamp) -> AsOf {
        AsOf::effective(at)
    }
}

/// The part of the journal that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The instant.
    pub(super) at: Timestamp,
    /// All transactions up to this number count.
    pub(super) whole: i64,
    /// Of later transactions up to this number, the entries effective by the instant.
    pub(super) known: i64,
}

impl Cut {
    pub(super) fn new(connection: &Connection, as_of: AsOf) -> Result<Cut, Error> {
        let sql = "SELECT coalesce(max(id), 0) FROM tx";
        let newest: i64 = connection.query_row(sql, [], |r| r.get(0))?;
        Ok(match as_of.0 {
            Instant::At(at, known) => {
                let known = known.map_or(newest, |tx| tx.0.min(newest));
                let whole = recorded_by(connection, at)?.min(known);
                Cut { at, whole, known }
            }
            Instant::Recorded(at) => {
                let whole = recorded_by(connection, at)?;
                let known = whole;
                Cut { at, whole, known }
            }
            Instant::After(tx) => {
                let whole = tx.0.min(newest);
                let sql = "SELECT at_recorded FROM tx WHERE id = ?1";
                let at = connection.query_row(sql, [whole], |r| r.get(0));
                let at = Timestamp(at.optional()?.unwrap_or(i64::MIN));
                let known = whole;
                Cut { at, whole, known }
            }
        })
    }

    /// Whether a step counts.
    pub(super) fn counts(&self, tx: i64, effective: Timestamp) -> bool {
        tx <= self.whole || (tx <= self.known && effective <= self.at)
    }

    /// Whether all that was recorded later is left out.
    pub(super) fn is_clean(&self) -> bool {
        self.whole >= self.known
    }
}

/// The last transaction that was recorded by an instant; 0 if there is none.
fn recorded_by(connection: &Connection, at: Timestamp) -> Result<i64, Error> {
    let next = Timestamp(at.0.saturating_add(1));
    Ok(numbers::first_recorded_from(connection, next)?.saturating_sub(1))
}
