//! Charges as usage, oldest first: the input of a replay of rates.

use super::super::{Error, codec, numbers};
use super::SCAN_MAX;
use bank_core::amount::Amount;
use bank_core::terms;
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::Usage;
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// One charge with its priced usage and owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedRow {
    /// Row id.
    pub id: i64,
    /// Whether it is the first of its instance.
    pub is_first: bool,
    /// The instance.
    pub instance: i64,
    /// End of the use.
    pub at: Timestamp,
    /// Seconds charged.
    pub seconds: Seconds,
    /// Its amount; in the shadow totals if it moved no money.
    pub amount: Amount,
    /// Whether only the shadow totals moved.
    pub shadow: bool,
    /// The priced usage.
    pub usage: Usage,
    /// When the instance began.
    pub opened: Timestamp,
    /// Machine as named.
    pub machine: String,
    /// Project as its entries name it.
    pub project: String,
    /// User as its entries name it.
    pub user: String,
    /// Group as named.
    pub group: String,
    /// Its transaction.
    pub tx: i64,
    /// The transaction that it takes back.
    pub reverses: Option<i64>,
    /// Whether its amount was given: no rate applies.
    pub is_given: bool,
}

/// The number of the last charge; 0 before the first.
pub fn newest(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM usage";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// The number of the first charge that was recorded at an instant or later.
pub fn first_from(connection: &Connection, at: Timestamp) -> Result<i64, Error> {
    let tx = numbers::first_recorded_from(connection, at)?;
    let last = newest(connection)?;
    numbers::lower_bound(last, tx, |id| {
        let mut statement = connection.prepare_cached("SELECT tx FROM usage WHERE id = ?1")?;
        Ok(statement.query_row([id], |row| row.get(0))?)
    })
}

/// The charges from a number on, a bounded number of them; none after the last. A refund is no charge.
pub fn page(connection: &Connection, from: i64) -> Result<Vec<UsedRow>, Error> {
    let sql = "SELECT u.id, u.prev, u.instance, u.at, u.charged_s, u.amount, u.processors, u.facts,
            i.opened_at, i.machine, i.project, i.user, i.group_name, u.billing = 'shadow', u.tx,
            t.reverses, t.reason
        FROM usage u JOIN instance i ON i.id = u.instance JOIN tx t ON t.id = u.tx
        WHERE u.id >= ?1 AND u.billing <> 'refund' ORDER BY u.id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let most = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let mut rows = statement.query((from, most))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    name(connection, &mut found)?;
    Ok(found)
}

/// Gives each charge the owner in its entries, because a job may have charges of several.
fn name(connection: &Connection, rows: &mut [UsedRow]) -> Result<(), Error> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Ok(());
    };
    let newest = numbers::last_entry(connection)?;
    let of = |tx: i64| numbers::first_entry_of(connection, tx, newest);
    let span = (of(first.tx)?, of(last.tx.saturating_add(1))?);
    let sql = "SELECT usage, project, user FROM entry
               WHERE id >= ?1 AND id < ?2 AND usage IS NOT NULL ORDER BY id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let names = statement.query_map(span, |r| Ok((r.get(0)?, (r.get(1)?, r.get(2)?))))?;
    let mut names: HashMap<i64, (String, String)> = names.collect::<Result<_, _>>()?;
    for row in rows {
        if let Some(own) = names.remove(&row.id) {
            (row.project, row.user) = own;
        }
    }
    Ok(())
}

fn read(row: &Row<'_>) -> Result<UsedRow, Error> {
    let (processors, facts): (String, String) = (row.get(6)?, row.get(7)?);
    Ok(UsedRow {
        id: row.get(0)?,
        is_first: row.get::<_, Option<i64>>(1)?.is_none(),
        instance: row.get(2)?,
        at: Timestamp(row.get(3)?),
        seconds: Seconds(row.get(4)?),
        amount: Amount(row.get(5)?),
        shadow: row.get(13)?,
        usage: codec::usage(&processors, &facts)?,
        opened: Timestamp(row.get(8)?),
        machine: row.get(9)?,
        project: row.get(10)?,
        user: row.get(11)?,
        group: row.get(12)?,
        tx: row.get(14)?,
        reverses: row.get(15)?,
        is_given: terms::read_given(row.get_ref(16)?.as_str().unwrap_or_default()).is_some(),
    })
}
