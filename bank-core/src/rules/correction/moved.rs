//! Whose a use is after its charge, its settlement or its assignment was undone, and the records of the move.

use super::{announce, announce_moved};
use crate::amount::Amount;
use crate::effects::{Billing, Entry, EntryKind, ReturnedUse, UsageRow};
use crate::history::{PastTx, Placed, bills, is_charge, standing};
use crate::ids::{TxId, UsageId};
use crate::model::Instance;
use crate::postings::Postings;
use crate::select;
use crate::terms;
use crate::time::Seconds;
use crate::view::{Context, View};

/// Writes records of rows. Charges that go back and refunds that are done again belong to the instance as it
/// was before. The rows of a settlement that moves the use, and of what an assignment took, have two owners:
/// `last_is_before` is whether the last one is that of the owner before.
pub(super) fn announce_all(
    postings: &mut Postings,
    (before, after): (&Instance, &Instance),
    (rows, last_is_before): (&[UsageRow], Option<bool>),
    ctx: &Context<'_>,
) {
    let last = rows.last().map(|row| row.id);
    for row in rows {
        if let Some(last_is_before) = last_is_before {
            let is_before = (Some(row.id) == last) == last_is_before;
            announce_moved(postings, if is_before { before } else { after }, row, ctx);
            continue;
        }
        let is_refund = row.billing == Billing::Refund;
        let is_back = (row.amount < Amount::ZERO) != is_refund;
        announce(postings, if is_back { before } else { after }, row, ctx);
    }
}

/// If the charge moved the use to another project or user, or was the last one to name them, names the present ones in
/// the instance. Returns whether it did.
pub(super) fn name_mover(
    instance: &mut Instance,
    root: &PastTx,
    (view, ctx): (&View, &Context<'_>),
    undone: bool,
) -> bool {
    let named = if !is_taken_back(root, view) {
        let rows = rows_of(root.id, view);
        let last = rows.last().filter(|_| is_move(&rows));
        let billed = last.and_then(|row| root.entries.iter().find(|e| e.usage == Some(row.id)));
        // The charge before it is in force again.
        let before = || {
            let mut others = in_force(root, view).into_iter();
            let before = |(tx, _): &&Placed| *tx < root.id;
            others.rfind(before).map(|(_, entry)| entry)
        };
        if undone {
            last.and_then(|_| before())
        } else {
            billed
        }
    } else if undone {
        root.entries.first()
    } else {
        // Done again, it is for the project that the next transaction charges.
        let mut later = view.history.iter();
        let charge = later.find(|(tx, e)| *tx > root.id && bills(e.kind));
        charge.map(|(_, entry)| entry)
    };
    if named.is_some() {
        // The other project's account pays no more of it.
        instance.account = None;
        instance.fallback_from = None;
    }
    let last = || last_charge(instance, root, view, undone);
    let last = if named.is_none() { last() } else { None };
    let is_other = last.is_some_and(|last| last.project != instance.facts.project);
    if named.is_none() && instance.lien.is_none() {
        if undone {
            leave_payer(instance, root, view, ctx);
        } else if let Some(last) = last.filter(|last| is_other && is_paid(last, ctx)) {
            instance.account = last.account;
            instance.fallback_from = None;
        }
    }
    let Some(named) = named.or(last) else {
        return false;
    };
    instance.facts.project.clone_from(&named.project);
    instance.facts.user.clone_from(&named.user);
    true
}

/// Whether an account other than the suspense account paid a charge.
fn is_paid(entry: &Entry, ctx: &Context<'_>) -> bool {
    let suspense = ctx.directory.suspense().map(|account| account.id);
    is_charge(entry.kind) && entry.delta.amount < 0 && entry.account != suspense
}

/// If no charge in force is of the account that pays for the use, because the undone one chose it, the account of the last
/// charge in force pays, if there is any.
fn leave_payer(instance: &mut Instance, root: &PastTx, view: &View, ctx: &Context<'_>) {
    let of_payer = |e: &Entry| e.account == instance.account && is_paid(e, ctx);
    if instance.account.is_none() || !root.entries.iter().any(of_payer) {
        return;
    }
    let others = in_force(root, view).into_iter().map(|(_, entry)| entry);
    let others: Vec<&Entry> = others.filter(|e| is_paid(e, ctx)).collect();
    if !others.iter().any(|entry| of_payer(entry)) {
        instance.account = others.last().and_then(|entry| entry.account);
        instance.fallback_from = None;
    }
}

/// The last charge in force of a use, if that changes with the one that is undone, which named the use, or done again.
fn last_charge<'a>(
    instance: &Instance,
    root: &'a PastTx,
    view: &'a View,
    undone: bool,
) -> Option<&'a Entry> {
    let own = root.entries.iter().find(|e| bills(e.kind))?;
    if is_move(&rows_of(root.id, view)) {
        return None;
    }
    let last = in_force(root, view).pop();
    if !undone {
        return Some(own).filter(|_| last.is_none_or(|(tx, _)| *tx < root.id));
    }
    let last = last.filter(|_| own.project == instance.facts.project);
    last.map(|(_, entry)| entry)
}

