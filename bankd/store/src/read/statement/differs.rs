//! Finds the cause of a difference in a statement: the first transaction with inconsistent entries.

use super::super::super::Error;
use super::super::{money, past};
use super::Frame;
use crate::traces;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

/// Steps of one allocation that are looked through, the newest.
const STEPS_MAX: usize = 1_000_000;

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differs {
    /// On which allocation.
    pub allocation: Option<AllocationId>,
    /// The transaction with inconsistent entries.
    pub tx: i64,
    /// When it counts.
    pub at: Option<Timestamp>,
    /// The error, without names: `moved 5 of active money, and 7 of its amount`.
    pub what: String,
}

/// One step of a chain, as short as the search needs it.
struct Step {
    at: Timestamp,
    entry: i64,
    tx: i64,
    amount: i64,
    active: i64,
}

/// Finds the transaction by which an account's balances and movements differ; none if every entry
/// is consistent, so that the stored close is wrong.
///
/// # Errors
/// If the store cannot be read.
pub fn offender(
    connection: &Connection,
    frame: &Frame,
    account: AccountId,
) -> Result<Option<Differs>, Error> {
    let mut first: Option<Differs> = None;
    for allocation in money::allocations_of(connection, account)? {
        let found = match behind(connection, &allocation)? {
            None => in_chain(connection, frame, &allocation)?,
            found => found,
        };
        let is_earlier = |new: &Differs| {
            first
                .as_ref()
                .is_none_or(|f| (new.at, new.tx) < (f.at, f.tx))
        };
        if let Some(found) = found.filter(is_earlier) {
            first = Some(found);
        }
    }
    let kept = frame.closed.filter(|_| first.is_none());
    Ok(first.or(kept.map(|close| Differs {
        allocation: None,
        tx: close.tx.0,
        at: None,
        what: "the totals that it kept are not those of the journal".to_owned(),
    })))
}

/// Whether an allocation's amount is that of its newest entry.
fn behind(connection: &Connection, today: &Allocation) -> Result<Option<Differs>, Error> {
    let Some(newest) = today.last_entry else {
        return Ok(None);
    };
    let sql = "SELECT e.tx, e.amount_after FROM entry e WHERE e.id = ?1";
    let found = connection
        .query_row(sql, [newest.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((tx, after)) = found.filter(|(_, after): &(i64, i64)| *after != today.amount.0) else {
        return Ok(None);
    };
    Ok(Some(Differs {
        allocation: Some(today.id),
        tx,
        at: None,
        what: format!(
            "its amount is {}, and its newest entry left {after}",
            today.amount.0
        ),
    }))
}

/// The first instant of the period at which the entries of an allocation moved active money
/// otherwise than its amount and window did.
fn in_chain(
    connection: &Connection,
    frame: &Frame,
    today: &Allocation,
) -> Result<Option<Differs>, Error> {
    let mut steps: Vec<Step> = Vec::new();
    let whole = past::walk(connection, today.last_entry, |step| {
        steps.push(Step {
            at: step.effective,
            entry: step.entry,
            tx: step.tx,
            amount: step.delta.amount,
            active: step.delta.active,
        });
        steps.len() < STEPS_MAX
    })?;
    steps.sort_unstable_by_key(|step| (step.at, step.entry));
    let moved: i128 = steps.iter().map(|step| i128::from(step.amount)).sum();
    // Where the chain was not walked to its end, it had something before.
    let before = i128::from(today.amount.0).saturating_sub(moved);
    let mut amount = if whole { 0 } else { before };
    let mut was_active = None;
    for group in steps.chunk_by(|a, b| a.at == b.at) {
        let Some(first) = group.first() else { continue };
        let phase = phase(connection, today, first.at)?;
        let before = if was_active == Some(true) { amount } else { 0 };
        amount += group.iter().map(|s| i128::from(s.amount)).sum::<i128>();
        let after = if phase == Phase::Active { amount } else { 0 };
        let active: i128 = group.iter().map(|s| i128::from(s.active)).sum();
        let is_known = was_active.is_some() || whole;
        // Where no window begins or ends, an entry moves as much of both.
        let is_still = was_active == Some(true) && phase == Phase::Active;
        let odd = group.iter().find(|s| is_still && s.amount != s.active);
        let named = odd.unwrap_or(first);
        was_active = Some(phase == Phase::Active);
        if is_known && after - before != active && frame.period.contains(first.at) {
            return Ok(Some(Differs {
                allocation: Some(today.id),
                tx: named.tx,
                at: Some(named.at),
                what: format!(
                    "its entries move {active} of active money, its amount and window {}",
                    after - before
                ),
            }));
        }
    }
    Ok(None)
}

fn phase(connection: &Connection, today: &Allocation, at: Timestamp) -> Result<Phase, Error> {
    let shape = traces::shape_at(connection, today.id, at, i64::MAX)?;
    let window = shape.map_or(today.window, |shape| shape.window);
    Ok(Phase::of(&window, at))
}
