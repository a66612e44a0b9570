//! Row counts and sums of seals of slow-growing tables (`tally`). Rows that were added or removed
//! without the daemon lead to a difference.
//!
//! Temporary triggers of the daemon's connection count. Triggers of the schema would also count
//! changes by other programs, and hide them.

use super::{Error, extent, seal};
use rusqlite::Connection;

/// Tables with thousands of changes: their writers count them, with [`Change`].
const BY_THOUSANDS: [&str; 2] = ["unmapped", "rollup"];

/// Change of the count and of the seal sum of one of [`BY_THOUSANDS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    rows: i64,
    /// Below [`seal::BOUND`].
    seals: i64,
}

impl Change {
    /// Adds a row with this seal.
    pub(super) fn comes(&mut self, seal: i64) {
        self.rows = self.rows.saturating_add(1);
        self.add(extent::wrap(seal));
    }

    /// A row has another seal than before.
    pub(super) fn changes(&mut self, before: i64, seal: i64) {
        let gone = seal::BOUND.saturating_sub(extent::wrap(before));
        self.add(gone);
        self.add(extent::wrap(seal));
    }

    fn add(&mut self, seal: i64) {
        self.seals = extent::wrap(self.seals.saturating_add(seal));
    }

    /// Counts it for a table.
    pub(super) fn write(self, connection: &Connection, table: &str) -> Result<(), Error> {
        if self != Change::default() {
            let sql = "UPDATE tally SET rows = rows + ?1,
                           seals = (seals + ?2) % ?3 WHERE name = ?4";
            let mut statement = connection.prepare_cached(sql)?;
            statement.execute((self.rows, self.seals, seal::BOUND, table))?;
        }
        Ok(())
    }
}

/// The tables, with the column that is added up.
pub(super) fn counted() -> impl Iterator<Item = (&'static str, &'static str)> {
    // Each charge writes these; `extent` is about them. The bank's own row is there or nothing is.
    let hot = [
        "bank",
        "quote",
        "quarantine_total",
        "instance",
        "lien",
        "idempotency",
        "answer",
        "record",
        "usage_identity",
    ];
    let sealed = seal::TABLES.iter().map(|sealed| (sealed.name, "seal"));
    let sealed = sealed.filter(move |(name, _)| !hot.contains(name));
    sealed.chain([("unmapped", "identity")])
}

/// Counts the following writes of this connection.
pub(super) fn count_on(connection: &Connection) -> Result<(), Error> {
    let bound = seal::BOUND;
    for (table, column) in counted() {
        let goes = set(table, &format!("+ {bound} - OLD.{column}"), "- 1");
        connection.execute_batch(&format!(
            "CREATE TEMP TRIGGER {table}_goes AFTER DELETE ON main.{table} BEGIN {goes}; END;"
        ))?;
        if BY_THOUSANDS.contains(&table) {
            continue;
        }
        count_rows(connection, table, column)?;
    }
    Ok(())
}

/// Counts new and changed rows of a table.
fn count_rows(connection: &Connection, table: &str, column: &str) -> Result<(), Error> {
    let bound = seal::BOUND;
    let comes = set(table, &format!("+ NEW.{column}"), "+ 1");
    let other = set(
        table,
        &format!("+ {bound} - OLD.{column} + NEW.{column}"),
        "+ 0",
    );
    connection.execute_batch(&format!(
        "CREATE TEMP TRIGGER {table}_comes AFTER INSERT ON main.{table} BEGIN {comes}; END;
         CREATE TEMP TRIGGER {table}_changes AFTER UPDATE OF {column} ON main.{table}
         BEGIN {other}; END;"
    ))?;
    Ok(())
}

/// The statement of a trigger.
fn set(table: &str, sum: &str, rows: &str) -> String {
    let bound = seal::BOUND;
    format!(
        "UPDATE tally SET rows = rows {rows}, seals = (seals {sum}) % {bound} WHERE name = '{table}'"
    )
}

/// Counts rows also of tables whose writers count them: entries of a log are applied without a writer.
pub(super) fn count_applied(connection: &Connection, is_on: bool) -> Result<(), Error> {
    for (table, column) in counted().filter(|(table, _)| BY_THOUSANDS.contains(table)) {
        connection.execute_batch(&format!(
            "DROP TRIGGER IF EXISTS temp.{table}_comes; DROP TRIGGER IF EXISTS temp.{table}_changes;"
        ))?;
        if is_on {
            count_rows(connection, table, column)?;
        }
    }
    Ok(())
}

/// Recounts everything: once after a migration.
pub(super) fn renew(connection: &Connection) -> Result<(), Error> {
    for (table, column) in counted() {
        let (rows, seals) = sum(connection, table, column)?;
        let sql = "INSERT INTO tally (name, rows, seals) VALUES (?1, ?2, ?3)
                   ON CONFLICT (name) DO UPDATE SET rows = ?2, seals = ?3";
        connection.execute(sql, (table, rows, seals))?;
    }
    Ok(())
}

/// How many rows a table has, and the sum of a column of it.
pub(super) fn sum(connection: &Connection, table: &str, column: &str) -> Result<(i64, i64), Error> {
    let mut statement = connection.prepare(&format!("SELECT {column} FROM {table}"))?;
    let mut rows = statement.query([])?;
    let mut sums = (0_i64, 0_i64);
    while let Some(row) = rows.next()? {
        let own: i64 = row.get(0)?;
        let both = sums.1.saturating_add(extent::wrap(own));
        sums = (sums.0.saturating_add(1), extent::wrap(both));
    }
    Ok(sums)
}
