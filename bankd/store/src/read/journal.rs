//! The journal, forwards: transactions with their entries. Both tables grow for ever and have no
//! index but their number, so that a page starts at a number found by bisection and looks at a
//! bounded number of rows.

mod newest;

pub use newest::newest;

use super::super::Error;
use super::{Page, SCAN_MAX};
use crate::numbers::{first_entry_of, first_recorded_from, last_entry};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number.
    pub id: i64,
    /// When it counts.
    pub at_effective: Timestamp,
    /// When it was written; never falls from one to the next.
    pub at_recorded: Timestamp,
    /// The actor.
    pub actor: String,
    /// Through which client.
    pub client: String,
    /// `cli`, `nami`, `gold` or `system`.
    pub origin: String,
    /// The command.
    pub op: String,
    /// The instance it is about.
    pub instance: Option<i64>,
    /// Note, or why the system acted.
    pub reason: String,
}

/// An entry. Amounts are minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub id: i64,
    /// Its transaction.
    pub tx: i64,
    /// Its place in the transaction as stored.
    pub n: i64,
    /// Its kind by its word.
    pub kind: String,
    /// Account.
    pub account: Option<i64>,
    /// Allocation.
    pub allocation: Option<i64>,
    /// Lien.
    pub lien: Option<i64>,
    /// Usage row.
    pub usage: Option<i64>,
    /// Change of the allocation's amount.
    pub delta_amount: i64,
    /// Change of the held amount.
    pub delta_held: i64,
    /// Change of the account's active money.
    pub delta_active: i64,
    /// Change of the shadow charges.
    pub delta_shadow: i64,
    /// Change of the shadow liens.
    pub delta_shadow_held: i64,
    /// The allocation's amount afterwards.
    pub amount_after: i64,
    /// Held on it afterwards.
    pub held_after: i64,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Machine as named.
    pub machine: String,
    /// Instance.
    pub instance: Option<i64>,
}

/// A row of a page: an entry, or a transaction that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    /// The transaction.
    pub tx: Transaction,
    /// The entry, and its place in the transaction from 1.
    pub entry: Option<(i64, Entry)>,
    /// The scheduler's object id, its machine, and whether it is a job or a reservation; unknown to filters.
    pub object: Option<(String, String, String)>,
}

/// Where a page begins and how much it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Only transactions after this number.
    pub after: i64,
    /// Only entries effective from this instant on.
    pub since: Option<Timestamp>,
    /// Only entries effective before this instant.
    pub until: Option<Timestamp>,
    /// Nothing of it was recorded before this instant.
    pub recorded_from: Option<Timestamp>,
    /// Requested number of rows; a transaction is never divided, so that one with more entries is
    /// whole.
    pub limit: usize,
}

impl Page<JournalRow> {
    /// The rows of a page that was asked for one row more, without the transaction that exceeds its limit: there is a
    /// next page only if that transaction is there. A transaction is never divided.
    #[must_use]
    pub fn without_more(mut self, limit: usize, newest: bool) -> Self {
        let end = if newest {
            self.rows.first()
        } else {
            self.rows.last()
        };
        let Some(over) = end.map(|row| row.tx.id).filter(|_| self.rows.len() > limit) else {
            return self;
        };
        if self.rows.iter().all(|row| row.tx.id == over) {
            return self;
        }
        self.rows.retain(|row| row.tx.id != over);
        let end = if newest {
            self.rows.first()
        } else {
            self.rows.last()
        };
        self.next = end.map(|row| row.tx.id);
        self
    }
}

/// Rows that `keep` accepts, oldest first. The cursor is the number of the last transaction that
/// was looked at, if there may be more.
pub fn page(
    connection: &Connection,
    span: &Span,
    keep: impl Fn(&JournalRow) -> bool,
) -> Result<Page<JournalRow>, Error> {
    // No entry is recorded before it takes effect: entries effective from an instant on were
    // recorded from then on.
    let first = match span.since.max(span.recorded_from) {
        Some(from) => first_recorded_from(connection, from)?,
        None => 1,
    };
    let first = first.max(span.after.saturating_add(1));
    let mut transactions = connection.prepare_cached(TRANSACTIONS)?;
    let mut transactions = transactions.query([first])?;
    let mut entries = connection.prepare_cached(ENTRIES_FROM)?;
    let start = first_entry_of(connection, first, last_entry(connection)?)?;
    let mut entries = entries.query([start])?;
    let mut entry = entries.next()?.map(read_entry).transpose()?;
    let mut found: Vec<JournalRow> = Vec::new();
    let (mut looked, mut last) = (0_usize, first.saturating_sub(1));
    while let Some(row) = transactions.next()? {
        let tx = read_transaction(row)?;
        if found.len() >= span.limit || looked >= SCAN_MAX {
            let next = Some(last);
            return Ok(Page { rows: found, next });
        }
        let mut own: Vec<Entry> = Vec::new();
        while let Some(one) = entry.take_if(|e| e.tx <= tx.id) {
            looked += 1;
            if one.tx == tx.id {
                own.push(one);
            }
            entry = entries.next()?.map(read_entry).transpose()?;
        }
        looked += 1;
        let id = tx.id;
        let rows = if span.holds(tx.at_effective) {
            rows_of(connection, &tx, own, &keep)?
        } else {
            Vec::new()
        };
        if !found.is_empty() && found.len() + rows.len() > span.limit {
            let next = Some(last);
            return Ok(Page { rows: found, next });
        }
        found.extend(rows);
        last = id;
    }
    Ok(Page {
        rows: found,
        next: None,
    })
}

