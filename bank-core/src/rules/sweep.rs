//! What happens by itself as time passes: windows begin and end, liens expire, instances close.
//! Each boundary is a transaction of its own, effective when it was due (decision 9).

use crate::effects::{Delta, Effects, EntryKind, InstanceChange, Outcome};
use crate::ids::AllocationId;
use crate::model::{Allocation, Closing, Instance, LienState, Phase};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::instance::{close_instance, end_lien};
use crate::time::Timestamp;
use crate::view::{Context, View};

/// Journals every boundary that has passed of the allocations and instances in the view.
pub fn sweep(view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let mut postings = Postings::new(view);
    let mut instances = view.instances.clone();
    while let Some(due) = next_due(&postings, &instances, ctx.now) {
        match due {
            Due::Window(id, phase, at) => cross(&mut postings, id, phase, at)?,
            Due::Instance(index) => {
                if let Some(instance) = instances.get_mut(index) {
                    advance(&mut postings, instance, ctx)?;
                }
            }
        }
    }
    Ok(postings.finish(Outcome::Swept))
}

enum Due {
    Window(AllocationId, Phase, Timestamp),
    Instance(usize),
}

/// The earliest boundary that has passed; at one instant liens go before windows.
fn next_due(postings: &Postings, instances: &[Instance], now: Timestamp) -> Option<Due> {
    let windows = postings.allocations().iter().filter_map(|a: &Allocation| {
        Some((
            a.next_boundary()?,
            1,
            a.id.0,
            Due::Window(a.id, a.phase, a.next_boundary()?),
        ))
    });
    let instances = instances
        .iter()
        .enumerate()
        .filter_map(|(index, i)| Some((i.due?, 0, i.id.0, Due::Instance(index))));
    let passed = windows.chain(instances).filter(|(at, ..)| *at <= now);
    passed
        .min_by_key(|(at, order, id, _)| (*at, *order, *id))
        .map(|(.., due)| due)
}

fn cross(
    postings: &mut Postings,
    id: AllocationId,
    phase: Phase,
    at: Timestamp,
) -> Result<(), Refusal> {
    match phase {
        Phase::Future => activate(postings, id, at),
        Phase::Active | Phase::Expired => expire(postings, id, at),
    }
}

/// A window begins: its amount becomes active money.
pub(super) fn activate(
    postings: &mut Postings,
    id: AllocationId,
    at: Timestamp,
) -> Result<(), Refusal> {
    let amount = postings.allocation(id).map_or(0, |a| a.amount.0);
    postings.begin("boundary", at);
    postings.change(id, |a| a.phase = Phase::Active);
    let delta = Delta {
        active: amount,
        ..Delta::default()
    };
    postings.post(EntryKind::Activate, id, delta, &About::default())
}

/// A window ends: its amount is active money no more.
pub(super) fn expire(
    postings: &mut Postings,
    id: AllocationId,
    at: Timestamp,
) -> Result<(), Refusal> {
    leave(postings, id, Phase::Expired, at)
}

/// A window was moved into the future: its amount is active money no more.
pub(super) fn suspend(
    postings: &mut Postings,
    id: AllocationId,
    at: Timestamp,
) -> Result<(), Refusal> {
    leave(postings, id, Phase::Future, at)
}

fn leave(
    postings: &mut Postings,
    id: AllocationId,
    phase: Phase,
    at: Timestamp,
) -> Result<(), Refusal> {
    let amount = postings.allocation(id).map_or(0, |a| a.amount.0);
    postings.begin("boundary", at);
    postings.change(id, |a| a.phase = phase);
    let active = amount.checked_neg().ok_or(Refusal::AmountOverflow)?;
    let delta = Delta {
        active,
        ..Delta::default()
    };
    postings.post(EntryKind::Expire, id, delta, &About::default())
}

/// A lien expires at its end; the instance closes when the grace has passed (decision 13).
fn advance(
    postings: &mut Postings,
    instance: &mut Instance,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let at = instance.due.unwrap_or(ctx.now);
    postings.begin_for("boundary", at, instance.id);
    if instance.lien.is_some() {
        end_lien(postings, instance, LienState::Expired)?;
        instance.lien_expired = true;
        instance.due = Some(at.plus(ctx.directory.policy.close_grace));
    } else {
        close_instance(postings, instance, at, Closing::Expiry, ctx);
    }
    postings.instances.retain(|c| c.instance.id != instance.id);
    postings.instances.push(InstanceChange {
        instance: instance.clone(),
        facts_changed: false,
        standing_changed: true,
    });
    Ok(())
}
