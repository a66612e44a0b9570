//! Checks reversals (ledger.md 7): transfers add up to zero, refunds stay within their charges, and
//! a transaction has at most one reversal.

use super::super::Error;
use super::{Finding, Report};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Tables that it proves something of.
pub(super) const TABLES: &[&str] = &["entry", "correction", "reversal", "instance"];

/// Adds findings to the report.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    transfers(connection, report)?;
    reversals(connection, report)?;
    corrections(connection, report)?;
    billed(connection, report)
}

/// Both sides of the transfers of a transaction add up to nothing.
fn transfers(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT tx, SUM(delta_amount) FROM entry WHERE kind IN ('transfer_out', 'transfer_in')
         GROUP BY tx HAVING SUM(delta_amount) <> 0",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (tx, sum): (i64, i64) = (row.get(0)?, row.get(1)?);
        report.find(Finding::new(
            "entry",
            tx,
            format!("transaction {tx}: its transfers add up to {sum}, not to 0"),
        ));
    }
    Ok(())
}

/// Every opposite has its row, and every row its opposite, of a transaction before it.
fn reversals(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT t.id, t.reverses FROM tx t LEFT JOIN reversal r ON r.tx = t.reverses
         WHERE t.reverses IS NOT NULL AND (r.by IS NOT t.id OR t.reverses >= t.id)
         UNION ALL
         SELECT r.by, r.tx FROM reversal r LEFT JOIN tx t ON t.id = r.by
         WHERE t.reverses IS NOT r.tx",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (tx, of): (i64, i64) = (row.get(0)?, row.get(1)?);
        report.find(Finding::new(
            "reversal",
            of,
            format!(
                "transaction {tx}: it reverses {of}, which is missing or reversed by another transaction"
            ),
        ));
    }
    Ok(())
}

/// A reversal of an entry is at most as large as the entry, in the same allocation or for the same
/// use.
fn corrections(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare(
        "SELECT c.entry, c.of, e.kind, e.delta_amount, o.delta_amount, o.id IS NULL
         FROM correction c LEFT JOIN entry e ON e.id = c.entry LEFT JOIN entry o ON o.id = c.of
         ORDER BY c.entry DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut undone: BTreeSet<i64> = BTreeSet::new();
    let mut taken: std::collections::BTreeMap<i64, (i128, i128)> =
        std::collections::BTreeMap::new();
    // The newest first: a reversed reversal does not count.
    while let Some(row) = rows.next()? {
        let (entry, of): (i64, i64) = (row.get(0)?, row.get(1)?);
        let kind: Option<String> = row.get(2)?;
        let missing: bool = row.get(5)?;
        // No other kinds reverse entries, and the hash covers these.
        let takes_back = |kind: &String| kind == "refund" || kind == "reverse";
        let Some(kind) = kind.filter(|kind| !missing && of < entry && takes_back(kind)) else {
            report.find(Finding::new(
                "correction",
                entry,
                format!("entry {entry}: it reverses {of}, but one of them is missing"),
            ));
            continue;
        };
        if undone.contains(&entry) {
            continue;
        }
        if kind == "reverse" && !undone.insert(of) {
            report.find(Finding::new(
                "correction",
                of,
                format!("entry {of}: it is reversed twice"),
            ));
        }
        let (back, was): (i64, i64) = (row.get(3)?, row.get(4)?);
        let known = taken.entry(of).or_insert((0, i128::from(was)));
        known.0 = known.0.saturating_add(i128::from(back));
    }
    for (of, (back, was)) in taken {
        if back.unsigned_abs() > was.unsigned_abs() || (back != 0 && back.signum() == was.signum())
        {
            report.find(Finding::new(
                "correction",
                of,
                format!("entry {of}: {back} of it is reversed, but it is {was}"),
            ));
        }
    }
    Ok(())
}

/// `instance.billed` is the billed total of the entries: charges less reversals, and less falling
/// totals. Refunds of charges do not change it.
fn billed(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let refunds = refunds(connection)?;
    let mut statement = connection.prepare(
        "SELECT e.instance, SUM(e.delta_amount), i.billed
         FROM entry e JOIN instance i ON i.id = e.instance
         WHERE e.usage IS NOT NULL AND e.kind IN
             ('charge', 'charge_debt', 'charge_fallback', 'late_charge', 'refund', 'reverse')
         GROUP BY e.instance",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, sum, billed): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let refunded = refunds.get(&id).copied().unwrap_or(0);
        let expected = refunded.saturating_sub(i128::from(sum));
        if expected != i128::from(billed) {
            report.find(Finding::new(
                "instance",
                id,
                format!("instance {id}: billed {billed}, its entries record {expected}"),
            ));
        }
    }
    Ok(())
}

/// Amounts of refunds of charges, and of their reversals, for each instance. Reissued credits that a moved use leaves where
/// they are name a reversal.
fn refunds(connection: &Connection) -> Result<std::collections::BTreeMap<i64, i128>, Error> {
    let mut statement = connection.prepare(
        "SELECT c.entry, c.of, e.kind = 'refund', o.kind = 'reverse', e.instance, e.delta_amount
         FROM correction c JOIN entry e ON e.id = c.entry JOIN entry o ON o.id = c.of
         WHERE e.instance IS NOT NULL ORDER BY c.entry",
    )?;
    let mut rows = statement.query([])?;
    let mut own: BTreeSet<i64> = BTreeSet::new();
    let mut sums = std::collections::BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (entry, of): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (is_refund, is_of_reversal): (bool, bool) = (row.get(2)?, row.get(3)?);
        let is_own = if is_refund {
            !is_of_reversal
        } else {
            own.contains(&of)
        };
        if is_own {
            own.insert(entry);
            let sum: &mut i128 = sums.entry(row.get(4)?).or_insert(0);
            *sum = sum.saturating_add(i128::from(row.get::<_, i64>(5)?));
        }
    }
    Ok(sums)
}
