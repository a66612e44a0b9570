//! Uses without processors: charged as the charge policies state, by every way into the bank.

use std::fmt::Write as _;

use serde_json::Value;

use super::{file, summary};
use crate::harness::{Bank, Setup, T0};

const TIMES: &str =
    r#""start": "2025-12-01T00:00:00Z", "end": "2025-12-01T01:00:00Z", "state": "completed""#;

const MONTH: [&str; 3] = ["--month", "2025-12", "--json"];

/// Two machines with enough money, one of them in the mode `track`.
fn bank() -> Bank {
    let bank = Setup::new().start();
    bank.bank_ok(&["machine", "add", "watched", "--mode", "track"]);
    for machine in ["colony", "watched"] {
        bank.bank_ok(&["machine", "set", machine, "--charge-policy", "DEBITALLNODE"]);
    }
    bank.bank_ok(&["deposit", "chemistry", "100000", "--start", "2025-11-01"]);
    bank.set_clock(T0 + 86_400);
    bank
}

/// The amounts of the jobs of a machine, in the order of their ids.
fn amounts(bank: &Bank, machine: &str, column: &str) -> Vec<String> {
    let jobs = bank.bank_ok(&["jobs", "-m", machine, "--csv"]);
    let mut lines = jobs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = head.iter().position(|name| *name == column).unwrap();
    let mut rows: Vec<String> = lines
        .map(|cells| format!("{} {}", cells[0], cells[at]))
        .collect();
    rows.sort();
    rows
}

#[test]
fn uses_without_processors_count_as_one_on_every_way() {
    let mut bank = bank();
    for machine in ["colony", "watched"] {
        let mut text = String::new();
        for (id, more) in [
            ("1", ""),
            ("2", r#""processors": 0, "#),
            ("3", r#""nodes": 2, "#),
            ("4", r#""processors": 1, "nodes": 2, "#),
        ] {
            writeln!(
                text,
                r#"{{"source": "made:{machine}", "id": "{id}", "machine": "{machine}", "project": "chemistry", "user": "amy", {more}{TIMES}}}"#
            )
            .unwrap();
        }
        let file = file(&bank, machine, text);
        bank.bank_ok(&["import", "jsonl", &file]);
        assert_eq!(
            amounts(&bank, machine, "charged"),
            ["1 3600", "2 3600", "3 7200", "4 7200"],
            "{machine}"
        );
    }
    let explained = bank.bank_ok(&["jobs", "3", "-m", "colony"]);
    assert!(explained.contains("2 × 3,600 s"), "{explained}");
    let usage = bank.bank_ok(&[&["usage", "--by", "machine"], &MONTH[..]].concat());
    let usage: Value = serde_json::from_str(&usage).unwrap();
    // Hours are those of the processors that are stated.
    for (row, figure) in [(0, "charged"), (1, "shadow_charged")] {
        let row = &usage["rows"][row];
        assert_eq!(row["core_hours"], "1.000000", "{row}");
        assert_eq!(row[figure], "21600", "{row}");
    }
    bank.verify();
}

/// Jobs of `sacct` without a column of processors: a chunk of them where no money moves, and each by itself.
#[test]
fn jobs_of_a_file_without_processors_are_priced() {
    let mut bank = bank();
    let text = "JobID|User|Account|State|Start|End|NNodes\n\
                7|amy|chemistry|COMPLETED|2025-12-01T00:00:00|2025-12-01T01:00:00|2\n\
                8|amy|chemistry|COMPLETED|2025-12-01T00:00:00|2025-12-01T00:30:00|\n";
    for machine in ["colony", "watched"] {
        let file = file(&bank, machine, format!("\u{feff}{text}"));
        let done = summary(&bank, &["sacct", &file, "-m", machine]);
        assert_eq!(done["jobs"], 2, "{done}");
    }
    let usage = bank.bank_ok(&[&["usage", "--by", "machine"], &MONTH[..]].concat());
    let usage: Value = serde_json::from_str(&usage).unwrap();
    for (row, figure) in [(0, "charged"), (1, "shadow_charged")] {
        let row = &usage["rows"][row];
        assert_eq!(row[figure], "9000", "{row}");
    }
    bank.verify();
}
