//! Where a charge takes its money: own lien, free money, debt; or the suspense account, or the
//! shadow totals (ledger.md 2.8).

use super::{Bill, LienUse};
use crate::amount::Amount;
use crate::effects::{Billing, Delta, EntryKind};
use crate::ids::AllocationId;
use crate::postings::About;
use crate::refusal::Refusal;
use crate::rules::choice;
use crate::select::{self, Candidate};
use crate::view::Context;

/// The amount taken from one allocation.
#[derive(Clone, Copy)]
pub(super) struct Take {
    allocation: AllocationId,
    from_lien: i128,
    free: i128,
}

impl Take {
    /// Free money of an allocation.
    pub(super) fn free(allocation: AllocationId, free: i128) -> Take {
        Take {
            allocation,
            from_lien: 0,
            free,
        }
    }
}

impl Bill {
    /// Own lien first, then free money, then debt on the first of them (ledger.md 2.8).
    pub(super) fn for_real(&mut self, ctx: &Context<'_>) -> Result<(), Refusal> {
        let mut remaining = i128::from(self.amount.0);
        let mut takes = self.take_from_lien(&mut remaining)?;
        self.record_choice(remaining > 0 || self.first.is_none(), ctx);
        let pays = self.take_free(&mut takes, &mut remaining, ctx);
        let Some(first) = takes.first().map(|t| t.allocation).or(self.first) else {
            return self.debit_suspense(ctx);
        };
        self.first = Some(first);
        self.refuse_if_short(remaining)?;
        let by_fallback = self.on_fallback(first, &mut remaining, ctx);
        let suspense = ctx.directory.suspense().map(|a| a.id);
        if suspense.is_some() && self.paying_account() == suspense {
            // Its lien came here with a removed account.
            self.outcome = Billing::Unbilled;
        }
        if takes.is_empty() && by_fallback.is_empty() && remaining == 0 {
            takes.push(Take {
                allocation: first,
                from_lien: 0,
                free: 0,
            });
        }
        let kind = self.kind();
        for take in takes {
            self.debit(kind, take)?;
        }
        for take in by_fallback {
            self.short.by_fallback = self.short.by_fallback.plus(Amount::from_sum(take.free)?)?;
            self.debit(EntryKind::ChargeFallback, take)?;
        }
        if remaining > 0 {
            self.short.debt = Amount::from_sum(remaining)?;
            // Liens hold back only what could pay for the time of the use.
            if pays.contains(&first) {
                self.short.against_liens = self.under_liens(first, remaining);
            }
            let take = Take {
                allocation: first,
                from_lien: 0,
                free: remaining,
            };
            self.debit(EntryKind::ChargeDebt, take)?;
        }
        Ok(())
    }

    /// Takes from the lien's portions in their order.
    fn take_from_lien(&mut self, remaining: &mut i128) -> Result<Vec<Take>, Refusal> {
        let mut takes = Vec::new();
        let Some(lien) = self.instance.lien.as_mut().filter(|l| !l.shadow) else {
            return Ok(takes);
        };
        self.first = lien.portions.first().map(|p| p.allocation);
        for portion in &mut lien.portions {
            let take = i128::from(portion.amount.0).min(*remaining);
            if take <= 0 {
                continue;
            }
            portion.amount = portion.amount.minus(Amount::from_sum(take)?)?;
            takes.push(Take {
                allocation: portion.allocation,
                from_lien: take,
                free: 0,
            });
            *remaining = remaining.saturating_sub(take);
        }
        if !takes.is_empty() {
            self.lien = LienUse::Paid;
        }
        Ok(takes)
    }

