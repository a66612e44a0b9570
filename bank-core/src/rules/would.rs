//! The refusal that strict enforcement would have returned at the start of a use (decisions.md 18).

use crate::amount::Amount;
use crate::command::{Scope, Whose};
use crate::model::Allocation;
use crate::refusal::Refusal;
use crate::rules::funds::{covering, funds, reach, unblocked};
use crate::select::{self, Candidate};
use crate::time::Timestamp;
use crate::usage::Usage;
use crate::view::Context;

/// The accounts that could have started it, or the refusal: names, memberships, lists and blocks. It is for
/// the journal, which hides nobody.
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

/// The requirement of a use, and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed {
    /// Its price: the requested time is often no more than the queue's limit.
    pub(super) cost: Amount,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
}

/// The available amount, if it was less than the price of the use: present balances less shadow charges and
/// shadow liens, of the allocations that were usable at its start.
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
