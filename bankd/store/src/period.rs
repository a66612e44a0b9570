//! Closed periods of the books, out and in (decision note 0054).

use super::Error;
use bank_core::effects::Traces;
use bank_core::ids::{AccountId, TxId};
use bank_core::period::{PeriodClose, PeriodTotal};
use bank_core::time::Timestamp;
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;

/// Writes the close or reopening of a transaction.
pub(super) fn write(connection: &Connection, tx: TxId, traces: &Traces) -> Result<(), Error> {
    if let Some(close) = &traces.closed {
        let sql = "INSERT INTO period_close (tx, start_at, end_at) VALUES (?1, ?2, ?3)";
        let start = close.start.map(|t| t.0);
        connection.execute(sql, (tx.0, start, close.end.0))?;
        let mut statement = connection.prepare(
            "INSERT INTO period_total (tx, account, amount, held, credit_limit, liens,
                 projects)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        for total in &close.totals {
            statement.execute((
                tx.0,
                total.account.0,
                total.amount,
                total.held,
                total.credit_limit,
                total.liens,
                total.projects.join("\n"),
            ))?;
        }
    }
    if let Some(closed_by) = traces.reopened {
        let sql = "INSERT INTO period_reopen (tx, closed_by) VALUES (?1, ?2)";
        connection.execute(sql, (tx.0, closed_by.0))?;
    }
    Ok(())
}

/// Adds the closes and reopenings of transactions from a number on.
pub(super) fn since(
    connection: &Connection,
    tx: i64,
    found: &mut BTreeMap<i64, Traces>,
) -> Result<(), Error> {
    let sql = "SELECT tx, start_at, end_at FROM period_close WHERE tx >= ?1 ORDER BY tx";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        let start: Option<i64> = row.get(1)?;
        let close = PeriodClose {
            start: start.map(Timestamp),
            end: Timestamp(row.get(2)?),
            totals: Vec::new(),
        };
        found.entry(row.get(0)?).or_default().closed = Some(Box::new(close));
    }
    let sql = "SELECT account, amount, held, credit_limit, liens, projects, tx FROM period_total
               WHERE tx >= ?1 ORDER BY tx, account";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        let total = total(row)?;
        let traces = found.entry(row.get(6)?).or_default();
        // Totals without their close are no close that any hash covers.
        let close = traces.closed.get_or_insert_with(|| {
            Box::new(PeriodClose {
                start: None,
                end: Timestamp(i64::MIN),
                totals: Vec::new(),
            })
        });
        close.totals.push(total);
    }
    let sql = "SELECT tx, closed_by FROM period_reopen WHERE tx >= ?1 ORDER BY tx";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([tx])?;
    while let Some(row) = rows.next()? {
        found.entry(row.get(0)?).or_default().reopened = Some(TxId(row.get(1)?));
    }
    Ok(())
}

/// A total, as its first six columns are.
pub(super) fn total(row: &Row<'_>) -> Result<PeriodTotal, rusqlite::Error> {
    let projects: String = row.get(5)?;
    Ok(PeriodTotal {
        account: AccountId(row.get(0)?),
        amount: row.get(1)?,
        held: row.get(2)?,
        credit_limit: row.get(3)?,
        liens: row.get(4)?,
        projects: projects.lines().map(str::to_owned).collect(),
    })
}
