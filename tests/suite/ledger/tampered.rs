//! What is kept for the past cannot be changed unseen: any column of any row of its tables, rows that
//! are gone, and rows that nobody wrote.

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::sqlite::Sqlite;
use super::wild::{Dice, Known, Wild, furnish};
use bank_core::directory::Policy;
use bank_core::time::Seconds;
use bankd_store::{Spacing, verify};
use rusqlite::Connection;

const SEED: u64 = 56_057;
const OPERATIONS: i64 = 700;
/// Changes of each table.
const CHANGES: usize = 25;

/// A history with everything that the past keeps.
fn history() -> Sqlite {
    let mut store = Sqlite::new(Policy::default(), 1);
    furnish(&mut Bench::new(&mut store));
    let (mut dice, mut clock) = (Dice(SEED), T0);
    for n in 0..OPERATIONS {
        let wild = Wild(dice.next());
        clock = clock.plus(Seconds(wild.seconds()));
        if wild.seconds() == 0 {
            let known = Known {
                transactions: 60 + n,
                liens: n / 8,
                allocations: 20 + n / 40,
            };
            store.submit(&wild.command(known, clock), Some(&format!("t{n}")), clock);
        }
    }
    store.reader().unwrap();
    let spacing = Spacing {
        stretch: 20,
        sum: 3,
        whole: 4,
    };
    store.store().survey(spacing).unwrap();
    store
}

/// Opens a bank as somebody does who does not ask the daemon.
fn intruder(store: &Sqlite) -> Connection {
    let connection = Connection::open(store.path()).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             DROP TRIGGER version_no_update; DROP TRIGGER version_no_delete;",
        )
        .unwrap();
    connection
}

/// Each column of a table with its type.
fn columns(connection: &Connection, table: &str) -> Vec<(String, String)> {
    let sql = format!("SELECT name, type FROM pragma_table_info('{table}')");
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// Another value than the one that stands there.
fn other(kind: &str, name: &str) -> String {
    match (kind, name) {
        ("INTEGER", "whole") => "1 - whole".to_owned(),
        ("INTEGER", _) => format!("{name} + 1"),
        ("BLOB", _) => format!("randomblob(length({name}))"),
        _ => format!("coalesce({name}, '') || ' '"),
    }
}

#[test]
fn nothing_that_the_past_keeps_is_changed_unseen() {
    println!("seed {SEED}");
    let mut first = history();
    assert_eq!(first.proof(), Vec::<String>::new());
    let mut dice = Dice(SEED ^ 1);
    let mut tried = 0;
    for table in [
        "version",
        "origin",
        "waypoint",
        "waypoint_sum",
        "waypoint_late",
    ] {
        for _ in 0..CHANGES {
            let store = first.copy(1);
            let connection = intruder(&store);
            let all: i64 = connection
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0))
                .unwrap();
            assert!(all > 0, "{table} is empty");
            let columns = columns(&connection, table);
            let key: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
            let keys = key.join(", ");
            let row = dice.below(u64::try_from(all).unwrap());
            let (name, kind) = &columns[usize::try_from(dice.below(columns.len() as u64)).unwrap()];
            // By all columns: tables without row numbers have no other name for a row.
            let same = key.iter().map(|k| format!("t.{k} IS o.{k}"));
            let same = same.collect::<Vec<_>>().join(" AND ");
            let sql = format!(
                "UPDATE OR IGNORE {table} AS t SET {name} = {}
                 FROM (SELECT {keys} FROM {table} LIMIT 1 OFFSET {row}) AS o WHERE {same}",
                other(kind, name).replace(name.as_str(), &format!("t.{name}"))
            );
            let changed = connection.execute(&sql, []).unwrap();
            if changed == 0 {
                continue;
            }
            tried += 1;
            let found = verify::run(store.path()).unwrap().findings;
            assert!(!found.is_empty(), "{table}.{name}, row {row}: {sql}");
        }
    }
    println!("{tried} changes");
    assert!(tried > 80, "{tried} changes only");
}

#[test]
fn rows_of_the_past_cannot_go_or_come() {
    println!("seed {SEED}");
    let mut first = history();
    for sql in [
        "DELETE FROM version WHERE (kind, key, tx) IN
             (SELECT kind, key, tx FROM version WHERE tx > 0 ORDER BY random() LIMIT 1)",
        "DELETE FROM version WHERE tx = 0",
        "INSERT INTO version VALUES ('project', '99', 5, '[]')",
        "INSERT INTO version VALUES ('nothing', '1', 0, '[]')",
        "INSERT INTO version VALUES ('user', '1', 999999, NULL)",
        "DELETE FROM origin",
        "DELETE FROM waypoint WHERE n = 3",
        "DELETE FROM waypoint_sum WHERE n = 4 AND allocation =
             (SELECT max(allocation) FROM waypoint_sum WHERE n = 4)",
        "DELETE FROM waypoint_sum WHERE (n, allocation) IN (SELECT n, allocation FROM waypoint_sum
             WHERE n NOT IN (SELECT n FROM waypoint WHERE whole = 1) ORDER BY random() LIMIT 1)",
        "UPDATE waypoint SET whole = 0 WHERE whole = 1",
        "UPDATE waypoint SET whole = 1 WHERE n = 3",
        "DELETE FROM waypoint_late WHERE entry = (SELECT min(entry) FROM waypoint_late)",
        "INSERT INTO waypoint_late VALUES (2, 5, 7)",
        "INSERT INTO waypoint_sum VALUES (2, 99999, 1, 0, 0, 0, 0, 0, 0)",
        "UPDATE account SET priority = priority + 1 WHERE id = 2",
        "UPDATE rate SET billionths = 1 WHERE id = 1",
        "UPDATE user SET phone = '1'",
        "DELETE FROM member",
        "UPDATE lien SET end_at = end_at + 1 WHERE id =
             (SELECT CAST(key AS INTEGER) FROM version WHERE kind = 'lien' LIMIT 1)",
    ] {
        let store = first.copy(1);
        let changed = intruder(&store).execute(sql, []).unwrap();
        assert!(changed > 0, "nothing is changed by {sql}");
        let found = verify::run(store.path()).unwrap().findings;
        assert!(!found.is_empty(), "{sql}");
    }
}
