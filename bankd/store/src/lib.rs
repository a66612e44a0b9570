//! The ledger on disk. The only crate that contains SQL, and the only one that writes a balance.
//!
//! [`sqlite::SqliteStore`] is the one read-write connection; it belongs to the writer thread.
//! Everything that only reads opens a connection of its own with [`open_reader`].

pub mod answer;
pub mod background;

mod access;
mod allocation;
mod append;
mod append_correction;
mod append_instance;
mod append_reference;
mod attention;
pub mod auditor;
pub mod bank;
mod chain;
pub mod checkpoint;
mod checkup;
mod choice;
mod clock;
mod codec;
mod counted;
pub mod counts;
mod cycle;
mod derived;
mod entries;
mod export;
mod extent;
mod follow;
mod greatest;
mod hash;
mod idempotency;
mod instance;
mod key_use;
mod keyed;
mod kind;
mod ledger;
mod lien;
mod live;
mod load;
mod load_past;
mod load_period;
mod load_quote;
mod load_work;
mod migrate;
pub mod numbers;
mod open;
mod outdated;
pub mod partner;
mod period;
mod quarantine;
pub mod read;
mod recent;
mod record;
pub mod refused;
pub mod replica;
pub mod rollup;
mod samples;
mod schedule;
mod seal;
mod snapshot;
mod sources;
pub mod sqlite;
mod stamp;
mod start;
mod tally;
mod times;
mod traces;
mod unmapped;
mod use_rows;
mod uses;
mod uuid;
pub mod verify;
mod version;
mod waypoint;
pub mod web_session;
mod write_back;

pub use access::{Proposals, passed_on, proposal, proposals};
pub use answer::{Known, PRUNE_MAX, StoredAnswer};
pub use attention::{Digest, Letter, NoticeChange, TargetRow, waiting_notice};
pub use auditor::{RecordRow, StoredRecord};
pub use checkup::{Checkup, checkup};
pub use counted::{Counted, CountedEvent};
pub use counts::{Count, Snapshot};
pub use derived::rebuild_derived;
pub use export::{Numbered, Numbering, swf_numbers};
pub use follow::follow_mark;
pub use idempotency::{is_spent, known};
#[cfg(feature = "test-hooks")]
pub use migrate::end_at;
#[cfg(any(test, feature = "test-hooks"))]
pub use migrate::old_bank;
pub use outdated::Outdated;
pub use record::{KeptRecord, SinkState, last_record, records_after, sink_state};
pub use samples::KnownRun;
pub use schedule::{
    MadeReport, Pages, ReportRun, RunState, Schedule, ScheduleChange, ScheduleCount, ScheduleRow,
    SpanRow, WantedReport, pages_of, report_run, runs_of, schedule_counts, schedules, wanted_runs,
};
pub use snapshot::{Holding, broken_pages, holding, outdated, snapshot};
pub use sources::{FollowFile, FollowMark, QuarantineRow, RawBlock, SourceChange, SourceSeen};
pub use sqlite::SqliteStore;
pub use stamp::Stamp;
pub use uses::digest;
pub use waypoint::{Spacing, Surveyor, Waypoint};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// How long a connection waits for a lock that another one holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the store itself failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed. The message contains the error's text, so the error is not a `source`.
    #[error("{}", database(.0))]
    Sqlite(rusqlite::Error),
    /// The file is not a bank, or one of another version.
    #[error("{0}")]
    NotABank(String),
    /// The rows of this node are not those of the writer.
    #[error("{0}")]
    Diverged(String),
    /// A stored value is none that this version writes.
    #[error("stored {what} cannot be read: {value:?}")]
    Value {
        /// Table and column.
        what: &'static str,
        /// The stored value.
        value: String,
    },
}

impl From<bankd_changes::Error> for Error {
    fn from(error: bankd_changes::Error) -> Self {
        match error {
            bankd_changes::Error::Sqlite(error) => Error::Sqlite(error),
            bankd_changes::Error::Differs(row) => Error::Diverged(row.to_string()),
            error @ bankd_changes::Error::NotBuilt => Error::NotABank(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Sqlite(error)
    }
}

impl Error {
    /// Whether the write failed because the disk is full.
    pub fn is_full(&self) -> bool {
        let Error::Sqlite(error) = self else {
            return false;
        };
        let extended = error.sqlite_error().map(|error| error.extended_code);
        error.sqlite_error_code() == Some(ErrorCode::DiskFull)
            || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
    }
}

/// `database: …`, and not `database: database …`.
fn database(error: &rusqlite::Error) -> String {
    let message = error.to_string();
    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) {
        return format!(
            "{message}: another process has exclusive access, such as an import into the folder"
        );
    }
    if message.starts_with("database") {
        message
    } else {
        format!("database: {message}")
    }
}

/// A read-only connection: it sees every committed transaction and never blocks the writer.
pub fn open_reader(path: &Path) -> Result<Connection, Error> {
    put_back(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    connection.set_prepared_statement_cache_capacity(64);
    keep_plans(&connection)?;
    Ok(connection)
}

/// Rolls back the transaction of a killed import; a read-only connection cannot do this.
fn put_back(path: &Path) -> Result<(), Error> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    if !std::fs::metadata(journal).is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let sql = "SELECT count(*) FROM sqlite_schema";
    Ok(connection.query_row(sql, [], |_| Ok(()))?)
}

/// Requests query plans that do not depend on bound values. Otherwise `SQLite` recompiles a
/// statement each time a text is bound that is compared with an indexed column. That happens twice
/// for every command, and takes more than half of the ledger's time.
fn keep_plans(connection: &Connection) -> Result<(), Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}
