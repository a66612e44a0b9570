//! Rows for commands about closed periods: the last close, and the balances of accounts at an
//! instant.

use super::Error;
use super::read::{closes, money, past, statement_ends};
use bank_core::ids::{AccountId, TxId};
use bank_core::need::Need;
use bank_core::period::PeriodTotal;
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::Connection;

/// No upper bound of transactions.
const LATEST: TxId = TxId(i64::MAX);

/// Adds the rows that a command about periods needs.
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

/// Balances of accounts just before an instant.
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
        let beside = statement_ends::at(connection, &own, last, LATEST, |_, effective| effective)?;
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
