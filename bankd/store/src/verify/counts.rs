//! Checks snapshots: the counts are readable, and their keys belong to the collector.

use super::super::{Error, counts};
use super::{Finding, Report};
use rusqlite::Connection;
use std::collections::HashMap;

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare("SELECT id, source FROM snapshot_key")?;
    let keys = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    let keys: HashMap<i64, i64> = keys.collect::<Result<_, _>>()?;
    let mut statement =
        connection.prepare("SELECT id, source, counts FROM snapshot ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, source): (i64, i64) = (row.get(0)?, row.get(1)?);
        let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let mut is_whole = true;
        let read = counts::each(bytes, |seen| {
            is_whole &= keys.get(&seen.key) == Some(&source);
        });
        let wrong = match (read, is_whole) {
            (Err(_), _) => "its counts cannot be read",
            (Ok(()), false) => "it counts jobs of a user that its collector did not name",
            (Ok(()), true) => continue,
        };
        report.find(Finding::new(
            "snapshot",
            id,
            format!("snapshot {id}: {wrong}"),
        ));
    }
    Ok(())
}
