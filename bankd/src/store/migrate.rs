//! Numbered migrations: each once, in order, in a transaction of its own, never edited later.

use super::Error;
use rusqlite::{Connection, TransactionBehavior};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// `bank` in ASCII: marks the file as one of ours.
pub(super) const APPLICATION_ID: i32 = 0x6261_6e6b;

/// Every migration, the first with number 1.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../schema/sqlite/0001_ledger.sql"),
    include_str!("../../../schema/sqlite/0002_rates.sql"),
];

/// The schema version that this program reads and writes.
pub(super) fn current_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Brings a database to the current version. A database of a later version is refused, and one
/// whose applied migrations differ from ours too.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS migration (
             number   INTEGER PRIMARY KEY,
             checksum TEXT NOT NULL
         ) STRICT;",
    )?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    if version > current_version() {
        let ours = current_version();
        return Err(Error::NotABank(format!(
            "the database has schema version {version}, this program knows up to {ours}: \
             use the newer bankd that wrote it"
        )));
    }
    for (index, sql) in MIGRATIONS.iter().enumerate() {
        let number = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
        let checksum = checksum(sql);
        if number <= version {
            check_applied(connection, number, &checksum)?;
            continue;
        }
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        tx.execute_batch(sql)?;
        tx.execute("INSERT INTO migration VALUES (?1, ?2)", (number, &checksum))?;
        tx.pragma_update(None, "user_version", number)?;
        tx.commit()?;
    }
    Ok(())
}

fn check_applied(connection: &Connection, number: i64, checksum: &str) -> Result<(), Error> {
    let sql = "SELECT checksum FROM migration WHERE number = ?1";
    let stored: String = connection.query_row(sql, [number], |r| r.get(0))?;
    if stored == checksum {
        return Ok(());
    }
    Err(Error::NotABank(format!(
        "migration {number} of the database is not the one of this program"
    )))
}

fn checksum(sql: &str) -> String {
    let digest = Sha256::digest(sql.as_bytes());
    let mut text = String::with_capacity(64);
    for byte in digest {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
