//! Opens a bank's database for writing: creates or migrates it, and configures speed and
//! durability.

use super::greatest::Greatest;
use super::live::Live;
use super::recent::Recent;
use super::rollup::Rollups;
use super::sources::QUARANTINE_BYTES;
use super::sqlite::SqliteStore;
use super::stamp::Stamp;
use super::verify::journal;
use super::write_back::WriteBack;
use super::{
    BUSY_TIMEOUT, Error, bank, choice, extent, keep_plans, load, migrate, replica, seal, tally,
    version, write_back,
};
use bank_core::directory::Policy;
use bankd_changes::Recorded;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

/// Statements kept compiled: more than the hot path has, so that none is ever compiled twice.
const STATEMENTS: usize = 128;

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
        // Sixty commits make a bank. They are on disk together, before this returns.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "application_id", migrate::APPLICATION_ID)?;
        migrate::migrate(&mut connection)?;
        bank::insert(&connection, new)?;
        seal::renew(&connection, "bank", &[&1])?;
        extent::write(&connection, &extent::measure(&connection)?)?;
        choice::seed(&connection, &policy)?;
        version::seed(&mut connection)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        SqliteStore::from_connection(connection, policy)
    }

    /// Opens a database that `create` made, and brings it to the current version. The file of a node is refused: its
    /// changes would be in no entry of its cluster's log.
    pub fn open(path: &Path, policy: Policy) -> Result<SqliteStore, Error> {
        let mut connection = existing(path)?;
        if let Some(place) = replica::place(&connection)? {
            return Err(Error::NotABank(format!(
                "{} is node {} of a cluster: change the bank through its daemon, or make the file a bank on a single \
                 machine with `bankd cluster leave`",
                path.display(),
                place.node
            )));
        }
        migrate::migrate(&mut connection)?;
        version::seed(&mut connection)?;
        SqliteStore::from_connection(connection, policy)
    }

    /// Opens the database of a node, as a follower.
    ///
    /// # Errors
    /// If the file is no node, or has another schema than this program.
    pub fn open_node(path: &Path, policy: Policy) -> Result<SqliteStore, Error> {
        let connection = existing(path)?;
        if replica::place(&connection)?.is_none() {
            return Err(Error::NotABank(format!(
                "{} is not a node of a cluster: `bankd cluster init` makes it the first one, `bankd cluster join` a \
                 further one",
                path.display()
            )));
        }
        migrate::check_current(&connection)?;
        let mut store = SqliteStore::from_connection(connection, policy)?;
        store.follow()?;
        Ok(store)
    }

    fn from_connection(mut connection: Connection, policy: Policy) -> Result<SqliteStore, Error> {
        let directory = Arc::new(bank::directory(&connection, policy)?);
        let tail = load::tail(&connection, &directory.bank)?;
        let extent = extent::read(&connection)?;
        tally::count_on(&connection)?;
        Ok(SqliteStore {
            next: load::next(&connection)?,
            next_due: load::next_due(&connection, &directory)?,
            last_hash: tail.hash,
            last_recorded: tail.recorded,
            stamp: Stamp::default(),
            keyed_tx: None,
            recent: Recent::default(),
            live: Live::default(),
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
            is_replicated: false,
            write_back: Some(WriteBack::start(&mut connection)?),
            connection: Recorded::new(connection),
        })
    }

    /// Which bank this is.
    pub fn bank(&self) -> Result<bank::BankRow, Error> {
        bank::read(&self.connection)
    }

    /// The first finding at the end of the journal, or none.
    pub fn broken_journal(&self) -> Result<Option<String>, Error> {
        let found = journal::recent(&self.connection, &self.directory.bank)?;
        Ok(found.first().map(ToString::to_string))
    }
}

/// A connection to a database that is there, is a bank's, and can be written.
pub(super) fn existing(path: &Path) -> Result<Connection, Error> {
    if !path.exists() {
        let path = path.display();
        return Err(Error::NotABank(format!(
            "{path} is not there: run `bankd init` first"
        )));
    }
    let connection = connect(path)?;
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
    Ok(connection)
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
         PRAGMA cache_size = -4096;",
    )?;
    // What commits do until `WriteBack` takes over.
    connection.pragma_update(None, "wal_autocheckpoint", write_back::PAGES)?;
    Ok(connection)
}
