//! Allocations, and the figures of accounts that are sums over them (ledger.md 2.5).

use super::super::Error;
use super::super::allocation::{self, ALLOCATION};
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{self, Allocation, Phase};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// The figures of one account, in minor units: sums over the allocations active at an instant,
/// unless a field states others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Deposits.
    pub deposited: i128,
    /// Charges less refunds.
    pub used: i128,
    /// The remaining amount.
    pub amount: i128,
    /// Open liens.
    pub held: i128,
    /// How far below zero liens may take them.
    pub credit_limit: i128,
    /// Open liens on allocations with a future window.
    pub held_future: i128,
    /// Open liens on allocations with a past window.
    pub held_expired: i128,
    /// The amounts of allocations with a future window.
    pub future: i128,
    /// Charged in the shadow totals, zero or above.
    pub shadow_used: i128,
    /// Held in the shadow totals.
    pub shadow_held: i128,
    /// The earliest end of one that has money.
    pub until: Option<Timestamp>,
}

impl Figures {
    /// The sums at an instant.
    pub fn of(allocations: &[Allocation], at: Timestamp) -> Figures {
        let mut sums = Figures::default();
        for allocation in allocations {
            sums.count(allocation, Phase::of(&allocation.window, at));
        }
        sums
    }

    /// The sums over allocations with known phases.
    pub fn standing(allocations: &[(Allocation, Phase)]) -> Figures {
        let mut sums = Figures::default();
        for (allocation, phase) in allocations {
            sums.count(allocation, *phase);
        }
        sums
    }

    /// Those that the rules see too.
    pub fn active(&self) -> model::Figures {
        model::Figures {
            amount: self.amount,
            held: self.held,
            credit_limit: self.credit_limit,
        }
    }

    /// Amount − held.
    pub fn balance(&self) -> i128 {
        self.active().balance()
    }

    /// Balance + credit limit: the number that decides.
    pub fn available(&self) -> i128 {
        self.active().available()
    }

    /// Amount + used: deposits less withdrawals other than charges.
    pub fn allocated(&self) -> i128 {
        self.amount.saturating_add(self.used)
    }

    /// The used share, in hundredths of a percent, half up; none if nothing was allocated. Shares
    /// are rounded only here: screens, answers and thresholds use this value.
    pub fn used_hundredths(&self) -> Option<i128> {
        let allocated = self.allocated();
        if allocated <= 0 {
            return None;
        }
        let doubled = self.used.checked_mul(20_000)?.checked_add(allocated)?;
        Some(doubled.div_euclid(allocated.checked_mul(2)?))
    }

    /// Allocated + credit limit.
    pub fn capacity(&self) -> i128 {
        self.allocated().saturating_add(self.credit_limit)
    }

    fn count(&mut self, allocation: &Allocation, phase: Phase) {
        let held = i128::from(allocation.held.0);
        match phase {
            Phase::Future => {
                self.held_future += held;
                self.future += i128::from(allocation.amount.0);
            }
            Phase::Expired => self.held_expired += held,
            Phase::Active => {
                self.deposited += i128::from(allocation.deposited.0);
                self.used += i128::from(allocation.used.0);
                self.amount += i128::from(allocation.amount.0);
                self.held += held;
                self.credit_limit += i128::from(allocation.credit_limit.0);
                self.shadow_used -= i128::from(allocation.shadow.0);
                self.shadow_held += i128::from(allocation.shadow_held.0);
                let end = allocation.window.end.filter(|_| allocation.amount.0 > 0);
                self.until = match (self.until, end) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
    }
}

/// The figures of each account, in the order given.
pub fn figures(
    connection: &Connection,
    accounts: &[AccountId],
    at: Timestamp,
) -> Result<Vec<Figures>, Error> {
    let of = |id: &AccountId| Ok(Figures::of(&allocations_of(connection, *id)?, at));
    accounts.iter().map(of).collect()
}

/// All allocations of an account, by number.
pub fn allocations_of(
    connection: &Connection,
    account: AccountId,
) -> Result<Vec<Allocation>, Error> {
    let sql = format!("SELECT {ALLOCATION} FROM allocation WHERE account = ?1 ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([account.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(allocation::read(row)?);
    }
    Ok(found)
}

/// One allocation by number.
pub fn allocation(connection: &Connection, id: AllocationId) -> Result<Option<Allocation>, Error> {
    let sql = format!("SELECT {ALLOCATION} FROM allocation WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let row = statement.query_row([id.0], |row| Ok(allocation::read(row)));
    row.optional()?.transpose()
}

/// Hundredths of a percent as text.
pub fn hundredths(number: i128) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let number = number.unsigned_abs();
    format!("{sign}{}.{:02}", number / 100, number % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_two_decimals() {
        for (used, amount, want) in [
            (647_500, 352_500, Some("64.75")),
            (-5, 1005, Some("-0.50")),
            (1, 2, Some("33.33")),
            (79_996, 20_004, Some("80.00")),
            (5, -5, None),
        ] {
            let figures = Figures {
                used,
                amount,
                ..Figures::default()
            };
            let share = figures.used_hundredths().map(hundredths);
            assert_eq!(share.as_deref(), want);
        }
    }
}
