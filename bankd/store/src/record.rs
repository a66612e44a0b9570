//! Usage records, written in the transaction of their usage and kept for ever, and the position of
//! each record file (usage-records.md 4.6).

use super::sqlite::SqliteStore;
use super::{Error, seal};
use rusqlite::{Connection, OptionalExtension, params};

/// A record as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    /// Its place: records are written to their files in this order. Without gaps, from 1.
    pub id: i64,
    /// The record, as `emit::stored` wrote it.
    pub text: String,
}

/// How far a record file is confirmed by fsync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SinkState {
    /// The sink's name in the settings.
    pub name: String,
    /// The last record that is in it, or that it has no line for.
    pub upto: i64,
    /// The file's device; 0 with the inode before the file was ever opened.
    pub device: u64,
    /// The file's inode.
    pub inode: u64,
    /// The confirmed length in bytes.
    pub length: u64,
    /// SHA-256 over the last of these bytes; empty before the first.
    pub print: Vec<u8>,
    /// The settings by which unconfirmed lines are made.
    pub form: String,
}

impl SqliteStore {
    /// Keeps a record; gives its place.
    pub fn keep_record(&self, created_at: i64, number: i64, text: &str) -> Result<i64, Error> {
        let seal = seal::of_values(params![created_at, number, text])?;
        let sql = "INSERT INTO record (created_at, number, text, seal) VALUES (?1, ?2, ?3, ?4)";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.insert((created_at, number, text, seal))?)
    }

    /// Adds a sink unless it exists: it begins with the next record.
    pub fn meet_sink(&self, name: &str, form: &str) -> Result<(), Error> {
        self.connection.execute(
            "INSERT INTO sink (name, upto, device, inode, length, form)
             VALUES (?1, (SELECT coalesce(max(id), 0) FROM record), 0, 0, 0, ?2)
             ON CONFLICT (name) DO NOTHING",
            (name, form),
        )?;
        seal::renew(&self.connection, "sink", &[&name])
    }

    /// Confirms that records are in their file.
    pub fn confirm(&self, state: &SinkState) -> Result<(), Error> {
        let signed = |n: u64| i64::from_ne_bytes(n.to_ne_bytes());
        self.connection
            .prepare_cached(
                "INSERT INTO sink (name, upto, device, inode, length, form, print)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (name) DO UPDATE SET upto = ?2, device = ?3, inode = ?4,
                     length = ?5, form = ?6, print = ?7",
            )?
            .execute((
                &state.name,
                state.upto,
                signed(state.device),
                signed(state.inode),
                signed(state.length),
                &state.form,
                &state.print,
            ))?;
        seal::renew(&self.connection, "sink", &[&state.name])
    }
}

/// How far a sink is confirmed; nothing for one that no daemon has met.
pub fn sink_state(connection: &Connection, name: &str) -> Result<Option<SinkState>, Error> {
    let unsigned = |n: i64| u64::from_ne_bytes(n.to_ne_bytes());
    let sql = "SELECT upto, device, inode, length, form, print FROM sink WHERE name = ?1";
    let found = connection.prepare_cached(sql)?.query_row([name], |r| {
        Ok(SinkState {
            name: name.to_owned(),
            upto: r.get(0)?,
            device: unsigned(r.get(1)?),
            inode: unsigned(r.get(2)?),
            length: unsigned(r.get(3)?),
            form: r.get(4)?,
            print: r.get(5)?,
        })
    });
    Ok(found.optional()?)
}

/// The records after a place, at most so many.
pub fn records_after(
    connection: &Connection,
    after: i64,
    limit: i64,
) -> Result<Vec<KeptRecord>, Error> {
    let sql = "SELECT id, text FROM record WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after, limit), |r| {
        Ok(KeptRecord {
            id: r.get(0)?,
            text: r.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The end of the use of a record, by the present record of the collector that states its usage; none if none does.
pub(crate) fn present_end(connection: &Connection, id: i64) -> Result<Option<i64>, Error> {
    let sql = "SELECT f.end_at FROM record r JOIN usage u ON u.id = r.number
               JOIN usage_identity f ON f.instance = u.instance
               WHERE r.id = ?1 AND f.became IN ('charged', 'adjusted', 'free')
               ORDER BY f.id DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id], |r| r.get(0));
    Ok(found.optional()?.flatten())
}

/// The place of the newest record; 0 without one.
pub fn last_record(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM record";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |r| r.get(0))?)
}
