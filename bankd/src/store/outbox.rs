//! Lines for the record files: written in the charge's own transaction, gone when a file has them
//! (usage-records.md 4.6).

use super::Error;
use super::sqlite::SqliteStore;
use rusqlite::{Connection, OptionalExtension};

/// A line on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxLine {
    /// Its number: lines are written in this order.
    pub id: i64,
    /// The line, without its line feed.
    pub line: String,
}

/// How far a file is confirmed by fsync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SinkState {
    /// The sink: `file` or `ggf`.
    pub name: String,
    /// The last line that is in it.
    pub upto: i64,
    /// The file's device.
    pub device: u64,
    /// The file's inode.
    pub inode: u64,
    /// The confirmed length in bytes.
    pub length: u64,
}

impl SqliteStore {
    /// Puts a line into the outbox.
    pub fn send_out(&self, sink: &str, line: &str) -> Result<(), Error> {
        let sql = "INSERT INTO outbox (sink, line) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((sink, line))?;
        Ok(())
    }

    /// Confirms that lines are in their file, and takes them out.
    pub fn confirm(&self, state: &SinkState) -> Result<(), Error> {
        let signed = |n: u64| i64::from_ne_bytes(n.to_ne_bytes());
        self.connection
            .prepare_cached(
                "INSERT INTO sink (name, upto, device, inode, length)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (name) DO UPDATE SET upto = ?2, device = ?3, inode = ?4, length = ?5",
            )?
            .execute((
                &state.name,
                state.upto,
                signed(state.device),
                signed(state.inode),
                signed(state.length),
            ))?;
        self.connection
            .prepare_cached("DELETE FROM outbox WHERE sink = ?1 AND id <= ?2")?
            .execute((&state.name, state.upto))?;
        Ok(())
    }
}

/// How far a sink is confirmed; nothing for a new one.
pub fn sink_state(connection: &Connection, name: &str) -> Result<Option<SinkState>, Error> {
    let unsigned = |n: i64| u64::from_ne_bytes(n.to_ne_bytes());
    let sql = "SELECT upto, device, inode, length FROM sink WHERE name = ?1";
    let found = connection.prepare_cached(sql)?.query_row([name], |r| {
        Ok(SinkState {
            name: name.to_owned(),
            upto: r.get(0)?,
            device: unsigned(r.get(1)?),
            inode: unsigned(r.get(2)?),
            length: unsigned(r.get(3)?),
        })
    });
    Ok(found.optional()?)
}

/// The next lines of a sink, at most so many.
pub fn pending(
    connection: &Connection,
    sink: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<OutboxLine>, Error> {
    let sql = "SELECT id, line FROM outbox WHERE id > ?2 AND sink = ?1 ORDER BY id LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((sink, after, limit), |r| {
        Ok(OutboxLine {
            id: r.get(0)?,
            line: r.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many lines wait.
pub fn waiting(connection: &Connection) -> Result<i64, Error> {
    Ok(connection.query_row("SELECT COUNT(*) FROM outbox", [], |r| r.get(0))?)
}
