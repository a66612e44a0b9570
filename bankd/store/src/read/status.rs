//! The ledger's own figures for the state of the daemon.

use super::super::Error;
use bank_core::ids::AccountId;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, HashSet};

/// Journal rows that are looked at for the last document of each machine.
const CONTACT_ROWS: i64 = 2_000;
/// Entries of the suspense account that are followed at most.
const SUSPENSE_ROWS: usize = 10_000;

/// Status figures of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerStatus {
    /// Transactions in the journal.
    pub transactions: i64,
    /// Entries in the journal.
    pub entries: i64,
    /// Size of the database in bytes, without its write-ahead log.
    pub bytes: i64,
    /// The place of the newest usage record.
    pub records: i64,
    /// When the newest of the last 2,000 transactions about each machine was recorded.
    pub contacts: BTreeMap<String, Timestamp>,
    /// Sums over all projects; for callers without limits only.
    pub whole: Option<WholeStatus>,
}

/// Sums over all projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeStatus {
    /// Liens that hold money.
    pub open_liens: i64,
    /// Instances with usage on the suspense account, counted up to the newest 10,000 entries.
    pub unbilled_instances: i64,
    /// Amount on the suspense account, minor units, zero or above.
    pub unbilled: i128,
    /// Instances for which more time was reported than can have been used.
    pub disputed: i64,
}

/// Reads the part for everybody. Numbers of transactions and entries have no gaps, so the last is their
/// count.
pub fn read(connection: &Connection) -> Result<LedgerStatus, Error> {
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(LedgerStatus {
        transactions: one("SELECT coalesce(max(id), 0) FROM tx")?,
        entries: one("SELECT coalesce(max(id), 0) FROM entry")?,
        bytes: one("PRAGMA page_count")?.saturating_mul(one("PRAGMA page_size")?),
        records: super::super::last_record(connection)?,
        contacts: contacts(connection)?,
        whole: None,
    })
}

/// How many liens hold money.
pub fn open_liens(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT count(DISTINCT lien) FROM lien_allocation";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Reads the sums over all projects.
pub fn whole(connection: &Connection, suspense: Option<AccountId>) -> Result<WholeStatus, Error> {
    let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let mut status = WholeStatus {
        open_liens: open_liens(connection)?,
        disputed: one("SELECT count(*) FROM instance WHERE disputed_s > 0")?,
        ..WholeStatus::default()
    };
    let allocations = match suspense {
        Some(account) => super::money::allocations_of(connection, account)?,
        None => Vec::new(),
    };
    let mut instances = HashSet::new();
    for allocation in allocations {
        status.unbilled -= i128::from(allocation.amount.0);
        follow(
            connection,
            allocation.last_entry.map(|e| e.0),
            &mut instances,
        )?;
    }
    status.unbilled_instances = i64::try_from(instances.len()).unwrap_or(i64::MAX);
    Ok(status)
}

/// The instances of an allocation's entries, newest first along `prev`.
fn follow(
    connection: &Connection,
    mut next: Option<i64>,
    instances: &mut HashSet<i64>,
) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(
        "SELECT e.prev, e.instance, e.kind, c.of
         FROM entry e LEFT JOIN correction c ON c.entry = e.id WHERE e.id = ?1",
    )?;
    // Valid ones only: newest first, so that a reversal is seen before the reversed row.
    let mut undone: HashSet<i64> = HashSet::new();
    for _ in 0..SUSPENSE_ROWS {
        let Some(id) = next else {
            break;
        };
        let row = statement.query_row([id], |row| {
            let kind: String = row.get(2)?;
            Ok((
                row.get::<_, Option<i64>>(0)?,
                row.get::<_, Option<i64>>(1)?,
                kind,
                row.get::<_, Option<i64>>(3)?,
            ))
        });
        let Some((prev, instance, kind, of)) = row.optional()? else {
            break;
        };
        next = prev;
        if undone.contains(&id) {
            continue;
        }
        match kind.as_str() {
            "reverse" => undone.extend(of),
            "charge" | "charge_debt" | "late_charge" => instances.extend(instance),
            _ => {}
        }
    }
    Ok(())
}

fn contacts(connection: &Connection) -> Result<BTreeMap<String, Timestamp>, Error> {
    let sql = "SELECT i.machine, t.at_recorded
               FROM (SELECT instance, origin, at_recorded FROM tx ORDER BY id DESC LIMIT ?1) t
               JOIN instance i ON i.id = t.instance WHERE t.origin = 'nami'";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([CONTACT_ROWS])?;
    let mut contacts: BTreeMap<String, Timestamp> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let at = Timestamp(row.get(1)?);
        let last = contacts.entry(row.get(0)?).or_insert(at);
        *last = at.max(*last);
    }
    Ok(contacts)
}
