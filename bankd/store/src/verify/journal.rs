//! Proof of the journal itself: every hash, and that each entry follows from the one before on its
//! allocation. The whole of it in steps for `verify`, its end when the daemon starts.

use super::super::chain::Chain;
use super::super::hash::{self, Head};
use super::super::version::{self, Version};
use super::super::{Error, choice, entries, numbers, start, traces, uuid};
use super::{Finding, Report, hex};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::effects::{Entry, Traces};
use bank_core::ids::{AccountId, AllocationId, EntryId, LienId};
use bank_core::invariant::Proof;
use rusqlite::{Connection, OptionalExtension, Row, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// Transactions that are proven when the daemon starts.
const RECENT: i64 = 1000;

/// Totals of the journal up to the current transaction.
#[derive(Default)]
pub(crate) struct Books {
    /// Sums of entries, windows and limits, and which accounts there are.
    pub(crate) proof: Proof,
    /// The last entry of each allocation, with its resulting amounts.
    pub(crate) last: BTreeMap<AllocationId, (EntryId, Amount, Amount)>,
    /// The account that the entries of each allocation name.
    pub(crate) owners: BTreeMap<AllocationId, AccountId>,
    /// The walk started after the first transaction: earlier ones are accepted unchecked.
    is_part: bool,
    /// Traces of the transactions, by transaction number.
    traces: BTreeMap<i64, Traces>,
    /// Reference data as transactions left it, by their numbers.
    versions: BTreeMap<i64, Vec<Version>>,
    /// Holds of each lien on each allocation, if not zero.
    pub(crate) holds: BTreeMap<(LienId, AllocationId), i128>,
    /// Empty holds of open liens for which there was no entry so far.
    pub(crate) unproven: BTreeSet<(LienId, AllocationId)>,
    /// Entries and sums of each kind.
    pub(crate) kinds: BTreeMap<&'static str, KindSums>,
    /// The hash of the transaction that was walked last.
    pub(crate) head: Vec<u8>,
}

/// Totals of all entries of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSums {
    /// How many there are.
    pub entries: i64,
    /// Sums of amount, held, active, shadow and shadow held.
    pub sums: [i128; 5],
}

/// Checks the newest transactions: their hashes, and that each entry follows from the previous one.
/// Returns the findings.
pub(crate) fn recent(connection: &Connection, bank: &Bank) -> Result<Vec<Finding>, Error> {
    let newest = "SELECT COALESCE(MAX(id), 0) FROM tx";
    let newest: i64 = connection.query_row(newest, [], |r| r.get(0))?;
    let first = newest.saturating_sub(RECENT).saturating_add(1).max(1);
    let mut report = Report::default();
    let mut walk = Walk::from(connection, bank, first)?;
    while walk.step(connection, RECENT, &mut report)? {}
    walk.end(&mut report);
    Ok(report.findings)
}

/// A walk along the journal, in steps: transactions with their entries and usage, in the order of
/// their numbers. The journal only grows, so that each step may see a later state of it.
pub(crate) struct Walk {
    /// Totals so far.
    pub(crate) books: Books,
    /// The next transaction.
    tx: i64,
    entry: i64,
    usage: i64,
    /// Traces are read up to this transaction.
    traced: i64,
    /// The hashes cover usage behind this transaction.
    start: i64,
}

impl Walk {
    /// From a transaction on; 1 is the whole journal.
    pub(crate) fn from(connection: &Connection, bank: &Bank, first: i64) -> Result<Walk, Error> {
        let is_part = first > 1;
        let (entry, usage) = if is_part {
            let last = numbers::last_entry(connection)?;
            let entry = numbers::first_entry_of(connection, first, last)?;
            (entry, numbers::first_usage_of(connection, first)?)
        } else {
            (0, 0)
        };
        let books = Books {
            is_part,
            head: hash_before(connection, bank, first)?,
            unproven: empty_holds(connection)?,
            ..Books::default()
        };
        Ok(Walk {
            books,
            tx: first,
            entry,
            usage,
            traced: first.saturating_sub(1),
            // Without a row, which `links` finds, nothing is taken on trust.
            start: start::read(connection)?.map_or(0, |start| start.tx),
        })
    }

