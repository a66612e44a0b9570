//! The opposite of charges, refunds and settlements: the instance's sums follow.

use super::allowed::check;
use super::bounds;
use super::moved::{self, rows_of};
use super::opposite::{begin, check_cover, follow_blocks, not_reversible, oppose, reversed};
use super::quantities;
use super::shift_exact_sum;
use crate::amount::Amount;
use crate::command::Reverse;
use crate::effects::{Billing, Effects, InstanceChange, UsageRow};
use crate::history::{PastTx, rests, taken_back_by};
use crate::ids::{Next, TxId, UsageId};
use crate::model::Instance;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::reservation;
use crate::rules::billed_time::BilledTime;
use crate::terms::{self, Added, Span};
use crate::time::Seconds;
use crate::usage;
use crate::view::{Context, View};

/// Takes a charge, a refund or a settlement back, or does it again; its time in a reservation goes with it.
pub(super) fn reverse(
    reverse: &Reverse,
    target: &PastTx,
    root: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let mut effects = reverse_money(reverse, target, root, view, ctx)?;
    stays_returned(&effects, target, view)?;
    if let Some(tx) = effects.transactions.first() {
        let is_in_force = |id: TxId| {
            let mut own = view.history.iter().filter(|(tx, _)| *tx == id);
            let is_root = id == root.id && target.id != root.id;
            is_root || own.any(|(_, e)| taken_back_by(&view.history, e.id).is_none())
        };
        effects.times = reservation::undone(&view.times, (target.id, tx.id), is_in_force);
    }
    Ok(effects)
}

/// A project pays no more for a use at a partner bank than the partner charged. If the partner returned what was
/// refunded here before, the refund stays.
fn stays_returned(effects: &Effects, target: &PastTx, view: &View) -> Result<(), Refusal> {
    let Some(delivered) = view.delivered else {
        return Ok(());
    };
    let rests = rests(&view.history);
    let paid: i128 = rests.iter().map(|r| i128::from(r.left)).sum();
    let entries = effects.transactions.iter().flat_map(|tx| &tx.entries);
    let given: i128 = entries.map(|e| i128::from(e.delta.amount)).sum();
    if given >= 0 || paid.saturating_sub(given) <= i128::from(delivered) {
        return Ok(());
    }
    Err(not_reversible(
        target,
        "the partner bank returned the amount since; undo its refund at the bank where the job ran",
    ))
}

fn reverse_money(
    reverse: &Reverse,
    target: &PastTx,
    root: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let of_target = |i: &&Instance| Some(i.id) == target.instance;
    let unknown = || Refusal::not_found("transaction", &target.id.0.to_string());
    let mut instance = view.instances.iter().find(of_target).cloned();
    let instance = instance.as_mut().ok_or_else(unknown)?;
    let before = instance.standing();
    // An odd number of opposites takes the work back, an even one does it again.
    let undone = view.past.len() % 2 == 1;
    check(undone, (root, target), instance, view)?;
    let (mut rows, own) = rows_to_reverse(root, target, view).ok_or_else(unknown)?;
    let mut postings = Postings::new(view);
    let tx = begin(&mut postings, reverse, ctx);
    postings.about_instance(instance.id);
    let known = instance.clone();
    let nothing = moved::nothing(root, own, view).filter(|_| rows.is_empty());
    rows.extend(&nothing);
    let has_amounts = !rows.is_empty();
    let hours = moved::hours(root, own, view).filter(|_| !has_amounts);
    rows.extend(&hours);
    let (back, mut opposites) = move_back(&mut postings, instance, &rows, tx, ctx)?;
    let usage = UsageId(Next::take(&mut postings.next.usage));
    let about = About {
        usage: Some(usage),
        ..About::instance(instance)
    };
    let pairs = pairs(&rows, &opposites);
    let parts = oppose(&mut postings, target, &about, (&pairs, view), ctx)?;
    check_cover(&postings, &parts, reverse, ctx)?;
    let mut row = opposite(own, instance, (usage, tx), ctx)?;
    let mut facts_changed = false;
    match root.op.as_str() {
        "charge" | "adjust" => {
            let of_all = worth(back.plus(row.amount)?, ctx)?;
            let exact = added(root, undone).or(has_amounts.then_some(of_all));
            let whole = with_time_of(&row, &opposites);
            let rows = (priced(root, own, view), &whole);
            let of = (root, target);
            facts_changed = follow_charge(&mut postings, instance, of, (rows, exact), (view, ctx))?;
        }
        "settle" => {
            instance.billed = instance.billed.plus(row.amount)?;
            row.billing = other_side(own.billing);
            facts_changed = moved::name_payer(instance, root, row.billing);
        }
        _ => {}
    }
    follow_blocks(&mut postings, target, &parts, ctx);
    opposites.push(row.clone());
    let last = moved::last_is_before((&known, instance), (root, undone), view);
    moved::announce_all(&mut postings, (&known, instance), (&opposites, last), ctx);
    instance.last_usage = Some(usage);
    postings.usages.push(row);
    postings.instances.push(InstanceChange {
        instance: instance.clone(),
        facts_changed,
        standing_changed: before != instance.standing(),
    });
    let returned = moved::returned(root, instance, (view, ctx), undone);
    Ok(Effects {
        returned,
        ..reversed(postings, tx, target, parts)
    })
}

