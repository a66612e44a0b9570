//! Jobs whose charges differ in processors or in their owners: efficiency and priorities count each charge as `bank
//! usage` does.

use serde_json::Value;

use super::word;
use crate::export::sums::agree;
use crate::harness::{Bank, T0};
use bank_core::time::MICROS;

/// An hour of a job.
struct Hour<'a> {
    job: &'a str,
    project: &'a str,
    processors: &'a str,
    from: i64,
    ends: bool,
}

fn bank() -> Bank {
    let bank = Bank::new();
    for project in ["chem", "bio"] {
        bank.bank_ok(&["project", "add", project, "--members", "amy"]);
        bank.bank_ok(&["deposit", project, "1000000"]);
    }
    bank.set_clock(T0 + 86_400);
    bank
}

fn charge(bank: &Bank, hour: &Hour<'_>) {
    let at = |hour: i64| bank_api::text::format_rfc3339((T0 + hour * 3_600) * MICROS);
    let (start, end) = (at(hour.from), at(hour.from + 1));
    let all = [
        "charge",
        hour.job,
        "-A",
        hour.project,
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        hour.processors,
        "--start",
        &start,
        "--end",
        &end,
        "--interim",
    ];
    let all = if hour.ends {
        &all[..all.len() - 1]
    } else {
        &all[..]
    };
    bank.bank_ok(all);
}

/// Group, uses, held, and requested processor-hours; group, uses and resource.
fn reports(bank: &Bank) -> (Vec<String>, Vec<String>) {
    let rows = |report: &Value, names: &[&str]| -> Vec<String> {
        let rows = report["items"].as_array().unwrap().iter();
        let text = |row: &Value, name: &str| match &row[name] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let line = |row: &Value| {
            names
                .iter()
                .map(|name| text(row, name))
                .collect::<Vec<_>>()
                .join(" ")
        };
        rows.map(line).collect()
    };
    let efficiency = bank.json(&["report", "efficiency", "--from", "2025-12-31"]);
    let priority = bank.json(&["priority", "--component", "processors=1"]);
    assert_eq!(word(&efficiency, "by"), "project");
    (
        rows(&efficiency, &["group", "uses", "hours", "requested_hours"]),
        rows(&priority["report"], &["group", "uses", "resource"]),
    )
}

#[test]
fn processors_that_change_count_for_their_charge() {
    let mut bank = bank();
    let hour = |job, project, processors, from, ends| Hour {
        job,
        project,
        processors,
        from,
        ends,
    };
    charge(&bank, &hour("a", "chem", "4", 0, false));
    charge(&bank, &hour("a", "chem", "1", 1, true));
    charge(&bank, &hour("b", "bio", "1", 0, false));
    charge(&bank, &hour("b", "bio", "4", 1, true));
    let (efficiency, priority) = reports(&bank);
    assert_eq!(efficiency, ["bio 1 5.00 0.00", "chem 1 5.00 0.00"]);
    assert_eq!(priority, ["bio 1 18000", "chem 1 18000"]);
    bank.verify();
}

/// A total that falls takes back the last time, and no more of it is held.
#[test]
fn a_total_that_falls_takes_time_back() {
    let mut bank = bank();
    let charge = |job: &str, project: &str, options: &str| {
        let line = format!("charge {job} -A {project} -u amy -m colony --procs 2 {options}");
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    };
    charge("a", "chem", "--duration 5000 --total --interim");
    charge("a", "chem", "--duration 7000 --total --interim");
    charge("a", "chem", "--duration 500 --total");
    charge("b", "bio", "--duration 500");
    let (efficiency, priority) = reports(&bank);
    assert_eq!(efficiency, ["bio 1 0.28 0.00", "chem 1 0.28 0.00"]);
    assert_eq!(priority, ["bio 1 1000", "chem 1 1000"]);
    bank.verify();
}

/// A job of a scheduler that asked for four hours, with four processors for an hour and one for the next.
#[test]
fn each_part_has_its_share_of_the_requested_time() {
    let mut bank = bank();
    for (hour, event, processors, times) in [
        (0, "reserve", 4, "<WallDuration>14400</WallDuration>"),
        (1, "charge", 4, "<ChargeDuration>3600</ChargeDuration>"),
        (2, "end", 1, "<ChargeDuration>3600</ChargeDuration>"),
    ] {
        bank.set_clock(T0 + 86_400 + hour * 3_600);
        let document = format!(
            "<Job><ObjectID>a</ObjectID><User>amy</User><Account>chem</Account>\
             <Processors>{processors}</Processors>{times}</Job>"
        );
        bank.script(event, document.as_bytes()).expect(0, "");
    }
    let (efficiency, priority) = reports(&bank);
    assert_eq!(efficiency, ["chem 1 5.00 10.00"]);
    assert_eq!(priority, ["chem 1 18000"]);
    bank.verify();
}

