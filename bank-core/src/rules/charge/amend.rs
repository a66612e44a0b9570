//! Amended records of finished uses: the charge of an earlier record goes back if it was for another project
//! or user (decisions.md 19).

use super::Bill;
use super::owner::{Back, Owner, Share, Shares, add, by_owner, left, sum_of};
use crate::amount::Amount;
use crate::command::Charge;
use crate::effects::{Billing, EntryKind};
use crate::history::{Placed, bills, is_reissued, refunded, standing};
use crate::ids::{AllocationId, EntryId};
use crate::model::{Facts, Instance};
use crate::postings::About;
use crate::refusal::Refusal;
use crate::rules::correction::move_money;
use crate::rules::instance::would_refuse;
use crate::rules::would::{self, Needed};
use crate::terms::Whole;
use crate::usage::kept;
use crate::view::{Context, View};

/// Reissued credits that stay on their allocation, and the reversal of their refund.
struct Reissued {
    owner: Owner,
    allocation: AllocationId,
    part: Amount,
    reversal: EntryId,
}

/// The refunds of an earlier record: those that are granted with the other charges, and reissued ones.
type Again = (Vec<(Owner, Share)>, Vec<Reissued>);

/// Removes the facts of an earlier record that this one does not state: it replaces that record. Facts of the
/// scheduler's documents stay, but a record states all generic resources and attributes of its use.
pub(super) fn forget(facts: &mut Facts, charge: &Charge, view: &View) {
    let Some(whole) = &charge.terms.finished else {
        return;
    };
    facts.usage.gres.clear();
    facts.usage.attributes.clear();
    let amended = whole.instance;
    let known = view.known.as_ref();
    let known = known.filter(|known| amended.is_some() && known.instance == amended);
    for fact in known.iter().flat_map(|known| &known.stated) {
        if !fact.is_in(&charge.request.facts) {
            fact.remove_from(facts);
        }
    }
}

/// The owner to whom an earlier record of the use was charged, if this one names another project or user.
pub(super) fn moved_from(charge: &Charge, known: &Owner, now: &Owner) -> Option<Owner> {
    earlier(charge, known).filter(|earlier| earlier != now)
}

/// The owner to whom an earlier record of the use was charged; none if this is the first.
pub(super) fn earlier(charge: &Charge, known: &Owner) -> Option<Owner> {
    let whole = charge.terms.finished.as_ref()?;
    // A charge that waited for a project has been returned already.
    if charge.terms.assigned {
        return None;
    }
    whole.instance.map(|_| known.clone())
}

/// The principal investigator that a use leaves, if the record of its collector names another one. A charge that waited for a
/// project has been returned already.
pub(super) fn left_pi(charge: &Charge, known: String, now: &Instance) -> Option<String> {
    let is_record = charge.terms.finished.is_some() && !charge.terms.assigned;
    (is_record && known != kept::pi(&now.facts.other)).then_some(known)
}