/// The names, quantities, windows and sums of the instance without a charge, or with it again. Returns whether its facts
/// changed.
fn follow_charge(
    postings: &mut Postings,
    instance: &mut Instance,
    (root, target): (&PastTx, &PastTx),
    ((priced, whole), exact): ((&UsageRow, &UsageRow), Option<Added>),
    (view, ctx): (&View, &Context<'_>),
) -> Result<bool, Refusal> {
    let undone = view.past.len() % 2 == 1;
    let changed = quantities::follow(instance, root, (view, ctx), undone)
        | moved::name_mover(instance, root, (view, ctx), undone);
    // Before the seconds change: they and the windows are those of the same time.
    unbill_windows(postings, instance, root, view, undone)?;
    uncount(instance, priced, whole, exact, ctx)?;
    bounds::check(undone, (root, target), instance, view, ctx)?;
    undispute(instance, root, undone);
    Ok(changed)
}

/// The last usage row of a transaction, and those before it: if an amended record moved the use from another project, that
/// has rows before those of its charge. Counts from a chunk stay counted.
fn rows_to_reverse<'a>(
    root: &PastTx,
    target: &PastTx,
    view: &'a View,
) -> Option<(Vec<&'a UsageRow>, &'a UsageRow)> {
    let mut rows = rows_of(target.id, view);
    let own = rows.pop()?;
    let is_settled = root.op == "settle";
    rows.retain(|u| {
        let is_back = u.amount < Amount::ZERO || u.billing == Billing::Refund;
        is_settled || u.tx != root.id || is_back
    });
    Some((rows, own))
}

/// Usage rows with their reversals: each reversed entry belongs to the reversal of its own row.
fn pairs(rows: &[&UsageRow], opposites: &[UsageRow]) -> Vec<(UsageId, UsageId)> {
    let opposites = opposites.iter().map(|row| row.id);
    rows.iter().map(|row| row.id).zip(opposites).collect()
}

/// The row with the priced facts, which an opposite does not repeat.
fn priced<'a>(root: &PastTx, own: &'a UsageRow, view: &'a View) -> &'a UsageRow {
    rows_of(root.id, view).pop().unwrap_or(own)
}

/// Takes back the rows before that of the charge; returns their sum and their opposites. Their time and their part
/// of the running sum go with the charge.
fn move_back(
    postings: &mut Postings,
    instance: &mut Instance,
    moved: &[&UsageRow],
    tx: TxId,
    ctx: &Context<'_>,
) -> Result<(Amount, Vec<UsageRow>), Refusal> {
    let mut sum = Amount::ZERO;
    let mut rows = Vec::new();
    for own in moved {
        let usage = UsageId(Next::take(&mut postings.next.usage));
        let row = opposite(own, instance, (usage, tx), ctx)?;
        let total = match row.billing {
            // It changes the refunded sum, not the billed one.
            Billing::Refund => None,
            Billing::Shadow => Some(&mut instance.shadow_billed),
            _ => Some(&mut instance.billed),
        };
        if let Some(total) = total {
            *total = total.plus(row.amount)?;
            sum = sum.plus(row.amount)?;
        }
        instance.last_usage = Some(usage);
        rows.push(row.clone());
        postings.usages.push(row);
    }
    Ok((sum, rows))
}

