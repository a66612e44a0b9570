//! Facts for a checkpoint, read from one snapshot, and the comparison of a bank with such facts.

use super::verify::journal::Walk;
use super::verify::{Finding, Report, STEP, hex};
use super::{Error, bank, numbers, version};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// State of a bank at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Which bank.
    pub uuid: String,
    /// Its last transaction, 0 for none; they are numbered from 1 without gaps.
    pub transactions: i64,
    /// Its last entry.
    pub entries: i64,
    /// Its last usage row.
    pub usages: i64,
    /// The hash of its last transaction in hex, empty for none.
    pub head: String,
    /// Totals of the entries of each kind: count, then sums of amount, held, active, shadow and
    /// shadow held in minor units.
    pub kinds: BTreeMap<String, (i64, [i128; 5])>,
    /// Rows of each table of reference data, and a digest over them in hex.
    pub tables: BTreeMap<String, (i64, String)>,
}

/// Tables of reference data with the columns that order their rows, and the words of their versions.
const REFERENCE: [(&str, &str, &str); 13] = [
    ("account", "id", "account"),
    ("account_constraint", "account, n", "account"),
    ("attribute", "name", "attribute"),
    ("auth_key", "id", "key"),
    ("cycle", "id", "cycle"),
    ("machine", "id", "machine"),
    ("mapping", "id", "mapping"),
    ("member", "project, user", "member"),
    ("project", "id", "project"),
    ("project_machine", "project, machine", "project"),
    ("rate", "id", "rate"),
    ("user", "id", "user"),
    ("user_alias", "alias", "user"),
];

/// The current state of the bank. Reads the whole journal: seconds for millions of entries.
///
/// # Errors
/// If the database cannot be read.
pub fn facts(connection: &Connection) -> Result<Facts, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let newest = |table: &str| -> Result<i64, Error> {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
        Ok(snapshot.query_row(&sql, [], |r| r.get(0))?)
    };
    let (transactions, entries) = (newest("tx")?, newest("entry")?);
    let mut tables = BTreeMap::new();
    for (table, order, _) in REFERENCE {
        tables.insert(table.to_owned(), digest(&snapshot, table, order)?);
    }
    Ok(Facts {
        uuid: bank::read(&snapshot)?.bank.uuid,
        transactions,
        entries,
        usages: newest("usage")?,
        head: head(&snapshot, transactions)?.unwrap_or_default(),
        kinds: kinds(&snapshot, entries)?,
        tables,
    })
}

/// Verifies the transactions after a given one up to the last one of the facts: their hashes, and
/// that each entry follows from the previous one. Returns the first finding, none if all are valid
/// and lead to the head of the facts.
///
/// # Errors
/// If the database cannot be read.
pub fn prove_since(
    connection: &Connection,
    proven: i64,
    facts: &Facts,
) -> Result<Option<String>, Error> {
    let mut report = Report::default();
    if facts.transactions < proven {
        let text = format!("transaction {proven} existed before and is missing now");
        return Ok(Some(text));
    }
    let bank = bank::read(connection)?.bank;
    let mut walk = Walk::from(connection, &bank, proven.saturating_add(1))?;
    while walk.done() < facts.transactions {
        let left = facts.transactions.saturating_sub(walk.done());
        if !walk.step(connection, left.min(STEP), &mut report)? {
            break;
        }
    }
    if report.is_sound() && hex(&walk.books.head) != facts.head {
        let text = format!(
            "transaction {}: its hash does not match the journal",
            facts.transactions
        );
        return Ok(Some(text));
    }
    Ok(report.lines().into_iter().next())
}

/// The hash of a transaction in hex.
fn head(connection: &Connection, tx: i64) -> Result<Option<String>, Error> {
    let sql = "SELECT hash FROM tx WHERE id = ?1";
    let hash: Option<Vec<u8>> = connection.query_row(sql, [tx], |r| r.get(0)).optional()?;
    Ok(hash.map(|hash| hex(&hash)))
}

/// Totals of entries up to one, by kind. The halves of each number are added separately, because a
/// sum in SQL has 64 bits.
fn kinds(connection: &Connection, last: i64) -> Result<BTreeMap<String, (i64, [i128; 5])>, Error> {
    let names = [
        "delta_amount",
        "delta_held",
        "delta_active",
        "delta_shadow",
        "delta_shadow_held",
    ];
    let halves = names.map(|name| format!("sum({name} >> 32), sum({name} & 4294967295)"));
    let sql = format!(
        "SELECT kind, count(*), {} FROM entry WHERE id <= ?1 GROUP BY kind",
        halves.join(", ")
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([last])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let mut sums = [0_i128; 5];
        for (sum, column) in sums.iter_mut().zip((2_usize..).step_by(2)) {
            let (high, low): (i64, i64) = (row.get(column)?, row.get(column.saturating_add(1))?);
            let high = i128::from(high).saturating_mul(1 << 32);
            *sum = high.saturating_add(low.into());
        }
        found.insert(row.get(0)?, (row.get(1)?, sums));
    }
    Ok(found)
}

