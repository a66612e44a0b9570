//! Spans of the kept usage records, for exports.

use super::super::{Error, numbers, record};
use bank_core::time::Timestamp;
use rusqlite::Connection;

/// The place of the first record made at an instant or later; one behind the last where there is
/// none. Records are made in the order of time.
pub fn first_from(connection: &Connection, at: Timestamp) -> Result<i64, Error> {
    let last = record::last_record(connection)?;
    numbers::lower_bound(last, at.0, |id| {
        let mut statement =
            connection.prepare_cached("SELECT created_at FROM record WHERE id = ?1")?;
        Ok(statement.query_row([id], |row| row.get(0))?)
    })
}
