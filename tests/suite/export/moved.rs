//! Uses that change between two exports or after them: whoever follows an export has what `bank usage` counts.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::sums::{agree, agree_exactly, last, thousandths};
use super::{bank, export, page, path, uses};
use crate::harness::{Bank, Setup, T0};

/// A bank whose projects have money, with a machine of a mode.
pub(super) fn funded(mode: &str) -> Bank {
    let bank = bank();
    with_machine(&bank, mode);
    bank
}

fn with_machine(bank: &Bank, mode: &str) {
    bank.bank_ok(&["deposit", "physics", "100000"]);
    bank.bank_ok(&["machine", "add", "green", "--mode", mode]);
    bank.set_clock(T0 + 86_400);
}

/// A use of a minute, as its source reports it.
pub(super) fn reported(bank: &Bank, job: &str, project: &str, processors: u32) {
    reported_as(bank, job, project, processors, "completed");
}

fn reported_as(bank: &Bank, job: &str, project: &str, processors: u32, state: &str) {
    let row = format!(
        r#"{{"source":"s","id":"{job}","machine":"green","project":"{project}","user":"amy","start":"2025-12-01T01:00:00Z","end":"2025-12-01T01:01:00Z","processors":{processors},"state":"{state}"}}"#
    );
    let (file, name) = path(bank, "in.jsonl");
    fs::write(file, row + "\n").unwrap();
    bank.bank_ok(&["import", "jsonl", &name]);
}

/// The same on a machine of which usage is only recorded.
fn watched(bank: &Bank, job: &str, project: &str, processors: u32) {
    bank.set_clock(T0 + 86_400);
    let text = format!(
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
         {job}|blue|amy|{project}|COMPLETED|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
         2025-12-01T01:01:00|1|{processors}\n"
    );
    let (file, name) = path(bank, "in.sacct");
    fs::write(file, text).unwrap();
    bank.bank_ok(&["import", "sacct", &name, "--source", "slurm-blue"]);
}

/// The core-seconds that a reader of a file has, who drops each record that another one replaces.
fn kept(text: &str) -> i128 {
    let mut by_name: BTreeMap<String, i128> = BTreeMap::new();
    for line in uses(text) {
        if let Some(replaced) = line["replaces"].as_str() {
            by_name.remove(replaced);
        }
        let name = line["record_id"].as_str().unwrap().to_owned();
        by_name.insert(name, thousandths(&line["processor_s"]) / 1_000);
    }
    by_name.values().sum()
}

/// The core-seconds of a project by `bank usage`.
fn used(bank: &Bank, project: &str) -> i128 {
    let words = ["usage", "--from", "-infinity", "--to", "infinity"];
    let text = bank.bank_ok(&[&words[..], &["--by", "project", "--json"]].concat());
    let table: Value = serde_json::from_str(&text).unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    let own = rows.filter(|row| row["keys"]["project"] == project);
    own.map(|row| thousandths(&row["core_seconds"]) / 1_000)
        .sum()
}

/// A use is amended several times between two exports, and the pages of an export end anywhere.
#[test]
fn the_replaced_record_is_the_one_that_the_reader_has() {
    for limit in ["1", "2", "500"] {
        let bank = bank();
        let mut text = "{\"schema\":\"bank-usage/1\"}\n".to_owned();
        let mut since = String::new();
        let mut follow = |amends_while_reading: bool| {
            let mut pages = 0;
            loop {
                let found = page(&bank, &format!("/api/v1/export/jsonl?limit={limit}{since}"));
                text.push_str(found["text"].as_str().unwrap());
                since = format!("&since={}", found["next"].as_str().unwrap());
                if found["more"] == false {
                    return text.clone();
                }
                pages += 1;
                if amends_while_reading && pages == 2 {
                    watched(&bank, "1", "chemistry", 7);
                    watched(&bank, "1", "chemistry", 8);
                }
            }
        };
        for job in ["1", "2", "3"] {
            watched(&bank, job, "chemistry", 1);
        }
        follow(false);
        for processors in [4, 2] {
            for job in ["1", "2"] {
                watched(&bank, job, "chemistry", processors);
            }
        }
        assert_eq!(kept(&follow(true)), used(&bank, "chemistry"), "{limit}");
        watched(&bank, "2", "chemistry", 3);
        watched(&bank, "1", "chemistry", 5);
        let text = follow(false);
        assert_eq!(kept(&text), used(&bank, "chemistry"), "{limit}: {text}");
        assert_eq!(kept(&text), 60 * (5 + 3 + 1));
    }
}

