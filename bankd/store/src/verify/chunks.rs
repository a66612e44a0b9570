//! Checks chunks of finished uses: the counts in the transaction (covered by the hash) match the
//! moved amounts of its entries, the rows, and the hash of the raw lines, if those are kept.

use super::super::Error;
use super::{Finding, Report};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::Read as _;

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    sums(connection, report)?;
    figures(connection, report)?;
    lines(connection, report)
}

/// The counts that each have a row, by their words in the reason.
const ROWS: [&str; 5] = ["charged", "adjusted", "free", "unused", "kept"];

/// Entries and rows match the counts of the transaction. A row that was amended later belongs to
/// another transaction, so there may be fewer.
fn sums(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT t.id, t.reason, coalesce(e.moved, 0), coalesce(u.held, 0), coalesce(u.revision, 0),
             coalesce(u.amount, 0)
         FROM tx t
         LEFT JOIN (SELECT tx, sum(delta_shadow) AS moved FROM entry GROUP BY tx) e ON e.tx = t.id
         LEFT JOIN (SELECT tx, count(*) AS held, max(revision) AS revision,
                 sum(CASE WHEN allocation IS NOT NULL THEN amount END) AS amount
             FROM usage_identity WHERE tx IS NOT NULL GROUP BY tx) u ON u.tx = t.id
         WHERE t.op = 'import' ORDER BY t.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (tx, reason): (i64, String) = (row.get(0)?, row.get(1)?);
        let (moved, held): (i64, i64) = (row.get(2)?, row.get(3)?);
        let (revision, amount): (i64, i64) = (row.get(4)?, row.get(5)?);
        let expected = |name| figure(&reason, name).unwrap_or(0);
        let counted = ROWS
            .iter()
            .fold(0_i64, |sum, word| sum.saturating_add(expected(word)));
        let is_whole = held == counted && revision == 0;
        if moved != expected("amount").saturating_neg() {
            report.find(Finding::new(
                "entry",
                tx,
                format!("transaction {tx}: its entries differ from its counts"),
            ));
        }
        if held > counted || (is_whole && amount != expected("amount")) {
            report.find(Finding::new(
                "usage_identity",
                tx,
                format!("transaction {tx}: its finished uses differ from its counts"),
            ));
        }
    }
    Ok(())
}

/// The amounts of uses without an instance on each allocation match the entries without a charge.
fn figures(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT allocation, sum(moved), sum(held) FROM (
             SELECT allocation, sum(delta_shadow) AS moved, 0 AS held FROM entry
             WHERE kind = 'charge_notional' AND usage IS NULL GROUP BY allocation
             UNION ALL
             SELECT allocation, 0, sum(amount) FROM usage_identity
             WHERE instance IS NULL AND amount IS NOT NULL GROUP BY allocation)
         WHERE allocation IS NOT NULL GROUP BY allocation
         HAVING sum(moved) + sum(held) <> 0 ORDER BY allocation",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, moved, held): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let moved = moved.saturating_neg();
        report.find(Finding::new(
            "allocation",
            id,
            format!("allocation {id}: the sum of its finished uses is {held}, that of its entries {moved}"),
        ));
    }
    Ok(())
}

/// The hash of stored lines matches their transaction.
fn lines(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT b.id, b.bytes, b.body, b.lines, t.id, t.reason FROM raw_block b
         LEFT JOIN tx t ON t.id = b.tx AND t.op = 'import' WHERE b.tx IS NOT NULL ORDER BY b.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, bytes, count): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(3)?);
        let (tx, reason): (Option<i64>, Option<String>) = (row.get(4)?, row.get(5)?);
        let (Some(tx), Some(reason)) = (tx, reason) else {
            report.find(Finding::new(
                "raw_block",
                id,
                format!("lines {id}: the transaction of their chunk is missing"),
            ));
            continue;
        };
        let body = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let digest = digest(body, u64::try_from(bytes).unwrap_or(0));
        let is_same = digest.as_deref() == word(&reason, "digest");
        if !is_same || figure(&reason, "lines") != Some(count) {
            report.find(Finding::new(
                "raw_block",
                id,
                format!("transaction {tx}: its stored lines differ from the imported ones"),
            ));
        }
    }
    Ok(())
}

/// SHA-256 of the uncompressed lines, in hex; none if they are unreadable or longer than stated.
fn digest(body: &[u8], bytes: u64) -> Option<String> {
    let mut plain = zstd::Decoder::with_buffer(body)
        .ok()?
        .take(bytes.saturating_add(1));
    let (mut hash, mut length) = (Sha256::new(), 0_u64);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = plain.read(&mut buffer).ok()?;
        if read == 0 {
            break;
        }
        hash.update(buffer.get(..read)?);
        length = length.saturating_add(u64::try_from(read).ok()?);
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    (length == bytes).then_some(text)
}

/// The value after `NAME=` in a reason; the first one, because the source at the end is external
/// text.
fn word<'a>(reason: &'a str, name: &str) -> Option<&'a str> {
    let mut words = reason.split(' ');
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn figure(reason: &str, name: &str) -> Option<i64> {
    word(reason, name)?.parse().ok()
}
