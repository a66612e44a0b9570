//! Usage that `#unbilled` carries, billed to a project that is there now: the entries on the
//! suspense account are taken back and the project is charged, in one transaction
//! (decision 0014).

use super::{announce_moved, move_money, one_instance};
use crate::amount::Amount;
use crate::command::{Settle, Whose};
use crate::decimal::Decimal;
use crate::effects::{
    Billing, Delta, Effects, EntryKind, InstanceChange, Outcome, Settled, UsageRow,
};
use crate::history::{Rest, rests};
use crate::ids::{AllocationId, Next, TxId, UsageId};
use crate::model::{Instance, ObjectType};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::choice;
use crate::rules::funds::funds;
use crate::rules::split::in_order;
use crate::select::{self, Candidate, Payer};
use crate::time::Seconds;
use crate::view::{Context, View};

/// Bills a project for what of an instance is unbilled.
pub(super) fn settle(settle: &Settle, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let project = &settle.project;
    check_payer(project, ctx)?;
    let mut instance = one_instance(view, (&settle.object_id, settle.number), ctx)?.clone();
    let suspense = ctx.directory.suspense().map(|a| a.id);
    let mut unbilled = rests(&view.history);
    unbilled.retain(|r| r.entry.account == suspense && (r.left > 0 || r.entry.delta.amount == 0));
    if unbilled.is_empty() {
        return Err(Refusal::NothingUnbilled);
    }
    let total: i128 = unbilled.iter().map(|r| i128::from(r.left)).sum();
    let amount = Amount::from_sum(total)?;
    let mut postings = Postings::new(view);
    let tx = postings.begin_for("settle", ctx.now, instance.id);
    postings.remark(&settle.note);
    let from = instance.clone();
    let is_moved = from.facts.project != *project;
    let left = next_row(&mut postings, &mut instance, tx, ctx);
    take_back(&mut postings, &unbilled, &from, left.id)?;
    instance.facts.project.clone_from(project);
    // Another project had it: its records move, so it leaves with one row and arrives with another.
    let row = if is_moved {
        let left = UsageRow {
            amount: amount.negate()?,
            billing: Billing::Unbilled,
            ..left
        };
        announce_moved(&mut postings, &from, &left, ctx);
        postings.usages.push(left);
        let arrived = next_row(&mut postings, &mut instance, tx, ctx);
        UsageRow { amount, ..arrived }
    } else {
        left
    };
    let payer = payer(&instance, ctx);
    choice::tell(&mut postings, &payer, None, &instance, ctx);
    let candidates = select::billable(ctx.directory, &payer);
    let about = About {
        usage: Some(row.id),
        ..About::instance(&instance)
    };
    let (parts, debt) = bill(&mut postings, &candidates, amount, &about, ctx)?;
    let first = parts.first().and_then(|(id, _)| postings.allocation(*id));
    instance.account = first.map(|a| a.account);
    if is_moved {
        announce_moved(&mut postings, &instance, &row, ctx);
    }
    postings.usages.push(row);
    let settled = Settled {
        tx,
        instance: instance.id,
        amount,
        debt,
        parts,
    };
    let id = instance.id;
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: true,
        standing_changed: true,
    });
    let given = Some(id);
    Ok(Effects {
        given,
        ..postings.finish(Outcome::Settled(settled))
    })
}

/// Refuses a project that is neither here nor at a partner.
fn check_payer(project: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let here = ctx.directory.project_named(project).is_some();
    if here || ctx.directory.at_partner(project).is_some() {
        return Ok(());
    }
    Err(Refusal::ProjectUnknown {
        project: crate::refusal::short(project),
    })
}

/// The next usage row of an instance, without use and without an amount.
fn next_row(
    postings: &mut Postings,
    instance: &mut Instance,
    tx: TxId,
    ctx: &Context<'_>,
) -> UsageRow {
    let id = UsageId(Next::take(&mut postings.next.usage));
    UsageRow {
        id,
        prev: instance.last_usage.replace(id),
        instance: instance.id,
        tx,
        at: ctx.now,
        charged: Seconds(0),
        processors: Decimal::ZERO,
        amount: Amount::ZERO,
        billing: Billing::Billed,
        late: false,
        facts: String::new(),
        rates_at: None,
    }
}

fn take_back(
    postings: &mut Postings,
    unbilled: &[Rest<'_>],
    instance: &Instance,
    usage: UsageId,
) -> Result<(), Refusal> {
    for rest in unbilled {
        let Some(allocation) = rest.entry.allocation else {
            continue;
        };
        let about = About {
            usage: Some(usage),
            takes_back: Some(rest.entry.id),
            ..About::instance(instance)
        };
        let kind = EntryKind::Reverse;
        move_money(postings, kind, allocation, (rest.left, 0), &about)?;
    }
    Ok(())
}

/// Who pays for an instance, by its facts.
pub(super) fn payer(instance: &Instance, ctx: &Context<'_>) -> Payer {
    let whose = Whose {
        project: Some(instance.facts.project.clone()),
        user: Some(instance.facts.user.clone()).filter(|u| !u.is_empty()),
        machine: instance.key.machine.clone(),
        for_reservation: instance.key.object_type == ObjectType::Reservation,
    };
    let facts = &instance.facts;
    let payer = select::find(ctx.directory, &whose);
    payer.knowing(ctx.directory, &facts.usage, &facts.group)
}

/// Free money first, in paying order, then debt on the first allocation.
fn bill(
    postings: &mut Postings,
    candidates: &[Candidate],
    amount: Amount,
    about: &About,
    ctx: &Context<'_>,
) -> Result<(Vec<(AllocationId, Amount)>, Amount), Refusal> {
    let funds = funds(postings.allocations(), candidates, ctx.now, false);
    let Some((first, _)) = funds.first().copied() else {
        return Err(Refusal::NoUsableAccount {
            project: about.project.clone(),
        });
    };
    let (mut parts, remaining) = in_order(funds, amount)?;
    let debt = Amount::from_sum(remaining)?;
    if parts.is_empty() && debt.is_zero() {
        parts.push((first, Amount::ZERO));
    }
    for (id, part) in &parts {
        post(postings, EntryKind::Charge, *id, *part, about)?;
    }
    if !debt.is_zero() {
        post(postings, EntryKind::ChargeDebt, first, debt, about)?;
        parts.push((first, debt));
    }
    Ok((parts, debt))
}

fn post(
    postings: &mut Postings,
    kind: EntryKind,
    id: AllocationId,
    part: Amount,
    about: &About,
) -> Result<(), Refusal> {
    let minus = part.negate()?.0;
    let delta = Delta {
        amount: minus,
        active: minus,
        ..Delta::default()
    };
    postings.post(kind, id, delta, about)
}
