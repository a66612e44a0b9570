//! How many jobs ran and how many waited when a collector looked: in and out (decision note 0071).
//!
//! A row for each snapshot, its counts packed; projects and users are in a separate table, once
//! each.

use super::rollup::{pull, push};
use super::sqlite::SqliteStore;
use super::{Error, seal, sources};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// A complete snapshot by a collector: a user who is not in it had no jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// When it looked.
    pub at: Timestamp,
    /// Counts by project and user.
    pub counts: Vec<Count>,
}

/// Jobs of the same names in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The machine.
    pub machine: String,
    /// The name of the project in the source.
    pub account: String,
    /// The name of the user in the source.
    pub login: String,
    /// The project, as mappings have it.
    pub project: String,
    /// The user, as mappings have it.
    pub user: String,
    /// Queue or class.
    pub queue: String,
    /// How many ran.
    pub running: u64,
    /// How many waited.
    pub queued: u64,
}

/// The counts of a key in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The number of the key.
    pub key: i64,
    /// How many ran.
    pub running: u64,
    /// How many waited.
    pub queued: u64,
}

impl SqliteStore {
    /// Keeps a snapshot of a collector. One of the same moment takes the place of the one before.
    ///
    /// # Errors
    /// If the store fails.
    pub fn count(&self, source: &str, snapshot: &Snapshot) -> Result<(), Error> {
        let connection = &self.connection;
        let source = sources::id_of(connection, source)?;
        let mut sums: BTreeMap<i64, Seen> = BTreeMap::new();
        for count in &snapshot.counts {
            let key = key_of(connection, source, count)?;
            let seen = sums.entry(key).or_default();
            seen.key = key;
            seen.running = seen.running.saturating_add(count.running);
            seen.queued = seen.queued.saturating_add(count.queued);
        }
        let counts = pack(sums.values());
        let sql = "INSERT INTO snapshot (source, at, counts) VALUES (?1, ?2, ?3)
                   ON CONFLICT (source, at) DO UPDATE SET counts = ?3 WHERE counts <> ?3
                   RETURNING id";
        let mut statement = connection.prepare_cached(sql)?;
        let row = (source, snapshot.at.0, counts);
        let changed: Option<i64> = statement.query_row(row, |r| r.get(0)).optional()?;
        match changed {
            Some(id) => seal::renew(connection, "snapshot", &[&id]),
            None => Ok(()),
        }
    }
}

/// The number of a project and user; adds a new one if needed.
fn key_of(connection: &Connection, source: i64, count: &Count) -> Result<i64, Error> {
    let names = params![
        source,
        count.machine,
        count.account,
        count.login,
        count.project,
        count.user,
        count.queue
    ];
    let sql = "SELECT id FROM snapshot_key WHERE source = ?1 AND machine = ?2 AND account = ?3
                   AND login = ?4 AND project = ?5 AND user = ?6 AND queue = ?7";
    let known = connection
        .prepare_cached(sql)?
        .query_row(names, |r| r.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    let sql = "INSERT INTO snapshot_key (source, machine, account, login, project, user, queue)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let id = connection.prepare_cached(sql)?.insert(names)?;
    seal::renew(connection, "snapshot_key", &[&id])?;
    Ok(id)
}

/// Packs the counts of a snapshot by ascending key; keys without jobs are left out.
fn pack<'s>(all: impl Iterator<Item = &'s Seen>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0_i64;
    for seen in all.filter(|seen| seen.running > 0 || seen.queued > 0) {
        push(&mut bytes, seen.key.saturating_sub(before));
        for count in [seen.running, seen.queued] {
            push(&mut bytes, i64::try_from(count).unwrap_or(i64::MAX));
        }
        before = seen.key;
    }
    bytes
}

/// Returns the counts of a snapshot for each key, in order.
///
/// # Errors
/// If the bytes are none that are ever written.
pub(super) fn each(bytes: &[u8], mut visit: impl FnMut(Seen)) -> Result<(), Error> {
    let mut rest = bytes.iter().copied().peekable();
    let mut before = 0;
    while rest.peek().is_some() {
        let seen = next(&mut rest, before).ok_or_else(|| Error::Value {
            what: "snapshot.counts",
            value: format!("{} bytes", bytes.len()),
        })?;
        before = seen.key;
        visit(seen);
    }
    Ok(())
}

/// The next key and counts after a key.
fn next(rest: &mut impl Iterator<Item = u8>, before: i64) -> Option<Seen> {
    let more = pull(rest).filter(|more| *more > 0)?;
    let mut count = || u64::try_from(pull(rest)?).ok();
    Some(Seen {
        key: before.checked_add(more)?,
        running: count()?,
        queued: count()?,
    })
}

#[cfg(test)]
mod tests;
