//! Deposit and withdraw (ledger.md 2.1, 2.2).

use std::collections::BTreeSet;

use crate::amount::Amount;
use crate::command::{Deposit, Withdraw};
use crate::effects::{
    Delta, Deposited, DirectoryRow, Effects, EntryKind, Landed, Outcome, Withdrawn,
};
use crate::ids::{AccountId, AllocationId, Next, UNBILLED};
use crate::model::{Account, Allocation, Figures, Phase};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::period::effective;
use crate::rules::phase::catch_up;
use crate::rules::split::in_order;
use crate::select;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// Puts money into an account: into an allocation of equal window and limit, else a new one.
pub(super) fn deposit(
    deposit: &Deposit,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let account = select::account_by_name(ctx.directory, &deposit.name)?;
    of_people(account)?;
    let limit = deposit.credit_limit.unwrap_or(Amount::ZERO);
    let is_nothing = deposit.amount.is_zero() && !opens_credit(deposit, view, account);
    if deposit.amount < Amount::ZERO || is_nothing {
        return Err(Refusal::NOT_ABOVE_ZERO);
    }
    if limit < Amount::ZERO {
        return Err(Refusal::LIMIT_BELOW_ZERO);
    }
    if !deposit.window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    let named = deposit.allocation;
    let named = named.map(|id| named_allocation(view, account, id, deposit));
    let named = named.transpose()?;
    let at = effective(deposit.effective, view, ctx)?;
    if deposit.window.is_over(at) && !deposit.allow_past {
        return Err(Refusal::WindowInPast);
    }
    let parts = if deposit.is_spread() {
        select::spread(ctx.directory, account.id, deposit.amount.0)
    } else {
        vec![(account.id, deposit.amount.0)]
    };
    let mut postings = Postings::new(view);
    let mut landing = Vec::new();
    for (id, part) in parts {
        let part_of = ctx.directory.account(id).unwrap_or(account);
        let equal = || equal_allocation(view, part_of, deposit, limit);
        let target = named.or_else(|| (!deposit.always_new).then(equal).flatten());
        let allocation = if let Some(known) = target {
            is_open_at(&postings, known, at)?;
            known
        } else {
            one_at_a_time(&postings, part_of, &deposit.window, None, ctx)?;
            open_allocation(&mut postings, id, deposit, limit, at)
        };
        landing.push((part_of, allocation, Amount(part), target.is_none()));
    }
    let tx = postings.begin("deposit", at);
    postings.remark(&deposit.note);
    let landed = land(&mut postings, &landing, ctx)?;
    let last = landed.last().copied().ok_or(Refusal::AmountOverflow)?;
    let deposited = Deposited {
        tx,
        amount: deposit.amount,
        allocation: last.allocation,
        created: last.created,
        figures: figures(&postings, account.id),
        account: account.id,
        parts: landed,
    };
    Ok(postings.finish(Outcome::Deposited(deposited)))
}

/// Whether a deposit opens an allocation of credit alone, which needs no money: one whose limit no equal
/// allocation has, or a requested new one (`--new`). Any other deposit of 0 would change nothing.
fn opens_credit(deposit: &Deposit, view: &View, account: &Account) -> bool {
    let Some(limit) = deposit.credit_limit else {
        return false;
    };
    let is_there = || equal_allocation(view, account, deposit, limit).is_some();
    deposit.always_new || (limit > Amount::ZERO && !is_there())
}

/// A deposit that counts from an instant needs an allocation that was open then, in its present phase.
fn is_open_at(postings: &Postings, id: AllocationId, at: Timestamp) -> Result<(), Refusal> {
    let known = postings.allocation(id);
    if known.is_none_or(|known| known.opened.max(known.since) <= at) {
        return Ok(());
    }
    Err(Refusal::BadValue {
        field: "effective",
        expected: "a time at which the allocation was active already; --new opens another one",
    })
}

