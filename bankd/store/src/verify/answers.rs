//! Checks stored answers: each belongs to its transaction, and those of charges are kept for ever.

use super::super::{Error, idempotency, keyed, uuid};
use super::{Finding, Report};
use rusqlite::Connection;

/// Tables of answers.
pub(super) const TABLES: &[&str] = &["idempotency", "answer"];

/// The answer to every charge is kept for ever, so that none is billed twice. Finished usage has its
/// identity for that. An answer beside a transaction is at the place of its key.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    of_charges(connection, report)?;
    let sql = "SELECT a.place, a.tx, t.key_uuid FROM answer a LEFT JOIN tx t ON t.id = a.tx";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (place, tx): (i64, i64) = (row.get(0)?, row.get(1)?);
        // The walk over the journal finds a key that cannot be read.
        let key: Option<[u8; uuid::BYTES]> = row.get(2).unwrap_or_default();
        if key.as_ref().and_then(uuid::place) != Some(place) {
            let text = format!("answer {place} {tx}: transaction {tx} has another key");
            report.find(Finding::new("answer", format!("{place} {tx}"), text));
        }
    }
    Ok(())
}

fn of_charges(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let sql = "SELECT t.client, t.idem_key, t.key_uuid FROM tx t
        WHERE t.op = 'charge' AND (t.idem_key IS NOT NULL OR t.key_uuid IS NOT NULL)
            AND coalesce(t.instance, 0) NOT IN
                (SELECT instance FROM usage_identity WHERE instance IS NOT NULL)";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let client: String = row.get(0)?;
        let Ok(Some(key)) = uuid::column(row, (1, 2)) else {
            continue;
        };
        let is_beside = keyed::stays(connection, &client, &key)?;
        if !is_beside && !idempotency::stays(connection, &client, &key)? {
            let id = format!("{client} {key}");
            let text = format!("answer {id}: the answer to a charge has an expiry time");
            report.find(Finding::new("idempotency", id, text));
        }
    }
    Ok(())
}
