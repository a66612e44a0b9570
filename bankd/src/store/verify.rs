//! Proof from the journal: every hash, every balance and every lien recomputed (ledger.md 7).
//!
//! Reads one snapshot; a daemon may go on writing beside it.

use super::hash::{self, Chain, Head};
use super::{Error, bank, codec, load, verify_past};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::effects::{Delta, Entry, EntryKind};
use bank_core::ids::{AccountId, AllocationId, EntryId, LienId, UsageId};
use bank_core::invariant::{self, Sums};
use bank_core::model::Allocation;
use rusqlite::{Connection, Row, Rows};
use std::collections::BTreeMap;
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
    let bank = bank::read(&snapshot)?.bank;
    let mut books = Books::default();
    journal(&snapshot, &bank, &mut books, &mut report)?;
    if check != "ok" {
        report.find(format!(
            "corrupt: {}",
            check.lines().last().unwrap_or_default()
        ));
    }
    liens(&snapshot, &mut books)?;
    let allocations = allocations(&snapshot, &books, &mut report)?;
    report.allocations = i64::try_from(allocations.len()).unwrap_or(i64::MAX);
    for finding in invariant::check(&allocations, &books.sums) {
        report.find(finding);
    }
    report.notes = invariant::over_committed(&allocations);
    billed(&snapshot, &mut report)?;
    verify_past::check(&snapshot, &mut report)?;
    Ok(report)
}

impl Report {
    pub(super) fn find(&mut self, finding: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }
}

#[derive(Default)]
struct Books {
    sums: BTreeMap<AllocationId, Sums>,
    /// The last entry of each allocation, with what it left.
    last: BTreeMap<AllocationId, (EntryId, Amount, Amount)>,
    /// The account that the entries of each allocation name.
    owners: BTreeMap<AllocationId, AccountId>,
}

/// Walks the journal once: transactions with their entries, both in the order of their numbers.
fn journal(
    connection: &Connection,
    bank: &Bank,
    books: &mut Books,
    report: &mut Report,
) -> Result<(), Error> {
    let mut transactions = connection.prepare(
        "SELECT id, req_id, at_effective, at_recorded, actor, client, origin, op, idem_key,
             instance, reverses, corrects, reason, prev_hash, hash FROM tx ORDER BY id",
    )?;
    let mut transactions = transactions.query([])?;
    let mut entries = connection.prepare(super::load_past::ENTRIES)?;
    let mut entries = Entries {
        rows: entries.query([])?,
        waiting: None,
    };
    entries.advance()?;
    let mut before = hash::first(bank);
    while let Some(row) = transactions.next()? {
        report.transactions = report.transactions.saturating_add(1);
        let id: i64 = row.get(0)?;
        if id != report.transactions {
            report.find(format!("transaction {}: missing", report.transactions));
            report.transactions = id;
        }
        before = match transaction(row, id, &mut entries, &before, books, report) {
            Ok(stored) => stored,
            Err(error) if is_unreadable(&error) => {
                report.find(format!("transaction {id}: changed: {error}"));
                row.get(14).unwrap_or(before)
            }
            Err(error) => return Err(error),
        };
    }
    if let Some((tx, ..)) = entries.waiting {
        report.find(format!(
            "transaction {tx}: missing, but its entries are there"
        ));
    }
    Ok(())
}

/// Checks one transaction; gives its stored hash, so that each later one is judged on its own.
fn transaction(
    row: &Row<'_>,
    id: i64,
    entries: &mut Entries<'_>,
    before: &[u8],
    books: &mut Books,
    report: &mut Report,
) -> Result<Vec<u8>, Error> {
    let texts: [String; 6] = [
        row.get(1)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(12)?,
    ];
    let [request_id, actor, client, origin, op, reason] = &texts;
    let key: Option<String> = row.get(8)?;
    let mut chain = Chain::new();
    chain.head(&Head {
        id,
        request_id,
        at_effective: row.get(2)?,
        at_recorded: row.get(3)?,
        actor,
        client,
        origin,
        op,
        key: key.as_deref(),
        instance: row.get(9)?,
        reverses: row.get(10)?,
        corrects: row.get(11)?,
        reason,
    });
    let mut n = 0_i64;
    let mut order_broken = false;
    while let Some((tx, read)) = entries.waiting.take_if(|(tx, _)| *tx <= id) {
        report.entries = report.entries.saturating_add(1);
        match read {
            Some((entry, instance, place)) => {
                order_broken = order_broken || tx != id || place != n;
                chain.entry(&entry, instance);
                follow(&entry, id, books, report);
            }
            None => order_broken = true,
        }
        n = n.saturating_add(1);
        entries.advance()?;
    }
    chain.bytes(before);
    let (previous, stored): (Vec<u8>, Vec<u8>) = (row.get(13)?, row.get(14)?);
    if previous != before || stored != chain.finish() || order_broken {
        report.find(format!(
            "transaction {id}: its hash is wrong: it or what lies before it was changed"
        ));
    }
    Ok(stored)
}