/// The charges of other transactions that are in force, in the order of their numbers: neither undone nor given back for the
/// owner of a later record.
pub(super) fn in_force<'a>(root: &PastTx, view: &'a View) -> Vec<&'a Placed> {
    let mut kept = standing(&view.history);
    kept.retain(|(tx, _)| *tx != root.id);
    // What is done again is there as itself.
    let is_reversal = |id| {
        let mut all = view.history.iter();
        all.any(|(_, e)| e.id == id && e.kind == EntryKind::Reverse)
    };
    let is_again =
        |e: &Entry| e.kind == EntryKind::Reverse && e.takes_back.is_some_and(is_reversal);
    let returns = |(tx, e): &&&Placed| {
        if is_again(e) {
            return false;
        }
        let rows = rows_of(*tx, view);
        let Some((last, before)) = rows.split_last() else {
            return false;
        };
        let is_back = |row: &&&UsageRow| row.amount < Amount::ZERO || row.charged < Seconds(0);
        let mut back = before.iter().filter(is_back);
        last.amount >= Amount::ZERO && back.any(|row| e.usage == Some(row.id))
    };
    let given: Vec<&Placed> = kept.iter().filter(returns).copied().collect();
    let is_given = |(tx, e): &Placed| {
        let mut later = given.iter().filter(|(later, _)| later > tx);
        later.any(|(_, back)| (&back.project, &back.user) == (&e.project, &e.user))
    };
    // Shadow charges that were given back are charges below 0.
    let charges = |e: &Entry| bills(e.kind) && e.delta.shadow <= 0;
    kept.retain(|placed| charges(&placed.1) && !is_given(placed));
    kept
}

/// Names the project of the settlement's other side in the instance, and who pays for it. Returns whether it did.
pub(super) fn name_payer(instance: &mut Instance, settlement: &PastTx, billing: Billing) -> bool {
    let wanted = |kind: EntryKind| match billing {
        Billing::Unbilled => kind == EntryKind::Reverse,
        _ => is_charge(kind),
    };
    let named = settlement.entries.iter().find(|e| wanted(e.kind));
    if let Some(named) = named {
        instance.facts.project.clone_from(&named.project);
        // The account of a settlement that is in force pays what the job charges later.
        instance.account = named.account.filter(|_| is_charge(named.kind));
        instance.fallback_from = None;
    }
    named.is_some()
}

