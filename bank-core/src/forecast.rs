//! How long the money of an account lasts, and what of it ends unused, at the speed of late.
//!
//! What is spent comes from the allocation that ends first, as charges do by default (ledger.md
//! 2.6). Everything is exact: a speed is an amount over a time, never a rate that was rounded. What
//! liens hold counts as money that is there: it is spent or given back.

use crate::ids::AllocationId;
use crate::model::{Allocation, Phase};
use crate::time::Timestamp;

/// One day in microseconds.
pub const DAY_US: i64 = 86_400_000_000;

/// How fast an account was spent: so many minor units in so many microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Charged less refunded; below zero counts as nothing.
    pub charged: i128,
    /// In how long, µs; nothing is said of less than a day.
    pub span_us: i64,
}

impl Speed {
    /// Whether it says something: it was seen over a day or more.
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

/// What becomes of one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Which.
    pub allocation: AllocationId,
    /// Its end.
    pub end: Timestamp,
    /// What is left of it now, minor units.
    pub left: i128,
    /// What of that will be left when it ends.
    pub unused: i128,
}

/// What becomes of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// When nothing is there any more to spend: everything is spent or has ended. None where that is
    /// not in sight.
    pub empty_at: Option<Timestamp>,
    /// Whether it is spent then, and not merely ended.
    pub is_spent: bool,
    /// Allocations with money and an end ahead, the first to end first.
    pub ends: Vec<Unused>,
}

impl Forecast {
    /// Minor units that end unused before an instant or at it.
    pub fn unused_until(&self, at: Timestamp) -> i128 {
        let ends = self.ends.iter().filter(|end| end.end <= at);
        ends.fold(0, |sum, end| sum.saturating_add(end.unused))
    }

    /// The first end at which something is left over.
    pub fn first_unused(&self) -> Option<&Unused> {
        self.ends.iter().find(|end| end.unused > 0)
    }
}

/// A stretch of money: from when to when, and how much.
struct Purse {
    id: AllocationId,
    start: Timestamp,
    end: Option<Timestamp>,
    left: i128,
}

/// Follows an account's allocations from now on at a steady speed. Those that have ended, and those
/// without money, play no part. `credit` is what may be spent below zero, beyond all of them.
pub fn forecast<'a>(
    allocations: impl IntoIterator<Item = &'a Allocation>,
    speed: Speed,
    credit: i128,
    now: Timestamp,
) -> Forecast {
    let mut purses: Vec<Purse> = allocations
        .into_iter()
        .filter(|a| a.phase != Phase::Expired && a.amount.0 > 0 && !a.window.is_over(now))
        .map(|a| Purse {
            id: a.id,
            start: a.window.start.map_or(now, |start| start.max(now)),
            end: a.window.end,
            left: a.amount.0.into(),
        })
        .collect();
    // Those without an end last.
    purses.sort_by_key(|purse| (purse.end.is_none(), purse.end, purse.start, purse.id));
    let all: Vec<(AllocationId, i128)> = purses.iter().map(|p| (p.id, p.left)).collect();
    let mut found = Forecast::default();
    let mut at = now;
    let mut owed = credit.max(0);
    // Each turn a purse is used up, begins or ends: at most two for each.
    for _ in 0..purses.len().saturating_mul(3).saturating_add(2) {
        purses.retain(|purse| {
            let is_over = purse.end.is_some_and(|end| end <= at);
            if is_over {
                found.ends.extend(purse.end.map(|end| {
                    Unused {
                        allocation: purse.id,
                        end,
                        left: all
                            .iter()
                            .find(|(id, _)| *id == purse.id)
                            .map_or(0, |p| p.1),
                        unused: purse.left,
                    }
                }));
            }
            !is_over
        });
        let next_start = purses.iter().map(|p| p.start).filter(|s| *s > at).min();
        let next_end = purses.iter().filter_map(|p| p.end).min();
        let next = next_start.into_iter().chain(next_end).min();
        let open = purses.iter_mut().find(|p| p.start <= at && p.left > 0);
        let Some(open) = open else {
            if let (None, None) = (found.empty_at, next_start) {
                // Nothing is left to spend now or later but the credit.
                let credit_ends = speed.spent_at(owed, at).filter(|_| owed > 0);
                let mut ended = found.ends.iter().filter(|e| e.end == at);
                found.is_spent = speed.charged > 0 && !ended.any(|e| e.unused > 0);
                found.empty_at = if owed > 0 { credit_ends } else { Some(at) };
                owed = 0;
            }
            match next {
                Some(next) => at = next,
                None => break,
            }
            continue;
        };
        let gone = speed.spent_at(open.left, at);
        let until = match (gone, next) {
            (Some(gone), Some(next)) => gone.min(next),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => break,
        };
        let passed = until.0.saturating_sub(at.0);
        let spent = if gone == Some(until) {
            open.left
        } else {
            speed.in_time(passed)
        };
        open.left = open.left.saturating_sub(spent).max(0);
        at = until;
    }
    found.ends.sort_by_key(|end| (end.end, end.allocation));
    found
}

#[cfg(test)]
mod tests;
