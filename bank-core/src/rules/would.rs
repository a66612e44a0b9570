//! The refusal that strict enforcement would have returned at the start of a use (decisions.md 18).

use crate::amount::Amount;
use crate::command::{Scope, Whose};
use crate::directory::FallbackMode;
use crate::ids::MachineId;
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
    /// The machine whose fallback account may pay.
    pub(super) machine: Option<MachineId>,
}

/// The available amount, if it was less than the price of the use: present balances less shadow charges and
/// shadow liens, of the allocations that were usable at its start. None if the fallback account covers it.
pub(super) fn short(
    needed: Needed,
    starters: &[Candidate],
    allocations: &[Allocation],
    ctx: &Context<'_>,
) -> Option<Amount> {
    if needed.cost <= Amount::ZERO {
        return None;
    }
    let available = available(needed, starters, allocations, ctx);
    let is_short = |available| i128::from(needed.cost.0) > available;
    let on_fallback = || fallback(needed, starters, allocations, ctx);
    let paid = |fallback: Candidate| {
        let only = unblocked(&[fallback], ctx).unwrap_or_default();
        self::available(needed, &only, allocations, ctx)
    };
    let is_refused = is_short(available) && on_fallback().is_none_or(|other| is_short(paid(other)));
    is_refused.then(|| Amount::clamped(available))
}

/// What these accounts could pay at the start of a use.
fn available(
    needed: Needed,
    starters: &[Candidate],
    allocations: &[Allocation],
    ctx: &Context<'_>,
) -> i128 {
    let began = needed.began.min(ctx.now);
    let mut free = funds(allocations, starters, began, true);
    if ctx.directory.policy.require_cover {
        covering(&mut free, allocations, needed.ended);
    }
    reach(&free, starters, allocations)
}

/// The fallback account of the first payer, if the bank itself decides that it pays (nami.md 5).
fn fallback(
    needed: Needed,
    starters: &[Candidate],
    allocations: &[Allocation],
    ctx: &Context<'_>,
) -> Option<Candidate> {
    if ctx.directory.policy.fallback != FallbackMode::Bank {
        return None;
    }
    let began = needed.began.min(ctx.now);
    let first = select::first_payer(starters, allocations, began)?;
    let account = ctx.directory.account(first)?;
    let fallback = ctx.directory.fallback_of(account, needed.machine)?;
    Some(Candidate::only(fallback))
}
