//! The changes of a database transaction: recorded as a changeset of `SQLite`'s session extension on one machine, and
//! applied on another (<https://sqlite.org/sessionintro.html>).
//!
//! A changeset has, for each changed row, its primary key, its old values and its new values. One that does not fit
//! the rows that are there is not applied at all: the rows differ from those that it was made of.
//!
//! This is the only crate with `unsafe` code (decision 0201). All of it is in `session`; a build without the session
//! extension has the same interface, and every call of it fails.

#[cfg(session)]
mod conflict;
#[cfg(session)]
mod session;
#[cfg(not(session))]
mod without;

use rusqlite::Connection;
use std::ops::Deref;

#[cfg(session)]
use session::Session;
#[cfg(not(session))]
use without::Session;

/// Why changes were not recorded or not applied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `SQLite` failed.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The rows of this database are not those that the changeset was made of.
    #[error("{0}")]
    Differs(Difference),
    /// `SQLite` was compiled without the session extension.
    #[error(
        "this program was built without SQLite's session extension: build it inside its workspace, \
         where .cargo/config.toml has the flags"
    )]
    NotBuilt,
}

/// The first row that a changeset did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The table.
    pub table: String,
    /// The row's primary key as text, `name=value` for each of its columns.
    pub key: String,
    /// What is wrong with the row.
    pub cause: Cause,
}

/// What is wrong with a row that a changeset changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It has other values.
    OtherValues,
    /// It is missing.
    Missing,
    /// It is there already.
    There,
    /// The changed row violates a constraint.
    Constraint,
    /// A row refers to one that is missing afterwards.
    Reference,
    /// The table is missing, or has fewer columns.
    Table,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cause = match self.cause {
            Cause::OtherValues => "has other values than expected",
            Cause::Missing => "is missing",
            Cause::There => "exists already",
            Cause::Constraint => "would violate a constraint",
            Cause::Reference => "refers to a row that is missing",
            Cause::Table => "cannot be changed: the table is missing, or has fewer columns",
        };
        if self.key.is_empty() {
            return write!(f, "table {}: a row {cause}", self.table);
        }
        write!(f, "table {}, row {}: it {cause}", self.table, self.key)
    }
}

/// Names of tables whose changes are not recorded.
#[derive(Debug)]
pub struct LeftOut(pub &'static [&'static str]);

/// A connection whose changes can be recorded. It derefs to the connection, and is never taken apart: a session ends
/// before its connection.
#[derive(Debug)]
pub struct Recorded {
    // Dropped first.
    session: Option<Session>,
    connection: Connection,
}

impl Recorded {
    /// Takes the connection over. Nothing is recorded yet, and nothing costs time.
    pub fn new(connection: Connection) -> Recorded {
        Recorded {
            session: None,
            connection,
        }
    }

    /// Records changes of all tables from now on, but not of `left_out`. Tables need a primary key. Call it at the
    /// beginning of each database transaction: what was recorded before is forgotten.
    ///
    /// # Errors
    /// If the extension is missing, or memory.
    pub fn record(&mut self, left_out: &'static LeftOut) -> Result<(), Error> {
        self.session = None;
        self.session = Some(Session::start(&self.connection, left_out)?);
        Ok(())
    }

    /// Whether changes are being recorded.
    pub fn is_recording(&self) -> bool {
        self.session.is_some()
    }

    /// Ends recording, and gives the changes since [`Recorded::record`]; empty if no row differs.
    ///
    /// # Errors
    /// If memory is missing, or nothing was being recorded.
    pub fn changes(&mut self) -> Result<Vec<u8>, Error> {
        let session = self.session.take().ok_or(Error::NotBuilt)?;
        session.changes()
    }

    /// Ends recording without the changes.
    pub fn forget(&mut self) {
        self.session = None;
    }

    /// Applies a changeset, all of it or nothing. The connection's triggers run; the caller turns those off that
    /// would write.
    ///
    /// # Errors
    /// If the rows here are not those that it was made of, if the bytes are no changeset, or if the extension is
    /// missing.
    pub fn apply(&mut self, changes: &[u8]) -> Result<(), Error> {
        session_apply(&self.connection, changes)
    }
}

impl Deref for Recorded {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

#[cfg(session)]
use session::apply as session_apply;
#[cfg(not(session))]
use without::apply as session_apply;

#[cfg(test)]
mod tests;
