//! Proof from the journal: every hash, every balance and every lien recomputed, and everything else
//! that is stored held against it or against its seal (ledger.md 7).
//!
//! `CHECKS` is the table of all checks beside the journal. A new table of the schema needs a row
//! there; a test requires it. Each step reads its own snapshot, so that a daemon can keep writing,
//! and its log grows for one step at most.

mod access;
mod answers;
mod attention;
mod balances;
mod chunks;
mod counts;
mod finding;
mod house;
pub mod journal;
mod links;
mod movements;
mod partner;
mod past;
mod period;
mod reference;
mod rollup;
mod schedule;
mod seals;
#[cfg(test)]
mod tests;
mod values;

use super::{Error, bank, migrate};
pub use finding::{Finding, Report};
use journal::Walk;
use rusqlite::Connection;
use std::fmt::Write as _;
use std::path::Path;

/// Transactions that are walked over in one step.
pub(super) const STEP: i64 = 50_000;

/// One thing that is proven, in a snapshot of its own.
struct Check {
    /// In few words, for whoever waits.
    name: &'static str,
    /// The tables that it checks.
    tables: &'static [&'static str],
    run: fn(&Connection, &mut Report) -> Result<(), Error>,
}

const fn check(
    name: &'static str,
    tables: &'static [&'static str],
    run: fn(&Connection, &mut Report) -> Result<(), Error>,
) -> Check {
    Check { name, tables, run }
}

/// Checks of the tables that the journal walk does not cover.
const CHECKS: &[Check] = &[
    check("pages", &[], house::pages),
    check("schema", &["migration"], house::schema),
    check("values", &[], values::check),
    check("references", &[], links::references),
    check("numbers", seals::NUMBERED, seals::numbers),
    check("seals", seals::SEALED, seals::check),
    check("tallies", &["tally", "extent"], seals::tallies),
    check("unmapped usage", &["unmapped"], links::unmapped),
    check("movements", &["allocation"], movements::check),
    check("charges", &["instance", "usage"], balances::billed),
    check("liens", &["lien"], balances::liens),
    check("what was taken back", past::TABLES, past::check),
    check("reference data", reference::TABLES, reference::check),
    check(
        "places in the journal",
        reference::PLACES,
        reference::places,
    ),
    check("chunks", &["usage_identity", "raw_block"], chunks::check),
    check("answers", answers::TABLES, answers::check),
    check("record files", &["record", "sink"], links::records),
    check("removed accounts", &["removal"], links::removals),
    check("exports", links::EXPORTS, links::exports),
    check("quarantine", links::QUARANTINE, links::quarantine),
    check("records of AUDITOR", links::AUDITOR, links::auditor),
    check("rollups", rollup::TABLES, rollup::check),
    check("snapshots", &["snapshot_key", "snapshot"], counts::check),
    check("billed windows", &["billed_window"], links::windows),
    check(
        "time of reservations",
        &["reservation_time"],
        links::reservation_times,
    ),
    check("proposals", &["proposal"], access::check),
    check("partners", partner::TABLES, partner::check),
    check(
        "closed periods",
        &["period_close", "period_total", "period_reopen"],
        period::check,
    ),
    check(
        "attention",
        &["attention_event", "attention", "target", "notice"],
        attention::check,
    ),
    check(
        "scheduled reports",
        &["schedule", "report_run"],
        schedule::check,
    ),
    check("start of proof", &["proof_start"], links::start),
];

/// Tables that the walk along the journal proves.
const WALKED: [&str; 9] = [
    "tx",
    "entry",
    "usage",
    "choice",
    "settings",
    "shape",
    "presence",
    "allocation",
    "lien_allocation",
];

/// The checks in order, each with its tables.
pub fn proven() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let walked: &'static [&'static str] = &WALKED;
    let checks = CHECKS.iter().map(|check| (check.name, check.tables));
    std::iter::once(("journal", walked)).chain(checks)
}

/// How far a verification is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The current step.
    pub doing: &'static str,
    /// Transactions that were walked over.
    pub transactions: i64,
    /// Transactions that there were when it was asked.
    pub of_transactions: i64,
    /// Checks done of those that follow.
    pub checks: usize,
    /// How many those are.
    pub of_checks: usize,
}

/// Verifies the bank in a database file.
pub fn run(path: &Path) -> Result<Report, Error> {
    let connection = super::open_reader(path)?;
    let mut verification = Verification::new(&connection);
    while verification.step()? {}
    Ok(verification.report())
}

/// A verification in steps.
pub struct Verification<'c> {
    connection: &'c Connection,
    walk: Option<Walk>,
    is_walked: bool,
    next: usize,
    report: Report,
}

impl<'c> Verification<'c> {
    /// One of the bank behind a connection.
    pub fn new(connection: &'c Connection) -> Verification<'c> {
        Verification {
            connection,
            walk: None,
            is_walked: false,
            next: 0,
            report: Report::default(),
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Result<Progress, Error> {
        let sql = "SELECT coalesce(max(id), 0) FROM tx";
        let newest = self.connection.query_row(sql, [], |r| r.get(0))?;
        let doing = match CHECKS.get(self.next) {
            _ if !self.is_walked => "journal",
            Some(check) => check.name,
            None => "",
        };
        Ok(Progress {
            doing,
            transactions: self.walk.as_ref().map_or(0, Walk::done),
            of_transactions: newest,
            checks: self.next,
            of_checks: CHECKS.len(),
        })
    }

    /// Goes a step on; false when all is proven.
    ///
    /// # Errors
    /// If the file is no bank of this version, or cannot be read at all.
    pub fn step(&mut self) -> Result<bool, Error> {
        let connection = self.connection;
        // All figures of a step are of the same instant.
        let snapshot = connection.unchecked_transaction()?;
        let done = if self.is_walked {
            let check = CHECKS.get(self.next);
            self.next = self.next.saturating_add(1);
            check.map_or(Ok(()), |check| (check.run)(&snapshot, &mut self.report))
        } else {
            self.walk(&snapshot)
        };
        match done {
            Ok(()) => {}
            Err(Error::Sqlite(error)) if is_corrupt(&error) => {
                self.is_walked = true;
                let text = format!("corrupt: {error}");
                self.report.find(Finding::new("", "", text));
            }
            // A column contains a value that the daemon never writes.
            Err(error) if journal::is_unreadable(&error) => {
                self.is_walked = true;
                let text = format!("changed: {error}");
                self.report.find(Finding::new("", "", text));
            }
            Err(error) => return Err(error),
        }
        Ok(self.next < CHECKS.len())
    }

    /// The findings.
    pub fn report(self) -> Report {
        self.report
    }

    /// Walks along the journal, and compares the final state with the tables, in the same snapshot.
    fn walk(&mut self, snapshot: &Connection) -> Result<(), Error> {
        let mut walk = if let Some(walk) = self.walk.take() {
            walk
        } else {
            migrate::check_current(snapshot)?;
            Walk::from(snapshot, &bank::read(snapshot)?.bank, 1)?
        };
        let has_more = walk.step(snapshot, STEP, &mut self.report)?;
        if !has_more {
            walk.end(&mut self.report);
            balances::check(snapshot, &walk.books, &mut self.report)?;
            self.is_walked = true;
        }
        self.walk = Some(walk);
        Ok(())
    }
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase)
    )
}

/// Bytes in lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
