//! Unreadable records, and the options for reading them again.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Page;
use crate::Error;

/// Something in the quarantine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aside {
    /// Its number; later ones are greater.
    pub id: i64,
    /// When it was put there, µs since 1970.
    pub at: i64,
    /// The collector.
    pub source: String,
    /// The client that sent it.
    pub peer: String,
    /// File or route.
    pub place: String,
    /// Which line, from 1; 0 where there are none.
    pub line: u64,
    /// Why.
    pub reason: String,
    /// Its length.
    pub bytes: u64,
    /// It; of a single one only.
    pub body: Vec<u8>,
}

/// How the files of a collector were read last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The format; empty for records through the API.
    pub format: String,
    /// The machine of records that name none; empty for none.
    pub machine: String,
    /// The options, as JSON; empty if none were given.
    pub options: String,
}

/// A page behind `after`, the oldest first.
pub fn list(
    connection: &Connection,
    source: Option<&str>,
    after: i64,
    limit: usize,
) -> Result<Page<Aside>, Error> {
    let all = "SELECT id, at, source, peer, place, line, substr(reason, 1, 300), bytes, x'' FROM quarantine
               WHERE id > ?1 AND ?2 IS NULL ORDER BY id LIMIT ?3";
    let of_source = "SELECT id, at, source, peer, place, line, substr(reason, 1, 300), bytes, x'' FROM quarantine
                     WHERE id > ?1 AND source = ?2 ORDER BY id LIMIT ?3";
    let sql = if source.is_some() { of_source } else { all };
    let one_more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![after, source, one_more], row)?;
    let mut rows: Vec<Aside> = rows.collect::<Result<_, _>>()?;
    let is_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| is_more).map(|row| row.id);
    Ok(Page { rows, next })
}

/// One row with its contents.
pub fn one(connection: &Connection, id: i64) -> Result<Option<Aside>, Error> {
    let sql = "SELECT id, at, source, peer, place, line, substr(reason, 1, 300), bytes, body FROM quarantine
               WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([id], row).optional()?)
}

/// Size of the quarantine, and rows that it dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows.
    pub rows: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Rows that were dropped because it was full, ever.
    pub dropped: i64,
}

/// Reads them.
pub fn totals(connection: &Connection) -> Result<Totals, Error> {
    let sql = "SELECT held, bytes, dropped FROM quarantine_total";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([], |r| {
        Ok(Totals {
            rows: r.get(0)?,
            bytes: r.get(1)?,
            dropped: r.get(2)?,
        })
    })?)
}

/// How many of a collector there are.
pub fn count(connection: &Connection, source: &str) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM quarantine WHERE source = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let many: i64 = statement.query_row([source], |r| r.get(0))?;
    Ok(u64::try_from(many).unwrap_or(0))
}

/// The read options of a collector's files.
pub fn reading(connection: &Connection, source: &str) -> Result<Reading, Error> {
    let sql = "SELECT s.format, s.machine, coalesce(r.options, '') FROM source s
               LEFT JOIN source_reading r ON r.source = s.id WHERE s.name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([source], |r| {
        Ok(Reading {
            format: r.get(0)?,
            machine: r.get(1)?,
            options: r.get(2)?,
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

fn row(row: &Row<'_>) -> rusqlite::Result<Aside> {
    let count = |n: i64| u64::try_from(n).unwrap_or(0);
    Ok(Aside {
        id: row.get(0)?,
        at: row.get(1)?,
        source: row.get(2)?,
        peer: row.get(3)?,
        place: row.get(4)?,
        line: count(row.get(5)?),
        reason: row.get(6)?,
        bytes: count(row.get(7)?),
        body: row.get(8)?,
    })
}
