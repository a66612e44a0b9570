//! Further data of a statement's ends, beside the figures of accounts at an instant: the number of
//! liens, and corrections of an expiry for charges after the instant.
//!
//! A charge to an expired allocation corrects the expiry at its original time (ledger.md 2.8). From
//! then until the charge the entries of the account show more than its active allocations had.

use super::super::Error;
use super::past::{self, AsOf, Step};
use bank_core::effects::EntryKind;
use bank_core::ids::{AllocationId, LienId, TxId};
use bank_core::model::{Allocation, Phase};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};

/// Both, for an account at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Liens that held money on those of its allocations that were active.
    pub liens: i64,
    /// Corrections of expiries until the instant, for later charges; minor units.
    pub ahead: i128,
}

/// Reads the allocations of an account, as known after a transaction. `booked` returns the booking
/// time of an entry: never before its effective time, never after its recording.
///
/// An allocation's chain is walked back to the instant; beside the liens that are open now it keeps
/// those in mind that ended later, until their beginning is met.
pub fn at(
    connection: &Connection,
    allocations: &[Allocation],
    at: Timestamp,
    known: TxId,
    booked: impl Fn(i64, Timestamp) -> Timestamp,
) -> Result<Beside, Error> {
    let (mut liens, mut ahead) = (BTreeSet::new(), 0_i128);
    for today in allocations {
        let mut held = held_now(connection, today.id)?;
        let (mut corrections, mut failed) = (Vec::new(), None);
        past::walk(connection, today.last_entry, |step: &Step| {
            if step.delta.held != 0 && booked(step.tx, step.effective) > at {
                failed = take_back(connection, step, &mut held).err();
            }
            let corrects = step.kind == EntryKind::Expire && step.tx <= known.0;
            if corrects && step.recorded > at && step.effective <= at {
                corrections.push((step.tx, step.delta.active));
            }
            failed.is_none() && step.recorded > at
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        for (tx, active) in corrections {
            if corrects_after(connection, tx, at)? {
                ahead = ahead.saturating_add(active.into());
            }
        }
        let then = past::allocation(connection, today.id, AsOf::known_by(at, known))?;
        if then.is_some_and(|(_, phase)| phase == Phase::Active) {
            let open = held.into_iter().filter(|(_, held)| *held > 0);
            liens.extend(open.map(|(lien, _)| lien));
        }
    }
    Ok(Beside {
        liens: i64::try_from(liens.len()).unwrap_or(i64::MAX),
        ahead,
    })
}

/// The hold of each open lien on an allocation.
fn held_now(connection: &Connection, id: AllocationId) -> Result<BTreeMap<LienId, i128>, Error> {
    let sql = "SELECT p.lien, SUM(p.amount) FROM lien_allocation p JOIN lien l ON l.id = p.lien
               WHERE p.allocation = ?1 AND l.shadow = 0 GROUP BY p.lien";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    let mut held = BTreeMap::new();
    while let Some(row) = rows.next()? {
        held.insert(LienId(row.get(0)?), i128::from(row.get::<_, i64>(1)?));
    }
    Ok(held)
}

fn take_back(
    connection: &Connection,
    step: &Step,
    held: &mut BTreeMap<LienId, i128>,
) -> Result<(), Error> {
    let sql = "SELECT lien FROM entry WHERE id = ?1 AND lien IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let lien = statement.query_row([step.entry], |row| row.get(0));
    let Some(lien) = lien.optional()?.map(LienId) else {
        return Ok(());
    };
    let own = held.entry(lien).or_default();
    *own = own.saturating_sub(i128::from(step.delta.held));
    if *own == 0 {
        held.remove(&lien);
    }
    Ok(())
}

/// Whether a transaction corrects one that counts after an instant.
fn corrects_after(connection: &Connection, tx: i64, at: Timestamp) -> Result<bool, Error> {
    let sql = "SELECT c.at_effective > ?2 FROM tx t JOIN tx c ON c.id = t.corrects WHERE t.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((tx, at.0), |row| row.get(0));
    Ok(found.optional()?.unwrap_or(false))
}
