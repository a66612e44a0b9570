#![cfg(session)]

use super::*;
use proptest::prelude::*;
use rusqlite::types::Value;

const NOT_THESE: LeftOut = LeftOut(&["own"]);

fn bank() -> Recorded {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, amount INTEGER) STRICT;
             CREATE TABLE member (account INTEGER NOT NULL REFERENCES account(id), user TEXT NOT NULL, since BLOB,
                 PRIMARY KEY (account, user)) STRICT, WITHOUT ROWID;
             CREATE TABLE own (id INTEGER PRIMARY KEY, x INTEGER) STRICT;
             PRAGMA foreign_keys = ON;",
        )
        .unwrap();
    Recorded::new(connection)
}

fn rows(bank: &Recorded) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for sql in [
        "SELECT * FROM account ORDER BY id",
        "SELECT * FROM member ORDER BY account, user",
    ] {
        let mut statement = bank.prepare(sql).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| {
            (0..columns)
                .map(|column| row.get(column))
                .collect::<Result<Vec<Value>, _>>()
        });
        all.extend(found.unwrap().map(Result::unwrap));
    }
    all
}

/// What the statements change, as a changeset.
fn changes(bank: &mut Recorded, statements: &str) -> Vec<u8> {
    bank.record(&NOT_THESE).unwrap();
    bank.execute_batch(statements).unwrap();
    bank.changes().unwrap()
}

#[test]
fn changes_of_one_database_are_those_of_another() {
    let (mut one, mut other) = (bank(), bank());
    let made = changes(
        &mut one,
        "INSERT INTO account VALUES (1, 'chem', 5), (2, 'bio', NULL);
         INSERT INTO member VALUES (1, 'amy', x'00ff'); INSERT INTO own VALUES (1, 1);",
    );
    other.apply(&made).unwrap();
    assert_eq!(rows(&one), rows(&other));
    let own: i64 = other
        .query_row("SELECT count(*) FROM own", [], |row| row.get(0))
        .unwrap();
    assert_eq!(own, 0, "a table that is left out");
    let made = changes(
        &mut one,
        "UPDATE account SET amount = 7 WHERE id = 1; DELETE FROM account WHERE id = 2;
         UPDATE account SET amount = 6 WHERE id = 1;",
    );
    other.apply(&made).unwrap();
    assert_eq!(rows(&one), rows(&other));
    assert_eq!(
        changes(&mut one, "UPDATE account SET amount = 6"),
        b"",
        "no row differs"
    );
}

#[test]
fn what_is_undone_is_not_recorded() {
    let mut one = bank();
    one.record(&NOT_THESE).unwrap();
    one.execute_batch("BEGIN; INSERT INTO account VALUES (1, 'chem', 5); ROLLBACK;")
        .unwrap();
    assert_eq!(one.changes().unwrap(), b"");
    assert!(!one.is_recording());
}

#[test]
fn a_row_that_differs_is_named_and_nothing_is_applied() {
    for (before, expected) in [
        (
            "UPDATE account SET amount = 4",
            "table account, row 1: it has other values than expected",
        ),
        ("DELETE FROM account", "table account, row 1: it is missing"),
        (
            "INSERT INTO account VALUES (3, 'x', 1)",
            "table account, row 3: it exists already",
        ),
        (
            "INSERT INTO account VALUES (4, 'new', 1)",
            "table account, row 3: it would violate a constraint",
        ),
        (
            "DROP TABLE member",
            "table member: a row cannot be changed: the table is missing, or has fewer columns",
        ),
    ] {
        let (mut one, mut other) = (bank(), bank());
        let first = changes(&mut one, "INSERT INTO account VALUES (1, 'chem', 5)");
        other.apply(&first).unwrap();
        other.execute_batch(before).unwrap();
        let was = other.query_row("SELECT group_concat(name) FROM account", [], |row| {
            row.get::<_, Option<String>>(0)
        });
        let made = changes(
            &mut one,
            "INSERT INTO account VALUES (3, 'new', 0); UPDATE account SET amount = 6 WHERE id = 1;
             INSERT INTO member VALUES (3, 'amy', NULL);",
        );
        other.execute_batch("BEGIN").unwrap();
        let error = other.apply(&made).unwrap_err();
        assert_eq!(error.to_string(), expected);
        other.execute_batch("ROLLBACK").unwrap();
        let is = other.query_row("SELECT group_concat(name) FROM account", [], |row| {
            row.get::<_, Option<String>>(0)
        });
        assert_eq!(was, is);
    }
}

#[test]
fn bytes_that_are_no_changeset_are_an_error() {
    let mut one = bank();
    for bytes in [&b"x"[..], b"T\x03\x01\x00\x00account\0\x12", &[0xff; 100]] {
        assert!(one.apply(bytes).is_err(), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn any_changes_apply(steps in prop::collection::vec((0..4_u8, 0..9_i64, any::<i64>()), 1..40), cut in 1..8_usize) {
        let (mut one, mut other) = (bank(), bank());
        for part in steps.chunks(cut) {
            let statement = |(kind, id, amount): &(u8, i64, i64)| match kind {
                0 => format!("INSERT OR IGNORE INTO account VALUES ({id}, 'n{id}', {amount});"),
                1 => format!("UPDATE account SET amount = {amount} WHERE id = {id};"),
                2 => format!("DELETE FROM member WHERE account = {id}; DELETE FROM account WHERE id = {id};"),
                _ => format!("INSERT OR REPLACE INTO member SELECT id, 'u{}', x'00' FROM account WHERE id = {id};", amount & 3),
            };
            let sql: String = part.iter().map(statement).collect();
            let made = changes(&mut one, &sql);
            other.apply(&made).unwrap();
            prop_assert_eq!(rows(&one), rows(&other));
        }
    }
}