    /// Number of processed transactions.
    pub(crate) fn done(&self) -> i64 {
        self.tx.saturating_sub(1)
    }

    /// Walks over so many transactions at most; false at the end of the journal.
    pub(crate) fn step(
        &mut self,
        connection: &Connection,
        most: i64,
        report: &mut Report,
    ) -> Result<bool, Error> {
        self.trace(connection)?;
        let mut transactions = connection.prepare_cached(
            "SELECT id, req_id, at_effective, at_recorded, actor, client, origin, op, idem_key,
                 instance, reverses, corrects, reason, prev_hash, hash, req_uuid, key_uuid FROM tx
             WHERE id >= ?1 ORDER BY id LIMIT ?2",
        )?;
        let mut transactions = transactions.query((self.tx, most))?;
        let mut entries = connection.prepare_cached(entries::ENTRIES)?;
        let mut usages = connection.prepare_cached(hash::USAGES)?;
        let mut beside = Beside {
            entries: entries.query([self.entry])?,
            entry: None,
            usages: usages.query([self.usage])?,
            usage: None,
            choices: choice::between(connection, self.tx, most)?,
        };
        beside.next_entry()?;
        beside.next_usage()?;
        let mut seen = 0_i64;
        while let Some(row) = transactions.next()? {
            let id: i64 = row.get(0)?;
            if id != self.tx {
                let gap = format!("transaction {}: missing", self.tx);
                report.find(Finding::new("tx", self.tx, gap));
            }
            self.tx = id.saturating_add(1);
            seen = seen.saturating_add(1);
            report.transactions = report.transactions.saturating_add(1);
            match self.transaction(row, id, &mut beside, report) {
                Ok(()) => {}
                Err(error) if is_unreadable(&error) => {
                    let text = format!("transaction {id}: changed: {error}");
                    report.find(Finding::new("tx", id, text));
                    self.books.head = row.get(14).unwrap_or_default();
                }
                Err(error) => return Err(error),
            }
        }
        let has_more = seen == most;
        if let (Some((tx, _)), false) = (&beside.entry, has_more) {
            let text = format!("transaction {tx}: missing, but its entries exist");
            report.find(Finding::new("entry", tx, text));
        }
        if let (Some(usage), false) = (&beside.usage, has_more) {
            let text = format!(
                "transaction {}: missing, but its usage {} is there",
                usage.tx, usage.id
            );
            report.find(Finding::new("usage", usage.id, text));
        }
        Ok(has_more)
    }

    /// Reports traces of missing transactions: at the end.
    pub(crate) fn end(&self, report: &mut Report) {
        if let Some(tx) = self.books.traces.keys().next() {
            let text = format!(
                "transaction {tx}: missing, but its windows, accounts, closes, settings or attention are there"
            );
            report.find(Finding::new("shape", tx, text));
        }
        if let Some(tx) = self.books.versions.keys().next() {
            let text = format!("transaction {tx}: missing, but its versions are there");
            report.find(Finding::new("version", tx, text));
        }
    }

    /// Reads the traces of transactions since the last read.
    fn trace(&mut self, connection: &Connection) -> Result<(), Error> {
        if self.tx <= self.traced {
            return Ok(());
        }
        let newest = "SELECT COALESCE(MAX(id), 0) FROM tx";
        let newest = connection.query_row(newest, [], |r| r.get(0))?;
        // Traces from before the trace tables belong to transaction 0.
        let is_first = self.tx == 1;
        let from = if is_first { 0 } else { self.tx };
        let mut found = traces::since(connection, from)?;
        if let (Some(known), true) = (found.remove(&0), is_first) {
            self.books.proof.traces(&known);
        }
        self.books.traces.append(&mut found);
        let mut versions = version::since(connection, self.tx.max(1))?;
        self.books.versions.append(&mut versions);
        self.traced = newest;
        Ok(())
    }
}

