//! Writes corrections: rows beside the journal, so that journal rows do not change.

use super::{Error, seal};
use rusqlite::Connection;

/// An entry, and the one that it takes back.
pub(super) fn write_correction(connection: &Connection, entry: i64, of: i64) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO correction (entry, of) VALUES (?1, ?2)")?
        .execute((entry, of))?;
    Ok(())
}

/// A transaction, and the one that is its opposite: there is one at most.
pub(super) fn write_reversal(connection: &Connection, tx: i64, by: i64) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO reversal (tx, by) VALUES (?1, ?2)")?
        .execute((tx, by))?;
    Ok(())
}

/// The transaction that removed an account.
pub(super) fn write_removal(connection: &Connection, account: i64, tx: i64) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO removal (account, tx) VALUES (?1, ?2)
             ON CONFLICT (account) DO UPDATE SET tx = excluded.tx",
        )?
        .execute((account, tx))?;
    seal::renew(connection, "removal", &[&account])
}