impl Bill {
    /// Gives back all that is left of the charges of an earlier record, in the names of their owners. Returns the
    /// amount to charge now instead of the difference. Earlier refunds stay with the earlier owners.
    pub(super) fn take_back(
        &mut self,
        owner: &Owner,
        priced: Option<Amount>,
        view: &View,
        ctx: &Context<'_>,
    ) -> Result<Option<Amount>, Refusal> {
        let (history, id) = (&view.history, self.instance.id);
        let (again, reissued) = self.refunds_again(history, ctx)?;
        let own = view.paid.iter().filter(|p| p.instance == id);
        let shadow = own.map(|p| (p.allocation, p.shadow.0.into()));
        let shadow: Shares = shadow.filter(|(_, part)| *part > 0).collect();
        let nowhere = self.nowhere(&shadow)?;
        let mut real = by_owner(&left(history), history, false);
        for (owner, part) in again {
            add(&mut real, owner, part);
        }
        for Reissued { owner, .. } in &reissued {
            if !real.iter().any(|(own, _)| own == owner) {
                real.push((owner.clone(), Shares::new()));
            }
        }
        let mut in_shadow = by_owner(&shadow, history, true);
        if in_shadow.is_empty() && !(shadow.is_empty() && nowhere.is_zero()) {
            in_shadow.push((owner.clone(), shadow));
        }
        // What is on no allocation goes back from the owner that was charged last.
        let nowhere_of = in_shadow.len().checked_sub(1);
        let mut back = Amount::ZERO;
        for (owner, parts) in real {
            let beside = reissued.iter().filter(|again| again.owner == owner);
            let beside: Vec<&Reissued> = beside.collect();
            let more = (false, Amount::ZERO);
            back = back.plus(self.all_back(&owner, (parts, &beside), more, ctx)?)?;
        }
        for (place, (owner, parts)) in in_shadow.into_iter().enumerate() {
            let is_last = Some(place) == nowhere_of;
            let nowhere = if is_last { nowhere } else { Amount::ZERO };
            back = back.plus(self.all_back(&owner, (parts, &[]), (true, nowhere), ctx)?)?;
        }
        if !self.gives_back {
            // It cost nothing, and its hours go all the same.
            let about = self.about_owner(owner);
            let nothing = Back::of(Amount::ZERO, Billing::Billed);
            self.went_back(owner, about.usage, &nothing, ctx)?;
        }
        let Some(priced) = priced else {
            return Ok(None);
        };
        self.amount = priced.plus(back)?.max(Amount::ZERO);
        Ok(Some(self.amount))
    }

    /// The first record of a use that closed by itself states all of its hours, for its own owner: they leave the others who
    /// were charged before. What these paid stays with them. If a record names another principal investigator, the hours and
    /// the cost of its owner leave the one before.
    pub(super) fn leave_others(
        &mut self,
        charge: &Charge,
        known: Owner,
        view: &View,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        let is_first = |whole: &Whole| whole.instance.is_none();
        let states_all = charge.terms.finished.as_ref().is_some_and(is_first);
        let leaves = states_all || self.left_pi.is_some();
        if !(leaves && self.late && self.instance.is_charged()) {
            return Ok(());
        }
        let mut owners = vec![known];
        if states_all && !view.history.is_empty() {
            let kept = standing(&view.history).into_iter();
            let charges = kept.filter(|(_, entry)| bills(entry.kind));
            owners = charges.map(|(_, entry)| Owner::named(entry)).collect();
        }
        let now = Owner::now(self);
        let mut seen = Vec::from_iter(Some(now).filter(|_| self.left_pi.is_none()));
        for owner in owners {
            if seen.contains(&owner) {
                continue;
            }
            let about = self.about_owner(&owner);
            let nothing = Back::of(Amount::ZERO, Billing::Billed);
            self.went_back(&owner, about.usage, &nothing, ctx)?;
            seen.push(owner);
        }
        Ok(())
    }

    /// Gives back the parts of an owner, with reissued ones beside them, and what is on no allocation. Returns their sum.
    fn all_back(
        &mut self,
        owner: &Owner,
        (parts, beside): (Shares, &[&Reissued]),
        (in_shadow, nowhere): (bool, Amount),
        ctx: &Context<'_>,
    ) -> Result<Amount, Refusal> {
        if parts.is_empty() && beside.is_empty() && nowhere.is_zero() {
            return Ok(Amount::ZERO);
        }
        self.gives_back = true;
        let about = self.about_owner(owner);
        if parts.is_empty() {
            self.postings.note(EntryKind::ChargeNotional, &about);
        }
        let mut sum = nowhere.plus(Amount::from_sum(sum_of(&parts))?)?;
        for (allocation, part) in parts {
            self.refund(allocation, part, in_shadow, &about)?;
        }
        for again in beside {
            // It names the reversal of its refund, so that it stays new money of its allocation.
            let about = About {
                takes_back: Some(again.reversal),
                reissued: true,
                ..about.clone()
            };
            let given = (again.part.0, 0);
            let kind = EntryKind::Refund;
            move_money(&mut self.postings, kind, again.allocation, given, &about)?;
            sum = sum.plus(again.part)?;
        }
        let billing = if in_shadow {
            Billing::Shadow
        } else {
            Billing::Billed
        };
        let minus = Back::of(sum.negate()?, billing);
        self.went_back(owner, about.usage, &minus, ctx)?;
        Ok(sum)
    }