/// The hash that a transaction builds on.
fn hash_before(connection: &Connection, bank: &Bank, tx: i64) -> Result<Vec<u8>, Error> {
    let sql = "SELECT hash FROM tx WHERE id = ?1";
    let before = connection.query_row(sql, [tx.saturating_sub(1)], |r| r.get(0));
    Ok(before.optional()?.unwrap_or_else(|| hash::first(bank)))
}

impl Walk {
    /// Checks one transaction, and goes on from its stored hash, so that each later one is judged on its
    /// own.
    fn transaction(
        &mut self,
        row: &Row<'_>,
        id: i64,
        beside: &mut Beside<'_>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let texts: [String; 6] = [
            uuid::column(row, (1, 15))?.unwrap_or_default(),
            row.get(4)?,
            row.get(5)?,
            row.get(6)?,
            row.get(7)?,
            row.get(12)?,
        ];
        let [request_id, actor, client, origin, op, reason] = &texts;
        let key = uuid::column(row, (8, 16))?;
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
        let in_order = self.entries(&mut chain, id, beside, report)?;
        if let Some(traces) = self.books.traces.remove(&id) {
            chain.traces(&traces);
            self.books.proof.traces(&traces);
        }
        if let Some(choice) = beside.choices.remove(&id) {
            choice.hash(&mut chain);
        }
        let versions = self.books.versions.remove(&id);
        chain.versions(&versions.unwrap_or_default());
        let mut in_order_too = true;
        while let Some(usage) = beside.usage.take_if(|usage| usage.tx <= id) {
            self.usage = usage.id.saturating_add(1);
            in_order_too = in_order_too && usage.tx == id;
            if id > self.start {
                chain.bytes_of(&usage.columns);
            }
            beside.next_usage()?;
        }
        chain.bytes(&self.books.head);
        let (previous, stored): (Vec<u8>, Vec<u8>) = (row.get(13)?, row.get(14)?);
        let made = chain.finish();
        let copied = !previous.is_empty() && previous != self.books.head;
        if copied || stored != made || !in_order || !in_order_too {
            let text = format!(
                "transaction {id}: its hash is wrong: it or an earlier transaction was changed"
            );
            let finding = Finding::new("tx", id, text);
            report.find(if stored == made {
                finding
            } else {
                finding.differs(hex(&made), hex(&stored))
            });
        }
        self.books.head = stored;
        Ok(())
    }

    /// Takes the entries of a transaction into its hash and into the sums; false where one is not in its
    /// place.
    fn entries(
        &mut self,
        chain: &mut Chain,
        id: i64,
        beside: &mut Beside<'_>,
        report: &mut Report,
    ) -> Result<bool, Error> {
        let (mut n, mut in_order) = (0_i64, true);
        while let Some((tx, read)) = beside.entry.take_if(|(tx, _)| *tx <= id) {
            report.entries = report.entries.saturating_add(1);
            match read {
                Some((entry, instance, place, of)) => {
                    in_order = in_order && tx == id && place == n;
                    chain.entry(&entry, instance);
                    self.books.proof.entry(&entry, of);
                    follow(&entry, id, &mut self.books, report);
                    self.entry = entry.id.0.saturating_add(1);
                }
                None => in_order = false,
            }
            n = n.saturating_add(1);
            beside.next_entry()?;
        }
        Ok(in_order)
    }
}

/// Adds an entry to the sums, and checks that it follows from its predecessor.
fn follow(entry: &Entry, tx: i64, books: &mut Books, report: &mut Report) {
    books.count(entry);
    let Some(id) = entry.allocation else { return };
    let before = match books.last.get(&id) {
        Some((last, amount, held)) => Some((Some(*last), amount.0, held.0)),
        // Entries before the walked part are accepted unchecked.
        None if books.is_part => None,
        None => Some((None, 0, 0)),
    };
    let expected = (Some(entry.amount_after.0), Some(entry.held_after.0));
    let follows = before.is_none_or(|(last, amount, held)| {
        let after = (
            amount.checked_add(entry.delta.amount),
            held.checked_add(entry.delta.held),
        );
        last == entry.prev && after == expected
    });
    if !follows {
        let text = format!(
            "transaction {tx}: entry {} does not follow from the one before",
            entry.id.0
        );
        report.find(Finding::new("entry", entry.id.0, text));
    }
    if let Some(account) = entry.account {
        books.owners.insert(id, account);
    }
    books
        .last
        .insert(id, (entry.id, entry.amount_after, entry.held_after));
}

