//! A quick check of a bank's database for `bankd doctor`.

use super::partner::{self, Waiting};
use super::verify::journal;
use super::{Error, bank, migrate, open_reader};
use bank_core::directory::Policy;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// Result of a quick check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    /// Errors of its pages, or of the newest transactions of its journal.
    pub broken: Option<String>,
    /// When its last transaction was recorded.
    pub last_recorded: Option<Timestamp>,
    /// The clock as it was seen last.
    pub clock_seen: Option<Timestamp>,
    /// Ids of signing keys, and whether they are switched off.
    pub keys: Vec<(String, bool)>,
    /// Partner banks, and whether messages are sent to them: then they need a secret.
    pub partners: Vec<(String, bool)>,
    /// Messages that wait for partner banks.
    pub waiting: Vec<Waiting>,
}

/// Looks at a database of the current schema: every page, and the newest 1,000 transactions. `verify`
/// proves the rest.
///
/// # Errors
/// If it is no bank of this version, or cannot be read.
pub fn checkup(path: &Path) -> Result<Checkup, Error> {
    let connection = open_reader(path)?;
    migrate::check_current(&connection)?;
    let directory = bank::directory(&connection, Policy::default())?;
    // Tokens have no secret of the bank's.
    let keys = directory.keys().filter(|key| key.token.is_none());
    let keys = keys.map(|key| (key.id.clone(), key.disabled));
    let partners = directory.records.all("partner");
    let partners = partners.map(|own| (own.name().to_owned(), !own.value("url").is_none()));
    Ok(Checkup {
        broken: broken(&connection, &directory.bank)?,
        last_recorded: instant(
            &connection,
            "SELECT at_recorded FROM tx ORDER BY id DESC LIMIT 1",
        )?,
        clock_seen: instant(&connection, "SELECT clock_at FROM clock WHERE id = 1")?,
        keys: keys.collect(),
        partners: partners.collect(),
        waiting: partner::all_waiting(&connection)?,
    })
}

fn broken(
    connection: &Connection,
    bank: &bank_core::directory::Bank,
) -> Result<Option<String>, Error> {
    let pages: String = connection.query_row("PRAGMA quick_check(1)", [], |r| r.get(0))?;
    if pages != "ok" {
        return Ok(Some(pages.lines().last().unwrap_or_default().to_owned()));
    }
    let findings = journal::recent(connection, bank)?;
    Ok(findings.first().map(ToString::to_string))
}

fn instant(connection: &Connection, sql: &str) -> Result<Option<Timestamp>, Error> {
    let at = connection.query_row(sql, [], |r| r.get(0)).optional()?;
    Ok(at.map(Timestamp))
}