    /// Takes free money: the instance's account first, then the others in paying order. What
    /// other liens hold is not free. Returns the allocations that may pay.
    fn take_free(
        &mut self,
        takes: &mut Vec<Take>,
        remaining: &mut i128,
        ctx: &Context<'_>,
    ) -> Vec<AllocationId> {
        let allocations = self.postings.allocations();
        let own: Vec<Candidate> = self.own_account(ctx).into_iter().collect();
        let in_time = |order: &[AllocationId]| {
            select::in_time(order, allocations, self.at, self.may_pay_later(ctx))
        };
        let mut order = select::paying_order(&own, allocations, self.at);
        if *remaining > 0 || (self.first.is_none() && in_time(&order).is_empty()) {
            let rest = select::billing_order(ctx.directory, &self.payer, allocations, self.at);
            let rest: Vec<_> = rest.into_iter().filter(|id| !order.contains(id)).collect();
            order.extend(rest);
        }
        let (order, all) = (in_time(&order), order);
        let pays = order.clone();
        // If no allocation existed then, a later one carries the debt.
        self.first = self
            .first
            .or_else(|| order.first().or(all.first()).copied());
        for id in order {
            let from_lien = takes
                .iter()
                .find(|t| t.allocation == id)
                .map_or(0, |t| t.from_lien);
            // The lien's part is neither held nor there any more: what is free stays the same.
            let take = self.free(id).min(*remaining);
            if take <= 0 || self.splits(id, take, *remaining, takes, ctx) {
                continue;
            }
            match takes
                .iter_mut()
                .find(|t| t.allocation == id && from_lien > 0)
            {
                Some(known) => known.free = take,
                None => takes.push(Take {
                    allocation: id,
                    from_lien: 0,
                    free: take,
                }),
            }
            *remaining = remaining.saturating_sub(take);
        }
        pays
    }

    /// The free amount of an allocation without credits that came after the usage; zero or above.
    pub(super) fn free(&self, id: AllocationId) -> i128 {
        let free = self.postings.allocation(id).map_or(0, |a| a.free(false));
        free.saturating_sub(self.came(id)).max(0)
    }

    /// The credits of an allocation that came after the usage.
    pub(super) fn came(&self, id: AllocationId) -> i128 {
        let came = self.came_after.iter().find(|(own, _)| *own == id);
        came.map_or(0, |(_, came)| i128::from(came.0))
    }

    /// Whether credits that came after the usage may pay for it: by the site's setting, or because a person
    /// gives the usage to a project now.
    pub(super) fn may_pay_later(&self, ctx: &Context<'_>) -> bool {
        self.assigned || ctx.directory.policy.later_credits_pay
    }

    /// Writes down what is asked; the account that paid before only where it is.
    fn record_choice(&mut self, asks_own: bool, ctx: &Context<'_>) {
        let own = self.own_account(ctx).filter(|_| asks_own);
        let own = own.map(|candidate| candidate.account);
        choice::tell(&mut self.postings, &self.payer, own, &self.instance, ctx);
    }

    fn own_account(&self, ctx: &Context<'_>) -> Option<Candidate> {
        let suspense = ctx.directory.suspense().map(|a| a.id);
        let own = self.instance.account.filter(|a| Some(*a) != suspense)?;
        let account = ctx.directory.account(own).filter(|a| !a.deleted)?;
        Some(Candidate::only(account))
    }

    /// Whether a take would split the charge over several allocations of a discrete account
    /// (decision note 0013).
    fn splits(
        &self,
        id: AllocationId,
        take: i128,
        rest: i128,
        takes: &[Take],
        ctx: &Context<'_>,
    ) -> bool {
        let account = |id| self.postings.allocation(id).map(|a| a.account);
        let own = account(id);
        let discrete = own
            .and_then(|id| ctx.directory.account(id))
            .is_some_and(|a| a.discrete);
        let beside = || {
            takes
                .iter()
                .any(|t| t.allocation != id && account(t.allocation) == own)
        };
        discrete && (take < rest || beside())
    }

    /// The kind of its entries: a charge after the close has its own.
    pub(super) fn kind(&self) -> EntryKind {
        if self.late {
            EntryKind::LateCharge
        } else {
            EntryKind::Charge
        }
    }