/// The finished use that waits for a project again after the undo of its assignment, and not any more once that is done again.
pub(super) fn returned(
    root: &PastTx,
    instance: &Instance,
    (view, ctx): (&View, &Context<'_>),
    undone: bool,
) -> Option<ReturnedUse> {
    if !is_taken_back(root, view) || !terms::is_of_assignment(&root.reason) {
        return None;
    }
    let project = &instance.facts.project;
    let billed = instance.billed.0.saturating_add(instance.shadow_billed.0);
    Some(ReturnedUse {
        instance: instance.id,
        project: project.clone(),
        user: instance.facts.user.clone(),
        amount: Amount(billed),
        waits: undone && !select::is_payer(ctx.directory, project),
    })
}

/// A row that counts nothing, in which what an assignment took from `#unbilled` goes to the project of the assignment, or
/// leaves it: that transaction has none of that project.
pub(super) fn nothing(root: &PastTx, own: &UsageRow, view: &View) -> Option<UsageRow> {
    is_taken_back(root, view).then(|| of_nothing(own))
}

/// The same for the hours of a use that left the owners of earlier charges with its first record.
pub(super) fn hours(root: &PastTx, own: &UsageRow, view: &View) -> Option<UsageRow> {
    leaves_others(root, view).then(|| of_nothing(own))
}

fn of_nothing(own: &UsageRow) -> UsageRow {
    UsageRow {
        id: UsageId(0),
        charged: Seconds(0),
        amount: Amount::ZERO,
        ..own.clone()
    }
}

/// Whether only the hours of a use left another owner with a record of it, and what that owner was charged stayed.
fn leaves_others(root: &PastTx, view: &View) -> bool {
    let Some(own) = root.entries.iter().find(|e| bills(e.kind)) else {
        return false;
    };
    let is_moved = is_move(&rows_of(root.id, view));
    if is_moved || !terms::is_of_finished(&root.reason) {
        return false;
    }
    let last = in_force(root, view).pop();
    let is_other = |e: &Entry| (&e.project, &e.user) != (&own.project, &own.user);
    last.is_some_and(|(tx, e)| *tx < root.id && is_other(e))
}

/// Whether the last row of a correction that moves the use is that of the owner before; none where it does not move.
pub(super) fn last_is_before(
    (before, after): (&Instance, &Instance),
    (root, undone): (&PastTx, bool),
    view: &View,
) -> Option<bool> {
    let (before, after) = (&before.facts, &after.facts);
    let is_same = (&before.project, &before.user) == (&after.project, &after.user);
    let is_settled = root.op == "settle";
    let leaves = leaves_others(root, view);
    let moves = is_settled || leaves || is_taken_back(root, view);
    (moves && !is_same).then_some(undone == (is_settled || leaves))
}

/// Whether a transaction took a use from `#unbilled` for a project, which the next one charged.
pub(super) fn is_taken_back(root: &PastTx, view: &View) -> bool {
    let takes_time = |row: &&UsageRow| row.charged < Seconds(0);
    let is_only_back = root.entries.iter().all(|e| e.kind == EntryKind::Reverse);
    is_only_back && rows_of(root.id, view).iter().any(takes_time)
}

/// Whether a transaction gave a use back for its former owner and billed it for another one. An assignment gives it back
/// in the transaction before, at the same time.
pub(super) fn moves(tx: TxId, view: &View) -> bool {
    let rows = rows_of(tx, view);
    let before = TxId(tx.0.saturating_sub(1));
    let at = rows.first().map(|row| row.at);
    // A total that fell gives back too, by refunds, and so does an undo, from accounts of projects.
    let gives = |row: &&UsageRow| {
        let is_waiting = row.billing != Billing::Billed;
        is_waiting && row.charged < Seconds(0) && Some(row.at) == at
    };
    let mut taken = view.history.iter().filter(|(tx, _)| *tx == before);
    let is_taken = taken.all(|(_, e)| e.kind == EntryKind::Reverse);
    is_move(&rows) || is_taken && rows_of(before, view).iter().any(gives)
}

/// Whether rows give a use back and bill it for another owner. Those of a total that fell only give back.
fn is_move(rows: &[&UsageRow]) -> bool {
    let bills = rows.last().is_some_and(|last| last.amount >= Amount::ZERO);
    bills && rows.iter().any(|row| row.amount < Amount::ZERO)
}

pub(super) fn rows_of(tx: TxId, view: &View) -> Vec<&UsageRow> {
    view.usages.iter().filter(|u| u.tx == tx).collect()
}