#[test]
fn each_owner_has_its_charges() {
    let mut bank = bank();
    let hour = |project, from, ends| Hour {
        job: "a",
        project,
        processors: "2",
        from,
        ends,
    };
    charge(&bank, &hour("chem", 0, false));
    charge(&bank, &hour("bio", 1, true));
    let both = ["bio 1 2.00 0.00", "chem 0 2.00 0.00"];
    assert_eq!(reports(&bank).0, both);
    assert_eq!(reports(&bank).1, ["bio 1 7200", "chem 0 7200"]);
    // An undo takes the hour back, and its own undo gives it again.
    let last = bank.query("SELECT max(id) FROM tx WHERE op = 'charge'")[0][0].clone();
    bank.bank_ok(&["undo", &last]);
    assert_eq!(reports(&bank).0, ["chem 1 2.00 0.00"]);
    let last = bank.query("SELECT max(id) FROM tx WHERE op = 'undo'")[0][0].clone();
    bank.bank_ok(&["undo", &last]);
    assert_eq!(reports(&bank).0, both);
    bank.verify();
}

/// Memory for weeks is exact, whatever its size: days add up to the whole.
#[test]
fn large_memory_is_counted_exactly() {
    let mut bank = bank();
    bank.set_clock(T0 + 30 * 86_400);
    let at = |day: i64| bank_api::text::format_rfc3339((T0 + day * 86_400) * MICROS);
    for (job, size) in [("a", "9000000000000"), ("b", "7000000000000")] {
        bank.bank_ok(&[
            "charge",
            job,
            "-A",
            "chem",
            "-u",
            "amy",
            "-m",
            "colony",
            "--procs",
            "1",
            "--memory",
            size,
            "--start",
            &at(0),
            "--end",
            &at(20),
        ]);
    }
    let words = ["usage", "--from", "-infinity", "--to", "infinity", "--by"];
    let hours = |more: &[&str]| -> i64 {
        let table = bank.json(&[&words[..], more].concat());
        let rows = table["rows"].as_array().unwrap().iter();
        let hours = rows.map(|row| {
            word(row, "memory_mib_hours")
                .trim_end_matches(".000000")
                .parse::<i64>()
                .unwrap()
        });
        hours.sum()
    };
    let all = 16_000_000_000_000 * 480;
    assert_eq!(hours(&["project"]), all);
    assert_eq!(hours(&["project,day"]), all);
    bank.verify();
}

/// Four processors are charged for a minute. Later documents that charge nothing name eight, or another project.
#[test]
fn documents_that_charge_nothing_change_no_figure() {
    for (events, processors, project) in [
        (&["reserve"][..], 8, "chem"),
        (&["modify", "delete"], 8, "chem"),
        (&["reserve"], 4, "bio"),
        (&["modify", "delete"], 8, "bio"),
    ] {
        let mut bank = bank();
        let send = |event: &str, (processors, project): (i64, &str), seconds: i64| {
            let document = format!(
                "<Job><ObjectID>a</ObjectID><User>amy</User><Account>{project}</Account>\
                 <Processors>{processors}</Processors><WallDuration>3600</WallDuration>\
                 <ChargeDuration>{seconds}</ChargeDuration></Job>"
            );
            bank.script(event, document.as_bytes()).expect(0, "");
        };
        send("charge", (4, "chem"), 60);
        for event in events {
            send(event, (processors, project), 0);
        }
        bank.set_clock(T0 + 20 * 86_400);
        let (_, priority) = reports(&bank);
        assert_eq!(priority, ["chem 1 240"], "{events:?}");
        let lines = bank.bank_ok(&["export", "jsonl"]);
        let exported: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(
            (
                word(&exported, "processors"),
                word(&exported, "processor_s")
            ),
            ("4", "240"),
            "{exported}"
        );
        agree(&bank);
        bank.verify();
    }
}
