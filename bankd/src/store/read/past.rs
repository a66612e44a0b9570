//! Allocations as they were at an instant: today's figures less every entry that took effect later
//! (ledger.md 7, "as of T").
//!
//! An allocation's entries are a chain, newest first. Nothing takes effect after it was recorded, so
//! the walk ends at the first entry recorded at the instant or before. What it costs grows with what
//! was journalled since; the time that a question may take bounds it.

use super::super::{Error, codec};
use super::money::{self, Figures};
use bank_core::amount::Amount;
use bank_core::effects::{Delta, EntryKind};
use bank_core::ids::{AccountId, EntryId};
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

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
                   e.delta_shadow, e.delta_shadow_held, t.at_effective, t.at_recorded
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

/// The allocations of an account that there were at an instant, as they stood then. Windows and
/// credit limits are those of today: the journal says that they changed, not what they were.
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
    let (mut there, mut later) = (today.last_entry.is_none(), Later::default());
    walk(connection, today.last_entry, |step| {
        if step.effective <= at {
            there = true;
        } else {
            take_back(&mut then, step);
            later.see(step);
        }
        step.recorded > at
    })?;
    let phase = later.phase_before().unwrap_or(today.phase);
    Ok(there.then_some((then, phase)))
}

fn take_back(allocation: &mut Allocation, step: &Step) {
    let less = |figure: &mut Amount, delta: i64| *figure = Amount(figure.0.saturating_sub(delta));
    less(&mut allocation.amount, step.delta.amount);
    less(&mut allocation.held, step.delta.held);
    less(&mut allocation.shadow, step.delta.shadow);
    less(&mut allocation.shadow_held, step.delta.shadow_held);
    if step.kind == EntryKind::Deposit {
        less(&mut allocation.deposited, step.delta.amount);
    }
}

/// The first boundary after an instant: it tells how the allocation stood before it.
#[derive(Default)]
struct Later(Option<(Timestamp, i64, EntryKind)>);

impl Later {
    fn see(&mut self, step: &Step) {
        if !matches!(step.kind, EntryKind::Activate | EntryKind::Expire) {
            return;
        }
        let seen = (step.effective, step.entry, step.kind);
        if self
            .0
            .is_none_or(|(at, entry, _)| (seen.0, seen.1) < (at, entry))
        {
            self.0 = Some(seen);
        }
    }

    /// Before a window ended it was active, before it began it was not.
    fn phase_before(&self) -> Option<Phase> {
        self.0.map(|(.., kind)| match kind {
            EntryKind::Activate => Phase::Future,
            _ => Phase::Active,
        })
    }
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
