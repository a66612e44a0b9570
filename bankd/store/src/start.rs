//! Where the hashes of the journal begin to cover usage: a bank that was there before has a digest of
//! the usage that it had then.

use super::Error;
use super::hash;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest as _, Sha256};

/// The last transaction whose hash covers no usage, and the digest of the usage up to then.
pub(super) struct Start {
    pub(super) tx: i64,
    pub(super) digest: Vec<u8>,
    /// The last transaction from before charges were booked by the times of their allocations.
    pub(super) booked_after: i64,
}

/// As it was kept; none in a bank that never had it.
pub(super) fn read(connection: &Connection) -> Result<Option<Start>, Error> {
    let sql = "SELECT tx, digest, booked_after FROM proof_start WHERE id = 1";
    let found = connection.query_row(sql, [], |r| {
        Ok(Start {
            tx: r.get(0)?,
            digest: r.get(1)?,
            booked_after: r.get(2)?,
        })
    });
    Ok(found.optional()?)
}

/// Keeps where it begins, once.
pub(super) fn keep(connection: &Connection) -> Result<(), Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM tx";
    let tx: i64 = connection.query_row(sql, [], |r| r.get(0))?;
    let sql = "INSERT INTO proof_start (id, tx, digest, booked_after) VALUES (1, ?1, ?2, ?1)
               ON CONFLICT DO NOTHING";
    connection.execute(sql, (tx, digest(connection, tx, tx)?))?;
    Ok(())
}

/// Takes a place that a migration wrote into the digest.
pub(super) fn renew(connection: &Connection) -> Result<(), Error> {
    if let Some(start) = read(connection)? {
        let digest = digest(connection, start.tx, start.booked_after)?;
        connection.execute("UPDATE proof_start SET digest = ?1", [digest])?;
    }
    Ok(())
}

/// The digest of both transactions' numbers and of usage up to the first.
pub(super) fn digest(connection: &Connection, tx: i64, booked: i64) -> Result<Vec<u8>, Error> {
    let mut whole = Sha256::new();
    whole.update(tx.to_be_bytes());
    whole.update(booked.to_be_bytes());
    if tx > 0 {
        let mut statement = connection.prepare(hash::USAGES)?;
        let mut rows = statement.query([0])?;
        while let Some(row) = rows.next()? {
            if row.get::<_, i64>(3)? > tx {
                break;
            }
            whole.update(hash::stored_usage(row)?);
        }
    }
    Ok(whole.finalize().to_vec())
}
