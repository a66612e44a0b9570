//! What goes back to the allocations that paid: a total that fell, and the idle time of a reservation that a job took
//! (ledger.md 2.4, decisions.md 7). It is in the names of the charges that it reduces (decision 0255).

use super::Bill;
use super::owner::{Back, Owner, Shares, by_owner, left, sum_of};
use super::paying::Take;
use crate::amount::Amount;
use crate::effects::{Billing, Delta, EntryKind, UsageRow};
use crate::history::{Paid, Placed, refunded, standing};
use crate::ids::{AllocationId, EntryId};
use crate::model::Phase;
use crate::postings::About;
use crate::refusal::Refusal;
use crate::rules::split::in_proportion;
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};

/// Whose charges a charge below zero reduces.
#[derive(Default)]
pub(super) struct Reduced {
    /// The owner that its usage row names; without one, that of the instance.
    pub(super) owner: Option<Owner>,
    /// What the usage rows of other owners have of it.
    pub(super) beside: Amount,
    /// Their part of its time.
    pub(super) time: Seconds,
    /// Whether a partner returns it: the undo of a refund has a rule of its own then.
    pub(super) by_partner: bool,
    /// The end of the time that it takes back, if it is not that of the charge.
    pub(super) until: Option<Timestamp>,
}

impl Bill {
    /// A reported total fell: the difference goes back to the allocations that paid, each its
    /// share; the smallest units that remain go to the largest remainders, then to the lowest
    /// numbers. One that has expired gets its money, which expires at once (ledger.md 2.4). What a
    /// person has refunded before does not go back a second time: that much stays billed. `history` are the entries
    /// of the charges that it may reduce.
    pub(super) fn give_back(
        &mut self,
        view: &View,
        history: &[Placed],
        counted: Seconds,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        let paid = &view.paid;
        self.gives_back = true;
        if counted < Seconds(0) {
            self.reduced.until = charged_until(&view.usages).map(|until| until.min(self.at));
        }
        let back = i128::from(self.amount.0).saturating_neg();
        let in_shadow = i128::from(self.instance.billed.0) < back;
        let parts = self.paid_parts((history, paid), in_shadow);
        let weights: Vec<i128> = parts.iter().map(|(_, part)| *part).collect();
        let shares = in_proportion(&weights, back).into_iter();
        let shares = parts
            .iter()
            .zip(shares)
            .map(|((id, _), share)| (*id, share));
        let shares: Shares = shares.filter(|(_, share)| *share > 0).collect();
        let given = sum_of(&shares);
        let unplaced = if in_shadow {
            i128::from(self.instance.shadow_billed.0).saturating_sub(sum_of(&parts))
        } else {
            0
        };
        // Shadow money of a project without any allocation is on no allocation.
        let nowhere = unplaced.min(back.saturating_sub(given)).max(0);
        let given = given.saturating_add(nowhere);
        self.amount = Amount::from_sum(given.saturating_neg())?;
        // The sum of a reservation follows from its time alone. An excess that was refunded before counts
        // against later time.
        if !self.pays_for_idle {
            self.keep_in_sum(back.saturating_sub(given), ctx)?;
        }
        let own = paid.iter().filter(|p| p.instance == self.instance.id);
        let payer = || own.map(|p| p.allocation).min_by_key(|id| id.0);
        self.first = shares.first().map(|(id, _)| *id).or_else(payer);
        let has_shares = !shares.is_empty();
        let shares = self.reduce(shares, (history, in_shadow), counted, ctx)?;
        let about = self.about();
        if !has_shares && nowhere > 0 {
            self.postings.note(EntryKind::ChargeNotional, &about);
        }
        if let (false, false, Some(first)) = (has_shares, in_shadow, self.first) {
            self.debit(self.kind(), Take::free(first, 0))?;
        }
        for (allocation, share) in shares {
            self.refund(allocation, share, in_shadow, &about)?;
        }
        if back > given && !in_shadow && !self.reduced.by_partner {
            self.name_refunds(history, &about);
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

    /// If less was left than a total fell by, names the refunds that had taken it: the fall hangs on them, and without one of
    /// them more would have gone back (decision 0268).
    fn name_refunds(&mut self, history: &[Placed], about: &About) {
        let kept = standing(history).into_iter().map(|(_, entry)| entry);
        let by_hand = kept.filter(|e| e.kind == EntryKind::Refund && e.delta.amount > 0);
        let named = by_hand.filter(|e| refunded(e, history).is_some());
        let ids: Vec<EntryId> = named.map(|e| e.id).collect();
        for id in ids {
            let about = About {
                takes_back: Some(id),
                ..about.clone()
            };
            self.postings.note(EntryKind::Refund, &about);
        }
    }

    /// The parts of the allocations that paid, in the order of their numbers. If the history of the charges is
    /// loaded, credits that were reissued elsewhere do not count.
    fn paid_parts(&self, (history, paid): (&[Placed], &[Paid]), in_shadow: bool) -> Shares {
        let mut parts = if in_shadow || history.is_empty() {
            let own = paid.iter().filter(|p| p.instance == self.instance.id);
            let part = |p: &Paid| if in_shadow { p.shadow } else { p.amount };
            let parts = own.map(|p| (p.allocation, i128::from(part(p).0)));
            parts.filter(|(_, part)| *part > 0).collect()
        } else {
            left(history)
        };
        parts.sort_unstable_by_key(|(id, _)| id.0);
        parts
    }

    /// Divides what goes back among the owners of the charges. Each has a usage row, and its part of the time.
    /// Returns the shares of the row of this charge: those of the owner that was charged last.
    fn reduce(
        &mut self,
        shares: Shares,
        (history, in_shadow): (&[Placed], bool),
        counted: Seconds,
        ctx: &Context<'_>,
    ) -> Result<Shares, Refusal> {
        if self.reduced.owner.is_some() {
            return Ok(shares);
        }
        let mut owners = by_owner(&shares, history, in_shadow);
        let Some((last, own)) = owners.pop() else {
            return Ok(shares);
        };
        let whole = sum_of(&shares);
        for (owner, parts) in owners {
            let amount = sum_of(&parts);
            let time = i128::from(counted.0).saturating_mul(amount);
            let time = i64::try_from(time.checked_div(whole).unwrap_or(0));
            let time = Seconds(time.unwrap_or(0));
            let about = self.about_owner(&owner);
            for (allocation, part) in parts {
                self.refund(allocation, part, in_shadow, &about)?;
            }
            let amount = Amount::from_sum(amount.saturating_neg())?;
            let billing = if in_shadow {
                Billing::Shadow
            } else {
                Billing::Billed
            };
            let back = Back {
                amount,
                billing,
                time,
            };
            self.went_back(&owner, about.usage, &back, ctx)?;
            self.amount = self.amount.minus(amount)?;
            self.reduced.beside = self.reduced.beside.plus(amount)?;
            self.reduced.time = self.reduced.time.plus(time);
        }
        self.reduced.owner = Some(last);
        Ok(own)
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

/// The end of the time that the usage rows of an instance have charged. A row with less than no time takes the last part
/// of it back.
fn charged_until(rows: &[UsageRow]) -> Option<Timestamp> {
    let mut charged: Vec<(Timestamp, Seconds)> = Vec::new();
    for row in rows {
        if row.charged > Seconds(0) {
            charged.push((row.at, row.charged));
        }
        let mut back = row.charged.0.saturating_neg().max(0);
        while let Some((until, own)) = charged.last_mut().filter(|_| back > 0) {
            let part = own.0.min(back);
            back = back.saturating_sub(part);
            *own = Seconds(own.0.saturating_sub(part));
            *until = until.minus(Seconds(part));
            if own.0 == 0 {
                charged.pop();
            }
        }
    }
    charged.last().map(|(until, _)| *until)
}
