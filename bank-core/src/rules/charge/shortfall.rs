//! Charges beyond lien and free money (ledger.md 2.8 step 3).

use super::Bill;
use super::paying::Take;
use crate::amount::Amount;
use crate::ids::AllocationId;
use crate::refusal::Refusal;
use crate::select::{self, Candidate};
use crate::terms::Shortfall;
use crate::view::Context;

impl Bill {
    /// The policy `reject`: a charge that nothing covers is refused, and writes nothing.
    pub(super) fn refuse_if_short(&self, remaining: i128) -> Result<(), Refusal> {
        if remaining <= 0 || self.shortfall != Shortfall::Reject {
            return Ok(());
        }
        let covered = i128::from(self.amount.0).saturating_sub(remaining);
        Err(Refusal::insufficient_funds(
            self.amount,
            covered,
            &self.payer.project_name,
        ))
    }

    /// The policy `fallback`: what the fallback account of the paying account covers.
    pub(super) fn on_fallback(
        &self,
        first: AllocationId,
        remaining: &mut i128,
        ctx: &Context<'_>,
    ) -> Vec<Take> {
        if *remaining <= 0 || self.shortfall != Shortfall::Fallback {
            return Vec::new();
        }
        let paying = self.postings.allocation(first).map(|a| a.account);
        let paying = paying.and_then(|id| ctx.directory.account(id));
        let fallback = paying.and_then(|a| ctx.directory.fallback_of(a, self.payer.machine));
        let Some(fallback) = fallback else {
            return Vec::new();
        };
        let only = Candidate::only(fallback);
        let mut takes = Vec::new();
        let allocations = self.postings.allocations();
        let order = select::paying_order(&[only], allocations, self.at);
        for allocation in select::in_time(&order, allocations, self.at, self.may_pay_later(ctx)) {
            let take = self.free(allocation).min(*remaining);
            if take > 0 {
                *remaining = remaining.saturating_sub(take);
                takes.push(Take::free(allocation, take));
            }
        }
        takes
    }

    /// The part of a debt on an allocation that liens hold: the amount is there, but is not free (ledger.md
    /// 2.12).
    pub(super) fn under_liens(&self, allocation: AllocationId, debt: i128) -> Amount {
        let Some(a) = self.postings.allocation(allocation) else {
            return Amount::ZERO;
        };
        let there = i128::from(a.amount.0).saturating_add(i128::from(a.credit_limit.0));
        let there = there.saturating_sub(self.came(allocation));
        let held = i128::from(a.held.0);
        Amount::clamped(debt.min(held).min(there).max(0))
    }
}
