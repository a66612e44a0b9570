//! Every column of every table: another value in it is found.

use super::strike::{Map, Other};
use super::{seed, struck, world};
use bankd_store::verify;
use rusqlite::Connection;
use std::path::Path;

/// Columns that may hold any value, with the reason.
const FREE: &[(&str, &str)] = &[];
/// Tables that the world leaves empty, and which test changes their columns instead.
const EMPTY: [(&str, &str); 5] = [
    (
        "rollup_block",
        "made of days that are proven; `rolled_months`",
    ),
    (
        "use_change",
        "a seal in each row; an export's cursor needs records",
    ),
    ("waypoint", "`tampered`"),
    ("waypoint_late", "`tampered`"),
    ("waypoint_sum", "`tampered`"),
];

/// Each column with its other values.
fn all(bank: &Connection) -> Vec<(String, Vec<Other>)> {
    let map = Map::of(bank);
    let full = map.tables.iter().filter(|table| !table.is_empty());
    let columns = full.flat_map(|table| {
        let columns = table.columns.iter();
        columns.map(|column| {
            let name = format!("{}.{column}", table.name);
            (name, table.others(bank, column))
        })
    });
    columns.collect()
}

/// What of these columns is changed unseen.
fn unseen(path: &Path, copy: &Path, columns: &[(String, Vec<Other>)]) -> Vec<String> {
    let mut missed = Vec::new();
    for (name, others) in columns {
        for other in others {
            let is_made = struck(path, copy, |bank| other.make(bank));
            if is_made && verify::run(copy).is_ok_and(|report| report.findings.is_empty()) {
                missed.push(format!("{name}: {}", other.sql));
            }
        }
    }
    missed
}

/// What of these changes is not found; two threads share the work.
fn missed(path: &Path, changes: &[(String, Vec<Other>)]) -> Vec<String> {
    let (one, other) = changes.split_at(changes.len() / 2);
    std::thread::scope(|scope| {
        let half = |name: &str, changes| {
            let copy = path.with_file_name(name);
            scope.spawn(move || unseen(path, &copy, changes))
        };
        let halves = [half("one.db", one), half("other.db", other)];
        let found = halves.into_iter().flat_map(|half| half.join().unwrap());
        found.collect()
    })
}

#[test]
fn another_value_in_any_column_is_found() {
    let (_ground, path) = world::bank(seed());
    assert_eq!(verify::run(&path).unwrap().lines(), Vec::<String>::new());
    let bank = Connection::open(&path).unwrap();
    let map = Map::of(&bank);
    let empty = map.tables.iter().filter(|table| table.is_empty());
    let empty: Vec<&str> = empty.map(|table| table.name.as_str()).collect();
    let known: Vec<&str> = EMPTY.iter().map(|(name, _)| *name).collect();
    assert_eq!(empty, known, "tables without a row");
    let columns = all(&bank);
    drop(bank);
    assert!(columns.len() > 300, "{} columns", columns.len());
    let mut missed = missed(&path, &columns);
    missed.retain(|line| {
        let mut free = FREE.iter();
        !free.any(|(name, _)| line.starts_with(&format!("{name}:")))
    });
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_removed_row_of_any_table_is_found() {
    let has_used_up = |path: &Path| {
        let sql = "SELECT EXISTS (SELECT 1 FROM lien_allocation WHERE amount = 0)";
        let bank = Connection::open(path).unwrap();
        bank.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let mut banks = (seed()..).take(20).map(world::bank);
    let found = banks.find(|(_, path)| has_used_up(path));
    let (_ground, path) = found.expect("an open lien with a portion that is used up");
    let map = Map::of(&Connection::open(&path).unwrap());
    let tables = map.tables.iter();
    let removals = tables.map(|table| (table.name.clone(), table.removals()));
    let missed = missed(&path, &removals.collect::<Vec<_>>());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
