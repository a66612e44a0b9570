//! What the charges of one instance cost by the tested rates, by owner.

use std::collections::{BTreeMap, BTreeSet};

use bank_core::directory::Directory;
use bank_core::exact::to_amount;
use bank_core::price::Price;
use bankd_store::read::usage::UsedRow;

/// Number of charges or uses, their sum, and their sum by the tested rates.
pub(super) type Sums = (i64, i128, i128);

/// Project and user.
type Owner = (String, String);

/// Sums of one instance in the period.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) owners: BTreeMap<Owner, Sums>,
    /// Exact arithmetic ended: it is counted, and left out.
    pub(super) beyond: bool,
    /// Its cost by the tested rates, in minor units.
    cost: i128,
    pub(super) metered: i128,
    pub(super) once: i128,
    /// Whether its first charge is in the period, so that per-use parts and limits count.
    pub(super) whole: bool,
    /// Charges less those that were undone, and for each transaction whether it added to them.
    pub(super) standing: i64,
    pub(super) signs: BTreeMap<i64, i64>,
    /// The amounts that no rate applies to, and the transactions that gave them.
    pub(super) given: i128,
    pub(super) given_in: BTreeSet<i64>,
    pub(super) last: Price,
    /// The last transaction, and the amounts in its rows by owner, in order.
    tx: i64,
    in_tx: Vec<(Owner, i128)>,
}

impl Tally {
    /// Counts a charge for its owner, with the part by which it changes the cost.
    pub(super) fn attribute(&mut self, row: &UsedRow, directory: &Directory) -> Option<()> {
        if row.tx != self.tx {
            self.move_cost()?;
            self.tx = row.tx;
        }
        let cost = self.cost_now(directory)?;
        let part = cost.checked_sub(std::mem::replace(&mut self.cost, cost))?;
        let owner = (row.project.clone(), row.user.clone());
        let amount = i128::from(row.amount.0);
        add(
            self.owners.entry(owner.clone()).or_default(),
            (1, amount, part),
        )?;
        self.in_tx.push((owner, amount));
        Some(())
    }

    /// Where the last transaction moved the use to another owner, the cost goes with the amount: the rows of the move have
    /// the time only of what changed.
    pub(super) fn move_cost(&mut self) -> Option<()> {
        let rows = std::mem::take(&mut self.in_tx);
        let (gave, got): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, amount)| *amount < 0);
        let all: i128 = got.iter().map(|(_, amount)| amount).sum();
        if all <= 0 {
            return Some(());
        }
        let mut moved = 0_i128;
        for (owner, amount) in gave {
            let sums = self.owners.get_mut(owner)?;
            let (before, back) = (sums.1.checked_sub(*amount)?, amount.checked_neg()?);
            // What was charged before the period has no cost here, and moves at its amount.
            let part = if before < back {
                back
            } else {
                sums.2.checked_mul(back)?.checked_div(before)?
            };
            sums.2 = sums.2.checked_sub(part)?;
            moved = moved.checked_add(part)?;
        }
        let (mut left, mut weight) = (moved, all);
        for (owner, amount) in got {
            let part = left.checked_mul(*amount)?.checked_div(weight.max(1))?;
            add(self.owners.get_mut(owner)?, (0, 0, part))?;
            left = left.checked_sub(part)?;
            weight = weight.checked_sub(*amount)?;
        }
        Some(())
    }

    /// The cost of the instance in minor units; `None` beyond exact arithmetic.
    fn cost_now(&self, directory: &Directory) -> Option<i128> {
        // If all charges are undone, none of the parts that count once is left.
        let exact = if self.whole && self.standing > 0 {
            let sum = self.metered.checked_add(self.once)?;
            self.last.bounded(sum)
        } else {
            self.metered
        };
        let priced = to_amount(exact, directory.bank.precision, directory.policy.rounding)?;
        Some(i128::from(priced.0).saturating_add(self.given))
    }
}

/// Adds sums to those of an owner.
pub(super) fn add(sums: &mut Sums, (charges, billed, proposed): Sums) -> Option<()> {
    sums.0 = sums.0.checked_add(charges)?;
    sums.1 = sums.1.checked_add(billed)?;
    sums.2 = sums.2.checked_add(proposed)?;
    Some(())
}
