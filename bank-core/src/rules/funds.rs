//! What accounts have left to give.

use crate::ids::AllocationId;
use crate::model::Allocation;
use crate::refusal::Refusal;
use crate::select::{self, Candidate};
use crate::time::Timestamp;
use crate::view::Context;

/// What may still be taken from each allocation of these accounts, in paying order.
pub(super) fn funds(
    allocations: &[Allocation],
    candidates: &[Candidate],
    at: Timestamp,
    shadow: bool,
) -> Vec<(AllocationId, i128)> {
    let order = select::paying_order(candidates, allocations, at);
    let free = |id: &AllocationId| {
        let found = allocations.iter().find(|a| a.id == *id);
        found.map(|a| (*id, a.free(shadow).max(0)))
    };
    order.iter().filter_map(free).collect()
}

/// The candidates that no charge in mode `fast` has blocked, or the refusal that all are.
pub(super) fn unblocked(
    candidates: &[Candidate],
    ctx: &Context<'_>,
) -> Result<Vec<Candidate>, Refusal> {
    let blocked = |c: &Candidate| ctx.directory.account(c.account).is_some_and(|a| a.blocked);
    let open: Vec<Candidate> = candidates.iter().filter(|c| !blocked(c)).copied().collect();
    match candidates
        .first()
        .and_then(|c| ctx.directory.account(c.account))
    {
        Some(first) if open.is_empty() => Err(Refusal::AccountBlocked {
            account: first.name.clone(),
        }),
        _ => Ok(open),
    }
}
