//! Refusals of strict enforcement for uses of a chunk: each stays, with the present figures of its use.

use serde_json::Value;

use super::{HEAD, file};
use crate::harness::{Bank, Setup, T0};

/// A machine in mode `track`, on which chemistry has 20,000.
fn tracked() -> Bank {
    let bank = Setup::new().chemistry(20_000).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.set_clock(T0 + 86_400);
    bank
}

/// Imports two jobs from 10:00 on: one of chemistry, and one of a project that the bank does not have.
fn import(bank: &Bank, end: &str) -> String {
    let job = |id: u32, project: &str| {
        format!(
            "{id}|colony|amy|{project}|COMPLETED|0:0|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T{end}:00|1|1\n"
        )
    };
    let text = format!("{HEAD}{}{}", job(103, "chemistry"), job(104, "nope"));
    let file = file(bank, "day.sacct", text);
    bank.bank_ok(&["import", "sacct", &file, "--source", "slurm:colony"])
}

/// Members of each item of an answer, as text.
fn members(answer: &Value, names: &[&str]) -> Vec<String> {
    let items = answer["items"].as_array().unwrap().iter();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let row = |item: &Value| {
        let row: Vec<String> = names.iter().map(|name| text(&item[name])).collect();
        row.join(" ")
    };
    items.map(row).collect()
}

fn monitored(bank: &Bank) -> Value {
    bank.json(&["monitor", "--since", "2026-01-01"])
}

#[test]
fn refusals_stay_after_a_corrected_file_and_an_assignment() {
    let mut bank = tracked();
    import(&bank, "16:30");
    let first = monitored(&bank);
    let shown = ["job", "project", "code", "needed", "available", "at"];
    let mut expected = [
        "103 chemistry insufficient_funds 23400 20000 2026-01-01T10:00:00Z",
        "104 nope project_unknown null null 2026-01-01T10:00:00Z",
    ];
    assert_eq!(members(&first, &shown), expected);
    let by = ["job", "transaction"];
    let used = ["job", "project", "code", "used", "used_s"];
    let output = import(&bank, "17:30");
    assert!(output.contains(": 2 adjusted\n"), "{output}");
    // A follower gets no second line: the refusals are of the same transaction.
    expected[0] = "103 chemistry insufficient_funds 27000 20000 2026-01-01T10:00:00Z";
    let second = monitored(&bank);
    assert_eq!(members(&second, &shown), expected);
    assert_eq!(members(&second, &by), members(&first, &by));
    assert_eq!(
        members(&bank.json(&["what-if"]), &used),
        [
            "103 chemistry insufficient_funds 27000 27000",
            "104 nope project_unknown 27000 27000",
        ]
    );
    let assign = [
        "unmapped",
        "assign",
        "account=nope",
        "chemistry",
        "--yes",
        "--no-rule",
    ];
    bank.bank_ok(&assign);
    expected[1] = "104 chemistry project_unknown null null 2026-01-01T10:00:00Z";
    let third = monitored(&bank);
    assert_eq!(members(&third, &shown), expected);
    assert_eq!(members(&third, &by), members(&first, &by));
    let stored =
        "SELECT count(*) FROM usage_identity WHERE refusal IS NOT NULL AND refused_tx < tx";
    assert_eq!(bank.query(stored), [["2"]]);
    bank.verify();
}
