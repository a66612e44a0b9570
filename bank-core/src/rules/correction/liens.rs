//! Liens that move to other allocations: their amounts are released and held again, in one transaction
//! (ledger.md 2.11).

use super::settle::payer;
use crate::amount::Amount;
use crate::effects::{Delta, EntryKind, InstanceChange};
use crate::ids::{AccountId, AllocationId, LienId, Next};
use crate::model::{Instance, Lien, LienState, Portion};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::funds::funds;
use crate::rules::instance::end_lien;
use crate::select;
use crate::view::Context;

/// Moves what an instance's lien holds on allocations that go: to other money of its project, the
/// rest to the suspense account.
pub(super) fn move_away(
    postings: &mut Postings,
    mut instance: Instance,
    going: &[AllocationId],
    gone: Option<AccountId>,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    // A lien that is used up holds nothing elsewhere either, and its end needs a place in the journal.
    let Some(old) = instance.lien.clone().filter(|lien| lien.remaining() > 0) else {
        return Ok(());
    };
    end_lien(postings, &mut instance, LienState::Released)?;
    let (moved, kept): (Vec<Portion>, Vec<Portion>) = old
        .portions
        .iter()
        .partition(|p| going.contains(&p.allocation));
    let mut portions = kept;
    let mut remaining: i128 = moved.iter().map(|p| i128::from(p.amount.0)).sum();
    let mut candidates = select::billable(ctx.directory, &payer(&instance, ctx));
    candidates.retain(|c| Some(c.account) != gone);
    for (allocation, free) in funds(postings.allocations(), &candidates, ctx.now, old.shadow) {
        let own: i128 = portions
            .iter()
            .filter(|p| p.allocation == allocation)
            .map(|p| i128::from(p.amount.0))
            .sum();
        let take = free.saturating_sub(own).min(remaining);
        if take > 0 && !going.contains(&allocation) {
            add(&mut portions, allocation, Amount::from_sum(take)?)?;
            remaining = remaining.saturating_sub(take);
        }
    }
    if remaining > 0 {
        let suspense = ctx.directory.suspense().map(|a| a.id);
        let mut all = postings.allocations().iter();
        let rest = all.find(|a| Some(a.account) == suspense).map(|a| a.id);
        let rest = rest.ok_or_else(|| Refusal::not_found("account", crate::ids::UNBILLED))?;
        add(&mut portions, rest, Amount::from_sum(remaining)?)?;
    }
    hold(postings, instance, &old, portions, ctx)
}

fn add(
    portions: &mut Vec<Portion>,
    allocation: AllocationId,
    amount: Amount,
) -> Result<(), Refusal> {
    if let Some(known) = portions.iter_mut().find(|p| p.allocation == allocation) {
        known.amount = known.amount.plus(amount)?;
        return Ok(());
    }
    portions.push(Portion { allocation, amount });
    Ok(())
}

/// Holds for an instance what an ended lien of it held, on these allocations.
pub(super) fn hold(
    postings: &mut Postings,
    mut instance: Instance,
    old: &Lien,
    portions: Vec<Portion>,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let id = LienId(Next::take(&mut postings.next.lien));
    let about = About {
        lien: Some(id),
        ..About::instance(&instance)
    };
    for portion in &portions {
        let delta = Delta::of_lien(portion.amount.0, old.shadow);
        postings.post(EntryKind::Lien, portion.allocation, delta, &about)?;
    }
    let suspense = ctx.directory.suspense().map(|a| a.id);
    let accounts = portions
        .iter()
        .filter_map(|p| postings.allocation(p.allocation));
    let mut accounts = accounts.map(|a| a.account);
    instance.account = accounts.find(|a| Some(*a) != suspense);
    let lien = Lien {
        id,
        state: LienState::Open,
        portions,
        ..old.clone()
    };
    postings.liens.push(lien.clone());
    instance.lien = Some(lien);
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: false,
        standing_changed: true,
    });
    Ok(())
}
