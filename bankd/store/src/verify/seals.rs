//! Proof of rows by their seals, of how many there are by tallies, and of their numbers, which have no
//! gaps.

use super::super::seal::{self, Reading};
use super::super::{Error, extent, tally};
use super::{Finding, Report};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::fmt::Write as _;

/// Tables with row numbers from 1 without gaps.
pub(super) const NUMBERED: &[&str] = &[
    "tx",
    "entry",
    "usage",
    "allocation",
    "instance",
    "lien",
    "quote",
    "record",
    "usage_identity",
    "project",
    "user",
    "machine",
    "account",
    "rate",
    "cycle",
    "mapping",
    "source",
    "raw_block",
    "auditor_record",
    "rollup_key",
    "use_change",
    "snapshot_key",
    "snapshot",
];

/// Tables of one row.
const ALONE: [&str; 5] = [
    "bank",
    "quarantine_total",
    "extent",
    "proof_start",
    "origin",
];

/// Tables with seals.
pub(super) const SEALED: &[&str] = &{
    let mut names = [""; seal::TABLES.len()];
    let mut n = 0;
    while n < names.len() {
        #[expect(
            clippy::indexing_slicing,
            reason = "in a constant, whose bounds are checked"
        )]
        {
            names[n] = seal::TABLES[n].name;
        }
        n += 1;
    }
    names
};

/// Numbered tables have no gaps.
pub(super) fn numbers(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    for table in NUMBERED {
        let sql =
            format!("SELECT count(*), coalesce(max(id), 0), coalesce(min(id), 1) FROM {table}");
        let (rows, last, first): (i64, i64, i64) =
            connection.query_row(&sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
        if rows != last || first != 1 {
            let text = format!("{table}: its numbers run from {first} to {last}");
            report.find(Finding::new(table, "all", text).differs(last, rows));
        }
    }
    for table in ALONE {
        let sql = format!("SELECT count(*), coalesce(max(id), 0) FROM {table}");
        let is: (i64, i64) = connection.query_row(&sql, [], |r| Ok((r.get(0)?, r.get(1)?)))?;
        if is != (1, 1) {
            let text = format!("{table}: it must have exactly one row");
            report.find(Finding::new(table, 1, text).differs(1, is.0));
        }
    }
    Ok(())
}

/// The seal of each row matches its columns.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    for sealed in &seal::TABLES {
        let mut statement = connection.prepare(&sealed.query(""))?;
        let reading = Reading::of(sealed, &statement)?;
        let places = sealed.places(&statement)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            report.sealed = report.sealed.saturating_add(1);
            let (is, should) = reading.seals(row)?;
            if is == should {
                continue;
            }
            let mut key = String::new();
            for place in &places {
                let space = if key.is_empty() { "" } else { " " };
                // Writing to a string cannot fail.
                let _ = write!(key, "{space}{}", shown(row.get_ref(*place)?));
            }
            let text = format!(
                "{} {key}: its row was changed, its seal is broken",
                sealed.name
            );
            report.find(Finding::new(sealed.name, key, text).differs(should, is));
        }
    }
    Ok(())
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).escape_debug().to_string(),
        _ => "?".to_owned(),
    }
}

/// There are as many rows, with such seals, as were written; and none is missing at the end.
pub(super) fn tallies(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    let mut statement = connection.prepare("SELECT name, rows, seals FROM tally ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut known = 0_usize;
    while let Some(row) = rows.next()? {
        let (name, recorded): (String, (i64, i64)) = (row.get(0)?, (row.get(1)?, row.get(2)?));
        let Some((table, column)) = tally::counted().find(|(table, _)| *table == name) else {
            let text = format!("{name}: no counted table has this name");
            report.find(Finding::new("tally", name, text));
            continue;
        };
        known = known.saturating_add(1);
        let is = tally::sum(connection, table, column)?;
        if is != recorded {
            let (expected, found) = (show(recorded), show(is));
            let text = format!("{table}: rows were added or removed");
            report.find(Finding::new(table, "all", text).differs(expected, found));
        }
    }
    if known != tally::counted().count() {
        let text = "tally: a table is missing from it".to_owned();
        report.find(Finding::new("tally", "all", text));
    }
    let (recorded, is) = (extent::read(connection)?, extent::measure(connection)?);
    for ((name, recorded), (_, is)) in recorded.columns().into_iter().zip(is.columns()) {
        if recorded != is {
            let text = format!("{name}: rows were added or removed at the end");
            report.find(Finding::new("extent", name, text).differs(recorded, is));
        }
    }
    Ok(())
}

fn show((rows, seals): (i64, i64)) -> String {
    format!("{rows} rows with seals {seals}")
}
