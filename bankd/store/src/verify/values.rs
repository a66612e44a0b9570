//! Checks values: each row satisfies the constraints of its table. `SQLite` checks a constraint
//! only when a row is written, and its file check ignores constraints. A boolean of 2 would count
//! as true everywhere, and under every hash.

use super::super::Error;
use super::{Finding, Report, house};
use bank_api::text::counted;
use rusqlite::Connection;

/// Every `CHECK` of the schema, over all rows.
pub(super) fn check(connection: &Connection, report: &mut Report) -> Result<(), Error> {
    // The constraints of this program, not those of the file: `schema` compares both.
    for (name, made) in house::made()?.iter() {
        let all = constraints(made);
        if let Some(table) = name.strip_prefix("table ").filter(|_| !all.is_empty()) {
            of_table(connection, table, &all, report)?;
        }
    }
    Ok(())
}

fn of_table(
    connection: &Connection,
    table: &str,
    all: &[String],
    report: &mut Report,
) -> Result<(), Error> {
    // NULL satisfies every constraint.
    let counts = all.iter().map(|one| format!("coalesce(sum(NOT {one}), 0)"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT {counts} FROM \"{table}\"");
    let broken: Vec<i64> = connection.query_row(&sql, [], |row| {
        (0..all.len()).map(|column| row.get(column)).collect()
    })?;
    for (one, rows) in all.iter().zip(broken).filter(|(_, rows)| *rows > 0) {
        let text = format!("{table}: {} violating {one}", counted(rows, "row"));
        report.find(Finding::new("schema", table, text).differs(0, rows));
    }
    Ok(())
}

/// The conditions behind each `CHECK` of a statement, with their parentheses.
fn constraints(made: &str) -> Vec<String> {
    let lines = made.lines();
    let bare = lines.map(|line| line.split_once("--").map_or(line, |(before, _)| before));
    let bare = bare.collect::<Vec<_>>().join(" ");
    let parts = bare.split("CHECK").skip(1);
    parts
        .filter_map(|part| balanced(part.trim_start()))
        .collect()
}

/// The text up to the parenthesis that closes the first.
fn balanced(text: &str) -> Option<String> {
    let mut open = 0_usize;
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '(' if !is_quoted => open = open.saturating_add(1),
            ')' if !is_quoted => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return text.get(..=at).filter(|_| letter == ')').map(str::to_owned);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate;

    #[test]
    fn constraints_are_read_with_what_is_in_them() {
        let made = "CREATE TABLE t (a TEXT CHECK (a IN ('x)', 'y')), -- CHECK (no)\n\
            b INTEGER CHECK (b >= 0 AND (b < 9)), CHECK (a <> '' OR b = 1)) STRICT";
        assert_eq!(
            constraints(made),
            [
                "(a IN ('x)', 'y'))",
                "(b >= 0 AND (b < 9))",
                "(a <> '' OR b = 1)"
            ]
        );
    }

    #[test]
    fn a_value_that_is_not_allowed_is_found() {
        let mut bank = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut bank).unwrap();
        let findings = |bank: &Connection| {
            let mut report = Report::default();
            check(bank, &mut report).unwrap();
            report.lines()
        };
        assert_eq!(findings(&bank), Vec::<String>::new());
        bank.execute_batch(
            "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;
             INSERT INTO attention_event VALUES
                 (1, 'raised', 'used', 'account:1', 80, NULL, 81, NULL, NULL, NULL, 'p', '', '',
                  NULL, 0, 2);",
        )
        .unwrap();
        let found = findings(&bank);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("attention_event: 1 row "), "{found:?}");
        assert!(found[0].contains("told IN (0, 1)"), "{found:?}");
    }

    /// Every constraint of the schema is one that this page can read.
    #[test]
    fn no_constraint_is_passed_over() {
        let mut bank = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut bank).unwrap();
        let sql = "SELECT group_concat(sql, char(10)) FROM sqlite_schema WHERE type = 'table'";
        let all: String = bank.query_row(sql, [], |r| r.get(0)).unwrap();
        let bare = all
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default());
        let words: usize = bare.map(|line| line.matches("CHECK").count()).sum();
        assert_eq!(constraints(&all).len(), words);
        assert!(words > 30, "{words}");
    }
}