    pub(super) fn debit(&mut self, kind: EntryKind, take: Take) -> Result<(), Refusal> {
        let whole = Amount::from_sum(take.from_lien.saturating_add(take.free))?;
        let minus = whole.negate()?.0;
        let held = Amount::from_sum(take.from_lien)?.negate()?.0;
        let active = self.postings.active_part(take.allocation, minus);
        let delta = Delta {
            amount: minus,
            held,
            active,
            ..Delta::default()
        };
        let about = self.about();
        self.binding
            .journal(&mut self.postings, &self.instance, Some(take.allocation))?;
        self.postings.post(kind, take.allocation, delta, &about)
    }

    pub(super) fn about(&self) -> About {
        let lien = self.instance.lien.as_ref().map(|l| l.id);
        let mut about = About {
            lien,
            usage: Some(self.usage),
            ..About::instance(&self.instance)
        };
        if let Some(owner) = &self.reduced.owner {
            about.project.clone_from(&owner.project);
            about.user.clone_from(&owner.user);
        }
        about
    }

    /// Usage that no project could be billed for is debited to `#unbilled` (decisions.md 14).
    pub(super) fn debit_suspense(&mut self, ctx: &Context<'_>) -> Result<(), Refusal> {
        if self.assigned {
            return Err(Refusal::NoUsableAccount {
                project: self.payer.project_name.clone(),
            });
        }
        let suspense = ctx.directory.suspense();
        let account = suspense.ok_or_else(|| Refusal::not_found("account", "#unbilled"))?;
        let mut own = self
            .postings
            .allocations()
            .iter()
            .filter(|a| a.account == account.id);
        let first = own.next().map(|a| a.id);
        let first = first.ok_or_else(|| Refusal::not_found("allocation of", "#unbilled"))?;
        self.first = Some(first);
        self.outcome = Billing::Unbilled;
        let take = Take {
            allocation: first,
            from_lien: 0,
            free: i128::from(self.amount.0),
        };
        self.debit(EntryKind::ChargeDebt, take)
    }

    /// Moves the shadow totals only (decisions.md 18).
    pub(super) fn in_shadow(&mut self, ctx: &Context<'_>) -> Result<(), Refusal> {
        self.outcome = Billing::Shadow;
        let mut remaining = self.amount.0;
        let about = self.about();
        let mut parts: Vec<(AllocationId, i64, i64)> = Vec::new();
        if let Some(lien) = self.instance.lien.as_mut().filter(|l| l.shadow) {
            for portion in &mut lien.portions {
                let take = portion.amount.0.min(remaining);
                portion.amount = portion.amount.minus(Amount(take))?;
                remaining = remaining.saturating_sub(take);
                parts.push((portion.allocation, take, take));
                if take > 0 {
                    self.lien = LienUse::Paid;
                }
            }
        }
        self.record_choice(parts.is_empty(), ctx);
        if parts.is_empty() {
            let allocations = self.postings.allocations();
            let own: Vec<Candidate> = self.own_account(ctx).into_iter().collect();
            let mut order = select::paying_order(&own, allocations, self.at);
            if order.is_empty() {
                order = select::billing_order(ctx.directory, &self.payer, allocations, self.at);
            }
            parts.extend(order.first().map(|id| (*id, 0, 0)));
        }
        if let Some(first) = parts.first_mut() {
            first.1 = first.1.saturating_add(remaining);
            self.first = Some(first.0);
        }
        let first = parts.first().map(|(id, ..)| *id);
        self.binding
            .journal(&mut self.postings, &self.instance, first)?;
        if parts.is_empty() {
            self.postings.note(EntryKind::ChargeNotional, &about);
        }
        for (allocation, whole, held) in parts {
            let (shadow, shadow_held) = (whole.saturating_neg(), held.saturating_neg());
            let delta = Delta {
                shadow,
                shadow_held,
                ..Delta::default()
            };
            self.postings
                .post(EntryKind::ChargeNotional, allocation, delta, &about)?;
        }
        Ok(())
    }
}
