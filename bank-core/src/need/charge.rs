//! Rows that charges need beyond the first ones.

use super::Need;
use crate::command::{Charge, Request};
use crate::directory::Directory;
use crate::ids::AccountId;
use crate::rules;
use crate::select;
use crate::terms::Shortfall;
use crate::time::Timestamp;
use crate::view::View;

/// The accounts that a charge names by its instance only, the payers if a reported total falls, and all time of a
/// reservation with kept seconds, which are billed with the charge and reach further back.
pub(super) fn further_of_charge(
    charge: &Charge,
    first: impl Fn() -> Need,
    view: &View,
    directory: &Directory,
    now: Timestamp,
) -> Option<Need> {
    let mut known = known_payers(charge, view, directory);
    let policy = charge.terms.shortfall;
    let policy = policy.unwrap_or(directory.policy.shortfall);
    let mut kept = fallbacks_kept(&charge.request, policy, view, directory);
    if !kept.is_empty() {
        let seen = first().accounts;
        kept.retain(|id| !seen.contains(id));
    }
    known.extend(kept);
    let waits = view.instances.iter().any(|i| i.kept.0 > 0);
    let may_fall = charge.terms.total || charge.terms.delivered.is_some();
    let reported = may_fall && !view.instances.is_empty();
    let falls = reported.then(|| rules::total_falls(charge, view, directory, now));
    let falls = falls.flatten();
    if known.is_empty() && falls.is_none() && !waits {
        return None;
    }
    let mut more = first();
    if let Some(times) = more.times.as_mut().filter(|_| waits) {
        times.span = None;
    }
    more.accounts.extend(known);
    (more.paid, more.history) = (falls.is_some(), falls.is_some());
    more.history_of = falls;
    Some(more)
}

/// The accounts that may pay for a charge that names no project: those of the projects of the instances.
fn known_payers(charge: &Charge, view: &View, directory: &Directory) -> Vec<AccountId> {
    if charge.request.whose.project.is_some() {
        return Vec::new();
    }
    let uses = view.instances.iter();
    let whose = uses.map(|instance| charge.request.whose.or_of(&instance.facts));
    whose
        .flat_map(|whose| select::possible_payers(directory, &whose))
        .collect()
}

/// Where a fallback account covers what is short: that of the account that an instance keeps, which
/// may be no account of the project that the charge names (any more).
pub(super) fn fallbacks_kept(
    request: &Request,
    policy: Shortfall,
    view: &View,
    directory: &Directory,
) -> Vec<AccountId> {
    if policy != Shortfall::Fallback {
        return Vec::new();
    }
    let machine = directory.any_machine_named(&request.whose.machine);
    let kept = view.instances.iter().filter_map(|i| i.account);
    let kept = kept.filter_map(|id| directory.account(id));
    let fallbacks = kept.filter_map(|a| directory.fallback_of(a, machine.map(|m| m.id)));
    fallbacks.map(|f| f.id).collect()
}
