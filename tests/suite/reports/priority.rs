//! Priorities: every case of the vectors, and a program that sets them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{vectors, word};
use crate::harness::{Bank, T0, shared_folder};
use bank_core::decimal::Decimal;
use bank_core::time::MICROS;
use bank_core_figures::natural::Natural;
use bank_core_figures::priority::{Mode, Range, Record, Resources, priorities};

fn at(text: &str) -> i64 {
    bank_api::text::parse_rfc3339(text).unwrap()
}

/// The resources of a case: given, or made of records.
fn resources(case: &Value, duration_s: i64) -> BTreeMap<String, Natural> {
    if let Some(given) = case["resources"].as_object() {
        let billionths = |value: &Value| {
            let number = Decimal::parse(value.as_str().unwrap()).unwrap();
            Natural::from(u128::try_from(number.billionths()).unwrap())
        };
        return given
            .iter()
            .map(|(name, value)| (name.clone(), billionths(value)))
            .collect();
    }
    let groups: Vec<String> = serde_json::from_value(case["groups"].clone()).unwrap();
    let since = at(word(case, "now")) - duration_s * MICROS;
    // Components have no names in the vectors: the first, the second.
    let mut sums: BTreeMap<String, Natural> =
        groups.iter().map(|g| (g.clone(), Natural::ZERO)).collect();
    for record in case["records"].as_array().unwrap() {
        let start = at(word(record, "start_time"));
        let ran_us = record["stop_time"]
            .as_str()
            .map(|end| u64::try_from(at(end) - start).unwrap());
        let components = record["components"].as_array().unwrap();
        let named: Vec<(String, Decimal, Decimal)> = components
            .iter()
            .enumerate()
            .map(|(place, own)| {
                let amount = Decimal::parse(&own["amount"].to_string()).unwrap();
                (
                    format!("c{place}"),
                    amount,
                    Decimal::parse(word(own, "score")).unwrap(),
                )
            })
            .collect();
        let scores = named
            .iter()
            .map(|(name, _, score)| (name.clone(), *score))
            .collect();
        let amounts: Vec<(&str, Decimal)> = named
            .iter()
            .map(|(name, amount, _)| (name.as_str(), *amount))
            .collect();
        let mut one = Resources::new(scores, &groups);
        let record_of = Record {
            ran_us,
            amounts: &amounts,
        };
        if start < since || !one.add(word(record, "group"), &record_of) {
            continue;
        }
        let own = &one.groups()[word(record, "group")];
        // To billionths of a second times score, whatever the number of components.
        let scaled = own.times(&Natural::from(1_000_000_000));
        let (whole, rest) = scaled.divided(&one.unit()).unwrap();
        assert!(rest.is_zero());
        let sum = sums.get_mut(word(record, "group")).unwrap();
        *sum = sum.plus(&whole);
    }
    sums
}

#[test]
fn every_case_of_the_vectors() {
    let (Some(input), Some(expected)) = (vectors("priority.input.json"), vectors("priority.json"))
    else {
        return;
    };
    let whole = |value: &Value| value.as_i64();
    let duration = whole(&input["duration_s"]).unwrap();
    let cases = input["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for (case, expected) in cases.iter().zip(expected.as_array().unwrap()) {
        let range = Range {
            min: whole(&case["min_priority"])
                .or(whole(&input["min_priority"]))
                .unwrap(),
            max: whole(&case["max_priority"])
                .or(whole(&input["max_priority"]))
                .unwrap(),
        };
        let resources = resources(case, duration);
        let values: Vec<Natural> = resources.values().cloned().collect();
        for (word, mode) in [
            ("ScaledBySum", Mode::ScaledBySum),
            ("FullSpread", Mode::FullSpread),
        ] {
            let got = priorities(&values, mode, range).unwrap();
            let got: BTreeMap<&String, i64> = resources.keys().zip(got).collect();
            assert_eq!(json!(got), expected[word], "{}: {word}", case["name"]);
            assert_eq!(Mode::parse(word), Some(mode));
        }
    }
    assert!(shared_folder().is_some());
}

