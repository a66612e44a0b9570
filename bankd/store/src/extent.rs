//! How far the tables reach that grow on the hot path: one row, written at the end of each database
//! transaction that moved it, so that a row which is missing at their end is missed. Tables that grow
//! seldom are counted by triggers into `tally`.

use super::Error;
use super::seal::{self, BOUND};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

/// The newest numbers, and the answers that are kept with the sum of their seals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) tx: i64,
    pub(super) entry: i64,
    pub(super) usage: i64,
    pub(super) allocation: i64,
    pub(super) instance: i64,
    pub(super) lien: i64,
    pub(super) quote: i64,
    pub(super) record: i64,
    pub(super) identity: i64,
    pub(super) answers: i64,
    pub(super) answer_seals: i64,
    /// The last transaction whose answer went, if it had one that goes.
    pub(super) answered: i64,
}

impl Extent {
    /// An answer is kept from now on.
    pub(super) fn keep(&mut self, seal: i64) {
        self.answers = self.answers.saturating_add(1);
        self.answer_seals = wrap(self.answer_seals.saturating_add(seal));
    }

    /// An answer is not kept any more.
    pub(super) fn forget(&mut self, seal: i64) {
        self.answers = self.answers.saturating_sub(1);
        self.answer_seals = wrap(self.answer_seals.saturating_sub(seal));
    }

    /// The columns that the tables prove, with their names: those that are a newest number first.
    pub(super) fn columns(&self) -> [(&'static str, i64); 11] {
        [
            ("tx", self.tx),
            ("entry", self.entry),
            ("usage", self.usage),
            ("allocation", self.allocation),
            ("instance", self.instance),
            ("lien", self.lien),
            ("quote", self.quote),
            ("record", self.record),
            ("usage_identity", self.identity),
            ("answers", self.answers),
            ("answer_seals", self.answer_seals),
        ]
    }
}

/// A sum of seals, below [`BOUND`].
pub(super) fn wrap(sum: i64) -> i64 {
    sum.rem_euclid(BOUND)
}

/// What is added to the stored sum of seals for the last transaction whose answer went, so that it is proven too.
fn mark(answered: i64) -> i64 {
    seal::of_refs(std::iter::once(ValueRef::Integer(answered)))
}

/// As it is stored.
pub(super) fn read(connection: &Connection) -> Result<Extent, Error> {
    let sql = "SELECT tx, entry, usage, allocation, instance, lien, quote, record, usage_identity,
                   answers, answer_seals, answered FROM extent WHERE id = 1";
    Ok(connection.query_row(sql, [], |r| {
        Ok(Extent {
            tx: r.get(0)?,
            entry: r.get(1)?,
            usage: r.get(2)?,
            allocation: r.get(3)?,
            instance: r.get(4)?,
            lien: r.get(5)?,
            quote: r.get(6)?,
            record: r.get(7)?,
            identity: r.get(8)?,
            answers: r.get(9)?,
            answer_seals: wrap(r.get::<_, i64>(10)?.saturating_sub(mark(r.get(11)?))),
            answered: r.get(11)?,
        })
    })?)
}

/// As the tables are, by looking at all of them.
pub(super) fn measure(connection: &Connection) -> Result<Extent, Error> {
    let newest = |table: &str| -> Result<i64, Error> {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
        Ok(connection.query_row(&sql, [], |r| r.get(0))?)
    };
    let mut found = Extent {
        tx: newest("tx")?,
        entry: newest("entry")?,
        usage: newest("usage")?,
        allocation: newest("allocation")?,
        instance: newest("instance")?,
        lien: newest("lien")?,
        quote: newest("quote")?,
        record: newest("record")?,
        identity: newest("usage_identity")?,
        ..Extent::default()
    };
    let sql = "SELECT answered FROM extent";
    let answered = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    found.answered = answered.unwrap_or(found.tx);
    let sql = "SELECT seal FROM idempotency UNION ALL SELECT seal FROM answer";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.keep(row.get(0)?);
    }
    Ok(found)
}

/// Writes how far the tables reach now.
pub(super) fn write(connection: &Connection, extent: &Extent) -> Result<(), Error> {
    let seals = extent.answer_seals.saturating_add(mark(extent.answered));
    let stored = Extent {
        answer_seals: wrap(seals),
        ..*extent
    };
    let proven = stored.columns().map(|(_, value)| value);
    let values = proven.into_iter().chain([extent.answered]);
    connection
        .prepare_cached(
            "INSERT INTO extent (id, tx, entry, usage, allocation, instance, lien, quote, record,
                 usage_identity, answers, answer_seals, answered)
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (id) DO UPDATE SET tx = ?1, entry = ?2, usage = ?3, allocation = ?4,
                 instance = ?5, lien = ?6, quote = ?7, record = ?8, usage_identity = ?9,
                 answers = ?10, answer_seals = ?11, answered = ?12",
        )?
        .execute(params_from_iter(values))?;
    Ok(())
}
