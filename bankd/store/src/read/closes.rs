//! Closed periods: the valid ones, all of them in order, and the balances at their ends (decision
//! note 0054).

use super::super::{Error, period};
use bank_core::ids::TxId;
use bank_core::period::{ClosedPeriod, Closes, PeriodTotal};
use bank_core::time::Timestamp;
use rusqlite::{Connection, Row};

/// A close, valid or reopened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseRow {
    /// The close.
    pub close: ClosedPeriod,
    /// When it was made.
    pub at: Timestamp,
    /// The actor.
    pub actor: String,
    /// Why, as the journal has it.
    pub reason: String,
    /// The transaction that took it back.
    pub reopened_by: Option<i64>,
}

/// The valid closes.
pub fn standing(connection: &Connection) -> Result<Closes, Error> {
    standing_by(connection, TxId(i64::MAX))
}

/// The valid closes after a transaction.
pub fn standing_by(connection: &Connection, known: TxId) -> Result<Closes, Error> {
    let sql = "SELECT c.tx, c.start_at, c.end_at FROM period_close c
               LEFT JOIN period_reopen r ON r.closed_by = c.tx AND r.tx <= ?1
               WHERE r.tx IS NULL AND c.tx <= ?1 ORDER BY c.tx";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([known.0], close)?;
    Ok(Closes::new(rows.collect::<Result<_, _>>()?))
}

/// All closes, the newest first, before a transaction where one is named.
pub fn all(
    connection: &Connection,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<CloseRow>, Error> {
    let sql = "SELECT c.tx, c.start_at, c.end_at, t.at_recorded, t.actor, t.reason, r.tx
               FROM period_close c JOIN tx t ON t.id = c.tx
               LEFT JOIN period_reopen r ON r.closed_by = c.tx
               WHERE c.tx < ?1 ORDER BY c.tx DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((before.unwrap_or(i64::MAX), most), |row| {
        Ok(CloseRow {
            close: close(row)?,
            at: Timestamp(row.get(3)?),
            actor: row.get(4)?,
            reason: row.get(5)?,
            reopened_by: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Balances of all accounts at the end of a close, with their owners.
pub fn totals(connection: &Connection, close: TxId) -> Result<Vec<PeriodTotal>, Error> {
    let sql = "SELECT account, amount, held, credit_limit, liens, projects FROM period_total
               WHERE tx = ?1 ORDER BY account";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([close.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(period::total(row)?);
    }
    Ok(found)
}

fn close(row: &Row<'_>) -> Result<ClosedPeriod, rusqlite::Error> {
    Ok(ClosedPeriod {
        tx: TxId(row.get(0)?),
        start: row.get::<_, Option<i64>>(1)?.map(Timestamp),
        end: Timestamp(row.get(2)?),
    })
}