/// Three jobs of an hour in the last fourteen days, one before them.
fn busy() -> Bank {
    let bank = Bank::new();
    for project in ["chem", "bio", "idle"] {
        bank.bank_ok(&["project", "add", project]);
    }
    let job = |id: &str, project: &str, processors: i64, day: i64| {
        let start = bank_api::text::format_rfc3339((T0 + day * 86_400) * MICROS);
        let end = bank_api::text::format_rfc3339((T0 + day * 86_400 + 3_600) * MICROS);
        json!({"source": "s", "id": id, "machine": "colony", "project": project, "user": "amy",
            "processors": processors, "start": start, "end": end, "state": "completed"})
        .to_string()
    };
    let lines = [
        job("1", "chem", 8, 20),
        job("2", "chem", 2, 21),
        job("3", "bio", 30, 22),
        job("4", "bio", 500, 1),
    ];
    bank.set_clock(T0 + 30 * 86_400);
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    bank
}

const ASK: [&str; 12] = [
    "priority",
    "--duration",
    "14d",
    "--min",
    "1",
    "--max",
    "65335",
    "--component",
    "processors=1",
    "--group",
    "chem",
    "--group=bio",
];

#[test]
fn a_program_sets_the_priority_of_each_group_where_configured() {
    let bank = busy();
    let file = bank.folder().join("set");
    let program = bank.folder().join("set.sh");
    let script = format!(
        "#!/bin/sh\necho \"$#:$1:$2\" >> {}\n[ \"$1\" != bio ]\n",
        file.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let response = bank.json(&[&ASK[..], &["--group=idle"]].concat());
    let rows: Vec<(String, String, i64)> = response["report"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let priority = row["priority"].as_i64().unwrap();
            (
                word(row, "group").into(),
                word(row, "resource").into(),
                priority,
            )
        })
        .collect();
    // 1 + 65334 × 36000 ÷ 144000 is 16334.5.
    let expected = [
        ("bio", "108000", 49_002),
        ("chem", "36000", 16_335),
        ("idle", "0", 1),
    ];
    let expected =
        expected.map(|(group, resource, own)| (group.to_owned(), resource.to_owned(), own));
    assert_eq!(rows, expected);
    let run = format!(
        "{} {{group}} '{{priority}} of {{resource}}'",
        program.display()
    );
    let dry = bank.bank_ok(&[&ASK[..], &["--run", &run]].concat());
    assert!(dry.contains("Nothing was run"), "{dry}");
    assert!(!file.exists());
    let ran = bank.bank(&[&ASK[..], &["--run", &run, "--yes"]].concat());
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("failed for 1 of 2 groups"),
        "{}",
        ran.stderr
    );
    let set = fs::read_to_string(&file).unwrap();
    assert_eq!(set, "2:bio:49002 of 108000\n2:chem:16335 of 36000\n");
}

/// Runs a command at a second after T0.
fn at_second(bank: &Bank, second: i64, line: &str) {
    bank.set_clock(T0 + second);
    bank.bank_ok(&line.split_whitespace().collect::<Vec<_>>());
}

/// The core-seconds of each project by `bank usage`, and the resources by `bank priority`.
fn seconds(bank: &Bank, more: &[&str]) -> (Vec<String>, Vec<String>) {
    let usage = bank.json(&[
        "usage",
        "--by",
        "project",
        "--from",
        "2026-01-01",
        "--to",
        "2026-02-01",
    ]);
    let rows = usage["rows"].as_array().unwrap().iter();
    let used = rows.map(|row| {
        format!(
            "{} {}",
            word(&row["keys"], "project"),
            word(row, "core_seconds")
        )
    });
    let ask = [&["priority", "--component", "processors=1"], more].concat();
    let priority = bank.json(&ask);
    let rows = priority["report"]["items"].as_array().unwrap().iter();
    let resources = rows.map(|row| {
        let resource: i64 = word(row, "resource").parse().unwrap();
        format!("{} {resource}.000000", word(row, "group"))
    });
    let (mut used, mut resources): (Vec<_>, Vec<_>) = (used.collect(), resources.collect());
    used.sort();
    resources.sort();
    (used, resources)
}

