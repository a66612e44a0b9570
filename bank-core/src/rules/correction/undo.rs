//! The reversal of one transaction, despite later changes (ledger.md 2.13).

use super::opposite::{
    begin, check_account, check_cover, follow_blocks, not_reversible, oppose, reversed,
};
use super::{restore, work};
use crate::amount::Amount;
use crate::command::Reverse;
use crate::effects::{DirectoryRow, Effects, Entry, EntryKind, Outcome, Reversed, Shape};
use crate::history::PastTx;
use crate::ids::{AllocationId, UserId};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::{allocation, record};
use crate::terms;
use crate::time::Window;
use crate::view::{Context, View};

/// Writes the opposite of a transaction; that of an opposite does it again.
pub(super) fn reverse(
    reverse: &Reverse,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let id = reverse.transaction.0;
    let unknown = || Refusal::not_found("transaction", &id.to_string());
    let (Some(target), Some(root)) = (view.past.first(), view.past.last()) else {
        return Err(unknown());
    };
    if let Some(by) = target.reversed_by {
        return Err(Refusal::AlreadyReversed {
            transaction: id,
            by: by.0,
        });
    }
    let again = target.id != root.id;
    match root.op.as_str() {
        op if is_of_records(op, target, ctx) => records(reverse, target, view, ctx),
        _ if view.is_delivered => Err(not_reversible(
            target,
            "a partner bank delivered it; undo or refund the charge at the bank where the job ran",
        )),
        "adjust" if terms::is_of_idle_time(&root.op, &root.reason) => Err(not_reversible(
            target,
            "it follows the charge of a job in the reservation; undo that charge, or refund the reservation",
        )),
        // An amended record is a charge with that word; a manual correction has no use.
        "adjust" if root.instance.is_some() => work::reverse(reverse, target, root, view, ctx),
        // The row of the use records the place of its figure: a reversal would take it from there, and an
        // amended record once more.
        "adjust" if root.entries.iter().any(of_chunk) => Err(not_reversible(
            target,
            "it assigned a use without a charge, and moved no money",
        )),
        "deposit" | "withdraw" | "transfer" | "adjust" => money(reverse, target, root, view, ctx),
        "charge" | "refund" | "settle" => work::reverse(reverse, target, root, view, ctx),
        "account_rm" if again => Err(not_reversible(target, "`bank account rm` removes it again")),
        "account_rm" => account(reverse, target, view, ctx),
        "allocation_rm" if again => Err(not_reversible(
            target,
            "`bank allocation rm` removes it again",
        )),
        "allocation_set" if again => Err(not_reversible(
            target,
            "`bank allocation set` changes it again",
        )),
        "allocation_rm" | "allocation_set" => window(reverse, target, view, ctx),
        "undo" => Err(not_reversible(
            target,
            "it brought back an account without money",
        )),
        "boundary" => Err(not_reversible(
            target,
            "it happened by the passage of time; only commands can be undone",
        )),
        "cycle" => Err(not_reversible(
            target,
            "the period has its money; `bank adjust` takes it out",
        )),
        "create" | "reserve" | "delete" | "lien_extend" | "lien_rm" => Err(not_reversible(
            target,
            "it moved no money; liens end with their job",
        )),
        op => Err(not_reversible(target, why_not(op))),
    }
}

/// Why a transaction of this kind cannot be undone.
fn why_not(op: &str) -> &'static str {
    match op {
        "quote" => "a quote ends by itself",
        "period_close" => "`bank close undo` opens the period again that was closed last",
        "period_reopen" => "`bank close` closes it again",
        "import" => "it counted usage and moved no money; a corrected record of a use replaces it",
        "machine_set" => {
            "usage claimed the machine; `bank machine set --source` changes its source"
        }
        "propose" => "`bank request withdraw` or `bank reject` ends it",
        _ => "it changed no allocation; set or remove the changed object instead",
    }
}

