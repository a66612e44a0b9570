//! Cycles: defined, and run at their boundaries (ledger.md 10, idea 9).
//!
//! The boundary is data: the cycle's row contains the next one. It advances in the transaction that makes the
//! period's allocation, so each boundary runs exactly once.

use crate::amount::Amount;
use crate::command::{AddCycle, SetCycle};
use crate::effects::{Delta, DirectoryRow, Effects, EntryKind, Outcome};
use crate::ids::{AllocationId, CycleId, Next, check_name};
use crate::model::{Allocation, Cycle, CycleRun, Phase};
use crate::months;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::money::{of_people, one_at_a_time, unblock};
use crate::select;
use crate::time::Timestamp;
use crate::view::{Context, View};

/// Defines a cycle. Its first boundary is not over: at the earliest the present period's.
pub(super) fn add(add: &AddCycle, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check_name(&add.name)?;
    let known = ctx.directory.any_cycle_named(&add.name);
    if known.is_some_and(|c| !c.deleted) {
        return Err(Refusal::already_exists("cycle", &add.name));
    }
    let account = select::account_by_name(ctx.directory, &add.account)?;
    of_people(account)?;
    let next = CycleId(ctx.directory.next_id("cycle"));
    let cycle = Cycle {
        id: known.map_or(next, |c| c.id),
        name: add.name.clone(),
        account: account.id,
        every: add.every,
        amount: positive(add.amount)?,
        rollover: per_cent(add.rollover)?,
        start: add.start.unwrap_or_else(|| next_period(add.every, ctx.now)),
        number: 0,
        last: None,
        active: true,
        deleted: false,
        note: add.note.clone(),
    };
    if cycle.period().is_over(ctx.now) {
        return Err(Refusal::WindowInPast);
    }
    one_at_a_time(&Postings::new(view), account, &cycle.period(), None, ctx)?;
    let text = format!(
        "{} start={}",
        described(&cycle, ctx),
        months::text(cycle.start)
    );
    Ok(write("cycle_add", cycle, &text, view, ctx))
}

/// Changes a cycle from its next boundary on. One that is switched on again leaves out what passed.
pub(super) fn set(set: &SetCycle, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let before = named(&set.name, ctx)?;
    let mut cycle = before.clone();
    if let Some(every) = set.every.filter(|every| *every != cycle.every) {
        cycle.start = cycle.next_at();
        cycle.number = 0;
        cycle.every = every;
    }
    if let Some(amount) = set.amount {
        cycle.amount = positive(amount)?;
    }
    if let Some(rollover) = set.rollover {
        cycle.rollover = per_cent(rollover)?;
    }
    if let Some(active) = set.active {
        if active && !cycle.active {
            cycle.skip_to(ctx.now);
        }
        cycle.active = active;
    }
    if let Some(note) = &set.note {
        cycle.note.clone_from(note);
    }
    if cycle == *before {
        // A change that changes nothing makes no transaction.
        return Ok(Postings::new(view).finish(Outcome::Cycle(cycle)));
    }
    let text = described(&cycle, ctx);
    Ok(write("cycle_set", cycle, &text, view, ctx))
}

/// Removes a cycle. What it made stays.
pub(super) fn remove(name: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let gone = Cycle {
        deleted: true,
        active: false,
        last: None,
        ..named(name, ctx)?.clone()
    };
    let mut effects = write("cycle_rm", gone, &format!("cycle={name}"), view, ctx);
    effects.outcome = Outcome::Removed(name.to_owned());
    Ok(effects)
}

/// Runs a cycle on demand: the boundary that is due, which the daemon could not journal by itself;
/// or, as a preview, the next one with the money as it is now.
pub(super) fn run_now(
    name: &str,
    preview: bool,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let cycle = named(name, ctx)?;
    if !preview && cycle.due().is_none_or(|at| at > ctx.now) {
        return Err(Refusal::CycleNotDue {
            name: name.to_owned(),
            next: months::text(cycle.next_at()),
        });
    }
    let mut postings = Postings::new(view);
    let run = run(&mut postings, cycle, ctx)?;
    Ok(postings.finish(Outcome::CycleRun(run)))
}

