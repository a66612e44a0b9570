//! Records that come again with another machine: exports, usage and reports agree on where the use is.

use std::fs;

use serde_json::Value;

use super::sums::{agree, summed, thousandths};
use super::{bank, export, path, uses};
use crate::harness::T0;

/// A record that comes again with another machine moves where it was only recorded. A charged use stays on its machine, and
/// the record goes to the quarantine.
#[test]
fn a_charged_use_stays_on_its_machine() {
    let mut bank = bank();
    bank.bank_ok(&["machine", "add", "green"]);
    bank.bank_ok(&["machine", "set", "green", "--mode", "track"]);
    bank.bank_ok(&["machine", "add", "red"]);
    bank.set_clock(T0 + 86_400);
    let import = |job: &str, machine: &str, minutes: u32| {
        let text = format!(
            "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
             {job}|any|amy|chemistry|COMPLETED|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
             2025-12-01T01:{minutes:02}:00|1|2\n"
        );
        let (file, name) = path(&bank, "in.sacct");
        fs::write(file, text).unwrap();
        let words = [
            "import",
            "sacct",
            &name,
            "--source",
            "s",
            "--machine",
            machine,
        ];
        bank.bank_ok(&words)
    };
    let of = |machine: &str| {
        let table = bank.json(&[
            "usage",
            "--from",
            "-infinity",
            "--to",
            "infinity",
            "--by",
            "machine",
        ]);
        let rows = table["rows"].as_array().unwrap().clone();
        let own = |row: &&Value| row["keys"]["machine"] == machine;
        let lines = uses(&export(&bank, &["jsonl"]));
        let lines: Vec<Value> = lines
            .into_iter()
            .filter(|l| l["machine"] == machine)
            .collect();
        let found = rows
            .iter()
            .find(own)
            .map_or(0, |row| thousandths(&row["core_seconds"]));
        assert_eq!(summed(&lines).0, found, "{machine}");
        found / 120_000
    };
    import("1", "colony", 10);
    import("2", "blue", 10);
    agree(&bank);
    let output = import("1", "red", 20);
    assert!(output.contains("in the quarantine: 1"), "{output}");
    let aside = bank.json(&["quarantine", "ls"]);
    let reason = aside["items"][0]["reason"].as_str().unwrap_or_default();
    let advice = "machine: expected colony, to which this use belongs";
    assert!(reason.contains(advice), "{aside}");
    import("2", "green", 20);
    assert_eq!(["colony", "red", "blue", "green"].map(of), [10, 0, 0, 20]);
    let machines = "SELECT machine FROM usage_identity ORDER BY object_id";
    assert_eq!(bank.query(machines), [["colony"], ["green"]]);
    agree(&bank);
    bank.verify();
}
