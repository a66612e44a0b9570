//! Whether work may be taken back, or done again.

use super::bounds::billed_after;
use super::moved::{self, is_taken_back};
use super::opposite::not_reversible;
use crate::effects::{Entry, EntryKind};
use crate::history::{PastTx, Rest, bills, refunded, refunds_of, rests, standing, taken_back_by};
use crate::ids::{EntryId, TxId};
use crate::model::Instance;
use crate::refusal::Refusal;
use crate::terms::{self, Added};
use crate::view::View;

/// Whether the work may be taken back, or done again.
pub(super) fn check(
    undone: bool,
    (root, target): (&PastTx, &PastTx),
    instance: &Instance,
    view: &View,
) -> Result<(), Refusal> {
    if undone {
        check_unreduced(root, target, view)?;
        check_standing(root, target, view)?;
        check_unassigned(root, target, view)?;
        return check_unmoved(root, target, view);
    }
    check_standing(target, target, view)?;
    check_assigned(root, target, view)?;
    check_unmoved(root, target, view)?;
    check_room(root, target, view)?;
    check_whole(root, target, view)?;
    check_fee(root, target, instance)
}

/// Refused if a settlement, an assignment or an amended record has moved the use to another project or user since: its
/// former owner would be billed again.
fn check_unmoved(root: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    let Some(own) = root.entries.first() else {
        return Ok(());
    };
    let is_other = |e: &Entry| (&e.project, &e.user) != (&own.project, &own.user);
    let kept = standing(&view.history);
    let mut later = kept
        .iter()
        .filter(|(tx, e)| *tx > target.id && bills(e.kind) && is_other(e));
    match later.find(|(tx, _)| moved::moves(*tx, view)) {
        Some((TxId(tx), _)) => {
            let why = format!(
                "the use went to another project or user since; undo transaction {tx} first"
            );
            Err(not_reversible(target, &why))
        }
        None => Ok(()),
    }
}

/// Refused if the use became smaller after a refund, and the refund had taken a part of what it fell by: without the refund,
/// more would have gone back (decision 0268). What a partner charged has a rule of its own.
fn check_unreduced(root: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    if root.op != "refund" || view.delivered.is_some() {
        return Ok(());
    }
    let ids: Vec<EntryId> = root.entries.iter().map(|e| e.id).collect();
    match refunds_of(&view.history, &ids).first() {
        Some(TxId(tx)) => {
            let why = format!(
                "the use became smaller since: transaction {tx} gave back all that the refund had left, and less than the \
                 use had become cheaper; undo it first, or charge the difference with `bank charge --amount`"
            );
            Err(not_reversible(target, &why))
        }
        None => Ok(()),
    }
}

/// Refused where refunds hang on the work, or where something else took its entries back: those of
/// the first transaction, however often it was undone and done again since.
fn check_standing(work: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    let ids: Vec<EntryId> = work.entries.iter().map(|e| e.id).collect();
    let refunds = refunds_of(&view.history, &ids);
    if !refunds.is_empty() {
        return Err(Refusal::HasRefunds {
            transactions: refunds.iter().map(|tx| tx.0).collect(),
        });
    }
    let by = ids.iter().find_map(|id| taken_back_by(&view.history, *id));
    match by {
        Some(by) => Err(Refusal::AlreadyReversed {
            transaction: target.id.0,
            by: by.0,
        }),
        None => Ok(()),
    }
}

/// A charge of a whole use is not done again on top of a later one, which has billed the same time.
fn check_whole(root: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    match billed_after(target, view) {
        Some(TxId(tx)) if terms::is_of_whole(&root.reason) => {
            let why = format!("transaction {tx} has billed the whole use since; undo it first");
            Err(not_reversible(target, &why))
        }
        _ => Ok(()),
    }
}

/// A fee that counts once for each instance is not billed again: another charge has it since.
fn check_fee(root: &PastTx, target: &PastTx, instance: &Instance) -> Result<(), Refusal> {
    let has_fee = Added::read(&root.reason).is_some_and(|added| added.once > 0);
    if has_fee && instance.once_sum > 0 {
        let why = "a fee that counts once for each job is in it, and a later charge has billed the fee since; undo \
                   that charge first";
        return Err(not_reversible(target, why));
    }
    Ok(())
}

