//! Assigns finished usage without a project (ledger.md 2.8, decision 0046): each use once, at the rates of
//! its own time, and nothing else changes.

use crate::amount::Amount;
use crate::command::{Assign, Charge, HISTORY, Request, Whose};
use crate::effects::{
    Assigned, AssignedUse, Became, Billing, Delta, Effects, EntryKind, KnownUse, Outcome, UsageRow,
};
use crate::history::{Placed, bills, refunded, standing, taken_back_by, waiting};
use crate::ids::{AllocationId, BOUNDED_RULE, NAME_BYTES_MAX, TxId};
use crate::model::{Facts, Instance, ObjectType};
use crate::postings::{About, Postings};
use crate::refusal::{Refusal, short};
use crate::rules::charge;
use crate::select;
use crate::terms::{ASSIGNED, Terms, Whole};
use crate::time::Timestamp;
use crate::usage::{self, kept};
use crate::view::{Context, View};
use std::collections::BTreeMap;

/// Gives a finished use to a project. One that does not wait for a project stays as it is.
pub(super) fn assign(assign: &Assign, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let unknown = || Refusal::ProjectUnknown {
        project: short(&assign.project),
    };
    if !select::is_payer(ctx.directory, &assign.project) {
        return Err(unknown());
    }
    for name in [&assign.user, &assign.pi].into_iter().flatten() {
        let bounded = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
        if !bounded || name.chars().any(char::is_control) {
            return Err(Refusal::bad_name(name, BOUNDED_RULE));
        }
    }
    let missing = || Refusal::not_found("usage", &assign.identity.id);
    let known = view.known.as_ref().ok_or_else(missing)?;
    if known.policy == HISTORY {
        return Ok(unchanged(view, None));
    }
    let of_known = |i: &&Instance| Some(i.id) == known.instance;
    let instance = view.instances.iter().find(of_known);
    match instance.filter(|i| i.last_usage.is_some()) {
        Some(instance) => match waits(assign, &known.project, instance, view, ctx)? {
            Wait::Over => charged(assign, instance, known.became, view, ctx),
            Wait::ForMoney => Ok(unchanged(view, Some(no_payer(assign)))),
            Wait::None => Ok(unchanged(view, undone(&view.history))),
        },
        None if known.amount.is_some() => in_shadow(assign, known, view, ctx),
        None if !select::is_payer(ctx.directory, &known.project) => Ok(renamed(assign, view, ctx)),
        None => Ok(unchanged(view, None)),
    }
}

/// Whether a use waits for a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// It does, and gets this one.
    Over,
    /// It has this one, of which nothing can pay for it yet.
    ForMoney,
    /// It has one, or somebody paid.
    None,
}

fn no_payer(assign: &Assign) -> Refusal {
    Refusal::NoUsableAccount {
        project: short(&assign.project),
    }
}