/// Runs one boundary, in a separate transaction: a new allocation for the period, its money, and the
/// carried-over share of the free amount on the one before. Held amounts and debts stay on the old
/// allocation, and the rest expires with its window.
pub(super) fn run(
    postings: &mut Postings,
    cycle: &Cycle,
    ctx: &Context<'_>,
) -> Result<CycleRun, Refusal> {
    let at = cycle.next_at();
    let period = cycle.period();
    let before = cycle.last.and_then(|id| postings.allocation(id)).copied();
    // The credits of an allocation that ended before the boundary are gone.
    let lasts = |b: &Allocation| b.window.end.is_none_or(|end| end >= at);
    let before = before.filter(lasts);
    let rollover = before.map_or(Ok(Amount::ZERO), |b| share(&b, cycle.rollover))?;
    if let Some(account) = ctx.directory.account(cycle.account) {
        one_at_a_time(postings, account, &period, None, ctx)?;
    }
    let allocation = AllocationId(Next::take(&mut postings.next.allocation));
    let new = Allocation::empty(allocation, cycle.account, period, Amount::ZERO, at);
    postings.add_allocation(new);
    let tx = postings.begin("cycle", at);
    postings.remark(&format!("cycle={}", cycle.name));
    post(postings, EntryKind::Deposit, allocation, cycle.amount, true)?;
    if let Some(before) = before.filter(|_| !rollover.is_zero()) {
        let was_active = before.phase == Phase::Active;
        let out = rollover.negate()?;
        post(postings, EntryKind::CycleReset, before.id, out, was_active)?;
        post(postings, EntryKind::CycleReset, allocation, rollover, true)?;
    }
    if let Some(account) = ctx.directory.account(cycle.account) {
        unblock(postings, account);
    }
    let cycle = Cycle {
        number: cycle.number.saturating_add(1),
        last: Some(allocation),
        ..cycle.clone()
    };
    postings.directory.push(DirectoryRow::Cycle(cycle.clone()));
    Ok(CycleRun {
        cycle,
        tx,
        allocation,
        period,
        rollover,
    })
}

fn post(
    postings: &mut Postings,
    kind: EntryKind,
    id: AllocationId,
    amount: Amount,
    is_active: bool,
) -> Result<(), Refusal> {
    let delta = Delta {
        amount: amount.0,
        active: if is_active { amount.0 } else { 0 },
        ..Delta::default()
    };
    postings.post(kind, id, delta, &About::default())
}

/// The share of what is neither spent nor held, rounded down to a minor unit.
fn share(before: &Allocation, per_cent: i64) -> Result<Amount, Refusal> {
    let free = i128::from(before.amount.0).saturating_sub(i128::from(before.held.0));
    let share = free.max(0).saturating_mul(i128::from(per_cent));
    Ok(Amount::from_sum(share.div_euclid(100))?)
}

/// The first instant of the next calendar month, quarter or year, in UTC.
fn next_period(every: crate::model::Every, now: Timestamp) -> Timestamp {
    let today = months::date(now);
    let within = today.month.saturating_sub(1).rem_euclid(every.months());
    let begun = months::midnight(months::Date {
        month: today.month.saturating_sub(within),
        day: 1,
        ..today
    });
    months::plus_months(begun, every.months())
}

fn positive(amount: Amount) -> Result<Amount, Refusal> {
    if amount > Amount::ZERO {
        Ok(amount)
    } else {
        Err(Refusal::NOT_ABOVE_ZERO)
    }
}

fn per_cent(share: i64) -> Result<i64, Refusal> {
    if (0..=100).contains(&share) {
        Ok(share)
    } else {
        Err(Refusal::bad_value("rollover", "0% to 100%"))
    }
}

fn described(cycle: &Cycle, ctx: &Context<'_>) -> String {
    let account = ctx.directory.account(cycle.account);
    let account = account.map_or("", |a| a.name.as_str());
    let amount = cycle.amount.display(ctx.directory.bank.precision);
    let mut text = format!(
        "cycle={} account={account} every={} amount={amount} rollover={}%",
        cycle.name,
        cycle.every.word(),
        cycle.rollover
    );
    if !cycle.active {
        text.push_str(" active=false");
    }
    if !cycle.note.is_empty() {
        text = format!("{text} {}", cycle.note);
    }
    text
}

fn write(op: &'static str, cycle: Cycle, text: &str, view: &View, ctx: &Context<'_>) -> Effects {
    let mut postings = Postings::new(view);
    postings.begin(op, ctx.now);
    postings.remark(text);
    postings.directory.push(DirectoryRow::Cycle(cycle.clone()));
    postings.finish(Outcome::Cycle(cycle))
}

fn named<'a>(name: &str, ctx: &Context<'a>) -> Result<&'a Cycle, Refusal> {
    ctx.directory
        .cycle_named(name)
        .ok_or_else(|| Refusal::not_found("cycle", name))
}
