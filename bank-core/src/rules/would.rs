//! What strict enforcement would have said to a use when it began (decisions.md 18).

use crate::amount::Amount;
use crate::command::{Scope, Whose};
use crate::model::Allocation;
use crate::refusal::Refusal;
use crate::rules::funds::{covering, funds, reach, unblocked};
use crate::select::{self, Candidate};
use crate::time::Timestamp;
use crate::usage::Usage;
use crate::view::Context;

/// Who might have started it, or why nobody: names, memberships, lists and blocks. It is for the
/// journal, which hides nobody.
pub(super) fn starters(
    whose: &Whose,
    usage: &Usage,
    group: &str,
    ctx: &Context<'_>,
) -> Result<Vec<Candidate>, Refusal> {
    let payer = select::resolve(ctx.directory, &Scope::default(), whose)?;
    let payer = payer.knowing(ctx.directory, usage, group);
    let user = whose.user.as_deref().unwrap_or_default();
    let candidates = select::candidates(ctx.directory, &payer, user)?;
    unblocked(&candidates, ctx)
}

/// What a use would have needed, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed {
    /// What it came to: what was asked for is often no more than the queue's limit.
    pub(super) cost: Amount,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
}

/// What there was, where that was less than what the use came to: balances less shadow charges and
/// shadow liens, as they are now, of the allocations that were usable when it began.
pub(super) fn short(
    needed: Needed,
    starters: &[Candidate],
    allocations: &[Allocation],
    ctx: &Context<'_>,
) -> Option<Amount> {
    if needed.cost <= Amount::ZERO {
        return None;
    }
    let began = needed.began.min(ctx.now);
    let mut free = funds(allocations, starters, began, true);
    if ctx.directory.policy.require_cover {
        covering(&mut free, allocations, needed.ended);
    }
    let available = reach(&free, starters, allocations);
    (i128::from(needed.cost.0) > available).then(|| Amount::clamped(available))
}
