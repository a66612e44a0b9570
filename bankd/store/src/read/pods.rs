//! Runs of samples of pods, as finished uses have them (collectors.md h.3).

use super::super::Error;
use rusqlite::Connection;

/// A finished use of a pod. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRow {
    /// Its namespace: the account as its source names it.
    pub namespace: String,
    /// The project that it was for; empty for none.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine as named.
    pub machine: String,
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// The stored attributes: see [`bank_core::usage::kept`].
    pub more: String,
}

/// Visits the uses of pods that ran in a half-open period, in the order of arrival; only those that
/// count. Stops when the visitor is done.
pub fn pods(
    connection: &Connection,
    (from, to): (i64, i64),
    mut take: impl FnMut(PodRow) -> bool,
) -> Result<(), Error> {
    let sql = "SELECT account, project, user, machine, start_at, end_at, more FROM usage_identity
               WHERE (more LIKE 'pod=%' OR instr(more, char(10) || 'pod=') > 0)
                   AND end_at > ?1 AND start_at < ?2 AND start_at > 0
                   AND became NOT IN ('kept', 'unused', 'duplicate')
               ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([from, to])?;
    while let Some(row) = rows.next()? {
        let is_wanted = take(PodRow {
            namespace: row.get(0)?,
            project: row.get(1)?,
            user: row.get(2)?,
            machine: row.get(3)?,
            start: row.get(4)?,
            end: row.get(5)?,
            more: row.get(6)?,
        });
        if !is_wanted {
            break;
        }
    }
    Ok(())
}