/// Whether a transaction changed records and nothing else. A charge can change one too: the source of a machine.
fn is_of_records(op: &str, target: &PastTx, ctx: &Context<'_>) -> bool {
    let changed = target.changed.records.iter();
    let mut kinds = changed.filter_map(|past| ctx.directory.records.declaration(&past.after.kind));
    let is_merge = op == "user_merge" && !target.changed.records.is_empty();
    is_merge || kinds.any(|kind| kind.ops.contains(&op))
}

/// Records that were added, changed or removed.
fn records(
    reverse: &Reverse,
    target: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    if target.changed.others {
        let why = "it also changed accounts or members; change these one by one";
        return Err(not_reversible(target, why));
    }
    let mut postings = Postings::new(view);
    let tx = begin(&mut postings, reverse, ctx);
    for past in &target.changed.records {
        let kind = ctx.directory.records.kind(&past.after.kind);
        let kind = kind.ok_or_else(|| not_reversible(target, "its kind was removed since"))?;
        let Some(record) = record::restored(kind, past, &target.changed.records, view, ctx)? else {
            let why = format!("a later command changed {} {}", kind.word, past.after.key);
            return Err(not_reversible(target, &why));
        };
        record::write_beside(
            &mut postings,
            kind,
            Some(&past.after),
            record,
            &target.changed.records,
            ctx,
        );
    }
    postings.directory.extend(memberships(target, ctx));
    Ok(postings.finish(Outcome::Reversed(Reversed {
        tx,
        reversed: Some(target.id),
        op: target.op.clone(),
        parts: Vec::new(),
        figures: Vec::new(),
    })))
}

/// The memberships that a removal ended come back, but for those of people who were removed since.
fn memberships(target: &PastTx, ctx: &Context<'_>) -> Vec<DirectoryRow> {
    let comes_back = |user: UserId| {
        let mut changed = target.changed.records.iter();
        changed.any(|past| past.after.kind == "user" && past.after.id == user.0)
    };
    let is_there = |user| ctx.directory.user(user).is_some_and(|own| !own.deleted);
    let ended = target.changed.ended.iter().copied();
    let back = ended.filter(|own| comes_back(own.user) || is_there(own.user));
    back.map(DirectoryRow::Member).collect()
}

/// Whether an entry places the shadow figure of a use that came with a chunk.
fn of_chunk(entry: &Entry) -> bool {
    entry.kind == EntryKind::ChargeNotional && entry.usage.is_none()
}

/// Deposits, withdrawals, transfers and adjustments.
fn money(
    reverse: &Reverse,
    target: &PastTx,
    root: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let mut postings = Postings::new(view);
    let tx = begin(&mut postings, reverse, ctx);
    let about = About {
        deposit: root.op == "deposit",
        ..About::default()
    };
    let parts = oppose(&mut postings, target, &about, (&[], view), ctx)?;
    let limits = give_limits_back(&mut postings, target, ctx)?;
    let all = [&parts[..], &limits[..]].concat();
    check_cover(&postings, &all, reverse, ctx)?;
    follow_blocks(&mut postings, target, &parts, ctx);
    Ok(reversed(postings, tx, target, parts))
}

/// A deposit that opened an allocation brought its credit limit too, which goes with the deposit, unless
/// another command has changed it since. Gives the changes of limits.
fn give_limits_back(
    postings: &mut Postings,
    target: &PastTx,
    ctx: &Context<'_>,
) -> Result<Vec<(AllocationId, Amount)>, Refusal> {
    let mut changes = Vec::new();
    for change in &target.reshaped {
        let set = change.after;
        let was = change
            .before
            .map_or(Amount::ZERO, |shape| shape.credit_limit);
        let now = postings.allocation(set.allocation).map(Shape::of);
        let is_own = |now: &Shape| now.credit_limit == set.credit_limit;
        let Some(now) = now.filter(|now| set.credit_limit != was && is_own(now)) else {
            continue;
        };
        let new = Shape {
            credit_limit: was,
            ..now
        };
        allocation::reshape(postings, &new, ctx)?;
        changes.push((set.allocation, was.minus(set.credit_limit)?));
    }
    Ok(changes)
}

