//! Checks closed periods: they are contiguous, and the stored balances match the journal (decision
//! note 0054).

use super::super::Error;
use super::super::numbers::{first_entry_of, first_recorded_from, last_entry};
use super::{Finding, Report};
use bank_core::ids::{AccountId, TxId};
use bank_core::period::{ClosedPeriod, Closes};
use bank_core::time::Timestamp;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let standing = order(connection, report)?;
    let mut sums: BTreeMap<AccountId, i128> = BTreeMap::new();
    let mut before: Vec<ClosedPeriod> = Vec::new();
    for close in standing {
        add(connection, &before, close, &mut sums)?;
        compare(connection, close, &sums, report)?;
        before.push(close);
    }
    Ok(())
}

/// Each close begins at the end of the previous one, and was recorded after its own end; each
/// reopened one was the last. Returns the valid closes.
fn order(connection: &Connection, report: &mut Report) -> Result<Vec<ClosedPeriod>, Error> {
    let sql = "SELECT c.tx, c.start_at, c.end_at, t.at_recorded, NULL, t.op
               FROM period_close c LEFT JOIN tx t ON t.id = c.tx
               UNION ALL
               SELECT r.tx, NULL, NULL, t.at_recorded, r.closed_by, t.op
               FROM period_reopen r LEFT JOIN tx t ON t.id = r.tx ORDER BY 1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut standing: Vec<ClosedPeriod> = Vec::new();
    while let Some(row) = rows.next()? {
        let (tx, recorded): (i64, Option<i64>) = (row.get(0)?, row.get(3)?);
        let (closed_by, op): (Option<i64>, Option<String>) = (row.get(4)?, row.get(5)?);
        if let Some(closed_by) = closed_by {
            let last = standing.pop();
            if last.is_none_or(|last| last.tx.0 != closed_by)
                || op.as_deref() != Some("period_reopen")
            {
                let text = format!(
                    "transaction {tx}: it opens the period of {closed_by}, which was not closed last"
                );
                report.find(Finding::new("period_reopen", tx, text));
            }
            continue;
        }
        let close = ClosedPeriod {
            tx: TxId(tx),
            start: row.get::<_, Option<i64>>(1)?.map(Timestamp),
            end: Timestamp(row.get(2)?),
        };
        let follows = standing
            .last()
            .is_none_or(|last| close.start == Some(last.end) && last.end < close.end);
        let is_over = recorded.is_some_and(|at| close.end.0 <= at);
        if !follows || !is_over || op.as_deref() != Some("period_close") {
            let text = format!(
                "transaction {tx}: the period that it closes does not follow the one before, or was \
                 not over"
            );
            report.find(Finding::new("period_close", tx, text));
        }
        standing.push(close);
    }
    Ok(standing)
}

/// Adds movements of active money booked between the previous close and this one.
fn add(
    connection: &Connection,
    before: &[ClosedPeriod],
    close: ClosedPeriod,
    sums: &mut BTreeMap<AccountId, i128>,
) -> Result<(), Error> {
    let closes = Closes::new(before.to_vec());
    let start = before.last().map(|last| last.end);
    let last = last_entry(connection)?;
    let from = match start {
        Some(start) => first_recorded_from(connection, start)?,
        None => 1,
    };
    let sql = "SELECT e.account, e.delta_active, e.tx, t.at_effective
               FROM entry e JOIN tx t ON t.id = e.tx
               WHERE e.id >= ?1 AND e.id < ?2 AND e.account IS NOT NULL ORDER BY e.id";
    let mut statement = connection.prepare(sql)?;
    let first = first_entry_of(connection, from, last)?;
    let end = first_entry_of(connection, close.tx.0, last)?;
    let mut rows = statement.query((first, end))?;
    while let Some(row) = rows.next()? {
        let (active, tx, at): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let booked = closes.booked(TxId(tx), Timestamp(at));
        if active != 0 && booked < close.end && start.is_none_or(|start| booked >= start) {
            let sum = sums.entry(AccountId(row.get(0)?)).or_default();
            *sum = sum.saturating_add(active.into());
        }
    }
    Ok(())
}

fn compare(
    connection: &Connection,
    close: ClosedPeriod,
    sums: &BTreeMap<AccountId, i128>,
    report: &mut Report,
) -> Result<(), Error> {
    let mut kept: BTreeMap<AccountId, i128> = BTreeMap::new();
    let sql = "SELECT account, amount FROM period_total WHERE tx = ?1";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([close.tx.0])?;
    while let Some(row) = rows.next()? {
        kept.insert(AccountId(row.get(0)?), i128::from(row.get::<_, i64>(1)?));
    }
    for account in kept.keys().chain(sums.keys()) {
        let expected = kept.get(account).copied().unwrap_or_default();
        let journal = sums.get(account).copied().unwrap_or_default();
        if expected != journal {
            let (tx, account) = (close.tx.0, account.0);
            let text = format!(
                "transaction {tx}: account {account} had {expected} at the end of the closed period, the \
                 journal says {journal}"
            );
            report.find(Finding::new(
                "period_total",
                format!("{tx} {account}"),
                text,
            ));
        }
    }
    Ok(())
}
