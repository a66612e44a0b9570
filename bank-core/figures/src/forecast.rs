//! Forecast at the recent speed: when the money of an account ends, and which part of it expires unused.
//!
//! Spending uses the allocation that ends first, as charges do by default (ledger.md 2.6). Everything is
//! exact: a speed is an amount over a time, never a rounded rate. The rule is that of the ledger: amounts
//! held by liens count as spent, and each allocation counts separately. A debt on one takes nothing from
//! another: liens and charges can use the other in full, and its end removes the rest of it. A debt uses
//! credit.

use bank_core::ids::AllocationId;
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;

/// One day in microseconds.
pub const DAY_US: i64 = 86_400_000_000;

/// The speed at which an account was spent: minor units in a number of microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Charged less refunded; below zero counts as nothing.
    pub charged: i128,
    /// The time of the measurement, µs; less than a day gives no forecast.
    pub span_us: i64,
}

impl Speed {
    /// Whether it is usable: it was measured over a day or more.
    pub fn is_known(self) -> bool {
        self.span_us >= DAY_US
    }

    /// Minor units that are spent in a time, rounded down.
    pub fn in_time(self, us: i64) -> i128 {
        if !self.is_known() || self.charged <= 0 || us <= 0 {
            return 0;
        }
        let spent = self.charged.saturating_mul(i128::from(us));
        spent.checked_div(i128::from(self.span_us)).unwrap_or(0)
    }

    /// The first instant at which so much has been spent since another; none where it never is, or
    /// beyond all time.
    pub fn spent_at(self, amount: i128, since: Timestamp) -> Option<Timestamp> {
        if !self.is_known() || self.charged <= 0 {
            return None;
        }
        let time = amount.max(0).checked_mul(i128::from(self.span_us))?;
        // Rounded up: at that instant all of it is gone.
        let whole = time.checked_div(self.charged)?;
        let rest = time.checked_rem(self.charged)?;
        let us = whole.checked_add(i128::from(rest > 0))?;
        since.0.checked_add(i64::try_from(us).ok()?).map(Timestamp)
    }
}

/// The forecast of one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Which.
    pub allocation: AllocationId,
    /// Its end.
    pub end: Timestamp,
    /// The rest now, minor units.
    pub left: i128,
    /// The part of that rest which remains at its end.
    pub unused: i128,
}

/// The forecast of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// The first instant at which nothing is there to spend: what had begun is spent or has ended. None
    /// where that is not in sight.
    pub empty_at: Option<Timestamp>,
    /// When money that is known of begins after that.
    pub again_at: Option<Timestamp>,
    /// Whether it is spent then, and not merely ended.
    pub is_spent: bool,
    /// Allocations with money and an end ahead, the first to end first.
    pub ends: Vec<Unused>,
}

impl Forecast {
    /// The first end at which something is left over.
    pub fn first_unused(&self) -> Option<&Unused> {
        self.ends.iter().find(|end| end.unused > 0)
    }
}

/// A stretch of money: from when to when, how much there was and how much is left.
struct Purse {
    id: AllocationId,
    start: Timestamp,
    end: Option<Timestamp>,
    was: i128,
    left: i128,
}

impl Purse {
    fn of(allocation: &Allocation, now: Timestamp) -> Purse {
        let start = allocation.window.start;
        Purse {
            id: allocation.id,
            start: start.map_or(now, |start| start.max(now)),
            end: allocation.window.end,
            was: allocation.amount.0.into(),
            left: free(allocation).max(0),
        }
    }
}

/// Amount − held.
fn free(allocation: &Allocation) -> i128 {
    i128::from(allocation.amount.0).saturating_sub(allocation.held.0.into())
}

/// Follows an account's allocations from now on at a steady speed. Those that have ended play no
/// part. `credit` is what may be spent below zero, beyond all of them.
pub fn forecast<'a>(
    allocations: impl IntoIterator<Item = &'a Allocation>,
    speed: Speed,
    credit: i128,
    now: Timestamp,
) -> Forecast {
    let (mut purses, mut debt) = (Vec::new(), 0_i128);
    for allocation in allocations {
        if allocation.phase == Phase::Expired || allocation.window.is_over(now) {
            continue;
        }
        if allocation.window.contains(now) {
            debt = debt.saturating_sub(free(allocation).min(0));
        }
        if allocation.amount.0 > 0 {
            purses.push(Purse::of(allocation, now));
        }
    }
    // Those without an end last.
    purses.sort_by_key(|purse| (purse.end.is_none(), purse.end, purse.start, purse.id));
    let credit = credit.saturating_sub(debt).max(0);
    let mut found = Forecast::default();
    let mut at = now;
    // Each turn a purse is used up, begins or ends.
    for _ in 0..purses.len().saturating_mul(3).saturating_add(2) {
        end_purses(&mut purses, at, &mut found);
        let next_start = purses.iter().map(|p| p.start).filter(|s| *s > at).min();
        let next_end = purses.iter().filter_map(|p| p.end).min();
        let next = next_start.into_iter().chain(next_end).min();
        let open = purses.iter_mut().find(|p| p.start <= at && p.left > 0);
        let Some(open) = open else {
            if found.empty_at.is_none() {
                let again = again(&purses, at);
                found.run_dry(speed, credit, at, again);
            }
            match next {
                Some(next) => at = next,
                None => break,
            }
            continue;
        };
        let gone = speed.spent_at(open.left, at);
        let Some(until) = gone.into_iter().chain(next).min() else {
            break;
        };
        let spent = if gone == Some(until) {
            open.left
        } else {
            speed.in_time(until.0.saturating_sub(at.0))
        };
        open.left = open.left.saturating_sub(spent).max(0);
        at = until;
    }
    found.ends.sort_by_key(|end| (end.end, end.allocation));
    found
}

/// The first instant after another at which money begins.
fn again(purses: &[Purse], at: Timestamp) -> Option<Timestamp> {
    let later = purses.iter().filter(|p| p.start > at && p.left > 0);
    later.map(|purse| purse.start).min()
}

/// Takes out what has ended by an instant.
fn end_purses(purses: &mut Vec<Purse>, at: Timestamp, found: &mut Forecast) {
    let over = |purse: &Purse| purse.end.filter(|end| *end <= at);
    found.ends.extend(purses.iter().filter_map(|purse| {
        Some(Unused {
            allocation: purse.id,
            end: over(purse)?,
            left: purse.was,
            unused: purse.left,
        })
    }));
    purses.retain(|purse| over(purse).is_none());
}

impl Forecast {
    /// Nothing is left to spend from an instant on, but the credit, until there is money again: where
    /// the credit lasts until then, nothing is empty.
    fn run_dry(&mut self, speed: Speed, credit: i128, at: Timestamp, again: Option<Timestamp>) {
        let empty = if credit > 0 {
            speed.spent_at(credit, at)
        } else {
            Some(at)
        };
        let Some(empty) = empty.filter(|empty| again.is_none_or(|again| *empty < again)) else {
            return;
        };
        let mut ended = self.ends.iter().filter(|end| end.end == at);
        self.is_spent = speed.charged > 0 && !ended.any(|end| end.unused > 0);
        (self.empty_at, self.again_at) = (Some(empty), again);
    }
}

#[cfg(test)]
mod tests;
