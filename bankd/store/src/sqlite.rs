//! The one read-write connection: opened, prepared for speed and durability, and counted.

use super::extent::{self, Extent};
use super::idempotency::Greatest;
use super::recent::Recent;
use super::rollup::Rollups;
use super::sources::QUARANTINE_BYTES;
use super::stamp::Stamp;
use super::verify::journal;
use super::{
    BUSY_TIMEOUT, Error, append, bank, choice, keep_plans, load, migrate, refused, seal, tally,
    uses, version,
};
use bank_core::command::Chunk;
use bank_core::directory::{Directory, Policy};
use bank_core::effects::{Effects, RefusedReserve, Shortage};
use bank_core::ids::Next;
use bank_core::ledger::{Ledger, Named};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use bank_core::view::{Already, View};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Statements kept compiled: more than the hot path has, so that none is ever compiled twice.
const STATEMENTS: usize = 128;

/// How much the write-ahead log is grown once at the start, in MiB, so that commits overwrite it
/// in place instead of growing a file (limits.md 6.3).
const WAL_MIB: i64 = 32;
/// Room that growing both at the start leaves on their disk.
const FREE_MIB: i64 = 128;

/// The ledger in one database file.
pub struct SqliteStore {
    pub(super) connection: Connection,
    pub(super) directory: Arc<Directory>,
    pub(super) next: Next,
    pub(super) last_hash: Vec<u8>,
    pub(super) last_recorded: Timestamp,
    /// No boundary lies before this instant; none where nothing will ever be due.
    pub(super) next_due: Option<Timestamp>,
    pub(super) stamp: Stamp,
    pub(super) recent: Recent,
    pub(super) greatest: Greatest,
    /// What the database transaction adds to rollups.
    pub(super) rollups: Rollups,
    /// How far the tables reach, and what of that is written down.
    pub(super) extent: Extent,
    pub(super) written: Extent,
    /// The block of lines that the uses written now are from, and the line of one that is written
    /// by a command of its own.
    pub(super) block: Option<i64>,
    pub(super) place: Option<u32>,
    /// What the state was when the database transaction began.
    saved: Option<Saved>,
    /// Rows in the database transaction that is held open, where it is the only one that has the
    /// database, for many rows.
    pub(super) bulk: Option<usize>,
    /// Bytes that the quarantine holds at most.
    pub(super) quarantine_bytes: u64,
}

/// Rows of an import that has the database alone in one database transaction, at most one chunk more.
const HELD_MAX: usize = 64_000;

struct Saved {
    directory: Arc<Directory>,
    next: Next,
    last_hash: Vec<u8>,
    last_recorded: Timestamp,
    next_due: Option<Timestamp>,
    extent: Extent,
}

impl SqliteStore {
    /// Makes a new database; refused where a file is there already.
    pub fn create(path: &Path, new: &bank::NewBank, policy: Policy) -> Result<SqliteStore, Error> {
        if path.exists() {
            return Err(Error::NotABank(format!(
                "{} is there already",
                path.display()
            )));
        }
        let mut connection = connect(path)?;
        connection.pragma_update(None, "application_id", migrate::APPLICATION_ID)?;
        migrate::migrate(&mut connection)?;
        bank::insert(&connection, new)?;
        seal::renew(&connection, "bank", &[&1])?;
        extent::write(&connection, &extent::measure(&connection)?)?;
        choice::seed(&connection, &policy)?;
        version::seed(&mut connection)?;
        SqliteStore::from_connection(connection, policy)
    }

    /// Opens a database that `create` made, and brings it to the current version.
    pub fn open(path: &Path, policy: Policy) -> Result<SqliteStore, Error> {
        if !path.exists() {
            let path = path.display();
            return Err(Error::NotABank(format!(
                "{path} is not there: run `bankd init` first"
            )));
        }
        let mut connection = connect(path)?;
        let id: i32 = connection.query_row("PRAGMA application_id", [], |r| r.get(0))?;
        if id != migrate::APPLICATION_ID {
            return Err(Error::NotABank(format!(
                "{} is not a bank's database",
                path.display()
            )));
        }
        if connection.is_readonly("main")? {
            return Err(Error::NotABank(format!(
                "{} cannot be written: check its owner and mode",
                path.display()
            )));
        }
        migrate::migrate(&mut connection)?;
        version::seed(&mut connection)?;
        SqliteStore::from_connection(connection, policy)
    }