/// A use leaves the project of an export, comes back, and leaves again.
#[test]
fn an_export_of_a_project_takes_back_what_left_it() {
    let mut bank = bank();
    bank.bank_ok(&["deposit", "physics", "100000"]);
    let (file, name) = path(&bank, "out.jsonl");
    let (_, state) = path(&bank, "state");
    let follow = || {
        let words = ["jsonl", "-A", "chemistry", "--state", &state, "-o", &name];
        export(&bank, &words);
        fs::read_to_string(&file).unwrap()
    };
    watched(&bank, "1", "chemistry", 4);
    watched(&bank, "2", "chemistry", 1);
    watched(&bank, "3", "physics", 1);
    assert_eq!(kept(&follow()), 300);
    // Each record differs from those before it, which would change nothing.
    for (project, processors, seconds) in [
        ("physics", 4, 60),
        ("chemistry", 5, 360),
        ("ghost", 6, 60),
        ("physics", 7, 60),
    ] {
        watched(&bank, "1", project, processors);
        let text = follow();
        assert_eq!(kept(&text), seconds, "{project}: {text}");
        assert_eq!(used(&bank, "chemistry"), seconds);
        assert!(!text.contains("physics"), "{text}");
        // Another use of another project is of no concern.
        watched(&bank, "3", project, 10 + processors);
        watched(&bank, "3", "physics", 20 + processors);
    }
    let text = follow();
    let last = uses(&text).pop().unwrap();
    assert_eq!(kept(&text), 60);
    assert_eq!(
        (&last["project"], &last["wall_s"]),
        (&"chemistry".into(), &"0".into())
    );
    // A project that a person named.
    let (file, name) = path(&bank, "ghost.jsonl");
    let (_, state) = path(&bank, "ghost.state");
    watched(&bank, "4", "ghost", 2);
    let follow = || {
        let words = ["jsonl", "-A", "ghost", "--state", &state, "-o", &name];
        export(&bank, &words);
        fs::read_to_string(&file).unwrap()
    };
    assert_eq!(kept(&follow()), 120);
    bank.bank_ok(&["unmapped", "assign", "account=ghost", "physics", "--yes"]);
    assert_eq!(kept(&follow()), 0);
    bank.verify();
}

/// Formats that cannot name what they replace have an amended use under its first name.
#[test]
fn formats_without_replaced_names_keep_the_name() {
    let bank = bank();
    for format in [&["jsonl", "--profile", "auditor"][..], &["ur2"]] {
        watched(&bank, "1", "chemistry", 4);
        let names = |text: &str| {
            let parts = text.split(|c: char| !(c.is_alphanumeric() || c == ':' || c == '.'));
            let names: Vec<String> = parts
                .filter(|part| part.starts_with("bank") && part.matches(':').count() == 2)
                .map(ToOwned::to_owned)
                .collect();
            names
        };
        let before = names(&export(&bank, format));
        watched(&bank, "1", "chemistry", 3);
        let after = names(&export(&bank, format));
        assert_eq!(after.len(), 1, "{after:?}");
        assert_eq!(before, after);
    }
}

