//! Proof from the journal: every hash, every balance and every lien recomputed (ledger.md 7).
//!
//! Reads one snapshot; a daemon may go on writing beside it.

use super::verify_journal::{self, Books};
use super::{Error, bank, load, migrate, verify_chunks, verify_past};
use bank_core::amount::Amount;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::invariant::{self, Portions};
use bank_core::model::Allocation;
use rusqlite::Connection;
use std::path::Path;

/// Findings that are listed; the rest is only counted.
const FINDINGS_MAX: usize = 20;

/// What a verification saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Transactions read.
    pub transactions: i64,
    /// Entries read.
    pub entries: i64,
    /// Allocations compared.
    pub allocations: i64,
    /// What is wrong, the first bad transaction first; empty when everything is right.
    pub findings: Vec<String>,
    /// What is right and still worth a look: liens that hold more than is there.
    pub notes: Vec<String>,
}

/// Verifies the bank in a database file.
pub fn run(path: &Path) -> Result<Report, Error> {
    let connection = super::open_reader(path)?;
    match verify(&connection) {
        Ok(report) => Ok(report),
        Err(Error::Sqlite(error)) if is_corrupt(&error) => {
            let findings = vec![format!("corrupt: {error}")];
            Ok(Report {
                findings,
                ..Report::default()
            })
        }
        Err(error) => Err(error),
    }
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase)
    )
}

fn verify(connection: &Connection) -> Result<Report, Error> {
    // One read transaction: all figures are of the same instant.
    let snapshot = connection.unchecked_transaction()?;
    let mut report = Report::default();
    let check: String = snapshot.query_row("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
    migrate::check_current(&snapshot)?;
    let bank = bank::read(&snapshot)?.bank;
    let mut books = Books::default();
    verify_journal::walk(&snapshot, &bank, 1, &mut books, &mut report)?;
    if check != "ok" {
        report.find(format!(
            "corrupt: {}",
            check.lines().last().unwrap_or_default()
        ));
    }
    let portions = portions(&snapshot)?;
    let allocations = allocations(&snapshot, &books, &mut report)?;
    report.allocations = i64::try_from(allocations.len()).unwrap_or(i64::MAX);
    for finding in invariant::check(&allocations, &books.proof, &portions) {
        report.find(finding);
    }
    for finding in accounts(&snapshot, &books)? {
        report.find(finding);
    }
    report.notes = invariant::over_committed(&allocations);
    billed(&snapshot, &mut report)?;
    verify_past::check(&snapshot, &mut report)?;
    verify_chunks::check(&snapshot, &mut report)?;
    Ok(report)
}

impl Report {
    pub(super) fn find(&mut self, finding: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }
}

/// What open liens hold on each allocation.
fn portions(connection: &Connection) -> Result<Portions, Error> {
    let mut statement = connection.prepare(
        "SELECT p.allocation, p.amount, l.shadow FROM lien_allocation p JOIN lien l ON l.id = p.lien",
    )?;
    let mut rows = statement.query([])?;
    let mut portions = Portions::default();
    while let Some(row) = rows.next()? {
        let (id, amount, shadow): (i64, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        portions.add(AllocationId(id), Amount(amount), shadow);
    }
    Ok(portions)
}

/// Accounts that are there and should not be, or the other way round.
fn accounts(connection: &Connection, books: &Books) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare("SELECT id, NOT deleted FROM account ORDER BY id")?;
    let rows = statement.query_map([], |row| Ok((AccountId(row.get(0)?), row.get(1)?)))?;
    let rows: Vec<(AccountId, bool)> = rows.collect::<Result<_, _>>()?;
    Ok(books.proof.check_accounts(rows.into_iter()))
}

fn allocations(
    connection: &Connection,
    books: &Books,
    report: &mut Report,
) -> Result<Vec<Allocation>, Error> {
    let sql = format!("SELECT {} FROM allocation ORDER BY id", load::ALLOCATION);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let allocation = load::allocation(row)?;
        if allocation.last_entry != books.last.get(&allocation.id).map(|(id, ..)| *id) {
            let id = allocation.id.0;
            report.find(format!(
                "allocation {id}: its last entry is not the journal's"
            ));
        }
        if books
            .owners
            .get(&allocation.id)
            .is_some_and(|owner| *owner != allocation.account)
        {
            let id = allocation.id.0;
            report.find(format!(
                "allocation {id}: it belongs to another account than the journal says"
            ));
        }
        found.push(allocation);
    }
    Ok(found)
}

/// Each instance's sums are those of its usage rows, and at most one lien of it is open.
fn billed(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT i.id, i.billed, i.shadow_billed, i.charged_s,
             COALESCE(SUM(CASE WHEN u.billing NOT IN ('shadow', 'refund') THEN u.amount END), 0),
             COALESCE(SUM(CASE WHEN u.billing = 'shadow' THEN u.amount END), 0),
             COALESCE(SUM(u.charged_s), 0)
         FROM instance i LEFT JOIN usage u ON u.instance = i.id GROUP BY i.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let figures: [i64; 7] = [
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            row.get(5)?,
            row.get(6)?,
        ];
        let [
            id,
            billed,
            shadow,
            seconds,
            usage,
            shadow_usage,
            usage_seconds,
        ] = figures;
        if (billed, shadow, seconds) != (usage, shadow_usage, usage_seconds) {
            report.find(format!(
                "instance {id}: billed {billed}, its usage says {usage}"
            ));
        }
    }
    let mut statement = connection.prepare(
        "SELECT l.instance FROM lien l JOIN instance i ON i.id = l.instance
         WHERE (l.state = 'open') <> (i.lien IS l.id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        report.find(format!(
            "instance {id}: an open lien that is not its own, or an ended one that is"
        ));
    }
    Ok(())
}
