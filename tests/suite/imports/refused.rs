//! Refusals of strict enforcement for uses of a chunk: each stays, with the present figures of its use.

use serde_json::{Value, json};

use super::{HEAD, assign, file};
use crate::harness::{Bank, Setup, T0};

/// Machines in mode `track`, on which chemistry and biology have 20,000 each.
fn tracked() -> Bank {
    let bank = Setup::new().chemistry(20_000).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.bank_ok(&["machine", "add", "farm", "--mode", "track"]);
    bank.bank_ok(&["project", "add", "biology", "--members", "amy"]);
    bank.bank_ok(&["deposit", "biology", "20000"]);
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

/// A use of an hour on farm, which is charged by itself.
fn import_one(bank: &Bank, id: &str, project: &str) {
    let line = json!({
        "source": "farm", "id": id, "machine": "farm", "project": project, "user": "amy", "processors": 1,
        "start": "2026-01-01T10:00:00Z", "end": "2026-01-01T11:00:00Z",
    });
    let file = file(bank, "use.jsonl", line.to_string());
    bank.bank_ok(&["import", "jsonl", &file]);
}

/// The same use on colony, in a chunk.
fn import_chunk(bank: &Bank, id: &str, project: &str) {
    let text = format!(
        "{HEAD}{id}|colony|amy|{project}|COMPLETED|0:0|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T11:00:00|1|1\n"
    );
    let file = file(bank, "use.sacct", text);
    bank.bank_ok(&["import", "sacct", &file, "--source", "slurm:colony"]);
}

/// Members of each item of an answer, as text.
fn members(answer: &Value, names: &[&str]) -> Vec<String> {
    rows(&answer["items"], names)
}

/// Members of each row, as text.
fn rows(rows: &Value, names: &[&str]) -> Vec<String> {
    let rows = rows.as_array().unwrap().iter();
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let row = |item: &Value| {
        let row: Vec<String> = names.iter().map(|name| text(&item[name])).collect();
        row.join(" ")
    };
    rows.map(row).collect()
}

fn monitored(bank: &Bank) -> Value {
    bank.json(&["monitor", "--since", "2026-01-01"])
}

/// A use of a chunk and one with an instance: both at their starts, with what they needed and with their sources.
#[test]
fn monitor_and_what_if_agree_about_reported_uses() {
    let mut bank = tracked();
    let text = format!(
        "{HEAD}1|colony|amy|chemistry|COMPLETED|0:0|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T16:30:00|1|1\n"
    );
    let chunk = file(&bank, "day.sacct", text);
    bank.bank_ok(&["import", "sacct", &chunk, "--source", "slurm:colony"]);
    let line = json!({
        "source": "farm", "id": "2", "machine": "farm", "project": "biology", "user": "amy", "processors": 1,
        "start": "2026-01-01T10:00:00Z", "end": "2026-01-01T16:30:00Z",
    });
    let one = file(&bank, "use.jsonl", line.to_string());
    bank.bank_ok(&["import", "jsonl", &one]);
    let monitor = monitored(&bank);
    let shown = ["job", "at", "code", "needed", "available", "source"];
    let expected = [
        "1 2026-01-01T10:00:00Z insufficient_funds 23400 20000",
        "2 2026-01-01T10:00:00Z insufficient_funds 23400 20000",
    ];
    let with_source = [
        format!("{} slurm:colony", expected[0]),
        format!("{} farm", expected[1]),
    ];
    assert_eq!(members(&monitor, &shown), with_source);
    let what_if = bank.json(&["what-if"]);
    assert_eq!(members(&what_if, &shown[..5]), expected);
    let sums = ["project", "jobs", "needed", "used"];
    assert_eq!(
        rows(&what_if["projects"], &sums),
        ["biology 1 23400 23400", "chemistry 1 23400 23400"]
    );
    // A use counts by its start, in both.
    let later = bank.json(&["monitor", "--since", "2026-01-01T12:00:00Z"]);
    assert_eq!(members(&later, &shown), [""; 0]);
    bank.verify();
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
    assign(&bank);
    expected[1] = "104 chemistry project_unknown null null 2026-01-01T10:00:00Z";
    let third = monitored(&bank);
    assert_eq!(members(&third, &shown), expected);
    assert_eq!(members(&third, &by), members(&first, &by));
    let stored =
        "SELECT count(*) FROM usage_identity WHERE refusal IS NOT NULL AND refused_tx < tx";
    assert_eq!(bank.query(stored), [["2"]]);
    bank.verify();
}

/// A use that was assigned, and one that an amended record moved: with an instance and without.
#[test]
fn enforcement_counts_a_use_for_the_project_that_was_charged() {
    let mut bank = tracked();
    for import in [import_one, import_chunk] {
        import(&bank, "1", "nope");
        import(&bank, "2", "chemistry");
    }
    let enforced = |bank: &Bank| {
        let answer = bank.json(&["what-if", "--enforce-from", "2026-01-01"]);
        rows(&answer["projects"], &["project", "jobs", "cost", "refused"])
    };
    assert_eq!(enforced(&bank), ["chemistry 2 7200 0", "nope 0 0 2"]);
    assign(&bank);
    assert_eq!(enforced(&bank), ["chemistry 4 14400 0"]);
    for import in [import_one, import_chunk] {
        import(&bank, "2", "biology");
    }
    assert_eq!(enforced(&bank), ["biology 2 7200 0", "chemistry 2 7200 0"]);
    let usage = bank.json(&["usage", "--by", "project", "--from", "2026-01-01"]);
    let charged = |row: &Value| {
        let project = row["keys"]["project"].as_str().unwrap();
        let amount = row["shadow_charged"].as_str().unwrap().split('.').next();
        format!("{project} {}", amount.unwrap())
    };
    let mut charged: Vec<String> = usage["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(charged)
        .collect();
    charged.sort();
    assert_eq!(charged, ["biology 7200", "chemistry 7200"], "{usage}");
    // The undo of the assignment of the use with an instance: the first charge is back.
    for _ in 0..2 {
        let last = "SELECT max(id) FROM tx WHERE instance IN (SELECT id FROM instance WHERE object_id = '1')
                    AND reverses IS NULL AND id NOT IN (SELECT reverses FROM tx WHERE reverses IS NOT NULL)";
        bank.bank_ok(&["undo", &bank.query(last)[0][0]]);
    }
    assert_eq!(
        enforced(&bank),
        ["biology 2 7200 0", "chemistry 1 3600 0", "nope 0 0 1"]
    );
    bank.verify();
}
