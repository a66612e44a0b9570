//! Amended records of finished uses: the charge of an earlier record goes back if it was for another project
//! or user (decisions.md 19).

use super::Bill;
use crate::amount::Amount;
use crate::command::Charge;
use crate::decimal::Decimal;
use crate::effects::{Billing, Entry, EntryKind, UsageRow};
use crate::history::{Paid, Placed, is_reissued, rests, standing};
use crate::ids::{AllocationId, Next, TxId, UsageId};
use crate::model::{Facts, Instance};
use crate::postings::About;
use crate::refusal::Refusal;
use crate::rules::correction::{announce_any, move_money};
use crate::rules::instance::would_refuse;
use crate::rules::would::{self, Needed};
use crate::terms::Whole;
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};
use std::collections::BTreeMap;

/// The owner of a charged use, as the journal names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) project: String,
    pub(super) user: String,
}

impl Owner {
    /// The owner in the instance.
    pub(super) fn of(instance: &Instance) -> Owner {
        Owner {
            project: instance.facts.project.clone(),
            user: instance.facts.user.clone(),
        }
    }

    /// As it is charged now.
    pub(super) fn now(bill: &Bill) -> Owner {
        Owner {
            project: bill.payer.project_name.clone(),
            user: bill.instance.facts.user.clone(),
        }
    }
}

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

/// A row that changes the price of an instance, and counts no time.
fn row(
    instance: &Instance,
    id: UsageId,
    (tx, at): (TxId, Timestamp),
    (amount, billing): (Amount, Billing),
) -> UsageRow {
    UsageRow {
        id,
        prev: instance.last_usage,
        instance: instance.id,
        tx,
        at,
        charged: Seconds(0),
        processors: instance.facts.usage.processors.unwrap_or(Decimal::ZERO),
        amount,
        billing,
        late: false,
        facts: String::new(),
        rates_at: instance.rates_at,
    }
}

/// The rest of real charges, by allocation.
pub(super) fn left(history: &[Placed]) -> Vec<(AllocationId, Amount)> {
    let mut parts: BTreeMap<i64, i64> = BTreeMap::new();
    for rest in rests(history).iter().filter(|rest| rest.left > 0) {
        if let Some(AllocationId(id)) = rest.entry.allocation {
            let own = parts.entry(id).or_default();
            *own = own.saturating_add(rest.left);
        }
    }
    let parts = parts.into_iter();
    parts
        .map(|(id, left)| (AllocationId(id), Amount(left)))
        .collect()
}

impl Bill {
    /// Gives back all that is left of the charges of an earlier owner, in that owner's name. Returns the
    /// amount to charge now instead of the difference. Earlier refunds stay with the earlier owner.
    pub(super) fn take_back(
        &mut self,
        owner: &Owner,
        (history, paid): (&[Placed], &[Paid]),
        priced: Option<Amount>,
        ctx: &Context<'_>,
    ) -> Result<Option<Amount>, Refusal> {
        let id = self.instance.id;
        let refunded = self.refunds_again(owner, history, ctx)?;
        let own = paid.iter().filter(|p| p.instance == id);
        let shadow = own.map(|p| (p.allocation, p.shadow));
        let shadow = shadow.filter(|(_, part)| *part > Amount::ZERO).collect();
        let mut real = left(history);
        real.extend(refunded);
        let (mut back, mut has_cost) = (Amount::ZERO, false);
        for (in_shadow, parts) in [(false, real), (true, shadow)] {
            let nowhere = self.nowhere(&parts, in_shadow)?;
            if parts.is_empty() && nowhere.is_zero() {
                continue;
            }
            self.gives_back = true;
            has_cost = true;
            let about = self.about_owner(owner);
            let mut sum = nowhere;
            if parts.is_empty() {
                self.postings.note(EntryKind::ChargeNotional, &about);
            }
            for (allocation, part) in parts {
                self.refund(allocation, i128::from(part.0), in_shadow, &about)?;
                sum = sum.plus(part)?;
            }
            let minus = sum.negate()?;
            let (billing, total) = if in_shadow {
                (Billing::Shadow, &mut self.instance.shadow_billed)
            } else {
                (Billing::Billed, &mut self.instance.billed)
            };
            *total = total.plus(minus)?;
            self.went_back(owner, about.usage, (minus, billing), ctx);
            back = back.plus(sum)?;
        }
        if !has_cost {
            // It cost nothing, and its hours go all the same.
            let about = self.about_owner(owner);
            let nothing = (Amount::ZERO, Billing::Billed);
            self.went_back(owner, about.usage, nothing, ctx);
        }
        let Some(priced) = priced else {
            return Ok(None);
        };
        self.amount = priced.plus(back)?.max(Amount::ZERO);
        Ok(Some(self.amount))
    }

    /// Reverses the refunds of an earlier owner and returns their parts, which `take_back` grants again with
    /// the other charges. No credits move, and no refund is left for the new owner.
    fn refunds_again(
        &mut self,
        owner: &Owner,
        history: &[Placed],
        ctx: &Context<'_>,
    ) -> Result<Vec<(AllocationId, Amount)>, Refusal> {
        let kept = standing(history);
        let entries = kept.into_iter().map(|(_, entry)| entry);
        let refunds = entries.filter(|e| e.kind == EntryKind::Refund && e.takes_back.is_some());
        let refunds: Vec<&Entry> = refunds.collect();
        if refunds.is_empty() {
            return Ok(Vec::new());
        }
        let about = self.about_owner(owner);
        let (mut parts, mut sum) = (Vec::new(), Amount::ZERO);
        for entry in refunds {
            let Some(allocation) = entry.allocation else {
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
            let taken = (part.negate()?.0, 0);
            move_money(
                &mut self.postings,
                EntryKind::Reverse,
                allocation,
                taken,
                &about,
            )?;
            sum = sum.plus(part)?;
            parts.push((allocation, part));
        }
        self.went_back(owner, about.usage, (sum, Billing::Refund), ctx);
        Ok(parts)
    }

    /// The names of an earlier project, with a separate usage row.
    fn about_owner(&mut self, owner: &Owner) -> About {
        let next = UsageId(Next::take(&mut self.postings.next.usage));
        let usage = std::mem::replace(&mut self.usage, next);
        About {
            project: owner.project.clone(),
            user: owner.user.clone(),
            usage: Some(usage),
            ..self.about()
        }
    }

    /// Shadow money of a project without any allocation: it is on no allocation.
    fn nowhere(
        &self,
        parts: &[(AllocationId, Amount)],
        in_shadow: bool,
    ) -> Result<Amount, Refusal> {
        if !in_shadow {
            return Ok(Amount::ZERO);
        }
        let whole = self.instance.shadow_billed;
        let left = parts
            .iter()
            .try_fold(whole, |left, (_, part)| left.minus(*part))?;
        Ok(left.max(Amount::ZERO))
    }

    /// Writes the usage row of a part that went back.
    fn went_back(
        &mut self,
        owner: &Owner,
        usage: Option<UsageId>,
        what: (Amount, Billing),
        ctx: &Context<'_>,
    ) {
        let Some(usage) = usage else { return };
        // Its record describes the use as it was.
        let mut was = self.instance.clone();
        was.facts.project.clone_from(&owner.project);
        was.facts.user.clone_from(&owner.user);
        let row = row(&self.instance, usage, (self.tx, self.at), what);
        announce_any(&mut self.postings, &was, &row, ctx);
        self.postings.usages.push(row);
        self.instance.last_usage = Some(usage);
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
                    machine: self.payer.machine,
