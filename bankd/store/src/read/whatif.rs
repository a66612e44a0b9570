//! Requests that strict enforcement would have rejected: the `would_refuse` entries of a period,
//! with the later usage of their jobs.

use super::super::Error;
use super::monitor::Watched;
use bank_core::time::{Seconds, Timestamp};
use rusqlite::{Connection, OptionalExtension};

/// A job that would have been refused at one moment. Amounts are minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The transaction.
    pub tx: i64,
    /// When.
    pub at: Timestamp,
    /// The instance; none if none was created.
    pub instance: Option<i64>,
    /// A source reported it when it was over.
    pub is_reported: bool,
    /// The scheduler's id, and the machine.
    pub object: (String, String),
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// The refusal's code.
    pub code: String,
    /// The needed and the available amount, in the journal's text.
    pub figures: Option<(String, String)>,
    /// Seconds that the instance was charged for.
    pub used: Seconds,
    /// Its charges, real and shadow together.
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
            tx: row.tx,
            at: row.at,
            instance: row.instance,
            is_reported: row.reported.is_some(),
            object: row.object,
            project: row.project,
            user: row.user,
            code: row.code,
            figures: row.figures,
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