/// What an assignment took from `#unbilled` comes back there only after the project's charge was undone: both would
/// bill the use otherwise.
fn check_unassigned(root: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    let kept = standing(&view.history);
    // The first one is that of the assignment. Later ones only changed what it billed.
    let later = kept.iter().find(|(tx, e)| *tx > root.id && bills(e.kind));
    match later {
        Some((tx, _)) if is_taken_back(root, view) => {
            let tx = tx.0;
            let why =
                format!("the use was assigned to a project after it; undo transaction {tx} first");
            Err(not_reversible(target, &why))
        }
        _ => Ok(()),
    }
}

/// The charge of an assignment is done again only after the first part of it, which took the use from `#unbilled`.
fn check_assigned(root: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    let is_first = |tx: TxId| tx.0.saturating_add(1) == root.id.0;
    let first = view.history.iter().filter(|(tx, _)| is_first(*tx));
    let mut back = first.filter_map(|(_, e)| taken_back_by(&view.history, e.id));
    match back
        .next()
        .filter(|_| terms::is_of_assignment(&root.reason))
    {
        Some(TxId(by)) => {
            let why =
                format!("the use went back to `#unbilled` after it; undo transaction {by} first");
            Err(not_reversible(target, &why))
        }
        None => Ok(()),
    }
}

/// The amount that a refund, a settlement or a falling total gave back must be free to be given back again.
/// Otherwise a later refund would be given twice (ledger.md 2.4).
fn check_room(root: &PastTx, target: &PastTx, view: &View) -> Result<(), Refusal> {
    let rests = rests(&view.history);
    let named = |e: &Entry| match e.kind {
        EntryKind::Refund => refunded(e, &view.history),
        _ => e.takes_back,
    };
    for entry in root.entries.iter().filter(|e| gives_back(e.kind)) {
        let of_entry = named(entry);
        if let Some(by) = of_entry.and_then(|of| taken_back_by(&view.history, of)) {
            return Err(Refusal::AlreadyReversed {
                transaction: target.id.0,
                by: by.0,
            });
        }
        // A refund without a charge is given back on its allocation, in one part or several.
        let of = |r: &&Rest<'_>| match of_entry {
            Some(of) => r.entry.id == of,
            None => r.entry.allocation == entry.allocation,
        };
        let charges: Vec<&Rest<'_>> = rests.iter().filter(of).collect();
        let left = charges
            .iter()
            .fold(0_i64, |sum, r| sum.saturating_add(r.left));
        let same = |e: &&Entry| match of_entry {
            Some(_) => e.takes_back == of_entry,
            None => named(e).is_none() && e.allocation == entry.allocation,
        };
        // One refund can give a charge back in two parts.
        let given = root.entries.iter().filter(|e| gives_back(e.kind));
        let again = given
            .filter(same)
            .fold(0_i64, |sum, e| sum.saturating_add(e.delta.amount));
        let moved = match of_entry {
            Some(_) => 0,
            None => refunds_moved(root, entry),
        };
        if left.saturating_add(moved) < again {
            return Err(Refusal::HasRefunds {
                transactions: refunds_beside(root, &charges, view),
            });
        }
    }
    Ok(())
}

/// The refunds on the allocation of an entry that a moving transaction takes back: it gives the same amount
/// to the previous project (decision 0141).
fn refunds_moved(root: &PastTx, entry: &Entry) -> i64 {
    let of = |e: &&Entry| e.kind == EntryKind::Reverse && e.allocation == entry.allocation;
    let taken = root.entries.iter().filter(of).map(|e| e.delta.amount);
    taken
        .filter(|amount| *amount < 0)
        .fold(0_i64, i64::saturating_sub)
}

/// The refunds that leave too little: of these charges, and those that the transaction takes back.
fn refunds_beside(root: &PastTx, charges: &[&Rest<'_>], view: &View) -> Vec<i64> {
    let taken = |id: EntryId| {
        let placed = view.history.iter().find(|(_, e)| e.id == id);
        placed.and_then(|(_, e)| e.takes_back)
    };
    let moved = root.entries.iter().filter(|e| e.delta.amount < 0);
    let moved = moved.filter_map(|e| taken(e.takes_back?));
    let mut ids: Vec<EntryId> = charges.iter().map(|r| r.entry.id).collect();
    ids.extend(moved);
    let refunds = refunds_of(&view.history, &ids);
    refunds.iter().map(|tx| tx.0).collect()
}

fn gives_back(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Refund | EntryKind::Reverse)
}
