//! Invariants of a ledger (ledger.md 7): checked by tests and by `verify`.

use crate::amount::Amount;
use crate::effects::{Entry, Shape, Traces};
use crate::ids::{AccountId, AllocationId, EntryId};
use crate::model::{Allocation, Phase};
use crate::time::Window;
use std::collections::{BTreeMap, BTreeSet};

/// The running sums of one allocation's journal entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Σ `delta_amount`.
    pub amount: i128,
    /// Σ `delta_held`.
    pub held: i128,
    /// Σ `delta_active`.
    pub active: i128,
    /// Σ `delta_shadow`.
    pub shadow: i128,
    /// Σ `delta_shadow_held`.
    pub shadow_held: i128,
    /// Σ `delta_amount` of deposits, and of what takes deposits back.
    pub deposited: i128,
    /// −Σ `delta_amount` of what belongs to a usage row: charges less what was given back of them.
    pub used: i128,
}

/// The amounts that open liens hold on each allocation, from their portions: in real and in shadow money.
#[derive(Clone, Debug, Default)]
pub struct Portions(BTreeMap<AllocationId, (i128, i128)>);

impl Portions {
    /// Takes in what an open lien holds on an allocation.
    pub fn add(&mut self, id: AllocationId, amount: Amount, shadow: bool) {
        let (real, of_shadow) = self.0.entry(id).or_default();
        let held = if shadow { of_shadow } else { real };
        *held = held.saturating_add(amount.0.into());
    }
}

/// The expected state, from the journal's entries and traces in their order.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    sums: BTreeMap<AllocationId, Sums>,
    shapes: BTreeMap<AllocationId, Shape>,
    presences: BTreeMap<AccountId, bool>,
    /// Deposits, and what takes them back or puts them there again.
    deposits: BTreeSet<EntryId>,
    /// Reissued refunds, and what takes them back or puts them there again.
    reissued: BTreeSet<EntryId>,
}

impl Proof {
    /// Takes in an entry. `of` is the allocation of the entry that it takes back.
    pub fn entry(&mut self, entry: &Entry, of: Option<AllocationId>) {
        let Some(id) = entry.allocation else { return };
        let of_reissued = |of| self.reissued.contains(&of);
        let is_reissued =
            entry.takes_back.is_some_and(of_reissued) || of.is_some_and(|of| of != id);
        if is_reissued {
            self.reissued.insert(entry.id);
        }
        let of_deposit = |of| self.deposits.contains(&of);
        let deposits =
            entry.kind.deposits(entry.delta.amount) || entry.takes_back.is_some_and(of_deposit);
        if deposits {
            self.deposits.insert(entry.id);
        }
        let own = self.sums.entry(id).or_default();
        let amount = i128::from(entry.delta.amount);
        let add = |sum: &mut i128, part: i128| *sum = sum.saturating_add(part);
        add(&mut own.amount, amount);
        add(&mut own.held, entry.delta.held.into());
        add(&mut own.active, entry.delta.active.into());
        add(&mut own.shadow, entry.delta.shadow.into());
        add(&mut own.shadow_held, entry.delta.shadow_held.into());
        if deposits {
            add(&mut own.deposited, amount);
        }
        if entry.usage.is_some() && !is_reissued {
            own.used = own.used.saturating_sub(amount);
        }
    }

    /// Takes in what a transaction changed beside money.
    pub fn traces(&mut self, traces: &Traces) {
        for shape in &traces.shapes {
            self.shapes.insert(shape.allocation, *shape);
        }
        for presence in &traces.presences {
            self.presences.insert(presence.account, presence.there);
        }
    }

    /// The sums of an allocation's entries so far.
    pub fn sums(&self, id: AllocationId) -> Sums {
        self.sums.get(&id).copied().unwrap_or_default()
    }

    /// Differences in the set of accounts: their numbers, and whether they exist.
    pub fn check_accounts(&self, accounts: impl Iterator<Item = (AccountId, bool)>) -> Vec<String> {
        let wrong = |(id, there): (AccountId, bool)| {
            // The bank's own account was there before the journal.
            let journalled = self.presences.get(&id).copied().unwrap_or(true);
            let word = |there| if there { "there" } else { "removed" };
            (journalled != there).then(|| {
                let (is, journal) = (word(there), word(journalled));
                format!(
                    "account {}: it is {is}; by the journal it is {journal}",
                    id.0
                )
            })
        };
        accounts.filter_map(wrong).collect()
    }

    fn check_shape(&self, allocation: &Allocation) -> Option<String> {
        // The bank's own allocation was there before the journal.
        let expected = self.shapes.get(&allocation.id).copied().unwrap_or(Shape {
            allocation: allocation.id,
            window: Window::ALWAYS,
            credit_limit: Amount::ZERO,
        });
        let id = allocation.id.0;
        if expected.window != allocation.window {
            return Some(format!(
                "allocation {id}: its window differs from the journal"
            ));
        }
        let (limit, journal) = (allocation.credit_limit.0, expected.credit_limit.0);
        (limit != journal)
            .then(|| format!("allocation {id}: credit limit is {limit}; the journal has {journal}"))
    }
}

/// Allocations whose open liens hold more than the amount: a debt reduced the amount under the liens, which
/// is allowed (ledger.md 2.12). In minor units.
pub fn over_committed(allocations: &[Allocation]) -> Vec<String> {
    let over = |a: &Allocation| {
        let free = a.free(false);
        let held = a.held.0;
        (held > 0 && free < 0).then(|| {
            let (id, there) = (a.id.0, i128::from(held).saturating_add(free));
            format!("allocation {id}: liens hold {held}, {there} are there")
        })
    };
    allocations.iter().filter_map(over).collect()
}

/// Compares allocations with the journal and the liens. Each finding names the allocation and the difference;
/// no finding means that the ledger balances.
pub fn check(allocations: &[Allocation], proof: &Proof, portions: &Portions) -> Vec<String> {
    let mut findings = Vec::new();
    for allocation in allocations {
        let own = proof.sums(allocation.id);
        let (real, shadow) = portions.0.get(&allocation.id).copied().unwrap_or_default();
        let active_amount = match allocation.phase {
            Phase::Active => i128::from(allocation.amount.0),
            Phase::Future | Phase::Expired => 0,
        };
        let whole = |a: Amount| i128::from(a.0);
        for (what, column, sum) in [
            ("amount", whole(allocation.amount), own.amount),
            ("held", whole(allocation.held), own.held),
            ("active amount", active_amount, own.active),
            ("deposited", whole(allocation.deposited), own.deposited),
            ("used", whole(allocation.used), own.used),
            ("shadow", whole(allocation.shadow), own.shadow),
            (
                "shadow held",
                whole(allocation.shadow_held),
                own.shadow_held,
            ),
            ("held by liens", whole(allocation.held), real),
            (
                "shadow held by liens",
                whole(allocation.shadow_held),
                shadow,
            ),
        ] {
            if column != sum {
                let id = allocation.id.0;
                findings.push(format!(
                    "allocation {id}: {what} is {column}; the journal has {sum}"
                ));
            }
        }
        findings.extend(proof.check_shape(allocation));
        if allocation.held < Amount::ZERO || allocation.shadow_held < Amount::ZERO {
            findings.push(format!("allocation {}: held below zero", allocation.id.0));
        }
    }
    findings
}