/// A use without a price gets its project from a person: its hours move in exports too.
#[test]
fn a_free_use_moves_with_its_hours() {
    let mut bank = funded("strict");
    bank.bank_ok(&[
        "machine",
        "set",
        "green",
        "--charge-policy",
        "DEBITSUCCESSFULWC",
    ]);
    reported_as(&bank, "a", "ghost", 4, "failed");
    agree(&bank);
    let outcome = |bank: &Bank| uses(&export(bank, &["jsonl"])).pop().unwrap()["outcome"].clone();
    assert_eq!(outcome(&bank), "Unbilled");
    bank.bank_ok(&["unmapped", "assign", "account=ghost", "physics", "--yes"]);
    assert_eq!(agree_exactly(&bank), (240_000, 0));
    assert_eq!((used(&bank, "physics"), used(&bank, "ghost")), (240, 0));
    assert_eq!(outcome(&bank), "Billed");
    // Nobody waits for a use of a known project, with a price or without one.
    reported_as(&bank, "b", "chemistry", 4, "failed");
    assert_eq!(outcome(&bank), "Billed");
    reported(&bank, "c", "chemistry", 4);
    reported(&bank, "c", "physics", 4);
    let all = uses(&export(&bank, &["jsonl"]));
    let moved = all.iter().filter(|one| one["local_job_id"] == "c");
    let outcomes: Vec<&Value> = moved.map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["Billed", "Billed", "Billed"], "{all:#?}");
    bank.verify();
}

/// A correction belongs to the time of the use, not to the time at which it was made.
#[test]
fn corrections_are_of_the_period_of_the_use() {
    let bank = funded("strict");
    for job in ["a", "b", "c"] {
        reported(&bank, job, "chemistry", 4);
    }
    bank.bank_ok(&["refund", "a"]);
    bank.bank_ok(&["undo", &last(&bank, "refund")]);
    bank.bank_ok(&["refund", "b", "100"]);
    reported(&bank, "c", "physics", 4);
    bank.bank_ok(&["undo", &last(&bank, "adjust")]);
    agree_exactly(&bank);
    let whole = export(&bank, &["jsonl"]);
    let period = [
        "--from",
        "2025-12-01T00:00:00Z",
        "--to",
        "2025-12-02T00:00:00Z",
    ];
    assert_eq!(export(&bank, &[&["jsonl"][..], &period].concat()), whole);
    for one in uses(&whole) {
        assert_eq!(one["start_time"], "2025-12-01T01:00:00Z", "{one}");
        assert_eq!(one["end_time"], "2025-12-01T01:01:00Z", "{one}");
    }
}

