//! The one read-write connection with its caches, and its database transactions.

use super::Error;
use super::extent::{self, Extent};
use super::greatest::Greatest;
use super::live::Live;
use super::recent::Recent;
use super::rollup::Rollups;
use super::stamp::Stamp;
use super::write_back::WriteBack;
use bank_core::directory::Directory;
use bank_core::ids::Next;
use bank_core::time::Timestamp;
use bankd_changes::{LeftOut, Recorded};
use std::path::Path;
use std::sync::Arc;

/// How much the write-ahead log is grown once at the start, in MiB, so that commits overwrite it
/// in place instead of growing a file (limits.md 6.3).
const WAL_MIB: i64 = 32;
/// Room that growing both at the start leaves on their disk.
const FREE_MIB: i64 = 128;

/// Tables of one machine, which are in no entry: its place in the log, its schema, its clock, how far the files are that
/// it follows, and the counts that its own triggers make.
const OWN_TABLES: LeftOut = LeftOut(&[
    "place",
    "migration",
    "clock",
    "follow",
    "follow_file",
    "tally",
    "warm_up",
]);

/// The ledger in one database file.
pub struct SqliteStore {
    pub(super) connection: Recorded,
    pub(super) directory: Arc<Directory>,
    pub(super) next: Next,
    pub(super) last_hash: Vec<u8>,
    pub(super) last_recorded: Timestamp,
    /// Lower bound of the next boundary; none if nothing will ever be due.
    pub(super) next_due: Option<Timestamp>,
    pub(super) stamp: Stamp,
    /// The last transaction that was written for the key of the stamp, with the place of this key.
    pub(super) keyed_tx: Option<(i64, i64)>,
    pub(super) recent: Recent,
    pub(super) live: Live,
    pub(super) greatest: Greatest,
    /// Rollup changes of the database transaction.
    pub(super) rollups: Rollups,
    /// Extent of the tables, and its stored part.
    pub(super) extent: Extent,
    pub(super) written: Extent,
    /// The block of lines that the uses written now are from, and the line of one that is written
    /// by a command of its own.
    pub(super) block: Option<i64>,
    pub(super) place: Option<u32>,
    /// The state at the beginning of the database transaction.
    pub(super) saved: Option<Saved>,
    /// Rows in the database transaction that is held open, where it is the only one that has the
    /// database, for many rows.
    pub(super) bulk: Option<usize>,
    /// Bytes that the quarantine holds at most.
    pub(super) quarantine_bytes: u64,
    /// Whether the changes of each database transaction are recorded.
    pub(super) is_replicated: bool,
    /// Writes the log back while this connection serves with others.
    pub(super) write_back: Option<WriteBack>,
}

/// Rows of an import that has the database alone in one database transaction, at most one chunk more.
const HELD_MAX: usize = 64_000;

/// State that a rollback restores.
pub(super) struct Saved {
    directory: Arc<Directory>,
    next: Next,
    pub(super) last_hash: Vec<u8>,
    last_recorded: Timestamp,
    next_due: Option<Timestamp>,
    pub(super) extent: Extent,
}

impl Saved {
    /// Whether the reference data were these.
    pub(super) fn has(&self, directory: &Arc<Directory>) -> bool {
        Arc::ptr_eq(&self.directory, directory)
    }
}

