//! Errors of the server and of the connection as errors of the log.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::log::LogError;

/// Whether a statement changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It reads: after an error nothing is uncertain.
    Read,
    /// It writes: after a lost connection, the outcome is unknown.
    Write,
}

impl Kind {
    /// The error after a lost connection.
    pub(super) fn lost(self, text: String) -> LogError {
        match self {
            Kind::Read => LogError::Away(text),
            Kind::Write => LogError::Unknown(text),
        }
    }
}

/// The error, and whether the connection can still be used.
pub(super) fn of(error: &Error, kind: Kind, server: &str) -> (LogError, bool) {
    let text = format!("the log at {server}: {}", words(error));
    let Some(db) = error.as_db_error() else {
        // A value that does not fit its column is no loss of the connection.
        let local = error
            .source()
            .is_some_and(<dyn std::error::Error>::is::<tokio_postgres::types::WrongType>);
        if local {
            return (LogError::Wrong(text), true);
        }
        return (kind.lost(text), false);
    };
    if db.parsed_severity() != Some(Severity::Error) {
        return (kind.lost(text), false);
    }
    // The statement was rolled back, unless the server itself has a problem.
    let code = db.code().code();
    match code.get(..2) {
        Some("57") if *db.code() != SqlState::QUERY_CANCELED => (kind.lost(text), false),
        Some("58" | "XX" | "F0") => (kind.lost(text), false),
        Some("25") => (LogError::Away(text), false),
        Some("08" | "40" | "53" | "55" | "57") => (LogError::Away(text), true),
        _ => (LogError::Wrong(missing(db).unwrap_or(text)), true),
    }
}

/// A text for missing tables.
fn missing(db: &DbError) -> Option<String> {
    let absent = [
        SqlState::UNDEFINED_TABLE,
        SqlState::INVALID_SCHEMA_NAME,
        SqlState::UNDEFINED_COLUMN,
    ];
    absent.contains(db.code()).then(|| {
        format!(
            "the tables of the log are missing: {}. Create them with `bankd cluster init`, or correct the database \
             and search_path in the address of the log",
            db.message()
        )
    })
}

/// An error while connecting to one host: its text, and whether retrying can help.
pub(super) fn connecting(error: &Error) -> (String, bool) {
    let class = error.code().map(SqlState::code).and_then(|c| c.get(..2));
    // Authentication, no such database, no right to it.
    (words(error), !matches!(class, Some("28" | "3D" | "42")))
}

/// What happened, from the innermost cause.
pub(super) fn words(error: &Error) -> String {
    if let Some(db) = error.as_db_error() {
        let detail = db.detail().map(|d| format!(" ({d})")).unwrap_or_default();
        return format!("{}{detail}, SQLSTATE {}", db.message(), db.code().code());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
