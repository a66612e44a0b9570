//! What must always be true of a ledger (ledger.md 7): checked by tests and by `verify`.

use crate::amount::Amount;
use crate::ids::AllocationId;
use crate::model::{Allocation, Phase};
use std::collections::BTreeMap;

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
    /// What live liens hold on it, from their portions.
    pub portions: i128,
    /// What live shadow liens hold on it.
    pub shadow_portions: i128,
}

/// Allocations whose open liens hold more than is there: a debt was taken from under them, which
/// may be (ledger.md 2.12). In minor units.
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

/// Compares allocations with the sums of their journal entries and liens. Each finding names the
/// allocation and both figures; none means that the ledger balances.
pub fn check(allocations: &[Allocation], sums: &BTreeMap<AllocationId, Sums>) -> Vec<String> {
    let mut findings = Vec::new();
    for allocation in allocations {
        let own = sums.get(&allocation.id).copied().unwrap_or_default();
        let active_amount = match allocation.phase {
            Phase::Active => i128::from(allocation.amount.0),
            Phase::Future | Phase::Expired => 0,
        };
        let whole = |a: Amount| i128::from(a.0);
        for (what, column, sum) in [
            ("amount", whole(allocation.amount), own.amount),
            ("held", whole(allocation.held), own.held),
            ("active amount", active_amount, own.active),
            ("shadow", whole(allocation.shadow), own.shadow),
            (
                "shadow held",
                whole(allocation.shadow_held),
                own.shadow_held,
            ),
            ("held by liens", whole(allocation.held), own.portions),
            (
                "shadow held by liens",
                whole(allocation.shadow_held),
                own.shadow_portions,
            ),
        ] {
            if column != sum {
                let id = allocation.id.0;
                findings.push(format!(
                    "allocation {id}: {what} is {column}, the journal says {sum}"
                ));
            }
        }
        if allocation.held < Amount::ZERO || allocation.shadow_held < Amount::ZERO {
            findings.push(format!("allocation {}: held below zero", allocation.id.0));
        }
    }
    findings
}
