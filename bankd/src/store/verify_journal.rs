//! Proof of the journal itself: every hash, and that each entry follows from the one before on its
//! allocation. The whole of it for `verify`, its end when the daemon starts.

use super::hash::{self, Chain, Head};
use super::read::journal;
use super::verify::Report;
use super::{Error, codec, load_past, traces};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::effects::{Delta, Entry, EntryKind, Traces};
use bank_core::ids::{AccountId, AllocationId, EntryId, LienId, UsageId};
use bank_core::invariant::Proof;
use rusqlite::{Connection, OptionalExtension, Row, Rows};
use std::collections::BTreeMap;

/// Transactions that are proven when the daemon starts.
const RECENT: i64 = 1000;

/// What the journal says, as far as it was walked.
#[derive(Default)]
pub(super) struct Books {
    /// Sums of entries, windows and limits, and which accounts there are.
    pub(super) proof: Proof,
    /// The last entry of each allocation, with what it left.
    pub(super) last: BTreeMap<AllocationId, (EntryId, Amount, Amount)>,
    /// The account that the entries of each allocation name.
    pub(super) owners: BTreeMap<AllocationId, AccountId>,
    /// The walk began behind the first transaction: what lies before is taken as it is.
    is_part: bool,
    /// What is written beside the transactions, by their numbers.
    traces: BTreeMap<i64, Traces>,
}

/// Proves the newest transactions: their hashes, and that each entry follows from the one before.
/// Gives what is wrong.
pub(super) fn recent(connection: &Connection, bank: &Bank) -> Result<Vec<String>, Error> {
    let newest = "SELECT COALESCE(MAX(id), 0) FROM tx";
    let newest: i64 = connection.query_row(newest, [], |r| r.get(0))?;
    let first = newest.saturating_sub(RECENT).saturating_add(1).max(1);
    let mut report = Report::default();
    walk(connection, bank, first, &mut Books::default(), &mut report)?;
    Ok(report.findings)
}

/// Walks the journal once from a transaction on: transactions with their entries, both in the
/// order of their numbers.
pub(super) fn walk(
    connection: &Connection,
    bank: &Bank,
    first: i64,
    books: &mut Books,
    report: &mut Report,
) -> Result<(), Error> {
    books.is_part = first > 1;
    // What there was before the tables of traces is said to be of transaction 0.
    books.traces = traces::since(connection, if books.is_part { first } else { 0 })?;
    if let Some(found) = books.traces.remove(&0) {
        books.proof.traces(&found);
    }
    let mut before = hash_before(connection, bank, first)?;
    let last = journal::last_entry(connection)?;
    let first_entry = if books.is_part {
        journal::first_entry_of(connection, first, last)?
    } else {
        0
    };
    let mut transactions = connection.prepare(
        "SELECT id, req_id, at_effective, at_recorded, actor, client, origin, op, idem_key,
             instance, reverses, corrects, reason, prev_hash, hash FROM tx WHERE id >= ?1 ORDER BY id",
    )?;
    let mut transactions = transactions.query([first])?;
    let mut entries = connection.prepare(load_past::ENTRIES)?;
    let mut entries = Entries {
        rows: entries.query([first_entry])?,
        waiting: None,
    };
    entries.advance()?;
    let mut expected = first;
    while let Some(row) = transactions.next()? {
        let id: i64 = row.get(0)?;
        if id != expected {
            report.find(format!("transaction {expected}: missing"));
        }
        expected = id.saturating_add(1);
        report.transactions = report.transactions.saturating_add(1);
        before = match transaction(row, id, &mut entries, &before, books, report) {
            Ok(stored) => stored,
            Err(error) if is_unreadable(&error) => {
                report.find(format!("transaction {id}: changed: {error}"));
                row.get(14).unwrap_or(before)
            }
            Err(error) => return Err(error),
        };
    }
    let waiting = entries.waiting.map(|(tx, ..)| (tx, "entries are"));
    let beside = books
        .traces
        .keys()
        .next()
        .map(|tx| (*tx, "windows or accounts are"));
    for (tx, what) in waiting.into_iter().chain(beside) {
        report.find(format!("transaction {tx}: missing, but its {what} there"));
    }
    Ok(())
}

/// The hash that a transaction builds on.
fn hash_before(connection: &Connection, bank: &Bank, tx: i64) -> Result<Vec<u8>, Error> {
    let sql = "SELECT hash FROM tx WHERE id = ?1";
    let before = connection.query_row(sql, [tx.saturating_sub(1)], |r| r.get(0));
    Ok(before.optional()?.unwrap_or_else(|| hash::first(bank)))
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
    if let Some(traces) = books.traces.remove(&id) {
        chain.traces(&traces);
        books.proof.traces(&traces);
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
    books.proof.entry(entry);
    let Some(id) = entry.allocation else { return };
    let before = match books.last.get(&id) {
        Some((last, amount, held)) => Some((Some(*last), amount.0, held.0)),
        // What lies before the part that is walked is taken as it is.
        None if books.is_part => None,
        None => Some((None, 0, 0)),
    };
    let said = (Some(entry.amount_after.0), Some(entry.held_after.0));
    let follows = before.is_none_or(|(last, amount, held)| {
        let after = (
            amount.checked_add(entry.delta.amount),
            held.checked_add(entry.delta.held),
        );
        last == entry.prev && after == said
    });
    if !follows {
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