    /// Reverses the refunds of an earlier record in the names of their owners, and returns their parts and those that were
    /// reissued, which `take_back` grants again with the other charges. No credits move, and no refund is left for the new
    /// owner.
    fn refunds_again(&mut self, history: &[Placed], ctx: &Context<'_>) -> Result<Again, Refusal> {
        let kept = standing(history);
        let entries = kept.into_iter().map(|(_, entry)| entry);
        let refunds =
            entries.filter(|e| e.kind == EntryKind::Refund && refunded(e, history).is_some());
        let mut owners: Vec<(Owner, About, Amount)> = Vec::new();
        let (mut parts, mut reissued) = (Vec::new(), Vec::new());
        for entry in refunds {
            let Some(allocation) = entry.allocation else {
                continue;
            };
            let owner = Owner::named(entry);
            if !owners.iter().any(|(own, ..)| *own == owner) {
                let about = self.about_owner(&owner);
                owners.push((owner.clone(), about, Amount::ZERO));
            }
            let Some((_, about, sum)) = owners.iter_mut().find(|(own, ..)| *own == owner) else {
                continue;
            };
            let part = Amount(entry.delta.amount);
            let about = About {
                takes_back: Some(entry.id),
                reissued: is_reissued(entry, |id| {
                    let mut known = history.iter().map(|(_, entry)| entry);
                    known.find(|entry| entry.id == id)
                }),
                ..about.clone()
            };
            let reversal = EntryId(self.postings.next.entry);
            let taken = (part.negate()?.0, 0);
            move_money(
                &mut self.postings,
                EntryKind::Reverse,
                allocation,
                taken,
                &about,
            )?;
            *sum = sum.plus(part)?;
            if about.reissued {
                reissued.push(Reissued {
                    owner,
                    allocation,
                    part,
                    reversal,
                });
            } else {
                parts.push((owner, (allocation, part.0.into())));
            }
        }
        for (owner, about, sum) in owners {
            self.went_back(&owner, about.usage, &Back::of(sum, Billing::Refund), ctx)?;
        }
        Ok((parts, reissued))
    }

    /// Shadow money of a project without any allocation: it is on no allocation.
    fn nowhere(&self, shadow: &Shares) -> Result<Amount, Refusal> {
        let placed = Amount::from_sum(sum_of(shadow))?;
        let left = self.instance.shadow_billed.minus(placed)?;
        Ok(left.max(Amount::ZERO))
    }

    /// Journals the refusal of strict enforcement at the start of a finished use; an amended record is not
    /// checked again.
    pub(super) fn note_refusal(&mut self, charge: &Charge, ctx: &Context<'_>) {
        let fresh = |whole: &&Whole| whole.instance.is_none();
        let Some(whole) = charge.terms.finished.as_ref().filter(fresh) else {
            return;
        };
        let request = &charge.request;
        let facts = &request.facts;
        let refusal = match would::starters(&request.whose, &facts.usage, &facts.group, ctx) {
            Err(refusal) => Some(refusal),
            Ok(starters) => {
                let needed = Needed {
                    cost: self.amount,
                    began: whole.began,
                    ended: facts.end.unwrap_or(whole.began),
                    machine: self.payer.machine,
                };
                let allocations = self.postings.allocations();
                let there = would::short(needed, &starters, allocations, ctx);
                there.map(|available| Refusal::InsufficientFunds {
                    needed: self.amount,
                    available,
                    whose: self.payer.project_name.clone(),
                })
            }
        };
        let Some(refusal) = refusal else { return };
        let about = self.about();
        would_refuse(&mut self.postings, &about, &refusal, ctx);
        self.would_refuse = Some(refusal.code());
    }
}
