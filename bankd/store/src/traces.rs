//! Changes of transactions other than money: windows and limits of allocations, existence of
//! accounts, and alerts, reading and writing (decision note 0021).

use super::{Error, attention, choice, period};
use bank_core::amount::Amount;
use bank_core::effects::{Entry, Presence, Reshaped, Shape, Traces};
use bank_core::ids::{AccountId, AllocationId, TxId};
use bank_core::time::{Timestamp, Window};
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;

/// Writes the changes of a transaction.
pub(super) fn write(connection: &Connection, tx: TxId, traces: &Traces) -> Result<(), Error> {
    for shape in &traces.shapes {
        connection
            .prepare_cached(
                "INSERT INTO shape (allocation, tx, start_at, end_at, credit_limit)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((
                shape.allocation.0,
                tx.0,
                shape.window.start.map(|t| t.0),
                shape.window.end.map(|t| t.0),
                shape.credit_limit.0,
            ))?;
    }
    if let Some(event) = &traces.attention {
        attention::write(connection, tx, event)?;
    }
    for presence in &traces.presences {
        connection
            .prepare_cached("INSERT INTO presence (account, tx, there) VALUES (?1, ?2, ?3)")?
            .execute((presence.account.0, tx.0, presence.there))?;
    }
    choice::write(connection, tx, traces)?;
    period::write(connection, tx, traces)
}

/// The changes of transactions from a number on, by transaction number. Their choices are read
/// separately, because there may be as many as charges.
pub(super) fn since(connection: &Connection, tx: i64) -> Result<BTreeMap<i64, Traces>, Error> {
    let mut found: BTreeMap<i64, Traces> = BTreeMap::new();
    let sql = "SELECT allocation, start_at, end_at, credit_limit, tx FROM shape
               WHERE tx >= ?1 ORDER BY tx, allocation";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        let traces = found.entry(row.get(4)?).or_default();
        traces.shapes.push(shape(row)?);
    }
    let sql = "SELECT account, there, tx FROM presence WHERE tx >= ?1 ORDER BY tx, account";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        let traces = found.entry(row.get(2)?).or_default();
        let there: i64 = row.get(1)?;
        if !(0..=1).contains(&there) {
            return Err(Error::Value {
                what: "presence.there",
                value: there.to_string(),
            });
        }
        traces.presences.push(Presence {
            account: AccountId(row.get(0)?),
            there: there == 1,
        });
    }
    period::since(connection, tx, &mut found)?;
    choice::settings_since(connection, tx, &mut found)?;
    attention::events_from(connection, tx, |tx, event| {
        found.entry(tx.0).or_default().attention = Some(Box::new(event));
    })?;
    Ok(found)
}

/// The windows and limits that a transaction changed, of the allocations that its entries name.
pub(super) fn reshaped(
    connection: &Connection,
    tx: TxId,
    entries: &[Entry],
) -> Result<Vec<Reshaped>, Error> {
    let mut own: Vec<AllocationId> = entries.iter().filter_map(|e| e.allocation).collect();
    own.sort_unstable();
    own.dedup();
    let sql = "SELECT allocation, start_at, end_at, credit_limit, tx FROM shape
               WHERE allocation = ?1 AND tx <= ?2 ORDER BY tx DESC LIMIT 2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut changed = Vec::new();
    for allocation in own {
        let mut rows = statement.query((allocation.0, tx.0))?;
        let Some(row) = rows.next()? else { continue };
        if row.get::<_, i64>(4)? == tx.0 {
            let after = shape(row)?;
            let before = rows.next()?.map(shape).transpose()?;
            changed.push(Reshaped { before, after });
        }
    }
    Ok(changed)
}

/// The window and limit of an allocation at an instant, according to transactions up to a number;
/// none if unknown.
pub(super) fn shape_at(
    connection: &Connection,
    allocation: AllocationId,
    at: Timestamp,
    known: i64,
) -> Result<Option<Shape>, Error> {
    let sql = "SELECT s.allocation, s.start_at, s.end_at, s.credit_limit
               FROM shape s LEFT JOIN tx t ON t.id = s.tx
               WHERE s.allocation = ?1 AND s.tx <= ?3 AND (s.tx = 0 OR t.at_effective <= ?2)
               ORDER BY s.tx DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((allocation.0, at.0, known))?;
    rows.next()?.map(shape).transpose()
}

/// Whether accounts existed at an instant, according to transactions up to a number; only accounts
/// with recorded creation or removal.
pub(super) fn presences_at(
    connection: &Connection,
    at: Timestamp,
    known: i64,
) -> Result<BTreeMap<AccountId, bool>, Error> {
    let sql = "SELECT p.account, p.there,
                   p.tx = 0 OR (p.tx <= ?2 AND t.at_effective <= ?1)
               FROM presence p LEFT JOIN tx t ON t.id = p.tx ORDER BY p.account, p.tx";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((at.0, known))?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (account, there, passed) = (AccountId(row.get(0)?), row.get(1)?, row.get(2)?);
        if passed {
            found.insert(account, there);
        } else {
            // It was created later.
            found.entry(account).or_insert(false);
        }
    }
    Ok(found)
}

fn shape(row: &Row<'_>) -> Result<Shape, Error> {
    Ok(Shape {
        allocation: AllocationId(row.get(0)?),
        window: Window {
            start: row.get::<_, Option<i64>>(1)?.map(Timestamp),
            end: row.get::<_, Option<i64>>(2)?.map(Timestamp),
        },
        credit_limit: Amount(row.get(3)?),
    })
}
