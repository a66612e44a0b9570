//! Records of AUDITOR's API: in, and their ends. Out is the business of [`super::read::auditor`].
//!
//! The constant part of a record is kept as the text of the answer; its end has columns. An open
//! record has the greatest end, so that it sorts as in AUDITOR's database: last ascending, first
//! descending.

use super::{Error, SqliteStore, seal};
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

/// The end of an open record.
pub(super) const OPEN: i64 = i64::MAX;

/// A record to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordRow {
    /// Its name.
    pub record_id: String,
    /// The text up to its end, without the closing brace.
    pub head: String,
    /// When it began, µs.
    pub start: i64,
    /// When it ended, µs.
    pub stop: Option<i64>,
    /// Seconds from start to end as they were sent.
    pub runtime: Option<i64>,
    /// Key and value, as [`pair`] numbers them; each once.
    pub pairs: Vec<i64>,
    /// The client that sent it; empty if unknown.
    pub creator: String,
    /// When its lien is to be placed again, µs.
    pub renew_at: Option<i64>,
}

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its place.
    pub id: i64,
    /// Its name.
    pub record_id: String,
    /// The text up to its end, without the closing brace.
    pub head: String,
    /// When it began, µs.
    pub start: i64,
    /// When it ended, µs.
    pub stop: Option<i64>,
    /// Whole seconds of it.
    pub runtime: Option<i64>,
    /// The client that sent it.
    pub creator: String,
}

/// The number of a key with one of its values: equal texts have equal numbers. Different texts may
/// have equal numbers too, so the caller compares the rows found.
pub fn pair(key: &str, value: &str) -> i64 {
    let length = u64::try_from(key.len()).unwrap_or(u64::MAX);
    let digest = Sha256::new()
        .chain_update(length.to_be_bytes())
        .chain_update(key)
        .chain_update(value)
        .finalize();
    digest
        .iter()
        .take(8)
        .fold(0_i64, |number, byte| (number << 8) | i64::from(*byte))
}

const COLUMNS: &str = "id, head, start_at, end_at, runtime, creator, record_id";

fn row(r: &rusqlite::Row<'_>) -> rusqlite::Result<StoredRecord> {
    let end: i64 = r.get(3)?;
    Ok(StoredRecord {
        id: r.get(0)?,
        head: r.get(1)?,
        start: r.get(2)?,
        stop: (end != OPEN).then_some(end),
        runtime: r.get(4)?,
        creator: r.get(5)?,
        record_id: r.get(6)?,
    })
}

/// The record of that name.
pub fn record(connection: &Connection, record_id: &str) -> Result<Option<StoredRecord>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM auditor_record WHERE record_id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([record_id], row).optional()?)
}

/// The first records whose liens are due for renewal.
pub fn renewals(connection: &Connection, now: i64, most: i64) -> Result<Vec<StoredRecord>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM auditor_record WHERE renew_at <= ?1 ORDER BY renew_at LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([now, most], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl SqliteStore {
    /// The record of that name.
    pub fn collected(&self, record_id: &str) -> Result<Option<StoredRecord>, Error> {
        record(&self.connection, record_id)
    }

    /// Stores a record with a new name.
    pub fn collect(&self, new: &RecordRow) -> Result<(), Error> {
        let end = new.stop.unwrap_or(OPEN);
        self.connection
            .prepare_cached(
                "INSERT INTO auditor_record (record_id, start_at, end_at, runtime, creator, head,
                     renew_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                new.record_id,
                new.start,
                end,
                new.runtime,
                new.creator,
                new.head,
                new.renew_at,
            ])?;
        let id = self.connection.last_insert_rowid();
        seal::renew(&self.connection, "auditor_record", &[&id])?;
        self.value_rows(id, end, &new.pairs)
    }

    /// Changes a record's end, also in the index of its values.
    pub fn end_collected(
        &self,
        known: &StoredRecord,
        stop: i64,
        runtime: i64,
        pairs: &[i64],
    ) -> Result<(), Error> {
        self.connection
            .prepare_cached(
                "UPDATE auditor_record SET end_at = ?2, runtime = ?3, renew_at = NULL WHERE id = ?1",
            )?
            .execute([known.id, stop, runtime])?;
        seal::renew(&self.connection, "auditor_record", &[&known.id])?;
        let before = known.stop.unwrap_or(OPEN);
        let sql = "DELETE FROM auditor_value WHERE pair = ?1 AND end_at = ?2 AND record = ?3";
        let mut delete = self.connection.prepare_cached(sql)?;
        for pair in pairs {
            delete.execute([*pair, before, known.id])?;
        }
        self.value_rows(known.id, stop, pairs)
    }

    /// Sets the time when a record's lien is renewed, if ever.
    pub fn renew_collected(&self, id: i64, at: Option<i64>) -> Result<(), Error> {
        self.connection
            .prepare_cached("UPDATE auditor_record SET renew_at = ?2 WHERE id = ?1")?
            .execute(params![id, at])?;
        seal::renew(&self.connection, "auditor_record", &[&id])
    }

    fn value_rows(&self, id: i64, end: i64, pairs: &[i64]) -> Result<(), Error> {
        let sql = "INSERT INTO auditor_value (pair, end_at, record) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for pair in pairs {
            insert.execute([*pair, end, id])?;
        }
        Ok(())
    }
}
