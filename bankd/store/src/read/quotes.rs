//! Quotes that were given.

use super::super::{Error, load_quote};
use super::{Page, scan};
use bank_core::ids::QuoteId;
use bank_core::model::Quote;
use rusqlite::{Connection, OptionalExtension};

/// A quote, and the scheduler's id of the job that it was bound to last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteRow {
    /// The quote.
    pub quote: Quote,
    /// The scheduler's object id.
    pub job: Option<String>,
}

/// Up to `limit` quotes below an id that `keep` accepts, newest first.
pub fn list(
    connection: &Connection,
    below: Option<i64>,
    limit: usize,
    keep: impl Fn(&Quote) -> bool,
) -> Result<Page<QuoteRow>, Error> {
    let mut statement = connection.prepare_cached(load_quote::BELOW)?;
    let mut rows = statement.query([below.unwrap_or(i64::MAX)])?;
    scan(&mut rows, limit, |row| {
        let quote = load_quote::read(row)?;
        let id = quote.id.0;
        let kept = keep(&quote).then(|| with_job(connection, quote));
        Ok((id, kept.transpose()?))
    })
}

/// One quote.
pub fn one(connection: &Connection, id: QuoteId) -> Result<Option<QuoteRow>, Error> {
    let quote = load_quote::by_id(connection, id)?;
    quote.map(|quote| with_job(connection, quote)).transpose()
}

fn with_job(connection: &Connection, quote: Quote) -> Result<QuoteRow, Error> {
    let mut job = None;
    if let Some(instance) = quote.instance {
        let sql = "SELECT object_id FROM instance WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        job = statement.query_row([instance.0], |r| r.get(0)).optional()?;
    }
    Ok(QuoteRow { quote, job })
}