    fn from_connection(connection: Connection, policy: Policy) -> Result<SqliteStore, Error> {
        let directory = Arc::new(bank::directory(&connection, policy)?);
        let tail = load::tail(&connection, &directory.bank)?;
        let extent = extent::read(&connection)?;
        tally::count_on(&connection)?;
        Ok(SqliteStore {
            next: load::next(&connection)?,
            next_due: earliest(load::next_due(&connection)?, &directory),
            last_hash: tail.hash,
            last_recorded: tail.recorded,
            stamp: Stamp::default(),
            recent: Recent::default(),
            greatest: Greatest::default(),
            rollups: Rollups::default(),
            extent,
            written: extent,
            block: None,
            place: None,
            saved: None,
            directory,
            bulk: None,
            quarantine_bytes: QUARANTINE_BYTES,
            connection,
        })
    }

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

    /// Makes ready for many rows while nobody else is served (decision 0079): room for their
    /// indexes, though new rows go to where the ones before them went, so that more room would hold
    /// pages that are not looked at again; each page written once, in place, with a journal of what was
    /// there before; and no look for the rows that new ones refer to, for their numbers were just read.
    ///
    /// # Errors
    /// If somebody else has the database open.
    pub fn prepare_for_bulk(&mut self) -> Result<(), Error> {
        let exclusively = "PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF;
             PRAGMA locking_mode = EXCLUSIVE;";
        self.connection.execute_batch(exclusively)?;
        let mode = "PRAGMA journal_mode = TRUNCATE";
        let mode: String = self.connection.query_row(mode, [], |r| r.get(0))?;
        if mode != "truncate" {
            let why = "the database cannot be had alone: who else has it open?";
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

    /// Which bank this is.
    pub fn bank(&self) -> Result<bank::BankRow, Error> {
        bank::read(&self.connection)
    }

    /// What is wrong with the end of the journal: the first finding, or none.
    pub fn broken_journal(&self) -> Result<Option<String>, Error> {
        let found = journal::recent(&self.connection, &self.directory.bank)?;
        Ok(found.first().map(ToString::to_string))
    }

    /// The reference data as of now.
    pub fn reference(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    /// The ledger clock: what the clock shows, never before what was recorded (decisions.md 9).
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
        self.rollups.pending.write(&self.connection)?;
        self.rollups.pending.count_written(&self.connection)?;
        self.reach()?;
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

    /// Leaves it open for what comes next, where an import has the database alone and it has few rows
    /// yet: what many rows add to the same days is then written once. False where it has to be
    /// committed now. Whoever holds it open commits it in the end, and if that or anything before it
    /// fails, nothing since the last commit is there.
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
        if !self.connection.is_autocommit() {
            let undone = self.connection.execute_batch("ROLLBACK");
            if let Err(error) = undone {
                tracing::error!(%error, "rollback failed");
            }
        }
        self.recent.forget();
        self.rollups.forget();
        (self.block, self.place) = (None, None);
        if let Some(saved) = self.saved.take() {
            self.directory = saved.directory;
            self.next = saved.next;
            self.last_hash = saved.last_hash;
            self.last_recorded = saved.last_recorded;
            self.next_due = saved.next_due;
            (self.extent, self.written) = (saved.extent, saved.extent);
        }
    }

    /// Says who does what follows.
    pub fn stamp(&mut self, stamp: Stamp) {
        self.stamp = stamp;
    }

    /// Writes back what the log has grown by, as far as nobody reads it, so that the commit which finds it
    /// long has little left to write. Nothing is lost where that fails: it is told, and tried again.
    pub fn write_back(&self) {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        let done = self.connection.query_row(sql, [], |_| Ok(()));
        if let Err(error) = done {
            tracing::warn!(%error, "the log was not written back");
        }
    }

    /// Writes the log back into the database; at the end of service.
    pub fn checkpoint(&self) -> Result<(), Error> {
        if self.bulk.is_some() {
            self.end_bulk()?;
        }
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

fn connect(path: &Path) -> Result<Connection, Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    keep_plans(&connection)?;
    connection.execute_batch(
        "PRAGMA page_size = 4096;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -4096;
         PRAGMA wal_autocheckpoint = 4000;",
    )?;
    Ok(connection)
}

/// The earliest boundary of rows and of cycles.
fn earliest(of_rows: Option<Timestamp>, directory: &Directory) -> Option<Timestamp> {
    let of_cycles = directory.next_cycle().map(|(at, _)| at);
    of_rows.into_iter().chain(of_cycles).min()
}

impl Ledger for SqliteStore {
    type Error = Error;

    fn directory(&mut self) -> Result<Arc<Directory>, Error> {
        Ok(Arc::clone(&self.directory))
    }

    fn load(&mut self, need: &Need) -> Result<View, Error> {
        load::view(&self.connection, &mut self.recent, need, self.next)
    }

    fn load_due(&mut self, now: Timestamp) -> Result<Option<View>, Error> {
        if self.next_due.is_none_or(|due| due > now) {
            return Ok(None);
        }
        let cycles = self.directory.cycles_due(now);
        let view = load::due(&self.connection, &mut self.recent, now, self.next, cycles)?;
        if view.is_none() {
            self.next_due = earliest(load::next_due(&self.connection)?, &self.directory);
        }
        Ok(view)
    }

    fn open_instances(&mut self, project: &str) -> Result<i64, Error> {
        let sql = "SELECT COUNT(*) FROM instance
                   WHERE due_at IS NOT NULL AND closed_at IS NULL AND project = ?1";
        Ok(self.connection.query_row(sql, [project], |r| r.get(0))?)
    }

    fn open_instances_of(&mut self, named: Named<'_>) -> Result<i64, Error> {
        let (sql, name) = match named {
            Named::User(user) => (
                "SELECT COUNT(*) FROM instance
                 WHERE due_at IS NOT NULL AND closed_at IS NULL AND user = ?1",
                user,
            ),
            Named::Machine(machine) => (
                "SELECT COUNT(*) FROM instance
                 WHERE due_at IS NOT NULL AND closed_at IS NULL AND machine = ?1",
                machine,
            ),
        };
        Ok(self.connection.query_row(sql, [name], |r| r.get(0))?)
    }

    fn load_chunk(
        &mut self,
        chunk: &Chunk,
        unclaimed: &BTreeSet<String>,
    ) -> Result<(Vec<Already>, BTreeSet<String>), Error> {
        let already = uses::of_chunk(&self.connection, chunk)?;
        let mut charged = BTreeSet::new();
        for machine in unclaimed {
            if uses::is_charged(&self.connection, machine)? {
                charged.insert(machine.clone());
            }
        }
        Ok((already, charged))
    }

    fn append(&mut self, effects: &Effects) -> Result<(), Error> {
        append::append(self, effects)
    }

    fn remember(&mut self, shortage: &Shortage) -> Result<(), Error> {
        uses::write_shortage(&self.connection, shortage)
    }

    fn remember_refused(&mut self, row: &RefusedReserve) -> Result<(), Error> {
        refused::write(&self.connection, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::NewBank;
    use bank_core::amount::Precision;

    #[test]
    fn the_log_grows_by_what_leaves_room_on_the_disk() {
        let new = NewBank {
            uuid: "00000000-0000-4000-8000-000000000000".into(),
            precision: Precision::DEFAULT,
            unit: "SU".into(),
            test: true,
            init_uid: 0,
            created_at: Timestamp(0),
        };
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