/// With and without a reserve, suspended and not, finished and running.
#[test]
fn resources_are_the_seconds_of_usage() {
    let bank = Bank::new();
    for project in ["chem", "bio"] {
        bank.bank_ok(&["project", "add", project, "--members", "amy"]);
        bank.bank_ok(&["deposit", project, "1000000"]);
    }
    let whose = |project: &str| format!("-A {project} -u amy -m colony --procs 4");
    let (chem, bio) = (whose("chem"), whose("bio"));
    at_second(&bank, 0, &format!("reserve j1 {chem} --wall 2:00:00"));
    at_second(
        &bank,
        600,
        &format!("charge j1 {chem} --duration 600 --interim"),
    );
    // Suspended for an hour: 600 s are billed of 4200.
    at_second(&bank, 4_800, &format!("charge j1 {chem} --duration 600"));
    // The same without a reserve.
    at_second(
        &bank,
        5_400,
        &format!("charge j2 {bio} --duration 600 --interim"),
    );
    at_second(&bank, 9_600, &format!("charge j2 {bio} --duration 600"));
    let (used, resources) = seconds(&bank, &[]);
    assert_eq!(used, ["bio 4800.000000", "chem 4800.000000"]);
    assert_eq!(resources, used);
    // A running job counts with --count overlap only.
    at_second(&bank, 10_000, &format!("reserve j3 {chem} --wall 2:00:00"));
    at_second(
        &bank,
        10_900,
        &format!("charge j3 {chem} --duration 900 --interim"),
    );
    let (used, resources) = seconds(&bank, &["--count", "overlap"]);
    assert_eq!(used, ["bio 4800.000000", "chem 8400.000000"]);
    assert_eq!(resources, used);
    let (_, finished) = seconds(&bank, &[]);
    assert_eq!(finished, ["bio 4800.000000", "chem 4800.000000"]);
    // The last 600 s hold 500 s of the running job.
    bank.set_clock(T0 + 11_000);
    let (_, last) = seconds(&bank, &["--count", "overlap", "--duration", "600"]);
    assert_eq!(last, ["chem 2000.000000"]);
    let ran = bank.bank(&["priority", "--count", "all"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
}

#[test]
fn invalid_queries_are_reported() {
    let bank = busy();
    for more in [
        &["--duration", "soon"][..],
        &["--run", "'"],
        &["--run", "set {grop} {priority}"],
        &["--yes"],
    ] {
        let ran = bank.bank(&[&["priority"], more].concat());
        assert_eq!(ran.exit, 2, "{more:?}: {}", ran.stderr);
    }
    for more in [
        &["--mode", "fair"][..],
        &["--min", "5", "--max", "4"],
        &["--component", "rain=1"],
        &["--component", "gpus=0"],
        &["--group-by", "moon"],
    ] {
        let ran = bank.bank(&[&["priority"], more].concat());
        assert_eq!(ran.exit, 1, "{more:?}: {}", ran.stderr);
    }
    // A group that used nothing has the least priority; one that there never was has none.
    for by in ["project", "user", "account", "group", "contributor"] {
        let ran = bank.bank(&["priority", "--group-by", by, "--group", "nobodyy"]);
        assert_eq!(ran.exit, 4, "{by}: {}", ran.stderr);
        let no = format!("no {by} \"nobodyy\"");
        assert!(ran.stderr.contains(&no), "{by}: {}", ran.stderr);
    }
    let all = bank.json(&["priority", "--group-by", "user", "--mode", "FullSpread"]);
    assert_eq!(
        all["report"]["items"][0]["priority"], 0,
        "one group has the lowest"
    );
}
