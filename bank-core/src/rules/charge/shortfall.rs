//! Charges beyond lien and free money, and refunds for a total that fell (ledger.md 2.8 step 3, decisions.md
//! 7).

use super::Bill;
use super::amend::left;
use super::paying::Take;
use crate::amount::Amount;
use crate::effects::{Billing, Delta, EntryKind};
use crate::history::{Paid, Placed};
use crate::ids::AllocationId;
use crate::model::Phase;
use crate::postings::About;
use crate::refusal::Refusal;
use crate::rules::split::in_proportion;
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
        let held = i128::from(a.held.0);
        Amount::clamped(debt.min(held).min(there).max(0))
    }

    /// A reported total fell: the difference goes back to the allocations that paid, each its
    /// share; the smallest units that remain go to the largest remainders, then to the lowest
    /// numbers. One that has expired gets its money, which expires at once (ledger.md 2.4). What a
    /// person has refunded before does not go back a second time: that much stays billed.
    pub(super) fn give_back(
        &mut self,
        (history, paid): (&[Placed], &[Paid]),
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        self.gives_back = true;
        let back = i128::from(self.amount.0).saturating_neg();
        let in_shadow = i128::from(self.instance.billed.0) < back;
        let instance = self.instance.id;
        let own = || paid.iter().filter(|p| p.instance == instance);
        let parts: Vec<(AllocationId, i128)> = own()
            .map(|p| {
                let part = if in_shadow { p.shadow } else { p.amount };
                (p.allocation, i128::from(part.0))
            })
            .filter(|(_, part)| *part > 0)
            .collect();
        // If the history of the charges is loaded, credits that were reissued elsewhere do not count.
        let known = (!in_shadow && !history.is_empty()).then(|| left(history));
        let known = known.map(|left| left.into_iter().map(|(id, part)| (id, part.0.into())));
        let mut parts = known.map_or(parts, Iterator::collect);
        parts.sort_unstable_by_key(|(id, _)| id.0);
        let about = self.about();
        let weights: Vec<i128> = parts.iter().map(|(_, part)| *part).collect();
        let shares = in_proportion(&weights, back).into_iter();
        let shares = parts
            .iter()
            .zip(shares)
            .map(|((id, _), share)| (*id, share));
        let shares: Vec<(AllocationId, i128)> = shares.filter(|(_, share)| *share > 0).collect();
        let given = shares
            .iter()
            .fold(0_i128, |sum, (_, share)| sum.saturating_add(*share));
        let placed = parts
            .iter()
            .fold(0_i128, |sum, (_, part)| sum.saturating_add(*part));
        let unplaced = if in_shadow {
            i128::from(self.instance.shadow_billed.0).saturating_sub(placed)
        } else {
            0
        };
        // Shadow money of a project without any allocation is on no allocation.
        let nowhere = unplaced.min(back.saturating_sub(given)).max(0);
        let given = given.saturating_add(nowhere);
        if shares.is_empty() && nowhere > 0 {
            self.postings.note(EntryKind::ChargeNotional, &about);
        }
        self.amount = Amount::from_sum(given.saturating_neg())?;
        // The sum of a reservation follows from its time alone. An excess that was refunded before counts
        // against later time.
        if !self.pays_for_idle {
            self.keep_in_sum(back.saturating_sub(given), ctx)?;
        }
        let payer = || own().map(|p| p.allocation).min_by_key(|id| id.0);
        self.first = shares.first().map(|(id, _)| *id).or_else(payer);
        if let (true, false, Some(first)) = (shares.is_empty(), in_shadow, self.first) {
            self.debit(self.kind(), Take::free(first, 0))?;
        }
        for (allocation, share) in shares {
            self.refund(allocation, share, in_shadow, &about)?;
        }
        let paying = self.paying_account();
        let suspense = ctx.directory.suspense().map(|a| a.id);
        if in_shadow {
            self.outcome = Billing::Shadow;
        } else if paying.is_some() && paying == suspense {
            self.outcome = Billing::Unbilled;
        }
        Ok(())
    }

    /// Keeps an amount in the running sum that stays billed although a total fell below it: the next charge
    /// adds its own value.
    fn keep_in_sum(&mut self, kept: i128, ctx: &Context<'_>) -> Result<(), Refusal> {
        let scale = i128::from(ctx.directory.bank.precision.minor_per_credit());
        let per_minor = crate::exact::TRILLIONTHS.checked_div(scale);
        let exact = per_minor.and_then(|per| per.checked_mul(kept));
        let sum = exact.and_then(|exact| self.instance.exact_sum.checked_add(exact));
        self.instance.exact_sum = sum.ok_or(Refusal::AmountOverflow)?;
        Ok(())
    }

    pub(super) fn refund(
        &mut self,
        allocation: AllocationId,
        share: i128,
        in_shadow: bool,
        about: &About,
    ) -> Result<(), Refusal> {
        let share = Amount::from_sum(share)?.0;
        if in_shadow {
            let delta = Delta {
                shadow: share,
                ..Delta::default()
            };
            return self
                .postings
                .post(EntryKind::ChargeNotional, allocation, delta, about);
        }
        let delta = Delta {
            amount: share,
            active: self.postings.active_part(allocation, share),
            ..Delta::default()
        };
        self.postings
            .post(EntryKind::Refund, allocation, delta, about)?;
        let phase = self.postings.allocation(allocation).map(|a| a.phase);
        if phase != Some(Phase::Expired) {
            return Ok(());
        }
        let delta = Delta {
            active: share.saturating_neg(),
            ..Delta::default()
        };
        self.postings
            .post(EntryKind::Expire, allocation, delta, about)
    }
}