/// A row with the time of others too.
fn with_time_of(row: &UsageRow, others: &[UsageRow]) -> UsageRow {
    let times = others.iter().map(|other| other.charged);
    UsageRow {
        charged: times.fold(row.charged, Seconds::plus),
        ..row.clone()
    }
}

/// The charge's addition to the running sums, if it is in the journal: to be added again or taken back.
fn added(root: &PastTx, undone: bool) -> Option<Added> {
    let added = Added::read(&root.reason)?;
    Some(if undone { added.negated() } else { added })
}

/// The value of minor units in the running sum.
fn worth(amount: Amount, ctx: &Context<'_>) -> Result<Added, Refusal> {
    let scale = i128::from(ctx.directory.bank.precision.minor_per_credit());
    let per_minor = crate::exact::TRILLIONTHS.checked_div(scale);
    let exact = per_minor.and_then(|per| per.checked_mul(i128::from(amount.0)));
    let sum = exact.ok_or(Refusal::AmountOverflow)?;
    Ok(Added { sum, once: 0 })
}

/// The usage row that takes another one back.
fn opposite(
    own: &UsageRow,
    instance: &Instance,
    (id, tx): (UsageId, TxId),
    ctx: &Context<'_>,
) -> Result<UsageRow, Refusal> {
    Ok(UsageRow {
        id,
        prev: instance.last_usage,
        instance: instance.id,
        tx,
        at: ctx.now,
        charged: Seconds(own.charged.0.saturating_neg()),
        processors: own.processors,
        amount: own.amount.negate()?,
        billing: own.billing,
        late: false,
        facts: String::new(),
        rates_at: None,
    })
}

/// The windows of a charge that is taken back can be billed again; those of one that is done again
/// must not have been billed since.
fn unbill_windows(
    postings: &mut Postings,
    instance: &Instance,
    root: &PastTx,
    view: &View,
    undone: bool,
) -> Result<(), Refusal> {
    let own = terms::read_windows(&root.reason);
    if own.is_empty() {
        return Ok(());
    }
    let billed = BilledTime::of(instance, view);
    let again = own.iter().filter(|_| !undone);
    if let Some(Span { start, end }) = again.clone().find_map(|window| billed.within(window)) {
        return Err(Refusal::Overlap { start, end });
    }
    let spans = if undone {
        let rest = |span: &Span| span.without(&own);
        billed.windows.iter().flat_map(rest).collect()
    } else {
        let add = |windows: Vec<Span>, span: &Span| span.joined(&windows);
        again.fold(billed.windows, add)
    };
    postings.windows.push((instance.id, spans));
    Ok(())
}

/// The other carrier once a settlement is undone or redone.
fn other_side(billing: Billing) -> Billing {
    if billing == Billing::Billed {
        Billing::Unbilled
    } else {
        Billing::Billed
    }
}

/// Lowers the counters of an instance by a charge that was taken back, or raises them if it is done again.
/// `priced` is the row of the charge itself.
fn uncount(
    instance: &mut Instance,
    priced: &UsageRow,
    row: &UsageRow,
    exact: Option<Added>,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let Amount(minor) = row.amount;
    let shadow = row.billing == Billing::Shadow;
    shift_exact_sum(instance, minor, shadow, exact, ctx)?;
    instance.charged = instance.charged.plus(row.charged);
    let used = usage::text::read(&priced.facts, Some(priced.processors)).unwrap_or_default();
    let more = used.processor_seconds(row.charged);
    instance.processor_seconds = instance.processor_seconds.saturating_add(more);
    Ok(())
}

/// Removes the disputed seconds of the charge, or adds them again on redo. A total replaces all of them, so
/// it has no separate share.
fn undispute(instance: &mut Instance, root: &PastTx, undone: bool) {
    let disputed = terms::read_disputed(&root.reason);
    let Some(Seconds(disputed)) = disputed.filter(|_| !terms::is_of_total(&root.reason)) else {
        return;
    };
    let more = if undone {
        disputed.saturating_neg()
    } else {
        disputed
    };
    instance.disputed = Seconds(instance.disputed.0.saturating_add(more).max(0));
}
