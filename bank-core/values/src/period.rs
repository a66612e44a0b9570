//! Closed periods: their statements stay unchanged (ledger.md 7, decision note 0054).
//!
//! A close covers everything before its end. A later transaction that counts before that end is a correction:
//! it keeps its own date, and is booked when the open period began. So the figures of a closed period depend
//! on no transaction after its close.

use crate::ids::{AccountId, TxId};
use crate::time::Timestamp;

/// A close in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedPeriod {
    /// The transaction that closed it.
    pub tx: TxId,
    /// Where it begins: the end of the close before; none where the first close named no start.
    pub start: Option<Timestamp>,
    /// Where it ends, exclusive: everything before is closed.
    pub end: Timestamp,
}

/// The totals of an account when a period ended: sums over the allocations that were active then, in minor
/// units; and its projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodTotal {
    /// Which.
    pub account: AccountId,
    /// The rest; may be negative.
    pub amount: i64,
    /// The amount that open liens held.
    pub held: i64,
    /// The limit below zero for liens and withdrawals.
    pub credit_limit: i64,
    /// The number of liens that held it.
    pub liens: i64,
    /// The only project that could spend it, below those above it, from the top down; none for several
    /// projects and for none. The project may change later, but the statement stays.
    pub projects: Vec<String>,
}

/// A close as its transaction has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodClose {
    /// See [`ClosedPeriod::start`].
    pub start: Option<Timestamp>,
    /// See [`ClosedPeriod::end`].
    pub end: Timestamp,
    /// The totals of all accounts, by their numbers.
    pub totals: Vec<PeriodTotal>,
}

/// The closes in force, the oldest first: each ends after the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closes(Vec<ClosedPeriod>);

impl Closes {
    /// Of closes in the order of their transactions.
    pub fn new(standing: Vec<ClosedPeriod>) -> Closes {
        Closes(standing)
    }

    /// All of them.
    pub fn all(&self) -> &[ClosedPeriod] {
        &self.0
    }

    /// The newest.
    pub fn last(&self) -> Option<&ClosedPeriod> {
        self.0.last()
    }

    /// When a transaction is in the books: when it counts; or, where that was closed when it was
    /// written, the end of what was closed then.
    pub fn booked(&self, tx: TxId, at_effective: Timestamp) -> Timestamp {
        let before = self.0.partition_point(|close| close.tx < tx);
        let known = before.checked_sub(1).and_then(|at| self.0.get(at));
        known.map_or(at_effective, |close| at_effective.max(close.end))
    }

    /// The close after which nothing before an instant changes any more.
    pub fn covering(&self, end: Timestamp) -> Option<&ClosedPeriod> {
        let at = self.0.partition_point(|close| close.end < end);
        self.0.get(at)
    }

    /// The close that ends at an instant, if one does.
    pub fn ending_at(&self, at: Timestamp) -> Option<&ClosedPeriod> {
        self.covering(at).filter(|close| close.end == at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(tx: i64, end: i64) -> ClosedPeriod {
        ClosedPeriod {
            tx: TxId(tx),
            start: None,
            end: Timestamp(end),
        }
    }

    #[test]
    fn what_comes_late_is_booked_when_the_open_period_began() {
        let closes = Closes::new(vec![close(10, 100), close(20, 200)]);
        for (tx, effective, booked) in [
            (9, 50, 50),    // before any close
            (11, 50, 100),  // late for the first
            (11, 100, 100), // in the open period
            (11, 150, 150),
            (20, 150, 150), // the close itself
            (21, 50, 200),  // late for both
            (21, 250, 250),
        ] {
            let got = closes.booked(TxId(tx), Timestamp(effective));
            assert_eq!(got, Timestamp(booked), "{tx} {effective}");
        }
        assert_eq!(closes.covering(Timestamp(99)).map(|c| c.tx.0), Some(10));
        assert_eq!(closes.covering(Timestamp(100)).map(|c| c.tx.0), Some(10));
        assert_eq!(closes.covering(Timestamp(101)).map(|c| c.tx.0), Some(20));
        assert_eq!(closes.covering(Timestamp(201)), None);
        assert_eq!(closes.ending_at(Timestamp(200)).map(|c| c.tx.0), Some(20));
        assert_eq!(closes.ending_at(Timestamp(199)), None);
        assert_eq!(
            Closes::default().booked(TxId(1), Timestamp(5)),
            Timestamp(5)
        );
    }
}
