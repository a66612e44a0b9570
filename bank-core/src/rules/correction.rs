//! After the fact: transfers, refunds, corrections, reversals, settlements and removals (ledger.md 2.3, 2.4,
//! 2.11, 2.13). History is never rewritten: each is a separate transaction that refers to the one that it
//! takes back.

mod adjust;
mod allowed;
mod bounds;
mod liens;
mod moved;
mod opposite;
mod quantities;
mod refund;
mod removal;
mod restore;
mod settle;
mod transfer;
mod undo;
mod work;

use crate::amount::Amount;
use crate::command::After;
use crate::effects::{Delta, Effects, EntryKind, RecordEvent, UsageRow};
use crate::ids::AllocationId;
use crate::model::{Allocation, Instance, Phase};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::instance::in_scope;
use crate::terms::Added;
use crate::time::Seconds;
use crate::view::{Context, View};

/// Decides a command after the fact.
pub(super) fn decide(after: &After, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    match after {
        After::Transfer(transfer) => transfer::transfer(transfer, view, ctx),
        After::Refund(refund) => refund::refund(refund, view, ctx),
        After::Adjust(adjust) => adjust::adjust(adjust, view, ctx),
        After::Reverse(reverse) => undo::reverse(reverse, view, ctx),
        After::Settle(settle) => settle::settle(settle, view, ctx),
        After::RemoveAccount(name) => removal::account(name, view, ctx),
        After::RestoreAccount(name) => restore::by_name(name, view, ctx),
        After::RemoveAllocation(remove) => removal::allocation(*remove, view, ctx),
        After::SetFixed(id, field) => {
            let known = view.allocation(*id);
            known.ok_or_else(|| Refusal::not_found("allocation", &id.0.to_string()))?;
            Err(Refusal::NotSettable { field })
        }
    }
}

/// Changes the amount of an allocation, and its shadow total. One that has expired gets or gives
/// the money and is corrected at once: what is not active stays so (ledger.md 2.4).
pub(in crate::rules) fn move_money(
    postings: &mut Postings,
    kind: EntryKind,
    id: AllocationId,
    (amount, shadow): (i64, i64),
    about: &About,
) -> Result<(), Refusal> {
    let active = postings.active_part(id, amount);
    let delta = Delta {
        amount,
        active,
        shadow,
        ..Delta::default()
    };
    postings.post(kind, id, delta, about)?;
    let expired = postings
        .allocation(id)
        .is_some_and(|a| a.phase == Phase::Expired);
    if !expired || amount == 0 {
        return Ok(());
    }
    let delta = Delta {
        active: amount.checked_neg().ok_or(Refusal::AmountOverflow)?,
        ..Delta::default()
    };
    let beside = About {
        usage: None,
        takes_back: None,
        ..about.clone()
    };
    postings.post(EntryKind::Expire, id, delta, &beside)
}

/// The amount of an allocation without its credit, less its liens.
fn own_money(allocation: &Allocation) -> i128 {
    i128::from(allocation.amount.0)
        .saturating_sub(i128::from(allocation.held.0))
        .max(0)
}

/// The one use of an object's id, or the one with a number, in the caller's machines and projects. One outside of them is
/// answered like one that does not exist (decisions.md 23).
fn one_instance<'a>(
    view: &'a View,
    (object_id, number): (&str, Option<i64>),
    ctx: &Context<'_>,
) -> Result<&'a Instance, Refusal> {
    let seen = |i: &&Instance| ctx.scope.has_machine(&i.key.machine) && in_scope(i, ctx).is_ok();
    let found: Vec<&Instance> = view.instances.iter().filter(seen).collect();
    match found.as_slice() {
        [] if !ctx.scope.projects.is_empty() => Err(Refusal::out_of_scope("job", object_id)),
        [] => Err(Refusal::no_use(object_id, number)),
        [only] => Ok(only),
        several => {
            let shown = |i: &&Instance| {
                let kind = i.key.object_type.word();
                format!("{kind} {} on {}", i.key.object_id, i.key.machine)
            };
            Err(Refusal::AmbiguousJob {
                candidates: several.iter().map(shown).collect(),
            })
        }
    }
}

/// Writes a record for a change of a charge. The record of the close has the sums of its time, so a reversal
/// before it changes no sum; a refund always does. A change of neither an amount nor a time has no record.
pub(in crate::rules) fn announce(
    postings: &mut Postings,
    instance: &Instance,
    row: &UsageRow,
    ctx: &Context<'_>,
) {
    if !row.amount.is_zero() || row.charged != Seconds(0) {
        announce_any(postings, instance, row, ctx);
    }
}

/// The same of a row with which a closed use leaves its project or user or arrives at another one: its hours move,
/// whatever it cost. The record of the close of an open one names the project of that time.
pub(in crate::rules) fn announce_moved(
    postings: &mut Postings,
    instance: &Instance,
    row: &UsageRow,
    ctx: &Context<'_>,
) {
    if !instance.is_open() {
        announce_any(postings, instance, row, ctx);
    }
}

/// Its record names whom the entries of the row name, whoever the instance is for by now.
pub(in crate::rules) fn announce_any(
    postings: &mut Postings,
    instance: &Instance,
    row: &UsageRow,
    ctx: &Context<'_>,
) {
    if !ctx.directory.policy.records || instance.record.is_none() {
        return;
    }
    let mut instance = Box::new(instance.clone());
    if let Some(entry) = postings.first_of(row.id) {
        instance.facts.project.clone_from(&entry.project);
        instance.facts.user.clone_from(&entry.user);
    }
    let (usage, created) = (row.clone(), ctx.now);
    postings.records.push(RecordEvent::Adjusted {
        instance,
        usage,
        created,
    });
}

/// Lowers the running sums of an instance by a charge that was taken back, or raises them if it is done again: the next
/// charge adds the same as before (decisions.md 7). `added` is its addition to them, below zero where it is taken back;
/// without one the billed amount is. A fee that other charges stand for still counts, and is billed by the next one.
fn shift_exact_sum(
    instance: &mut Instance,
    minor: i64,
    shadow: bool,
    added: Option<Added>,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let total = if shadow {
        &mut instance.shadow_billed
    } else {
        &mut instance.billed
    };
    *total = total.plus(Amount(minor))?;
    let scale = i128::from(ctx.directory.bank.precision.minor_per_credit());
    let per_minor = crate::exact::TRILLIONTHS.checked_div(scale);
    let of_minor = || per_minor?.checked_mul(i128::from(minor));
    let metered = match added {
        Some(added) => added.sum.checked_sub(added.once),
        None => of_minor(),
    };
    let sum = metered.and_then(|metered| instance.exact_sum.checked_add(metered));
    instance.exact_sum = sum.ok_or(Refusal::AmountOverflow)?;
    instance.once_sum = instance.once_sum.max(added.unwrap_or_default().once);
    if instance.billed.is_zero() && instance.shadow_billed.is_zero() && minor < 0 {
        // Nothing is billed any more: what counts once may count again. A sum below zero lacks the fee of a charge whose
        // transaction did not name it.
        let names_fee = added.is_some_and(|added| added.once != 0);
        let lacking = if instance.exact_sum < 0 && !names_fee {
            instance.once_sum
        } else {
            0
        };
        let rest = instance.exact_sum.saturating_add(lacking);
        instance.exact_sum = if added.is_some() { rest } else { 0 };
        instance.once_sum = 0;
    }
    Ok(())
}