impl SqliteStore {
    /// Grows the write-ahead log once, so that later commits overwrite it in place; the database grows as
    /// much. Both grow less if that would leave less than `FREE_MIB` of the `free` bytes of their disk, down
    /// to nothing. Returns the MiB of each.
    pub fn warm_up(&self, free: u64) -> Result<i64, Error> {
        let free = i64::try_from(free >> 20).unwrap_or(i64::MAX);
        let mib = WAL_MIB.min(free.saturating_sub(FREE_MIB) / 2);
        if mib < 1 {
            return Ok(0);
        }
        self.connection.execute_batch(&format!(
            "DROP TABLE IF EXISTS warm_up;
             CREATE TABLE warm_up(x BLOB) STRICT; BEGIN IMMEDIATE;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})
             INSERT INTO warm_up SELECT zeroblob(65000) FROM n; COMMIT;
             DROP TABLE warm_up; PRAGMA wal_checkpoint(RESTART);",
            mib * 16
        ))?;
        Ok(mib)
    }

    /// How many bytes the quarantine holds at most.
    pub fn bound_quarantine_to(&mut self, bytes: u64) {
        self.quarantine_bytes = bytes;
    }

    /// Prepares for bulk writes while no other client is served (decision 0079). Indexes get more
    /// cache; table pages do not, because new rows are next to the previous ones and old pages are
    /// not read again. Each page is written once, in place, with a rollback journal. Foreign keys
    /// are not checked, because the referenced numbers were just read.
    ///
    /// # Errors
    /// If another process has the database open.
    pub fn prepare_for_bulk(&mut self) -> Result<(), Error> {
        // Its connection is one more.
        self.write_back = None;
        let exclusively = "PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF;
             PRAGMA locking_mode = EXCLUSIVE;";
        self.connection.execute_batch(exclusively)?;
        let mode = "PRAGMA journal_mode = TRUNCATE";
        let mode: String = self.connection.query_row(mode, [], |r| r.get(0))?;
        if mode != "truncate" {
            let why = "exclusive access to the database failed: another process has it open";
            return Err(Error::NotABank(why.to_owned()));
        }
        self.bulk = Some(0);
        Ok(())
    }

    /// Back to how a bank is served.
    fn end_bulk(&self) -> Result<(), Error> {
        self.connection.execute_batch(
            "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;",
        )?;
        Ok(())
    }

    /// Path of the database file; empty for one in memory.
    pub fn path(&self) -> &Path {
        Path::new(self.connection.path().unwrap_or_default())
    }

    /// The reference data as of now.
    pub fn reference(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    /// The ledger clock: the clock's time, but never before the last recorded time (decisions.md
    /// 9).
    pub fn ledger_now(&self, clock: Timestamp) -> Timestamp {
        clock.max(self.last_recorded)
    }

    /// When the last transaction was recorded.
    pub fn last_recorded(&self) -> Timestamp {
        self.last_recorded
    }

    /// No boundary is due before this instant.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.next_due
    }

    /// Begins a database transaction, or goes on with the one that is held open.
    pub fn begin(&mut self) -> Result<(), Error> {
        if self.is_held() {
            return Ok(());
        }
        if self.is_replicated {
            self.connection.record(&OWN_TABLES)?;
        }
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        self.saved = Some(Saved {
            directory: Arc::clone(&self.directory),
            next: self.next,
            last_hash: self.last_hash.clone(),
            last_recorded: self.last_recorded,
            next_due: self.next_due,
            extent: self.written,
        });
        Ok(())
    }

    /// Commits it: afterwards everything in it is on disk.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.finish()?;
        self.commit_here()
    }

    /// Writes what is written once for each database transaction.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.rollups.pending.write(&self.connection)?;
        self.rollups.pending.count_written(&self.connection)?;
        self.reach()
    }

    /// Commits the open database transaction, which is finished. In a node it changed nothing that other nodes contain,
    /// or its entry is in the log.
    ///
    /// # Errors
    /// If the store fails.
    pub fn commit_here(&mut self) -> Result<(), Error> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.saved = None;
        self.bulk = self.bulk.map(|_| 0);
        Ok(())
    }

    /// Rows that this connection has written, changed or removed so far.
    pub fn rows_written(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Whether one is held open.
    pub fn is_held(&self) -> bool {
        self.bulk.is_some_and(|held| held > 0)
    }

    /// Keeps the transaction open if an import has exclusive access and the transaction has few
    /// rows: many rows for the same days are then written once. False if it must be committed now.
    /// The caller must commit it in the end. If that or an earlier step fails, everything since the
    /// last commit is lost.
    pub fn hold(&mut self, rows: usize) -> bool {
        let Some(held) = self.bulk else { return false };
        let held = held.saturating_add(rows);
        if held == 0 || held >= HELD_MAX {
            return false;
        }
        self.bulk = Some(held);
        true
    }

    /// Undoes it, and forgets everything that was remembered since it began.
    pub fn rollback(&mut self) {
        self.bulk = self.bulk.map(|_| 0);
        self.connection.forget();
        if !self.connection.is_autocommit() {
            let undone = self.connection.execute_batch("ROLLBACK");
            if let Err(error) = undone {
                tracing::error!(%error, "rollback failed");
            }
        }
        self.recent.forget();
        self.live.forget();
        self.rollups.forget();
        (self.block, self.place, self.keyed_tx) = (None, None, None);
        if let Some(saved) = self.saved.take() {
            self.directory = saved.directory;
            self.next = saved.next;
            self.last_hash = saved.last_hash;
            self.last_recorded = saved.last_recorded;
            self.next_due = saved.next_due;
            (self.extent, self.written) = (saved.extent, saved.extent);
        }
    }

    /// Writes how far the tables reach, if they reach further: the end of a database transaction.
    fn reach(&mut self) -> Result<(), Error> {
        let next = self.next;
        let last = |next: i64| next.saturating_sub(1);
        let newest = |sql: &'static str| -> Result<i64, Error> {
            let mut statement = self.connection.prepare_cached(sql)?;
            Ok(statement.query_row([], |r| r.get(0))?)
        };
        let now = Extent {
            tx: last(next.tx),
            entry: last(next.entry),
            usage: last(next.usage),
            allocation: last(next.allocation),
            instance: last(next.instance),
            lien: last(next.lien),
            quote: last(next.quote),
            record: newest("SELECT coalesce(max(id), 0) FROM record")?,
            identity: newest("SELECT coalesce(max(id), 0) FROM usage_identity")?,
            ..self.extent
        };
        if now != self.written {
            extent::write(&self.connection, &now)?;
            (self.extent, self.written) = (now, now);
        }
        Ok(())
    }

    /// Sets the actor of the following writes.
    pub fn stamp(&mut self, stamp: Stamp) {
        self.stamp = stamp;
        self.keyed_tx = None;
    }

    /// Checkpoints the write-ahead log as far as no reader blocks it, so that the commit that finds
    /// it long has little left to write. A failure loses no data: it is logged, and tried again.
    pub fn write_back(&self) {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        let done = self.connection.query_row(sql, [], |_| Ok(()));
        if let Err(error) = done {
            tracing::warn!(%error, "the log was not written back");
        }
    }

    /// Writes the log back into the database; at the end of service.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        // While it works, no other connection may.
        self.write_back = None;
        if self.bulk.is_some() {
            self.end_bulk()?;
        }
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::NewBank;
    use bank_core::directory::Policy;

    #[test]
    fn the_log_grows_by_what_leaves_room_on_the_disk() {
        let new = NewBank::of_test();
        for (free_mib, grown) in [(0, 0), (128, 0), (129, 0), (130, 1), (148, 10), (4096, 32)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("bank.db");
            let store = SqliteStore::create(&path, &new, Policy::default()).unwrap();
            assert_eq!(store.warm_up(free_mib << 20).unwrap(), grown);
            let log = std::fs::metadata(folder.path().join("bank.db-wal")).unwrap();
            let mib = i64::try_from(log.len() >> 20).unwrap();
            assert!((grown..=grown + 8).contains(&mib), "{mib} for {grown}");
        }
    }
}