/// Whether all charges of an instance wait for a project: on `#unbilled`, or in shadow figures without an
/// account. A person who refunded or settled part of it has to correct it.
fn waits(
    assign: &Assign,
    project: &str,
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Wait, Refusal> {
    let suspense = ctx.directory.suspense().map(|a| a.id);
    let last = last_use(&view.usages).filter(|_| undone(&view.history).is_none());
    let Some(last) = last else {
        return Ok(Wait::None);
    };
    if last.billing == Billing::Shadow {
        let nowhere = instance.billed.is_zero() && !has_shadow_place(&view.history);
        // Shadow figures of a project without an allocation have no allocation, before and after.
        let charge = || whole(assign, instance, Became::Charged, view, ctx);
        if !nowhere {
            return Ok(Wait::None);
        }
        if !select::is_payer(ctx.directory, project) {
            return Ok(Wait::Over);
        }
        return Ok(if project != assign.project {
            Wait::None
        } else if can_pay(&charge().request, view, ctx) {
            Wait::Over
        } else {
            Wait::ForMoney
        });
    }
    let refund = |(tx, e): &Placed| {
        let by_hand = e.kind == EntryKind::Refund && refunded(e, &view.history).is_some();
        by_hand.then_some(tx.0)
    };
    let kept = standing(&view.history);
    let transactions: Vec<i64> = kept.into_iter().filter_map(refund).collect();
    let rests = waiting(&view.history, suspense);
    let all_there = rests.iter().all(|r| r.entry.account == suspense);
    if rests.is_empty() || !all_there || !instance.shadow_billed.is_zero() {
        return Ok(Wait::None);
    }
    if !transactions.is_empty() {
        return Err(Refusal::HasRefunds { transactions });
    }
    Ok(Wait::Over)
}

/// The refusal of a use of which every charge was undone: it waits for nothing.
fn undone(history: &[Placed]) -> Option<Refusal> {
    if standing(history).iter().any(|(_, e)| bills(e.kind)) {
        return None;
    }
    let (TxId(transaction), last) = history.iter().rfind(|(_, e)| bills(e.kind))?;
    let (transaction, TxId(by)) = (*transaction, taken_back_by(history, last.id)?);
    Some(Refusal::AlreadyReversed { transaction, by })
}

/// Whether an allocation has shadow figures of an instance. One whose figures went back has none.
fn has_shadow_place(history: &[Placed]) -> bool {
    let mut sums: BTreeMap<AllocationId, i128> = BTreeMap::new();
    for (_, entry) in standing(history) {
        if let (EntryKind::ChargeNotional, Some(id)) = (entry.kind, entry.allocation) {
            let sum = sums.entry(id).or_default();
            *sum = sum.saturating_add(entry.delta.shadow.into());
        }
    }
    sums.values().any(|sum| *sum != 0)
}

/// The last charge of an instance with use in it.
fn last_use(usages: &[UsageRow]) -> Option<&UsageRow> {
    let mut rows = usages.iter().rev();
    rows.find(|row| row.billing != Billing::Refund)
}

fn unchanged(view: &View, stays: Option<Refusal>) -> Effects {
    Postings::new(view).finish(Outcome::Assigned(Box::new(Assigned {
        charged: None,
        changed: false,
        stays,
        was: Amount::ZERO,
        amount: Amount::ZERO,
    })))
}

/// Use that was never charged: it is for the project from now on, and no money moves.
fn renamed(assign: &Assign, view: &View, ctx: &Context<'_>) -> Effects {
    let mut postings = Postings::new(view);
    postings.begin("adjust", ctx.now);
    postings.remark(&remark(assign));
    let mut effects = postings.finish(Outcome::Assigned(Box::new(Assigned {
        charged: None,
        changed: true,
        stays: None,
        was: Amount::ZERO,
        amount: Amount::ZERO,
    })));
    effects.assigned.push(row(assign, None));
    effects
}

/// Use of a chunk: its shadow figure goes to the allocation of the project that would have paid then,
/// at the price that it had. It moved no money, and moves none now.
fn in_shadow(
    assign: &Assign,
    known: &KnownUse,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let amount = known.amount.unwrap_or_default();
    let whose = Whose {
        project: Some(assign.project.clone()),
        user: assign.user.clone(),
        machine: known.key.machine.clone(),
        for_reservation: known.key.object_type == ObjectType::Reservation,
    };
    let payer = select::find(ctx.directory, &whose);
    let ended = assign.ended.unwrap_or(ctx.now).min(ctx.now);
    let order = |at| select::billing_order(ctx.directory, &payer, &view.allocations, at);
    let on = order(ended).first().copied();
    let on = on.or_else(|| order(ctx.now).first().copied());
    let is_unknown = !select::is_payer(ctx.directory, &known.project);
    let finds = known.project == assign.project && on.is_some();
    if known.on.is_some() || known.became == Became::Kept || !(is_unknown || finds) {
        let is_short =
            known.on.is_none() && known.became != Became::Kept && known.project == assign.project;
        return Ok(unchanged(view, is_short.then(|| no_payer(assign))));
    }
    let mut postings = Postings::new(view);
    postings.begin("adjust", ended);
    postings.remark(&remark(assign));
    let about = About {
        project: payer.project_name.clone(),
        user: assign.user.clone().unwrap_or_default(),
        machine: whose.machine,
        ..About::default()
    };
    match on {
        None => postings.note(EntryKind::ChargeNotional, &about),
        Some(id) => {
            let delta = Delta {
                shadow: amount.negate()?.0,
                ..Delta::default()
            };
            postings.post(EntryKind::ChargeNotional, id, delta, &about)?;
        }
    }
    let mut effects = postings.finish(Outcome::Assigned(Box::new(Assigned {
        charged: None,
        changed: true,
        stays: None,
        was: amount,
        amount,
    })));
    effects.assigned.push(AssignedUse {
        on,
        ..row(assign, None)
    });
    Ok(effects)
}

/// The whole use, charged again: to the project, at the rates of its own time.
fn charged(
    assign: &Assign,
    instance: &Instance,
    became: Became,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let was = instance.billed.plus(instance.shadow_billed)?;
    let charge = whole(assign, instance, became, view, ctx);
    let mut effects = charge::charge(&charge, view, ctx)?;
    let charged = match effects.outcome {
        Outcome::Charged(charged) => Some(charged),
        _ => None,
    };
    let amount = effects.usages.last().map(|usage| usage.amount);
    effects.assigned.push(row(assign, amount));
    effects.outcome = Outcome::Assigned(Box::new(Assigned {
        charged,
        changed: true,
        stays: None,
        was,
        amount: amount.unwrap_or_default(),
    }));
    Ok(effects)
}

fn row(assign: &Assign, amount: Option<Amount>) -> AssignedUse {
    AssignedUse {
        identity: assign.identity.clone(),
        project: assign.project.clone(),
        user: assign.user.clone(),
        pi: assign.pi.clone(),
        amount,
        on: None,
    }
}

fn remark(assign: &Assign) -> String {
    let detail = format!("{ASSIGNED} source={}", assign.identity.source);
    format!("{detail} {}", assign.note).trim_end().to_owned()
}

/// The charge of the whole use, measured as it was the last time.
fn whole(
    assign: &Assign,
    instance: &Instance,
    became: Became,
    view: &View,
    ctx: &Context<'_>,
) -> Charge {
    let known = &instance.facts;
    // After undo and redo, the first of the rows has the quantities.
    let detailed = view.usages.iter().rev().find(|row| !row.facts.is_empty());
    let last = detailed.or(view.usages.last());
    let priced = last.and_then(|row| usage::text::read(&row.facts, Some(row.processors)));
    let user = assign.user.clone().unwrap_or_else(|| known.user.clone());
    let is_reservation = instance.key.object_type == ObjectType::Reservation;
    let whose = Whose {
        project: Some(assign.project.clone()),
        user: Some(user).filter(|user| !user.is_empty()),
        machine: instance.key.machine.clone(),
        for_reservation: is_reservation,
    };
    let ended = known.end.or(instance.used_until).unwrap_or(ctx.now);
    let is_free = became == Became::Free;
    Charge {
        request: Request {
            object_type: instance.key.object_type,
            object_id: instance.key.object_id.clone(),
            event_time: Some(when(&whose, known, ended, view, ctx)),
            whose,
            facts: Facts {
                usage: priced.unwrap_or_else(|| known.usage.clone()),
                other: other(assign, known),
                ..Facts::default()
            },
            ..Request::default()
        },
        duration: Some(instance.charged),
        closes: true,
        terms: Terms {
            amount: is_free.then_some(Amount::ZERO),
            assigned: true,
            finished: Some(Whole {
                began: known.start.unwrap_or(instance.opened),
                instance: Some(instance.id),
                remark: remark(assign),
            }),
            ..Terms::default()
        },
        ..Charge::default()
    }
}

/// What the collector stated of the instance, with a new PI; empty, and so unchanged, without one.
fn other(assign: &Assign, known: &Facts) -> Vec<(String, String)> {
    let Some(pi) = &assign.pi else {
        return Vec::new();
    };
    let documents: Vec<_> = kept::of_documents(&known.other).collect();
    let stated = known.other.iter().filter(|fact| !documents.contains(fact));
    let stated: Vec<_> = stated.cloned().collect();
    kept::with_pi(&stated, pi)
}

/// The effective time: the end of the use, if any account of the project could pay then; else now, since
/// present money pays for earlier usage.
fn when(
    whose: &Whose,
    known: &Facts,
    ended: Timestamp,
    view: &View,
    ctx: &Context<'_>,
) -> Timestamp {
    let payer = select::find(ctx.directory, whose);
    let payer = payer.knowing(ctx.directory, &known.usage, &known.group);
    let then = select::billing_order(ctx.directory, &payer, &view.allocations, ended);
    if then.is_empty() { ctx.now } else { ended }
}

/// Whether an allocation could pay when it counts.
fn can_pay(request: &Request, view: &View, ctx: &Context<'_>) -> bool {
    let payer = select::find(ctx.directory, &request.whose);
    let payer = payer.knowing(ctx.directory, &request.facts.usage, &request.facts.group);
    let at = request.event_time.unwrap_or(ctx.now);
    let order = select::billing_order(ctx.directory, &payer, &view.allocations, at);
    !order.is_empty()
}

#[cfg(test)]
mod tests;