/// The removal of an account.
fn account(
    reverse: &Reverse,
    target: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let removed = view.removed.and_then(|id| ctx.directory.account(id));
    match removed.filter(|a| a.deleted) {
        Some(account) => restore::restore(account, target, &reverse.note, view, ctx),
        None => Err(not_reversible(target, "the account is there again")),
    }
}

/// The removal of an allocation, or a change of its window or limit.
fn window(
    reverse: &Reverse,
    target: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let change = target.reshaped.first();
    let change = change.and_then(|r| r.before.zip(Some(r.after)));
    let Some((before, after)) = change.or_else(|| same_shape(target, view)) else {
        return Err(not_reversible(
            target,
            "the journal does not contain the earlier state",
        ));
    };
    let id = before.allocation;
    let unknown = || Refusal::not_found("allocation", &id.0.to_string());
    let old = view.allocation(id).copied().ok_or_else(unknown)?;
    let mut postings = Postings::new(view);
    check_account(&postings, id, target, ctx)?;
    let new = taken_back(&Shape::of(&old), &before, &after);
    let mut new =
        new.ok_or_else(|| not_reversible(target, "a later command changed the same fields"))?;
    if new.window.end != old.window.end {
        new.window = allocation::not_backwards(new.window, &old, ctx.now);
    }
    if !new.window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    let tx = begin(&mut postings, reverse, ctx);
    allocation::reshape(&mut postings, &new, ctx)?;
    let mut parts = Vec::new();
    if target.op == "allocation_rm" {
        // While it is still outside of its window: the following steps make all of it active.
        parts = restore::give_back(&mut postings, target)?;
        restore::bring_liens_back(&mut postings, target, view, ctx)?;
    }
    allocation::follow_window(&mut postings, &old, &new.window, ctx.now)?;
    check_limit(&postings, &old, reverse)?;
    Ok(reversed(postings, tx, target, parts))
}

/// The removal of an allocation that was over and without credit changed neither window nor limit:
/// its money and its liens come back all the same.
fn same_shape(target: &PastTx, view: &View) -> Option<(Shape, Shape)> {
    let removed = target.op == "allocation_rm";
    let mut entries = target.entries.iter().filter(|_| removed);
    let delete = entries.find(|e| e.kind == EntryKind::Delete)?;
    let shape = Shape::of(view.allocation(delete.allocation?)?);
    Some((shape, shape))
}

/// The present state with one change reverted; none if something else changed the same field since. Other
/// changes stay.
fn taken_back(now: &Shape, before: &Shape, after: &Shape) -> Option<Shape> {
    fn field<T: Copy + PartialEq>(now: T, before: T, after: T) -> Option<T> {
        if before == after {
            return Some(now);
        }
        (now == after).then_some(before)
    }
    let (was, set) = (before.window, after.window);
    Some(Shape {
        allocation: now.allocation,
        window: Window {
            start: field(now.window.start, was.start, set.start)?,
            end: field(now.window.end, was.end, set.end)?,
        },
        credit_limit: field(now.credit_limit, before.credit_limit, after.credit_limit)?,
    })
}

/// A lower limit must not leave liens without cover.
fn check_limit(
    postings: &Postings,
    old: &crate::model::Allocation,
    reverse: &Reverse,
) -> Result<(), Refusal> {
    let free = postings.allocation(old.id).map_or(0, |a| a.free(false));
    if free < 0 && free < old.free(false) && !reverse.allow_debt {
        return Err(Refusal::Uncovered {
            allocation: old.id.0,
            free: Amount::clamped(free),
        });
    }
    Ok(())
}