/// Formats of finished jobs name the project of an amended use after the undo of its amendment.
#[test]
fn finished_jobs_are_of_the_project_after_an_undo() {
    let bank = funded("strict");
    reported(&bank, "1", "chemistry", 4);
    reported(&bank, "1", "physics", 4);
    let account = || {
        let text = export(&bank, &["xdmod"]);
        text.split('|').nth(5).unwrap().to_owned()
    };
    assert_eq!(account(), "physics");
    bank.bank_ok(&["undo", &last(&bank, "adjust")]);
    assert_eq!(account(), "chemistry");
    let auditor = export(&bank, &["jsonl", "--profile", "auditor"]);
    assert!(auditor.contains(r#""account":["chemistry"]"#), "{auditor}");
}

/// Whoever pays for a use that another project had has its hours in FOCUS.
#[test]
fn focus_has_the_hours_of_moved_uses() {
    let bank = Setup::new()
        .env("BANKD_EXPORT_BILLING_CURRENCY", "EUR")
        .env("BANKD_EXPORT_CREDIT_PRICE", "0.01")
        .start();
    with_machine(&bank, "strict");
    reported(&bank, "a", "chemistry", 60);
    reported(&bank, "a", "physics", 60);
    reported(&bank, "b", "ghost", 60);
    bank.bank_ok(&["settle", "b", "-A", "physics"]);
    reported(&bank, "c", "ghost", 60);
    bank.bank_ok(&["unmapped", "assign", "account=ghost", "physics", "--yes"]);
    let text = export(&bank, &["focus"]);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    // Cells with commas are behind these columns.
    let cell = |line: &str, name: &str| {
        let place = head.iter().position(|one| *one == name).unwrap();
        line.split(',').nth(place).unwrap().to_owned()
    };
    let charged: Vec<String> = lines
        .filter(|line| line.contains("harge,") && line.contains("physics"))
        .map(|line| cell(line, "ConsumedQuantity"))
        .collect();
    assert_eq!(charged, ["1", "1", "1"], "{text}");
}

/// A late charge in another quality of service does not change the tags of a row that was exported before.
#[test]
fn focus_keeps_the_tags_of_an_earlier_charge() {
    let bank = Setup::new()
        .env("BANKD_EXPORT_BILLING_CURRENCY", "EUR")
        .env("BANKD_EXPORT_CREDIT_PRICE", "0.01")
        .start();
    with_machine(&bank, "strict");
    let charge = |more: &str| {
        let line = format!(
            "charge j -A chemistry -u amy -m green --procs 1 --duration 60 --interim{more}"
        );
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    };
    charge("");
    let before = export(&bank, &["focus"]);
    charge(" --qos high --class long");
    let after = export(&bank, &["focus"]);
    assert!(after.starts_with(&before), "{before}\n{after}");
    assert!(after[before.len()..].contains("high"), "{after}");
}

/// The bank's own lines in AUDITOR's shape are read back as they were, with memory to the byte.
#[test]
fn own_lines_are_read_back() {
    let bank = bank();
    bank.set_clock(T0 + 86_400);
    let line = r#"{"record_id":"bank:8f1c2d3a:u1","meta":{"account":["chemistry"],"group_id":["users"],"user_id":["amy"]},"components":[{"name":"Cores","amount":4,"scores":[]},{"name":"Memory","amount":100000000,"scores":[]},{"name":"GPU","amount":2,"scores":[]}],"start_time":"2025-12-01T01:00:00Z","stop_time":"2025-12-01T01:01:00Z","runtime":60}"#;
    let (file, name) = path(&bank, "auditor.jsonl");
    fs::write(file, line.to_owned() + "\n").unwrap();
    bank.bank_ok(&["import", "auditor", &name, "-m", "blue", "--source", "o"]);
    let sql = "SELECT project, gpus, memory_bytes FROM usage_identity";
    assert_eq!(bank.query(sql), [["chemistry", "2", "100000000"]]);
    bank.bank_ok(&["machine", "add", "green"]);
    bank.bank_ok(&["import", "auditor", &name, "-m", "green", "--source", "p"]);
    for one in uses(&export(&bank, &["jsonl"])) {
        assert_eq!(one["memory_total_bytes"], 100_000_000, "{one}");
    }
    let again = export(&bank, &["jsonl", "--profile", "auditor"]);
    for part in [
        r#""account":["chemistry"]"#,
        r#""group_id":["users"]"#,
        r#"{"name":"Memory","amount":100000000"#,
        r#"{"name":"GPU","amount":2"#,
    ] {
        assert!(again.contains(part), "{part}: {again}");
    }
}

/// Formats of finished jobs keep the first name of a use that is settled to another project, also if its record was amended
/// before: the whole export is the text that the cursor made.
#[test]
fn a_settlement_renames_no_finished_job() {
    let bank = funded("strict");
    reported(&bank, "plain", "ghost", 1);
    reported(&bank, "amended", "ghost", 1);
    reported(&bank, "amended", "ghost", 2);
    reported(&bank, "given", "ghost", 1);
    reported(&bank, "given", "chemistry", 2);
    let jobs = || -> Vec<String> {
        let text = export(&bank, &["xdmod"]);
        let cells = text.lines().map(|line| line.split('|').collect::<Vec<_>>());
        cells
            .map(|cells| format!("{} {}", cells[25], cells[5]))
            .collect()
    };
    let before = jobs();
    assert_eq!(before, ["plain ghost", "amended ghost", "given chemistry"]);
    for job in ["plain", "amended"] {
        bank.bank_ok(&["settle", job, "-A", "physics"]);
    }
    assert_eq!(jobs(), before);
    // The next amendment is a new state, with the project that pays.
    reported(&bank, "amended", "ghost", 3);
    assert_eq!(
        jobs(),
        ["plain ghost", "given chemistry", "amended physics"]
    );
}
