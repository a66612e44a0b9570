//! Opens a bank's database for writing: creates or migrates it, and configures speed and
//! durability.

use super::greatest::Greatest;
use super::recent::Recent;
use super::rollup::Rollups;
use super::sources::QUARANTINE_BYTES;
use super::sqlite::SqliteStore;
use super::stamp::Stamp;
use super::verify::journal;
use super::{
    BUSY_TIMEOUT, Error, bank, choice, extent, keep_plans, load, migrate, seal, tally, version,
};
use bank_core::directory::Policy;
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
            next_due: load::next_due(&connection, &directory)?,
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
