//! A consistent copy of a bank's database without changing the bank, and the facts of such a file.

use super::{Error, bank, migrate, numbers, open_reader};
use rusqlite::{Connection, OptionalExtension};
use std::fmt::Write as _;
use std::path::Path;

/// Facts of a database file of any schema version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// UUID of the bank.
    pub uuid: String,
    /// Its unit label.
    pub unit: String,
    /// Decimals of an amount.
    pub precision: u8,
    /// Version of its schema.
    pub schema: i64,
    /// Transactions in the journal.
    pub transactions: i64,
    /// Entries in the journal.
    pub entries: i64,
    /// Hash of the last transaction, in hexadecimal digits; empty without one.
    pub head: String,
}

/// Reads the facts of a database file.
///
/// # Errors
/// If it is no bank's database, or cannot be read.
pub fn holding(path: &Path) -> Result<Holding, Error> {
    let connection = open_reader(path)?;
    migrate::check_bank(&connection)?;
    let bank = bank::read(&connection)?.bank;
    let newest = "SELECT id, hash FROM tx ORDER BY id DESC LIMIT 1";
    let newest = connection.query_row(newest, [], |r| Ok((r.get(0)?, r.get(1)?)));
    let (transactions, hash): (i64, Vec<u8>) = newest.optional()?.unwrap_or_default();
    let mut head = String::new();
    for byte in hash {
        // Writing to a string cannot fail.
        let _ = write!(head, "{byte:02x}");
    }
    Ok(Holding {
        uuid: bank.uuid,
        unit: bank.unit,
        precision: bank.precision.places(),
        schema: schema(&connection)?,
        transactions,
        entries: numbers::last_entry(&connection)?,
        head,
    })
}

/// The version of a database's schema, and that of this program, where the first is the older one:
/// whoever opens it to write brings it up to date.
///
/// # Errors
/// If it cannot be read, or is no bank: an empty file is one of no version, and not of an old one.
pub fn outdated(path: &Path) -> Result<Option<(i64, i64)>, Error> {
    let connection = open_reader(path)?;
    migrate::check_bank(&connection)?;
    let (found, ours) = (schema(&connection)?, migrate::current_version());
    Ok((found < ours).then_some((found, ours)))
}

fn schema(connection: &Connection) -> Result<i64, Error> {
    Ok(connection.query_row("PRAGMA user_version", [], |r| r.get(0))?)
}

/// Structural errors of a database file: pages, indexes, and references to missing rows. None if
/// there are none.
///
/// # Errors
/// If it cannot be read.
pub fn broken_pages(path: &Path) -> Result<Option<String>, Error> {
    let connection = open_reader(path)?;
    let check: String = connection.query_row("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
    if check != "ok" {
        return Ok(Some(check.lines().last().unwrap_or_default().to_owned()));
    }
    let mut dangling = connection.prepare("PRAGMA foreign_key_check")?;
    let table = dangling
        .query_row([], |r| r.get::<_, String>(0))
        .optional()?;
    Ok(table.map(|table| format!("a row of {table} names a row that is not there")))
}

/// Copies the database at `from` to `to`, which must not be there, or be empty. The bank may be served meanwhile:
/// it is read in one transaction, and nothing of it is written.
///
/// # Errors
/// If `from` cannot be read, or `to` cannot be made.
pub fn snapshot(from: &Path, to: &Path) -> Result<(), Error> {
    let connection = open_reader(from)?;
    // The copy is another database: the original must not change.
    connection.pragma_update(None, "query_only", false)?;
    connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStore;
    use crate::bank::NewBank;
    use bank_core::directory::Policy;

    #[test]
    fn the_copy_verifies_and_the_bank_is_as_before() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("bank.db");
        let new = NewBank::of_test();
        drop(SqliteStore::create(&database, &new, Policy::default()).unwrap());
        let before = std::fs::read(&database).unwrap();
        let copy = folder.path().join("copy.db");
        snapshot(&database, &copy).unwrap();
        assert!(crate::verify::run(&copy).unwrap().findings.is_empty());
        assert_eq!(std::fs::read(&database).unwrap(), before);
        assert!(snapshot(&database, &copy).is_err(), "never over a file");
        let none = folder.path().join("none.db");
        assert!(snapshot(&none, &folder.path().join("x.db")).is_err());
    }
}