impl Books {
    /// Adds an entry to the totals of its kind and its lien.
    fn count(&mut self, entry: &Entry) {
        let delta = entry.delta;
        let kind = self.kinds.entry(entry.kind.word()).or_default();
        kind.entries = kind.entries.saturating_add(1);
        let deltas = [
            delta.amount,
            delta.held,
            delta.active,
            delta.shadow,
            delta.shadow_held,
        ];
        for (sum, delta) in kind.sums.iter_mut().zip(deltas) {
            *sum = sum.saturating_add(delta.into());
        }
        let (Some(lien), Some(allocation)) = (entry.lien, entry.allocation) else {
            return;
        };
        let held = i128::from(delta.held).saturating_add(delta.shadow_held.into());
        let key = (lien, allocation);
        let holds = self.holds.entry(key).or_default();
        *holds = holds.saturating_add(held);
        // Liens without holds are dropped, so that memory is bounded by the open liens.
        if *holds == 0 {
            self.holds.remove(&key);
        }
        self.unproven.remove(&key);
    }
}

/// The holds of open liens that were used up: no sum of the journal proves on which allocation they are.
fn empty_holds(connection: &Connection) -> Result<BTreeSet<(LienId, AllocationId)>, Error> {
    let sql = "SELECT lien, allocation FROM lien_allocation WHERE amount = 0";
    let mut statement = connection.prepare(sql)?;
    let keys = statement.query_map([], |row| {
        Ok((LienId(row.get(0)?), AllocationId(row.get(1)?)))
    })?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Entries and usage in their order, with the next of each at hand: an entry with its transaction,
/// and unless a changed byte made it unreadable itself, its instance and its place.
struct Beside<'a> {
    entries: Rows<'a>,
    entry: Option<(i64, Option<Placed>)>,
    usages: Rows<'a>,
    usage: Option<StoredUsage>,
    /// Inputs of choices by transaction; their references are checked separately.
    choices: BTreeMap<i64, choice::Stored>,
}

/// An entry with its instance, its place in the transaction, and the allocation of the entry that it takes back.
type Placed = (Entry, Option<i64>, i64, Option<AllocationId>);

/// A usage row as its transaction's hash covers it.
struct StoredUsage {
    id: i64,
    tx: i64,
    columns: Vec<u8>,
}

impl Beside<'_> {
    fn next_entry(&mut self) -> Result<(), Error> {
        self.entry = match self.entries.next()? {
            Some(row) => Some((row.get(0)?, whole(row)?)),
            None => None,
        };
        Ok(())
    }

    fn next_usage(&mut self) -> Result<(), Error> {
        self.usage = match self.usages.next()? {
            Some(row) => Some(StoredUsage {
                id: row.get(0)?,
                tx: row.get(3)?,
                columns: hash::stored_usage(row)?,
            }),
            None => None,
        };
        Ok(())
    }
}

fn whole(row: &Row<'_>) -> Result<Option<Placed>, Error> {
    let read = || -> Result<_, Error> {
        let of: Option<i64> = row.get(21)?;
        Ok((
            entries::entry(row)?,
            row.get(18)?,
            row.get(19)?,
            of.map(AllocationId),
        ))
    };
    match read() {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_unreadable(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a stored value is none that was ever written there, or names a row that is not there.
pub(super) fn is_unreadable(error: &Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, QueryReturnedNoRows,
        Utf8Error,
    };
    match error {
        Error::Value { .. } => true,
        Error::Sqlite(error) => matches!(
            error,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | QueryReturnedNoRows
                | Utf8Error(..)
        ),
        Error::Diverged(_) | Error::NotABank(_) => false,
    }
}
