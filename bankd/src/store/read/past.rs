//! Allocations as they were at an instant: today's figures less every entry that took effect later,
//! with the windows and limits of then (ledger.md 7, "as of T").
//!
//! An allocation's entries are a chain, newest first. Nothing takes effect after it was recorded, so
//! the walk ends at the first entry recorded at the instant or before. What it costs grows with what
//! was journalled since; the time that a question may take bounds it.

use super::super::{Error, codec, traces};
use super::money::{self, Figures};
use bank_core::amount::Amount;
use bank_core::effects::{Delta, EntryKind};
use bank_core::ids::{AccountId, EntryId};
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// One entry of an allocation's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub entry: i64,
    /// Its transaction.
    pub tx: i64,
    /// The entry before.
    pub prev: Option<EntryId>,
    /// What happened.
    pub kind: EntryKind,
    /// When it counts.
    pub effective: Timestamp,
    /// When it was written.
    pub recorded: Timestamp,
    /// What it changed.
    pub delta: Delta,
    /// Whether it belongs to a usage row: it is a charge, or gives back what one took.
    pub is_use: bool,
}

/// Walks a chain from its newest entry back as long as `visit` says so. Says whether it was walked
/// to its end.
pub(super) fn walk(
    connection: &Connection,
    newest: Option<EntryId>,
    mut visit: impl FnMut(&Step) -> bool,
) -> Result<bool, Error> {
    let mut next = newest;
    while let Some(id) = next {
        let step = step(connection, id)?;
        if !visit(&step) {
            return Ok(false);
        }
        next = step.prev;
    }
    Ok(true)
}

fn step(connection: &Connection, id: EntryId) -> Result<Step, Error> {
    let sql = "SELECT e.tx, e.prev, e.kind, e.delta_amount, e.delta_held, e.delta_active,
                   e.delta_shadow, e.delta_shadow_held, t.at_effective, t.at_recorded,
                   e.usage IS NOT NULL
               FROM entry e JOIN tx t ON t.id = e.tx WHERE e.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id.0], |row| {
        let step = Step {
            entry: id.0,
            tx: row.get(0)?,
            prev: row.get::<_, Option<i64>>(1)?.map(EntryId),
            kind: EntryKind::Modify,
            effective: Timestamp(row.get(8)?),
            recorded: Timestamp(row.get(9)?),
            is_use: row.get(10)?,
            delta: Delta {
                amount: row.get(3)?,
                held: row.get(4)?,
                active: row.get(5)?,
                shadow: row.get(6)?,
                shadow_held: row.get(7)?,
            },
        };
        Ok((step, row.get::<_, String>(2)?))
    });
    let (step, kind) = found
        .optional()?
        .ok_or_else(|| codec::broken("entry.prev", id.0))?;
    let kind = codec::word("entry.kind", &kind, EntryKind::parse)?;
    Ok(Step { kind, ..step })
}

/// The allocations of an account that there were at an instant, as they stood then.
pub fn allocations(
    connection: &Connection,
    account: AccountId,
    at: Timestamp,
) -> Result<Vec<(Allocation, Phase)>, Error> {
    let today = money::allocations_of(connection, account)?;
    let then = today.iter().map(|a| allocation(connection, a, at));
    let then: Vec<Option<(Allocation, Phase)>> = then.collect::<Result<_, Error>>()?;
    Ok(then.into_iter().flatten().collect())
}

/// An allocation as it stood; none where it was not there yet.
fn allocation(
    connection: &Connection,
    today: &Allocation,
    at: Timestamp,
) -> Result<Option<(Allocation, Phase)>, Error> {
    let mut then = *today;
    let (mut there, mut taken) = (today.last_entry.is_none(), Vec::new());
    walk(connection, today.last_entry, |step| {
        if step.effective <= at {
            there = true;
        } else {
            take_back(&mut then, step);
            taken.push(*step);
        }
        step.recorded > at
    })?;
    if !there {
        return Ok(None);
    }
    for step in &taken {
        if is_deposit(connection, step)? {
            less(&mut then.deposited, step.delta.amount);
        }
    }
    if let Some(shape) = traces::shape_at(connection, today.id, at)? {
        then.window = shape.window;
        then.credit_limit = shape.credit_limit;
    }
    let phase = Phase::of(&then.window, at);
    Ok(Some((then, phase)))
}

fn less(figure: &mut Amount, delta: i64) {
    *figure = Amount(figure.0.saturating_sub(delta));
}

fn take_back(allocation: &mut Allocation, step: &Step) {
    less(&mut allocation.amount, step.delta.amount);
    less(&mut allocation.held, step.delta.held);
    less(&mut allocation.shadow, step.delta.shadow);
    less(&mut allocation.shadow_held, step.delta.shadow_held);
    if step.is_use {
        less(&mut allocation.used, step.delta.amount.saturating_neg());
    }
}

/// Whether an entry is a deposit, or takes one back, or puts it there again.
fn is_deposit(connection: &Connection, step: &Step) -> Result<bool, Error> {
    if step.is_use || step.kind != EntryKind::Reverse {
        return Ok(step.kind.deposits(step.delta.amount));
    }
    let sql =
        "SELECT c.of, e.kind FROM correction c JOIN entry e ON e.id = c.of WHERE c.entry = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut entry = step.entry;
    loop {
        let of = statement.query_row([entry], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
        match of.optional()? {
            Some((of, kind)) if kind == EntryKind::Reverse.word() => entry = of,
            of => return Ok(of.is_some_and(|(_, kind)| kind == EntryKind::Deposit.word())),
        }
    }
}

/// Of the accounts that came or went since the journal tells of that, whether they were there at an
/// instant; those that are not named always were.
pub fn accounts(
    connection: &Connection,
    at: Timestamp,
) -> Result<BTreeMap<AccountId, bool>, Error> {
    traces::presences_at(connection, at)
}

/// The figures of each account as they were at an instant, in the order given.
pub fn figures(
    connection: &Connection,
    accounts: &[AccountId],
    at: Timestamp,
) -> Result<Vec<Figures>, Error> {
    let of = |id: &AccountId| Ok(Figures::standing(&allocations(connection, *id, at)?));
    accounts.iter().map(of).collect()
}