/// Puts the amounts into their allocations, and then journals the boundaries of these that have passed since.
fn land(
    postings: &mut Postings,
    landing: &[(&Account, AllocationId, Amount, bool)],
    ctx: &Context<'_>,
) -> Result<Vec<Landed>, Refusal> {
    for (_, id, amount, _) in landing {
        postings.put(EntryKind::Deposit, *id, *amount)?;
    }
    let landed = landing.iter().map(|(account, id, amount, created)| {
        catch_up(postings, *id, ctx.now)?;
        unblock(postings, account);
        let allocation = postings.allocation(*id).copied();
        Ok(Landed {
            amount: *amount,
            allocation: allocation.ok_or(Refusal::AmountOverflow)?,
            created: *created,
        })
    });
    landed.collect()
}

/// If the bank requires the allocations of an account one after the other, refuses overlapping windows
/// (ledger.md 2.1 g).
pub(super) fn one_at_a_time(
    postings: &Postings,
    account: &Account,
    window: &Window,
    but: Option<AllocationId>,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if !ctx.directory.policy.discrete {
        return Ok(());
    }
    let meets = |other: &Window| {
        let before = |end: Option<Timestamp>, start: Option<Timestamp>| {
            end.zip(start).is_some_and(|(end, start)| end <= start)
        };
        !before(window.end, other.start) && !before(other.end, window.start)
    };
    let mut others = postings
        .allocations()
        .iter()
        .filter(|a| a.account == account.id && Some(a.id) != but && meets(&a.window));
    match others.next() {
        None => Ok(()),
        Some(other) => Err(Refusal::AllocationOverlap {
            account: account.name.clone(),
            allocation: other.id.0,
        }),
    }
}

/// The allocation that the request names, if it is the account's and nothing else is asked of it.
fn named_allocation(
    view: &View,
    account: &Account,
    id: AllocationId,
    deposit: &Deposit,
) -> Result<AllocationId, Refusal> {
    let shaped = deposit.credit_limit.is_some() || deposit.always_new;
    if shaped || deposit.window != Window::ALWAYS {
        return Err(Refusal::BadValue {
            field: "allocation",
            expected: Refusal::ALONE,
        });
    }
    own_allocation(view, account, id).map(|own| own.id)
}

/// An allocation that is named beside its account. One of another account is missing, whether it exists or not.
fn own_allocation<'v>(
    view: &'v View,
    account: &Account,
    id: AllocationId,
) -> Result<&'v Allocation, Refusal> {
    let known = view.allocation(id).filter(|own| own.account == account.id);
    known.ok_or_else(|| Refusal::no_part("account", &account.name, format!("allocation {}", id.0)))
}

fn equal_allocation(
    view: &View,
    account: &Account,
    deposit: &Deposit,
    limit: Amount,
) -> Option<AllocationId> {
    let mut equal = view
        .of_account(account.id)
        .filter(|a| a.window == deposit.window && a.credit_limit == limit);
    equal.next().map(|a| a.id)
}

fn open_allocation(
    postings: &mut Postings,
    account: AccountId,
    deposit: &Deposit,
    credit_limit: Amount,
    at: Timestamp,
) -> AllocationId {
    let id = AllocationId(Next::take(&mut postings.next.allocation));
    let new = Allocation::empty(id, account, deposit.window, credit_limit, at);
    postings.add_allocation(new);
    id
}

/// Refuses the bank's own account: it carries usage that a project has to pay (`bank settle`, or an undo).
pub(super) fn of_people(account: &Account) -> Result<(), Refusal> {
    if account.name != UNBILLED {
        return Ok(());
    }
    Err(Refusal::in_use(&account.name, "the bank itself"))
}

/// The figures of an account as the postings leave it.
pub(super) fn figures(postings: &Postings, account: AccountId) -> Figures {
    let all = postings.allocations().iter();
    Figures::of(all.filter(|a| a.account == account))
}

/// The figures of the accounts of allocations whose accounts are in view with all their allocations.
pub(super) fn figures_of(
    postings: &Postings,
    parts: &[(AllocationId, Amount)],
) -> Vec<(AccountId, Figures)> {
    let of = parts.iter().filter_map(|(id, _)| postings.allocation(*id));
    let accounts: BTreeSet<AccountId> = of.map(|a| a.account).collect();
    let accounts = accounts.into_iter();
    accounts.map(|id| (id, figures(postings, id))).collect()
}