/// Adds an entry to the sums, and checks that it says what its predecessor leads to.
fn follow(entry: &Entry, tx: i64, books: &mut Books, report: &mut Report) {
    let Some(id) = entry.allocation else { return };
    let (last, amount, held) = match books.last.get(&id) {
        Some((last, amount, held)) => (Some(*last), amount.0, held.0),
        None => (None, 0, 0),
    };
    let after = (
        amount.checked_add(entry.delta.amount),
        held.checked_add(entry.delta.held),
    );
    let said = (Some(entry.amount_after.0), Some(entry.held_after.0));
    if last != entry.prev || after != said {
        report.find(format!(
            "transaction {tx}: entry {} does not follow from the one before",
            entry.id.0
        ));
    }
    if let Some(account) = entry.account {
        books.owners.insert(id, account);
    }
    books
        .last
        .insert(id, (entry.id, entry.amount_after, entry.held_after));
    let sums = books.sums.entry(id).or_default();
    let Delta {
        amount,
        held,
        active,
        shadow,
        shadow_held,
    } = entry.delta;
    for (sum, delta) in [
        (&mut sums.amount, amount),
        (&mut sums.held, held),
        (&mut sums.active, active),
        (&mut sums.shadow, shadow),
        (&mut sums.shadow_held, shadow_held),
    ] {
        *sum = sum.saturating_add(i128::from(delta));
    }
}

/// Entries in order, with the next one at hand: its transaction, and unless a changed byte made it
/// unreadable the entry, its instance and its place.
struct Entries<'a> {
    rows: Rows<'a>,
    waiting: Option<(i64, Option<Placed>)>,
}

/// An entry with its instance and its place in the transaction.
type Placed = (Entry, Option<i64>, i64);

impl Entries<'_> {
    fn advance(&mut self) -> Result<(), Error> {
        self.waiting = match self.rows.next()? {
            Some(row) => Some((row.get(0)?, whole(row)?)),
            None => None,
        };
        Ok(())
    }
}

fn whole(row: &Row<'_>) -> Result<Option<Placed>, Error> {
    let read = || -> Result<_, Error> { Ok((entry(row)?, row.get(18)?, row.get(19)?)) };
    match read() {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_unreadable(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a stored value is none that was ever written there.
fn is_unreadable(error: &Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    match error {
        Error::Value { .. } => true,
        Error::Sqlite(error) => matches!(
            error,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..)
        ),
        Error::NotABank(_) => false,
    }
}

/// An entry of [`super::load_past::ENTRIES`].
pub(super) fn entry(row: &Row<'_>) -> Result<Entry, Error> {
    let kind: String = row.get(3)?;
    Ok(Entry {
        id: EntryId(row.get(1)?),
        prev: row.get::<_, Option<i64>>(2)?.map(EntryId),
        kind: codec::word("entry.kind", &kind, EntryKind::parse)?,
        account: row.get::<_, Option<i64>>(4)?.map(AccountId),
        allocation: row.get::<_, Option<i64>>(5)?.map(AllocationId),
        lien: row.get::<_, Option<i64>>(6)?.map(LienId),
        usage: row.get::<_, Option<i64>>(7)?.map(UsageId),
        takes_back: row.get::<_, Option<i64>>(20)?.map(EntryId),
        delta: Delta {
            amount: row.get(8)?,
            held: row.get(9)?,
            active: row.get(10)?,
            shadow: row.get(11)?,
            shadow_held: row.get(12)?,
        },
        amount_after: Amount(row.get(13)?),
        held_after: Amount(row.get(14)?),
        project: row.get(15)?,
        user: row.get(16)?,
        machine: row.get(17)?,
    })
}

/// What open liens hold on each allocation.
fn liens(connection: &Connection, books: &mut Books) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT p.allocation, p.amount, l.shadow FROM lien_allocation p JOIN lien l ON l.id = p.lien",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, amount, shadow): (i64, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let sums = books.sums.entry(AllocationId(id)).or_default();
        let held = if shadow {
            &mut sums.shadow_portions
        } else {
            &mut sums.portions
        };
        *held = held.saturating_add(i128::from(amount));
    }
    Ok(())
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
