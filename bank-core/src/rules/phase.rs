//! Windows of allocations that begin and end: what is active money, and since when.

use crate::effects::{Delta, EntryKind};
use crate::ids::AllocationId;
use crate::model::Phase;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Journals a boundary of an allocation.
pub(super) fn cross(
    postings: &mut Postings,
    id: AllocationId,
    at: Timestamp,
) -> Result<(), Refusal> {
    match postings.allocation(id).map(|a| a.phase) {
        Some(Phase::Future) => activate(postings, id, at),
        _ => expire(postings, id, at),
    }
}

/// Journals the boundaries of an allocation that have passed, where it began before now.
pub(super) fn catch_up(
    postings: &mut Postings,
    id: AllocationId,
    now: Timestamp,
) -> Result<(), Refusal> {
    let due = |postings: &Postings| postings.allocation(id)?.next_boundary();
    while let Some(at) = due(postings).filter(|at| *at <= now) {
        cross(postings, id, at)?;
    }
    Ok(())
}

/// A window begins: its amount becomes active money.
pub(super) fn activate(
    postings: &mut Postings,
    id: AllocationId,
    at: Timestamp,
) -> Result<(), Refusal> {
    let amount = postings.allocation(id).map_or(0, |a| a.amount.0);
    postings.begin("boundary", at);
    postings.change(id, |a| (a.phase, a.since) = (Phase::Active, at));
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
    postings.change(id, |a| {
        a.phase = phase;
        // A charge inside of a window that ended is corrected at its end.
        if phase != Phase::Expired {
            a.since = at;
        }
    });
    let active = amount.checked_neg().ok_or(Refusal::AmountOverflow)?;
    let delta = Delta {
        active,
        ..Delta::default()
    };
    postings.post(EntryKind::Expire, id, delta, &About::default())
}
