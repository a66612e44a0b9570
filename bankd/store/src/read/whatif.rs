//! Requests that strict enforcement would have rejected: the `would_refuse` entries of a period,
//! with the later usage of their jobs.

use super::super::Error;
use super::monitor::Watched;
use bank_core::time::Seconds;
use rusqlite::{Connection, OptionalExtension};

/// A refusal with the later usage of its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The refusal.
    pub watched: Watched,
    /// Seconds that its job was charged for.
    pub used: Seconds,
    /// Its charges, real and shadow together, in minor units.
    pub billed: i128,
}

/// Adds the later usage of their jobs to a page of rejections from the monitor.
pub fn refused(connection: &Connection, watched: Vec<Watched>) -> Result<Vec<Refused>, Error> {
    let read = |row: Watched| {
        let (used, billed) = match (row.instance, row.reported) {
            (Some(id), _) => used(connection, id)?,
            (None, reported) => reported.unwrap_or_default(),
        };
        Ok(Refused {
            watched: row,
            used: Seconds(used),
            billed,
        })
    };
    watched.into_iter().map(read).collect()
}

/// Charges of an instance: seconds and minor units.
fn used(connection: &Connection, instance: i64) -> Result<(i64, i128), Error> {
    let sql = "SELECT charged_s, billed, shadow_billed FROM instance WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([instance], |r| {
        let (real, shadow): (i64, i64) = (r.get(1)?, r.get(2)?);
        Ok((r.get(0)?, i128::from(real) + i128::from(shadow)))
    });
    Ok(row.optional()?.unwrap_or((0, 0)))
}
