//! Checks of the amounts that a command moves, against the caller's limits and the amounts that need approval
//! by somebody else.

use crate::access::{Act, Held, held};
use crate::amount::Amount;
use crate::command::{After, Command, Open};
use crate::effects::{Billing, Effects, EntryKind, Moved, Outcome};
use crate::model::{Allocation, Limit, LimitOf, MoneyKind, Phase};
use crate::refusal::Refusal;
use crate::role::{Role, Who};
use crate::time::Timestamp;
use crate::view::{Context, MovedBefore, View};
use std::cmp::Ordering;

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// The number of people who checked a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eyes {
    /// The caller.
    Two,
    /// The proposer and the approver, for at most this amount.
    Four(Amount),
}

/// The UTC day of an instant, counted from 1970.
pub(crate) fn day_of(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY_US)
}

/// Refuses what is beyond a limit of the caller, and what needs a second pair of eyes; notes what
/// was moved. What the bank does by itself is held against nothing.
pub(crate) fn guard(
    command: &Command,
    eyes: Eyes,
    effects: &mut Effects,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let Some(who) = &ctx.scope.who else {
        return Ok(());
    };
    let parts = moved(command, effects, view);
    check_limits(command, &parts, who, &view.moved, ctx)?;
    for (kind, amount) in &parts {
        let is_approved = matches!(eyes, Eyes::Four(approved) if *amount <= approved);
        if !is_approved {
            check_threshold(*kind, *amount, ctx)?;
        }
    }
    let amount = sum(&parts);
    if amount > 0 {
        effects.moved = Some(Moved {
            day: day_of(ctx.now),
            human: who.human().to_owned(),
            actor: who.actor.clone(),
            amount: Amount::clamped(amount),
        });
    }
    Ok(())
}

/// The limits alone, for what is only proposed, after what was moved today.
pub(crate) fn check_limits(
    command: &Command,
    parts: &[(MoneyKind, Amount)],
    who: &Who,
    moved: &MovedBefore,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let amount = sum(parts);
    if amount == 0 {
        return Ok(());
    }
    let held = held(ctx.scope, who, ctx.directory, ctx.now);
    for limit in ctx.directory.limits() {
        if !is_for(limit, command, who, &held) {
            continue;
        }
        let of_actor = limit.of == LimitOf::Name(who.actor.clone()) && who.actor != who.human();
        let before = if of_actor {
            moved.by_actor
        } else {
            moved.by_human
        };
        let day = limit
            .per_day
            .map(|most| i128::from(most.0).saturating_sub(before).max(0));
        let once = limit.per_operation.map(|most| i128::from(most.0));
        for (left, per) in [(once, "operation"), (day, "day")] {
            if let Some(left) = left.filter(|left| amount > *left) {
                return Err(Refusal::OverLimit {
                    needed: Amount::clamped(amount),
                    left: Amount::clamped(left),
                    per,
                });
            }
        }
    }
    Ok(())
}

/// Whether a limit is for this caller: for their name, client or key, or for the role that allows the
/// command. A caller who is admin everywhere acts as admin.
fn is_for(limit: &Limit, command: &Command, who: &Who, held: &[Held]) -> bool {
    match &limit.of {
        LimitOf::Name(name) => *name == who.actor || *name == who.client || name == who.human(),
        LimitOf::Role(role) => {
            let is_admin = |h: &Held| h.role == Role::Admin && h.projects.is_empty();
            let acts_as = |h: &Held| {
                h.role == *role && (*role == Role::Admin || Act::of(command).roles().contains(role))
            };
            if held.iter().any(is_admin) {
                return *role == Role::Admin;
            }
            held.iter().any(acts_as)
        }
    }
}

fn check_threshold(kind: MoneyKind, amount: Amount, ctx: &Context<'_>) -> Result<(), Refusal> {
    let Some(threshold) = ctx.directory.policy.approval.above(kind) else {
        return Ok(());
    };
    let missing = 6_u32.saturating_sub(ctx.directory.bank.precision.places().into());
    let scale = 10_i128.saturating_pow(missing);
    if i128::from(amount.0).saturating_mul(scale) <= i128::from(threshold.0) {
        return Ok(());
    }
    let threshold = i128::from(threshold.0).checked_div(scale).unwrap_or(0);
    Err(Refusal::ApprovalNeeded {
        kind: kind.word(),
        needed: amount,
        threshold: Amount::clamped(threshold),
    })
}

fn sum(parts: &[(MoneyKind, Amount)]) -> i128 {
    parts.iter().map(|(_, amount)| i128::from(amount.0)).sum()
}

