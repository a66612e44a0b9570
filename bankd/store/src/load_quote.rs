//! Quotes in.

use super::Error;
use bank_core::amount::Amount;
use bank_core::ids::{InstanceId, MachineId, ProjectId, QuoteId, UserId};
use bank_core::model::Quote;
use bank_core::time::{Seconds, Timestamp, Window};
use rusqlite::{Connection, OptionalExtension, Row};

macro_rules! quote_columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, tid, project, user, machine, amount, duration_s, from_at, until_at, \
             instance, uses FROM quote ",
            $rest
        )
    };
}

/// Every quote below a number, newest first.
pub(super) const BELOW: &str = quote_columns!("WHERE id < ?1 ORDER BY id DESC");

/// The quote of a TID.
pub(super) fn by_tid(connection: &Connection, tid: &str) -> Result<Option<Quote>, Error> {
    let mut statement = connection.prepare_cached(quote_columns!("WHERE tid = ?1"))?;
    Ok(statement.query_row([tid], read).optional()?)
}

/// One quote by number.
pub(super) fn by_id(connection: &Connection, id: QuoteId) -> Result<Option<Quote>, Error> {
    let mut statement = connection.prepare_cached(quote_columns!("WHERE id = ?1"))?;
    Ok(statement.query_row([id.0], read).optional()?)
}

/// When the newest quote was made.
pub(super) fn newest_at(connection: &Connection) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT from_at FROM quote ORDER BY id DESC LIMIT 1";
    let at = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    Ok(at.map(Timestamp))
}

/// A quote.
pub(super) fn read(r: &Row<'_>) -> rusqlite::Result<Quote> {
    Ok(Quote {
        id: QuoteId(r.get(0)?),
        tid: r.get(1)?,
        project: ProjectId(r.get(2)?),
        user: r.get::<_, Option<i64>>(3)?.map(UserId),
        machine: r.get::<_, Option<i64>>(4)?.map(MachineId),
        amount: Amount(r.get(5)?),
        duration: Seconds(r.get(6)?),
        window: Window {
            start: Some(Timestamp(r.get(7)?)),
            end: Some(Timestamp(r.get(8)?)),
        },
        instance: r.get::<_, Option<i64>>(9)?.map(InstanceId),
        uses: r.get(10)?,
    })
}