/// How many rows a table has, and SHA-256 over all their columns.
fn digest(connection: &Connection, table: &str, order: &str) -> Result<(i64, String), Error> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let (mut hash, mut count) = (Sha256::new(), 0_i64);
    while let Some(row) = rows.next()? {
        count = count.saturating_add(1);
        for column in 0..columns {
            let (tag, bytes) = match row.get_ref(column)? {
                ValueRef::Null => (0_u8, Vec::new()),
                ValueRef::Integer(number) => (1, number.to_be_bytes().to_vec()),
                ValueRef::Real(number) => (2, number.to_bits().to_be_bytes().to_vec()),
                ValueRef::Text(bytes) => (3, bytes.to_vec()),
                ValueRef::Blob(bytes) => (4, bytes.to_vec()),
            };
            hash.update([tag]);
            hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(&bytes);
        }
    }
    Ok((count, hex(&hash.finalize())))
}

/// Differences between the bank and the facts. `verify` proves that the journal up to there hashes
/// to its head; with an equal head, no earlier transaction was changed, added or cut off.
///
/// # Errors
/// If the database cannot be read.
pub fn against(connection: &Connection, facts: &Facts) -> Result<Vec<Finding>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    if let Some(finding) = journal_against(&snapshot, facts)? {
        return Ok(vec![finding]);
    }
    let mut found = Vec::new();
    let mut differs = |what: &str, text: String, expected: &str, is: &str| {
        found.push(Finding::new("checkpoint", what, text).differs(expected, is));
    };
    let next = facts.transactions.saturating_add(1);
    let last = numbers::last_entry(&snapshot)?;
    let entries = numbers::first_entry_of(&snapshot, next, last)?.saturating_sub(1);
    let usages = numbers::first_usage_of(&snapshot, next)?.saturating_sub(1);
    for (what, expected, is) in [
        ("entries", facts.entries, entries),
        ("usages", facts.usages, usages),
    ] {
        if expected != is {
            let text = format!("checkpoint: the number of {what} differs");
            differs(what, text, &expected.to_string(), &is.to_string());
        }
    }
    found.extend(sums(&snapshot, facts, entries)?);
    found.extend(reference(&snapshot, facts)?);
    Ok(found)
}

/// Whether the journal of a bank is the one of a checkpoint and its continuation, by the hash of one transaction:
/// with a verified bank, the rest of the history follows from it. Fast.
///
/// # Errors
/// If the database cannot be read.
pub fn journal_against(connection: &Connection, facts: &Facts) -> Result<Option<Finding>, Error> {
    let differs = |what: &str, text: String, expected: &str, is: &str| {
        Some(Finding::new("checkpoint", what, text).differs(expected, is))
    };
    let uuid = bank::read(connection)?.bank.uuid;
    if uuid != facts.uuid {
        let text = "checkpoint: it belongs to another bank".to_owned();
        return Ok(differs("bank", text, &facts.uuid, &uuid));
    }
    let newest = "SELECT coalesce(max(id), 0) FROM tx";
    let newest: i64 = connection.query_row(newest, [], |r| r.get(0))?;
    if newest < facts.transactions {
        let text = format!(
            "checkpoint: the end of the journal was cut off: it ends at transaction {newest}, and \
             had {}",
            facts.transactions
        );
        let (expected, is) = (facts.transactions.to_string(), newest.to_string());
        return Ok(differs("transactions", text, &expected, &is));
    }
    let is = head(connection, facts.transactions)?.unwrap_or_default();
    if is != facts.head {
        let text = format!(
            "checkpoint: the history was rewritten: transaction {} has another hash",
            facts.transactions
        );
        return Ok(differs("head", text, &facts.head, &is));
    }
    Ok(None)
}

/// Kinds of entries whose totals differ.
fn sums(connection: &Connection, facts: &Facts, entries: i64) -> Result<Vec<Finding>, Error> {
    let is = kinds(connection, entries)?;
    let all: BTreeSet<&String> = is.keys().chain(facts.kinds.keys()).collect();
    let differing = all
        .into_iter()
        .filter(|kind| is.get(*kind) != facts.kinds.get(*kind));
    let finding = |kind: &String| {
        let show = |sums: Option<&(i64, [i128; 5])>| match sums {
            Some((count, sums)) => format!("{count} entries of {sums:?}"),
            None => "no entries".to_owned(),
        };
        let text = format!("checkpoint: entries of kind {kind} have other sums");
        let finding = Finding::new("checkpoint", kind, text);
        finding.differs(show(facts.kinds.get(kind)), show(is.get(kind)))
    };
    Ok(differing.map(finding).collect())
}

/// Reference data that was changed and that no command changed.
fn reference(connection: &Connection, facts: &Facts) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    for (table, order, word) in REFERENCE {
        let Some(expected) = facts.tables.get(table) else {
            continue;
        };
        // Changes by later commands are in the journal, which `verify` has proven.
        if version::changed_since(connection, word, facts.transactions)? {
            continue;
        }
        let is = digest(connection, table, order)?;
        if *expected != is {
            let show = |(rows, digest): &(i64, String)| format!("{rows} rows of {digest}");
            let text = format!("checkpoint: {table} changed since, and no command changed it");
            let finding = Finding::new("checkpoint", table, text);
            found.push(finding.differs(show(expected), show(&is)));
        }
    }
    Ok(found)
}
