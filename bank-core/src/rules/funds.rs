//! Available funds of accounts.

use crate::ids::AllocationId;
use crate::model::Allocation;
use crate::refusal::Refusal;
use crate::select::{self, Candidate};
use crate::time::Timestamp;
use crate::view::Context;

/// The available amount of each allocation of these accounts, in paying order.
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

/// Leaves what lasts at least until an instant (ledger.md 2.7 f).
pub(super) fn covering(
    funds: &mut Vec<(AllocationId, i128)>,
    allocations: &[Allocation],
    until: Timestamp,
) {
    let lasts = |id: AllocationId| {
        let found = allocations.iter().find(|a| a.id == id);
        found.is_some_and(|a| a.window.end.is_none_or(|end| end >= until))
    };
    funds.retain(|(id, _)| lasts(*id));
}

/// Distributes an amount over funds in their order, or returns the most that fits. An allocation of a
/// discrete account takes all of the remaining amount, or nothing (decision note 0013).
pub(super) fn lay(
    funds: &[(AllocationId, i128)],
    candidates: &[Candidate],
    allocations: &[Allocation],
    amount: i128,
) -> Result<Vec<(AllocationId, i128)>, i128> {
    let any_discrete = candidates.iter().any(|c| c.discrete);
    let is_whole = |id: AllocationId| {
        let found = allocations.iter().find(|a| a.id == id);
        let by = |a: &Allocation| candidates.iter().find(|c| c.account == a.account).copied();
        any_discrete && found.and_then(by).is_some_and(|c| c.discrete)
    };
    let (mut remaining, mut parts) = (amount, Vec::new());
    // The available amount: the split funds, or those before a whole one and that one.
    let (mut split, mut most) = (0_i128, 0_i128);
    for (id, free) in funds {
        let whole = is_whole(*id);
        most = most.max(split.saturating_add(*free));
        if !whole {
            split = split.saturating_add(*free);
        }
        let take = remaining.min(*free);
        if take > 0 && (!whole || take == remaining) {
            parts.push((*id, take));
            remaining = remaining.saturating_sub(take);
        }
    }
    if remaining == 0 {
        Ok(parts)
    } else {
        Err(most.max(split))
    }
}

/// The most that can be had of funds at once.
pub(super) fn reach(
    funds: &[(AllocationId, i128)],
    candidates: &[Candidate],
    allocations: &[Allocation],
) -> i128 {
    lay(funds, candidates, allocations, i128::MAX)
        .err()
        .unwrap_or(i128::MAX)
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
