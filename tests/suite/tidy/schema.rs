//! What the database itself forbids, and the numbers of its migrations.

use super::none_of;
use super::source::{ends_in, files, read};
use rusqlite::Connection;

fn migrations() -> Vec<String> {
    let mut found = files();
    found.retain(|path| path.starts_with("schema/sqlite/") && ends_in(path, "sql"));
    found
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let mut findings = Vec::new();
    let runner = read("bankd/store/src/migrate.rs");
    for (number, path) in (1..).zip(migrations()) {
        let name = path.rsplit('/').next().unwrap();
        if !name.starts_with(&format!("{number:04}_")) {
            findings.push(format!("{path}: number {number:04} expected"));
        }
        if !runner.contains(name) {
            findings.push(format!("{path}: no migration of the program"));
        }
    }
    none_of(&findings);
    assert!(!migrations().is_empty());
}

#[test]
fn tables_are_strict() {
    let mut findings = Vec::new();
    for path in migrations() {
        for table in read(&path).split("CREATE TABLE ").skip(1) {
            let name = table.split([' ', '(']).next().unwrap();
            let end = table.find("\n)").unwrap();
            if !table[end..].lines().nth(1).unwrap().contains("STRICT") {
                findings.push(format!("{path}: {name} is not STRICT"));
            }
        }
    }
    none_of(&findings);
}

/// The journal is append-only whatever a program asks for.
#[test]
fn journal_rows_cannot_be_changed_or_deleted() {
    let bank = Connection::open_in_memory().unwrap();
    for path in migrations() {
        bank.execute_batch(&read(&path)).unwrap();
    }
    bank.execute_batch(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO tx VALUES (1, 'r', 0, 0, 'a', 'c', 'cli', 'deposit', NULL, NULL, NULL, NULL,
             '', x'00', x'01', NULL, NULL);
         INSERT INTO entry VALUES (1, 1, 0, NULL, 'deposit', 1, 1, NULL, NULL, 5, 0, 5, 0, 0, 5, 0,
             '', '', '', NULL);
         INSERT INTO usage (id, instance, tx, at, charged_s, processors, amount, billing, late)
             VALUES (1, 1, 1, 0, 60, '1', 60, 'billed', 0);
         INSERT INTO shape VALUES (1, 1, NULL, NULL, 0);
         INSERT INTO presence VALUES (1, 1, 1);
         INSERT INTO record VALUES (1, 0, 1, '', 0);
         INSERT INTO period_close VALUES (1, NULL, 5);
         INSERT INTO period_total VALUES (1, 1, 5, 0, 0, 0, '');
         INSERT INTO period_reopen VALUES (2, 1);
         INSERT INTO attention_event (tx, turn, kind, subject, threshold, level, project, user,
             machine, urgent, told) VALUES (1, 'raised', 'used', 'account:1', 80, 81, '', '', '',
             0, 1);",
    )
    .unwrap();
    for statement in [
        "UPDATE tx SET reason = 'x'",
        "UPDATE entry SET delta_amount = 6",
        "UPDATE usage SET amount = 0",
        "DELETE FROM tx",
        "DELETE FROM entry",
        "DELETE FROM usage",
        "UPDATE shape SET credit_limit = 1",
        "DELETE FROM shape",
        "UPDATE presence SET there = 0",
        "DELETE FROM presence",
        "UPDATE record SET text = 'x'",
        "DELETE FROM record",
        "UPDATE period_close SET end_at = 6",
        "DELETE FROM period_close",
        "UPDATE period_total SET amount = 6",
        "DELETE FROM period_total",
        "UPDATE period_reopen SET closed_by = 3",
        "DELETE FROM period_reopen",
        "UPDATE attention_event SET level = 0",
        "DELETE FROM attention_event",
    ] {
        let refused = bank.execute(statement, []).unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
}

#[test]
fn every_table_is_described() {
    let page = read("docs/reference/schema.md");
    let mut findings = Vec::new();
    let all: String = migrations().iter().map(|path| read(path)).collect();
    for table in all.split("CREATE TABLE ").skip(1) {
        let name = table.split([' ', '(']).next().unwrap();
        // A table that was made anew under its name comes after it was dropped.
        let made = all.rfind(&format!("CREATE TABLE {name} ("));
        let is_gone = all.rfind(&format!("DROP TABLE {name};")) > made;
        let is_described = page.contains(&format!("### `{name}`"));
        if !is_described && !is_gone {
            findings.push(format!("docs/reference/schema.md: {name} is missing"));
        }
    }
    none_of(&findings);
}