impl Span {
    fn holds(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| since <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// The rows of a transaction that `keep` accepts, before their objects are looked up.
fn rows_of(
    connection: &Connection,
    tx: &Transaction,
    entries: Vec<Entry>,
    keep: impl Fn(&JournalRow) -> bool,
) -> Result<Vec<JournalRow>, Error> {
    let row = |entry| JournalRow {
        tx: tx.clone(),
        entry,
        object: None,
    };
    let mut rows: Vec<JournalRow> = if entries.is_empty() {
        vec![row(None)]
    } else {
        let entries = (1_i64..).zip(entries);
        entries.map(|entry| row(Some(entry))).collect()
    };
    rows.retain(keep);
    for row in &mut rows {
        let own = row.entry.as_ref().and_then(|(_, entry)| entry.instance);
        if let Some(id) = own.or(row.tx.instance) {
            row.object = object(connection, id)?;
        }
    }
    Ok(rows)
}

pub(super) fn object(
    connection: &Connection,
    instance: i64,
) -> Result<Option<(String, String, String)>, Error> {
    let sql = "SELECT object_id, machine, object_type FROM instance WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let row = statement.query_row([instance], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    });
    Ok(row.optional()?)
}

/// The entries of a transaction, in order.
///
/// # Errors
/// If the store fails.
pub fn entries(connection: &Connection, tx: i64) -> Result<Vec<Entry>, Error> {
    entries_of(connection, tx, last_entry(connection)?)
}

/// The entries of a transaction, in order. `last` is the number of the last entry there is.
pub(crate) fn entries_of(connection: &Connection, tx: i64, last: i64) -> Result<Vec<Entry>, Error> {
    let start = first_entry_of(connection, tx, last)?;
    let mut statement = connection.prepare_cached(ENTRIES_FROM)?;
    let mut rows = statement.query([start])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let entry = read_entry(row)?;
        if entry.tx != tx {
            break;
        }
        found.push(entry);
    }
    Ok(found)
}

const TRANSACTIONS: &str = "SELECT id, at_effective, at_recorded, actor, client, origin, op,
    instance, reason FROM tx WHERE id >= ?1 ORDER BY id";
const ENTRIES_FROM: &str = "SELECT id, tx, n, kind, account, allocation, lien, usage, delta_amount,
    delta_held, delta_active, delta_shadow, delta_shadow_held, amount_after, held_after, project,
    user, machine, instance FROM entry WHERE id >= ?1 ORDER BY id";

pub(super) fn read_transaction(row: &Row<'_>) -> Result<Transaction, Error> {
    Ok(Transaction {
        id: row.get(0)?,
        at_effective: Timestamp(row.get(1)?),
        at_recorded: Timestamp(row.get(2)?),
        actor: row.get(3)?,
        client: row.get(4)?,
        origin: row.get(5)?,
        op: row.get(6)?,
        instance: row.get(7)?,
        reason: row.get(8)?,
    })
}

fn read_entry(row: &Row<'_>) -> Result<Entry, Error> {
    Ok(Entry {
        id: row.get(0)?,
        tx: row.get(1)?,
        n: row.get(2)?,
        kind: row.get(3)?,
        account: row.get(4)?,
        allocation: row.get(5)?,
        lien: row.get(6)?,
        usage: row.get(7)?,
        delta_amount: row.get(8)?,
        delta_held: row.get(9)?,
        delta_active: row.get(10)?,
        delta_shadow: row.get(11)?,
        delta_shadow_held: row.get(12)?,
        amount_after: row.get(13)?,
        held_after: row.get(14)?,
        project: row.get(15)?,
        user: row.get(16)?,
        machine: row.get(17)?,
        instance: row.get(18)?,
    })
}
