//! Closed periods of the books, out and in (decision note 0054).

use super::Error;
use super::read::{beside, closes, money, past};
use bank_core::effects::Traces;
use bank_core::ids::{AccountId, TxId};
use bank_core::need::Need;
use bank_core::period::{PeriodClose, PeriodTotal};
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Whatever was written.
const LATEST: TxId = TxId(i64::MAX);

/// Writes down what a transaction closed or opened again.
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

/// Adds what the transactions from a number on closed or opened again.
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
        let total = closes::total(row)?;
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

/// Adds what a command about periods asks for.
pub(super) fn add(connection: &Connection, need: &Need, view: &mut View) -> Result<(), Error> {
    if need.closed {
        view.closed = closes::standing(connection)?.last().copied();
    }
    if let Some(end) = need.totals_at {
        let mut statement = connection.prepare("SELECT id FROM account ORDER BY id")?;
        let ids = statement.query_map([], |row| row.get(0).map(AccountId))?;
        let ids: Vec<AccountId> = ids.collect::<Result<_, _>>()?;
        view.totals = totals(connection, &ids, end)?;
    }
    Ok(())
}

/// What accounts had just before an instant.
fn totals(
    connection: &Connection,
    accounts: &[AccountId],
    end: Timestamp,
) -> Result<Vec<PeriodTotal>, Error> {
    let last = Timestamp(end.0.saturating_sub(1));
    let figures = past::figures(connection, accounts, last)?;
    let mut totals = Vec::new();
    for (account, figures) in accounts.iter().zip(figures) {
        let own = money::allocations_of(connection, *account)?;
        let beside = beside::at(connection, &own, last, LATEST, |_, effective| effective)?;
        totals.push(PeriodTotal {
            account: *account,
            amount: fitting(figures.amount.saturating_add(beside.ahead))?,
            held: fitting(figures.held)?,
            credit_limit: fitting(figures.credit_limit)?,
            liens: beside.liens,
            projects: Vec::new(),
        });
    }
    Ok(totals)
}

fn fitting(sum: i128) -> Result<i64, Error> {
    i64::try_from(sum).map_err(|_| Error::Value {
        what: "allocation.amount",
        value: format!("an account's sum of {sum}"),
    })
}
