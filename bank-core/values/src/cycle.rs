//! Cycles: money that comes again each month, quarter or year (ledger.md 10, idea 9).

use crate::amount::Amount;
use crate::ids::{AccountId, AllocationId, CycleId, TxId};
use crate::months::plus_months;
use crate::time::{Timestamp, Window};

/// The interval of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Each calendar month.
    Month,
    /// Every three months.
    Quarter,
    /// Each year.
    Year,
}

/// Every period with its word.
const PERIODS: [(Every, &str, i64); 3] = [
    (Every::Month, "month", 1),
    (Every::Quarter, "quarter", 3),
    (Every::Year, "year", 12),
];

impl Every {
    /// Its word.
    pub fn word(self) -> &'static str {
        PERIODS
            .iter()
            .find(|(every, ..)| *every == self)
            .map_or("month", |(_, word, _)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Every> {
        PERIODS
            .iter()
            .find(|(_, w, _)| *w == word)
            .map(|(every, ..)| *every)
    }

    /// Calendar months.
    pub fn months(self) -> i64 {
        PERIODS
            .iter()
            .find(|(every, ..)| *every == self)
            .map_or(1, |(.., months)| *months)
    }
}

/// A cycle. Its boundaries are `start` and the same day and time of day in UTC each period later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its number.
    pub id: CycleId,
    /// Its name, unique.
    pub name: String,
    /// Which account gets the money.
    pub account: AccountId,
    /// The interval.
    pub every: Every,
    /// The amount of each period's allocation; above zero.
    pub amount: Amount,
    /// Per cent of what is free on the allocation of the period before that go over, 0 to 100.
    pub rollover: i64,
    /// The boundary that all others are counted from.
    pub start: Timestamp,
    /// Which boundary is the next, counted from 0 at `start`.
    pub number: i64,
    /// The allocation that was made last; none before the first boundary and after a pause.
    pub last: Option<AllocationId>,
    /// Switched on.
    pub active: bool,
    /// Removed.
    pub deleted: bool,
    /// Free text.
    pub note: String,
}

impl Cycle {
    /// The next boundary.
    pub fn next_at(&self) -> Timestamp {
        self.boundary(self.number)
    }

    /// The next boundary for the journal; none while the cycle is switched off.
    pub fn due(&self) -> Option<Timestamp> {
        (self.active && !self.deleted).then(|| self.next_at())
    }

    /// The period that begins at the next boundary.
    pub fn period(&self) -> Window {
        Window {
            start: Some(self.next_at()),
            end: Some(self.boundary(self.number.saturating_add(1))),
        }
    }

    /// Leaves boundaries out that have passed while it was switched off.
    pub fn skip_to(&mut self, now: Timestamp) {
        while self.next_at() <= now {
            self.number = self.number.saturating_add(1);
            self.last = None;
        }
    }

    fn boundary(&self, number: i64) -> Timestamp {
        plus_months(self.start, number.saturating_mul(self.every.months()))
    }
}

/// The result of a cycle at a boundary, done or planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleRun {
    /// The cycle afterwards.
    pub cycle: Cycle,
    /// The transaction.
    pub tx: TxId,
    /// The new allocation.
    pub allocation: AllocationId,
    /// Its window.
    pub period: Window,
    /// The amount carried over from the period before.
    pub rollover: Amount,
}
