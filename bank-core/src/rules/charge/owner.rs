//! Whose charges go back: parts of allocations by the owners of the charges that they reduce (decision 0255).

use super::Bill;
use crate::amount::Amount;
use crate::decimal::Decimal;
use crate::effects::{Billing, Delta, Entry, EntryKind, UsageRow};
use crate::history::{Placed, rests, standing};
use crate::ids::{AllocationId, Next, TxId, UsageId};
use crate::model::Instance;
use crate::postings::About;
use crate::refusal::Refusal;
use crate::rules::correction::announce_any;
use crate::rules::split::in_proportion;
use crate::time::{Seconds, Timestamp};
use crate::usage::kept;
use crate::view::Context;
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

    /// The owner in an entry.
    pub(super) fn named(entry: &Entry) -> Owner {
        Owner {
            project: entry.project.clone(),
            user: entry.user.clone(),
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

/// A part that goes back to an allocation.
pub(super) type Share = (AllocationId, i128);
/// Such parts.
pub(super) type Shares = Vec<Share>;

/// A part that goes back from an owner.
pub(super) struct Back {
    /// The change of what is billed.
    pub(super) amount: Amount,
    /// How it was billed.
    pub(super) billing: Billing,
    /// The change of the time.
    pub(super) time: Seconds,
}

impl Back {
    /// A part without time.
    pub(super) fn of(amount: Amount, billing: Billing) -> Back {
        Back {
            amount,
            billing,
            time: Seconds(0),
        }
    }
}

/// A row that changes the price of an instance.
fn row(instance: &Instance, id: UsageId, (tx, at): (TxId, Timestamp), back: &Back) -> UsageRow {
    UsageRow {
        id,
        prev: instance.last_usage,
        instance: instance.id,
        tx,
        at,
        charged: back.time,
        processors: instance.facts.usage.processors.unwrap_or(Decimal::ZERO),
        amount: back.amount,
        billing: back.billing,
        late: false,
        facts: String::new(),
        rates_at: instance.rates_at,
    }
}

/// The rest of real charges, by allocation.
pub(super) fn left(history: &[Placed]) -> Shares {
    let mut parts: BTreeMap<i64, i128> = BTreeMap::new();
    for rest in rests(history).iter().filter(|rest| rest.left > 0) {
        if let Some(AllocationId(id)) = rest.entry.allocation {
            let own = parts.entry(id).or_default();
            *own = own.saturating_add(rest.left.into());
        }
    }
    let parts = parts.into_iter();
    parts.map(|(id, left)| (AllocationId(id), left)).collect()
}

impl Bill {
    /// The names of an earlier project, with a separate usage row.
    pub(super) fn about_owner(&mut self, owner: &Owner) -> About {
        let next = UsageId(Next::take(&mut self.postings.next.usage));
        let usage = std::mem::replace(&mut self.usage, next);
        About {
            project: owner.project.clone(),
            user: owner.user.clone(),
            usage: Some(usage),
            ..self.about()
        }
    }

    /// Counts a part that went back, and writes its usage row. A refund is not part of what is billed.
    pub(super) fn went_back(
        &mut self,
        owner: &Owner,
        usage: Option<UsageId>,
        back: &Back,
        ctx: &Context<'_>,
    ) -> Result<(), Refusal> {
        let total = match back.billing {
            Billing::Shadow => Some(&mut self.instance.shadow_billed),
            Billing::Billed | Billing::Unbilled => Some(&mut self.instance.billed),
            Billing::Refund => None,
        };
        if let Some(total) = total {
            *total = total.plus(back.amount)?;
        }
        let Some(usage) = usage else { return Ok(()) };
        // Its record describes the use as it was.
        let mut was = self.instance.clone();
        was.facts.project.clone_from(&owner.project);
        was.facts.user.clone_from(&owner.user);
        if let Some(pi) = &self.left_pi {
            was.facts.other = kept::with_pi(&was.facts.other, pi);
        }
        let at = self.reduced.until.unwrap_or(self.at);
        let row = row(&self.instance, usage, (self.tx, at), back);
        announce_any(&mut self.postings, &was, &row, ctx);
        self.postings.usages.push(row);
        self.instance.last_usage = Some(usage);
        Ok(())
    }
}

/// The sum of parts.
pub(super) fn sum_of(shares: &Shares) -> i128 {
    let parts = shares.iter().map(|(_, part)| *part);
    parts.fold(0, i128::saturating_add)
}

/// Shares of allocations by the owners of the charges that they reduce, in proportion to what is left of these; the owner
/// that was charged last is the last. What no charge in the history explains goes to that one.
pub(super) fn by_owner(
    shares: &Shares,
    history: &[Placed],
    in_shadow: bool,
) -> Vec<(Owner, Shares)> {
    let charges = charges(history, in_shadow);
    let mut owners: Vec<(Owner, Shares)> = Vec::new();
    for (_, owner, _) in &charges {
        owners.retain(|(own, _)| own != owner);
        owners.push((owner.clone(), Vec::new()));
    }
    for (allocation, share) in shares {
        let on = |owner: &Owner| {
            let own = charges
                .iter()
                .filter(|(id, own, _)| *id == Some(*allocation) && own == owner);
            let left = own.map(|(_, _, left)| *left).fold(0, i128::saturating_add);
            left.max(0)
        };
        let weights: Vec<i128> = owners.iter().map(|(owner, _)| on(owner)).collect();
        let parts = in_proportion(&weights, *share);
        let mut rest = share.saturating_sub(parts.iter().copied().fold(0, i128::saturating_add));
        for ((_, own), part) in owners.iter_mut().zip(parts).rev() {
            let part = part.saturating_add(std::mem::take(&mut rest));
            own.extend((part > 0).then_some((*allocation, part)));
        }
    }
    let last = owners.pop();
    owners.retain(|(_, own)| !own.is_empty());
    owners.extend(last);
    owners
}

/// Adds a share to those of its owner.
pub(super) fn add(owners: &mut Vec<(Owner, Shares)>, owner: Owner, share: Share) {
    let Some((_, own)) = owners.iter_mut().find(|(own, _)| *own == owner) else {
        owners.push((owner, vec![share]));
        return;
    };
    match own.iter_mut().find(|(id, _)| *id == share.0) {
        Some((_, part)) => *part = part.saturating_add(share.1),
        None => own.push(share),
    }
}

/// What is left of each charge in real money, or what each entry took as a price without money: the allocation, the
/// owner and the part, in the order of their numbers.
fn charges(history: &[Placed], in_shadow: bool) -> Vec<(Option<AllocationId>, Owner, i128)> {
    if !in_shadow {
        let rests = rests(history).into_iter();
        let left = rests.filter(|rest| rest.left > 0);
        let parts = left.map(|r| (r.entry.allocation, Owner::named(r.entry), r.left.into()));
        return parts.collect();
    }
    let kept = standing(history).into_iter().map(|(_, entry)| entry);
    let shadow = kept.filter(|entry| entry.kind == EntryKind::ChargeNotional);
    let part = |delta: &Delta| i128::from(delta.shadow).saturating_neg();
    shadow
        .map(|entry| (entry.allocation, Owner::named(entry), part(&entry.delta)))
        .collect()
}
