//! The opposite entries of a transaction, and the checks before and after them (ledger.md 2.13).

use super::move_money;
use crate::amount::Amount;
use crate::command::Reverse;
use crate::effects::{Effects, Entry, EntryKind, Outcome, Reversed};
use crate::history::{PastTx, is_reissued};
use crate::ids::{AllocationId, EntryId, TxId, UsageId};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::money::{block_if_below_zero, figures_of, unblock_of};
use crate::view::{Context, View};

/// The refusal of a transaction that has no opposite.
pub(super) fn not_reversible(target: &PastTx, why: &str) -> Refusal {
    Refusal::NotReversible {
        transaction: target.id.0,
        why: format!("{}: {why}", target.op),
    }
}

/// Begins the opposite of a transaction.
pub(super) fn begin(postings: &mut Postings, reverse: &Reverse, ctx: &Context<'_>) -> TxId {
    let tx = postings.begin("undo", ctx.now);
    postings.reverse(reverse.transaction);
    postings.remark(&reverse.note);
    tx
}

/// The effects of a reversal, with the figures of the accounts of its parts.
pub(super) fn reversed(
    postings: Postings,
    tx: TxId,
    target: &PastTx,
    parts: Vec<(AllocationId, Amount)>,
) -> Effects {
    let figures = figures_of(&postings, &parts);
    postings.finish(Outcome::Reversed(Reversed {
        tx,
        reversed: Some(target.id),
        op: target.op.clone(),
        parts,
        figures,
    }))
}

/// Whether an entry changes a balance: one of a lien, a window or a remark changes none.
fn moves(entry: &Entry) -> bool {
    use EntryKind::{
        Activate, Expire, Lien, LienExpire, LienRelease, LienReplace, Modify, QuoteUse, WouldRefuse,
    };
    let beside = [
        Activate,
        Expire,
        Lien,
        LienExpire,
        LienRelease,
        LienReplace,
        Modify,
        QuoteUse,
        WouldRefuse,
    ];
    entry.allocation.is_some() && !beside.contains(&entry.kind)
}

/// Refuses to move money of an account that is not there: nobody could spend it, and no balance
/// would show it.
pub(super) fn check_account(
    postings: &Postings,
    id: AllocationId,
    target: &PastTx,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let account = postings.allocation(id).map(|a| a.account);
    let account = account.and_then(|id| ctx.directory.account(id));
    match account.filter(|a| a.deleted) {
        Some(gone) => Err(not_reversible(
            target,
            &format!(
                "account {} was removed since; bring it back first",
                gone.name
            ),
        )),
        None => Ok(()),
    }
}

/// The opposite entries, those that take first, and what each allocation gets.
pub(super) fn oppose(
    postings: &mut Postings,
    target: &PastTx,
    about: &About,
    (rows, view): (&[(UsageId, UsageId)], &View),
    ctx: &Context<'_>,
) -> Result<Vec<(AllocationId, Amount)>, Refusal> {
    let opposite = |own: Option<UsageId>| {
        let found = rows.iter().find(|(row, _)| Some(*row) == own);
        found.map(|(_, opposite)| *opposite).or(about.usage)
    };
    // It names the project, user and machine of the entry, even if the use has others now.
    let about_of = |entry: &Entry| About {
        usage: opposite(entry.usage),
        project: entry.project.clone(),
        user: entry.user.clone(),
        machine: entry.machine.clone(),
        takes_back: Some(entry.id),
        reissued: is_reissued(entry, |id| earlier(id, view)),
        ..about.clone()
    };
    let mut entries: Vec<&Entry> = target.entries.iter().filter(|e| moves(e)).collect();
    entries.sort_by_key(|e| e.delta.amount <= 0);
    let mut parts = Vec::new();
    for entry in entries {
        let Some(id) = entry.allocation else { continue };
        check_account(postings, id, target, ctx)?;
        let back = Amount(entry.delta.amount).negate()?;
        let shadow = Amount(entry.delta.shadow).negate()?;
        let about = about_of(entry);
        move_money(postings, EntryKind::Reverse, id, (back.0, shadow.0), &about)?;
        parts.push((id, back));
    }
    for entry in target.entries.iter().filter(|e| is_nowhere(e)) {
        postings.note(EntryKind::Reverse, &about_of(entry));
    }
    Ok(parts)
}

/// An entry of the instance, or of the transactions that are reversed.
fn earlier(id: EntryId, view: &View) -> Option<&Entry> {
    let past = view.past.iter().flat_map(|tx| &tx.entries);
    let mut known = view.history.iter().map(|(_, entry)| entry).chain(past);
    known.find(|entry| entry.id == id)
}

/// Whether an entry is on no allocation: of a shadow charge of a project without allocations, with the amount in the usage
/// row alone, or of a total that names the refunds into which it fell.
fn is_nowhere(entry: &Entry) -> bool {
    use EntryKind::{ChargeNotional, Refund, Reverse};
    let is_use = matches!(entry.kind, ChargeNotional | Refund | Reverse);
    is_use && entry.allocation.is_none() && entry.usage.is_some()
}

/// An account that got money back may not be blocked any more. One that loses the money which cleared its block is
/// blocked again, if that leaves it below zero.
pub(super) fn follow_blocks(
    postings: &mut Postings,
    target: &PastTx,
    parts: &[(AllocationId, Amount)],
    ctx: &Context<'_>,
) {
    let (got, gave): (Vec<_>, Vec<_>) = parts.iter().partition(|(_, part)| *part > Amount::ZERO);
    let got: Vec<AllocationId> = got.into_iter().map(|(id, _)| id).collect();
    unblock_of(postings, &got, ctx);
    // Of reference data that is no record, a transaction that moves money changes blocks only.
    let suspense = ctx.directory.suspense().map(|a| a.id);
    for (id, _) in gave.iter().filter(|_| target.changed.others) {
        let account = postings.allocation(*id).map(|a| a.account);
        let account = account.filter(|_| account != suspense);
        let account = account.and_then(|id| ctx.directory.account(id));
        if let Some(account) = account {
            block_if_below_zero(postings, account);
        }
    }
}

/// Refuses to leave less than nothing on an allocation that gave something back. The suspense
/// account has nothing else.
pub(super) fn check_cover(
    postings: &Postings,
    parts: &[(AllocationId, Amount)],
    reverse: &Reverse,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if reverse.allow_debt {
        return Ok(());
    }
    let suspense = ctx.directory.suspense().map(|a| a.id);
    for (id, _) in parts.iter().filter(|(_, part)| *part < Amount::ZERO) {
        let own = postings.allocation(*id);
        let own = own.filter(|a| Some(a.account) != suspense);
        let free = own.map_or(0, |a| a.free(false));
        if free < 0 {
            return Err(Refusal::Uncovered {
                allocation: id.0,
                free: Amount::clamped(free),
            });
        }
    }
    Ok(())
}