/// The amount that a reversal moves: out like a withdrawal, in like a refund, or from one allocation to
/// another.
fn taken_back(effects: &Effects) -> (MoneyKind, Amount) {
    let entries = effects.transactions.iter().flat_map(|tx| &tx.entries);
    let entries = entries.filter(|entry| entry.kind == EntryKind::Reverse);
    let (mut came, mut went) = (0_i128, 0_i128);
    for entry in entries {
        let change = i128::from(entry.delta.amount);
        came = came.saturating_add(change.max(0));
        went = went.saturating_sub(change.min(0));
    }
    let kind = match came.cmp(&went) {
        Ordering::Greater => MoneyKind::Refund,
        Ordering::Equal => MoneyKind::Transfer,
        Ordering::Less => MoneyKind::Withdraw,
    };
    (kind, Amount::clamped(came.max(went)))
}

/// What a changed window moves: money that ends earlier, or is moved into the future, goes out (decision 0224); money
/// that had ended and can be spent again comes in, as this kind (decision 0263).
fn by_window(new: &Allocation, view: &View, back: MoneyKind) -> Option<(MoneyKind, Amount)> {
    let old = view
        .allocation(new.id)
        .filter(|old| old.window != new.window)?;
    let end = |own: &Allocation| own.window.end.map_or(i64::MAX, |end| end.0);
    let later = (old.phase, new.phase) == (Phase::Active, Phase::Future);
    if later || end(new) < end(old) {
        Some((MoneyKind::Withdraw, old.amount))
    } else if old.phase == Phase::Expired && new.phase != Phase::Expired {
        Some((back, old.amount))
    } else {
        None
    }
}

/// The amounts that a decided command moves, by kind; none for a command that moves no money.
pub(super) fn moved(command: &Command, effects: &Effects, view: &View) -> Vec<(MoneyKind, Amount)> {
    let parts = match (command, &effects.outcome) {
        (Command::Deposit(deposit), Outcome::Deposited(done)) => {
            let limit = deposit.credit_limit.filter(|_| done.created);
            vec![
                (MoneyKind::Deposit, deposit.amount),
                (MoneyKind::CreditLimit, limit.unwrap_or(Amount::ZERO)),
            ]
        }
        // Money that comes again and again is deposited without anybody's further word.
        (Command::AddCycle(_) | Command::SetCycle(_), Outcome::Cycle(cycle)) => {
            let is_same = matches!(command, Command::SetCycle(set) if set.amount.is_none());
            let amount = if is_same { Amount::ZERO } else { cycle.amount };
            vec![(MoneyKind::Deposit, amount)]
        }
        (Command::Open(Open::Allocation(own)), _) => {
            let gone = own.deposited.0.abs_diff(own.amount.0);
            let gone = Amount::clamped(gone.into());
            vec![
                (MoneyKind::Deposit, own.deposited),
                (MoneyKind::CreditLimit, own.credit_limit),
                (MoneyKind::Adjust, gone),
            ]
        }
        (Command::Withdraw(withdraw), _) => vec![(MoneyKind::Withdraw, withdraw.amount)],
        (Command::After(After::Transfer(transfer)), _) => {
            vec![(MoneyKind::Transfer, transfer.amount)]
        }
        (Command::After(After::Refund(_)), Outcome::Refunded(done)) => {
            vec![(MoneyKind::Refund, done.amount)]
        }
        (Command::After(After::Reverse(_) | After::RestoreAccount(_)), _) => {
            let changed = effects.allocations.iter();
            let windows = changed.filter_map(|new| by_window(new, view, MoneyKind::Refund));
            let mut parts: Vec<_> = windows.collect();
            parts.push(taken_back(effects));
            parts
        }
        // A total by hand that is below the former one gives the difference back.
        (Command::Charge(charge), Outcome::Charged(done))
            if charge.terms.source.is_none() && done.billing != Billing::Shadow =>
        {
            let back = i128::from(done.amount.0).saturating_neg();
            vec![(MoneyKind::Refund, Amount::clamped(back))]
        }
        (Command::After(After::Adjust(adjust)), _) => {
            let size = i128::from(adjust.amount.0).abs();
            vec![(MoneyKind::Adjust, Amount::clamped(size))]
        }
        // Money that goes with its account or allocation went out.
        (Command::After(After::RemoveAccount(_) | After::RemoveAllocation(_)), _) => {
            let entries = effects.transactions.iter().flat_map(|tx| &tx.entries);
            let gone = entries.filter(|entry| entry.kind == EntryKind::Delete);
            let gone: i128 = gone.map(|entry| i128::from(entry.delta.amount)).sum();
            vec![(MoneyKind::Withdraw, Amount::clamped(gone.saturating_neg()))]
        }
        (Command::SetAllocation(_), Outcome::Allocation(new, _)) => {
            let old = view.allocation(new.id).unwrap_or(new);
            let limit = new.credit_limit.0.saturating_sub(old.credit_limit.0);
            let mut parts = vec![(MoneyKind::CreditLimit, Amount(limit))];
            parts.extend(by_window(new, view, MoneyKind::Deposit));
            parts
        }
        _ => Vec::new(),
    };
    let counts = |part: &(MoneyKind, Amount)| part.1 > Amount::ZERO;
    parts.into_iter().filter(counts).collect()
}