/// Clears the flag of the accounts of allocations that got money back, as a deposit does (decision
/// note 0022). All their allocations are in view. Returns the accounts.
pub(super) fn unblock_of(
    postings: &mut Postings,
    allocations: &[AllocationId],
    ctx: &Context<'_>,
) -> Vec<AccountId> {
    let of = allocations.iter().filter_map(|id| postings.allocation(*id));
    let mut accounts: Vec<AccountId> = of.map(|a| a.account).collect();
    accounts.sort_unstable();
    accounts.dedup();
    for account in accounts.iter().filter_map(|id| ctx.directory.account(*id)) {
        unblock(postings, account);
    }
    accounts
}

/// A deposit that brings a blocked account to zero or above clears the flag (decisions.md 18).
pub(super) fn unblock(postings: &mut Postings, account: &Account) {
    if account.blocked && figures(postings, account.id).amount >= 0 {
        let cleared = Account {
            blocked: false,
            ..account.clone()
        };
        postings.directory.push(DirectoryRow::Account(cleared));
    }
}

/// Blocks an account that has less than nothing: it accepts no new liens until money comes (decisions.md 18).
pub(super) fn block_if_below_zero(postings: &mut Postings, account: &Account) {
    if !account.blocked && figures(postings, account.id).amount < 0 {
        let blocked = Account {
            blocked: true,
            ..account.clone()
        };
        postings.directory.push(DirectoryRow::Account(blocked));
    }
}

/// Takes money out of an account: earliest end first, never from what liens hold.
pub(super) fn withdraw(
    withdraw: &Withdraw,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let account = select::account_by_name(ctx.directory, &withdraw.name)?;
    if withdraw.amount <= Amount::ZERO {
        return Err(Refusal::NOT_ABOVE_ZERO);
    }
    let sources = sources(view, account, withdraw.allocation)?;
    let free = |a: &Allocation| {
        let limit = if withdraw.no_credit {
            i128::from(a.credit_limit.0)
        } else {
            0
        };
        a.free(false).saturating_sub(limit).max(0)
    };
    let funds = sources.iter().map(|source| (source.id, free(source)));
    let (parts, remaining) = in_order(funds, withdraw.amount)?;
    if remaining > 0 {
        let available = sources.iter().map(free).sum();
        let whose = if withdraw.no_credit {
            without_credit(account, &sources)
        } else {
            account.name.clone()
        };
        return Err(Refusal::insufficient_funds(
            withdraw.amount,
            available,
            whose,
        ));
    }
    let mut postings = Postings::new(view);
    let tx = postings.begin("withdraw", ctx.now);
    postings.remark(&withdraw.note);
    for (id, part) in &parts {
        let minus = part.negate()?.0;
        let active = if postings
            .allocation(*id)
            .is_some_and(|a| a.phase == Phase::Active)
        {
            minus
        } else {
            0
        };
        let delta = Delta {
            amount: minus,
            active,
            ..Delta::default()
        };
        postings.post(EntryKind::Withdraw, *id, delta, &About::default())?;
    }
    let withdrawn = Withdrawn {
        tx,
        account: account.id,
        amount: withdraw.amount,
        only: match parts.as_slice() {
            [(only, _)] => postings.allocation(*only).copied(),
            _ => None,
        },
        figures: figures(&postings, account.id),
        parts,
    };
    Ok(postings.finish(Outcome::Withdrawn(withdrawn)))
}

/// Whose money a refusal is about if credit limits do not count.
pub(super) fn without_credit(account: &Account, sources: &[Allocation]) -> String {
    let has_limit = sources.iter().any(|source| !source.credit_limit.is_zero());
    let rest = if has_limit {
        " without its credit limits"
    } else {
        ""
    };
    format!("{}{rest}", account.name)
}

/// The active allocations, the earliest end first, or the one named.
pub(super) fn sources(
    view: &View,
    account: &Account,
    named: Option<AllocationId>,
) -> Result<Vec<Allocation>, Refusal> {
    if let Some(id) = named {
        return Ok(vec![*own_allocation(view, account, id)?]);
    }
    let own = view.of_account(account.id).copied();
    let mut active: Vec<Allocation> = own.filter(|a| a.phase == Phase::Active).collect();
    active.sort_by_key(|a| (a.window.end.map_or(i64::MAX, |e| e.0), a.id));
    Ok(active)
}
