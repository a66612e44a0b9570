//! The subscription table: the vector of reports.md 1.8 cell by cell, and what it does not say.

use std::fs;

use serde_json::{Value, json};

use super::{vectors, word};
use crate::harness::{Bank, T0};
use bank_core::decimal::Decimal;
use bank_core_figures::contribution::{Standing, Subscription, Total};

/// Everything of the vector in a bank.
fn filled(input: &Value) -> Bank {
    let bank = Bank::new();
    bank.set_clock(T0 + 40 * 86_400);
    for row in input["hardware"].as_array().unwrap() {
        let host = format!("{}*", word(row, "host_prefix"));
        let (factor, from) = (word(row, "factor"), word(row, "from"));
        let until = row["until"].as_str().unwrap_or("");
        bank.bank_ok(&[
            "hardware",
            "add",
            &host,
            "--processors",
            "10",
            "--nodes",
            "10",
            "--host",
            &host,
            "--factor",
            factor,
            "--from",
            from,
            "--until",
            until,
        ]);
    }
    for group in input["groups"].as_array().unwrap() {
        let mut command = vec!["contributor", "add", word(group, "alias")];
        for name in group["unix_groups"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            bank.bank_ok(&["project", "add", name]);
            command.extend(["--project", name]);
        }
        if group["exempt"] == true {
            command.extend(["--exempt", "yes"]);
        }
        bank.bank_ok(&command);
    }
    for row in input["contributions"].as_array().unwrap() {
        let (processors, split) = (
            row["processors"].to_string(),
            row["split_percentage"].to_string(),
        );
        let until = row["until"].as_str().unwrap_or("");
        bank.bank_ok(&[
            "contribution",
            "add",
            word(row, "credited_to"),
            &processors,
            "--split",
            &split,
            "--factor",
            word(row, "factor"),
            "--from",
            word(row, "from"),
            "--until",
            until,
        ]);
    }
    let jobs = input["jobs"].as_array().unwrap().iter().zip(1..);
    let lines = jobs.map(|(job, id)| {
        json!({"source": "sge:colony", "id": id.to_string(), "machine": "colony",
            "project": job["group"], "user": "amy", "host": job["host"],
            "processors": job["procs"], "start": job["start"], "end": job["end"],
            "cpu_s": 3600, "state": "completed"})
        .to_string()
    });
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    bank
}

const JANUARY: [&str; 4] = [
    "--from",
    "2026-01-01T00:00:00Z",
    "--to",
    "2026-02-01T00:00:00Z",
];

fn report(bank: &Bank, more: &[&str]) -> Value {
    bank.json(&[&["report", "contribution"], &JANUARY[..], more].concat())
}

#[test]
fn every_cell_of_the_vector() {
    let (Some(input), Some(expected)) = (
        vectors("contribution.input.json"),
        vectors("contribution.json"),
    ) else {
        return;
    };
    let mut bank = filled(&input);
    let response = report(&bank, &[]);
    let period = &response["periods"][0];
    let rows = period["rows"].as_array().unwrap();
    let wanted = expected["rows"].as_array().unwrap();
    assert_eq!(rows.len(), wanted.len());
    for (row, wanted) in rows.iter().zip(wanted) {
        for (ours, theirs) in [
            ("group", "group"),
            ("exempt", "exempt"),
            ("usage", "usage_su"),
            ("usage_share", "usage_share"),
            ("contribution", "contribution"),
            ("contribution_share", "contribution_share"),
            ("subscription", "subscription"),
        ] {
            assert_eq!(row[ours], wanted[theirs], "{} {ours}", row["group"]);
        }
    }
    for (own, wanted) in ["counted", "all"]
        .iter()
        .zip(expected["totals"].as_array().unwrap())
    {
        assert_eq!(period[own]["usage"], wanted["usage_su"]);
        assert_eq!(period[own]["contribution"], wanted["contribution"]);
    }
    assert_eq!(period["uses"], 8, "one lies outside");
    assert_eq!(period["from_what"], "rollups");
    later_hardware(&bank);
    ways_to_look(&bank);
    two_periods(&bank);
    bank.verify();
}

/// Other hardware is told for what stands, and taken back.
fn later_hardware(bank: &Bank) {
    let before = report(bank, &[]);
    let add = [
        "hardware",
        "add",
        "all",
        "--processors",
        "1",
        "--nodes",
        "1",
    ];
    let twice = [
        "--factor",
        "2",
        "--counts",
        "no",
        "--priority",
        "1",
        "--from",
        "2026-01-01",
    ];
    bank.bank_ok(&[&add[..], &twice[..]].concat());
    let response = report(bank, &[]);
    assert_ne!(response["periods"][0]["rows"], before["periods"][0]["rows"]);
    let list = bank.json(&["hardware", "ls"]);
    let id = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|own| own["name"] == "all");
    bank.bank_ok(&["hardware", "rm", &id.unwrap()["id"].to_string(), "--yes"]);
    assert_eq!(report(bank, &[]), before);
}

/// The same usage by others, on other bases, credited elsewhere.
fn ways_to_look(bank: &Bank) {
    let of = |response: &Value, group: &str, field: &str| {
        let rows = response["periods"][0]["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["group"] == group).unwrap();
        row[field].as_str().unwrap_or("none").to_owned()
    };
    let by_project = report(bank, &["--by-project"]);
    assert_eq!(of(&by_project, "chem", "usage"), "100.00");
    assert_eq!(of(&by_project, "chem2", "usage"), "400.00");
    assert_eq!(of(&by_project, "temps", "usage"), "40.00");
    assert_eq!(of(&by_project, "chem", "subscription"), "");
    assert_eq!(
        of(&report(bank, &["--by-user"]), "amy", "usage_share"),
        "100.00"
    );
    // All of a job in the period where it ended: bob's from December counts, erin's does not.
    let at_end = report(bank, &["--credit", "end"]);
    assert_eq!(at_end["periods"][0]["from_what"], "records");
    assert_eq!(of(&at_end, "bob", "usage"), "172.00");
    assert_eq!(of(&at_end, "erin", "usage"), "0.00");
    assert_eq!(of(&at_end, "erin", "subscription"), "Under");
    // An hour of each job was busy, half of it in the period for two of them.
    let cpu = report(bank, &["--basis", "cpu"]);
    assert_eq!(of(&cpu, "amy", "usage"), "3.00");
    assert_eq!(of(&cpu, "erin", "usage"), "0.50");
    assert_eq!(of(&cpu, "erin", "cpu_efficiency"), "0.20");
    let gpu = report(bank, &["--basis", "gpu"]);
    assert_eq!(of(&gpu, "amy", "usage"), "0.00");
    assert_eq!(gpu["periods"][0]["unmeasured"], 8);
    // Charged is processors × time at the rate of the tests, 1 a processor-second.
    let su = report(bank, &["--basis", "su"]);
    assert_eq!(of(&su, "carol", "usage"), "540000.00");
    let only = report(bank, &["-A", "chem"]);
    assert_eq!(of(&only, "amy", "usage"), "100.00");
    assert_eq!(of(&only, "erin", "usage"), "0.00");
    assert_eq!(of(&only, "erin", "contribution"), "250.00");
    let energy = bank.json(
        &[
            &["report", "efficiency", "--watts", "12.5", "--co2", "380"],
            &JANUARY[..],
        ]
        .concat(),
    );
    let chem = energy["items"].as_array().unwrap();
    let chem = chem.iter().find(|row| row["group"] == "chem").unwrap();
    assert_eq!(
        (&chem["hours"], &chem["cpu_hours"]),
        (&"100.00".into(), &"1.00".into())
    );
    assert_eq!(
        (&chem["energy_kwh"], &chem["co2_kg"]),
        (&"1.250".into(), &"0.475".into())
    );
    assert_eq!(energy["total"]["uses"], 8);
    let top = bank.bank_ok(&[&["report", "top", "--most", "2", "-P", "-n"], &JANUARY[..]].concat());
    assert_eq!(
        top,
        "1|chem2|400.00|29.85|0.50\n2|staff|300.00|22.39|0.33\n"
    );
    let screen = bank.bank_ok(&[&["report", "contribution"], &JANUARY[..]].concat());
    assert!(screen.contains("total without exempt"), "{screen}");
    assert!(
        screen.contains("factored processor-hours. Usage from"),
        "{screen}"
    );
    let page = [&["report", "contribution", "-O", "html"], &JANUARY[..]].concat();
    let page = bank.bank_ok(&page);
    for message in [
        "<title>Contributions and usage",
        "Shares of usage",
        "Utilization",
        "200 %",
        "Over",
    ] {
        assert!(page.contains(message), "{message}: {page}");
    }
    let pictures = page.matches("role=\"img\"").count();
    assert!(pictures >= 3, "pie, contributions, lines: {pictures}");
}

fn two_periods(bank: &Bank) {
    let second = [
        "--from2",
        "2025-12-01T00:00:00Z",
        "--to2",
        "2026-01-01T00:00:00Z",
    ];
    let response = report(bank, &second);
    let december = &response["periods"][1]["rows"];
    // 4 × 12 h at 1.5 and 28 × 1 h.
    assert_eq!(december[1]["usage"], "100.00", "{december}");
    let csv = bank.bank_ok(
        &[
            &["report", "contribution", "--csv"],
            &JANUARY[..],
            &second[..],
        ]
        .concat(),
    );
    let head = csv.lines().next().unwrap();
    assert!(
        head.contains("usage2") && head.contains("subscription2"),
        "{head}"
    );
    let bob = csv.lines().find(|line| line.starts_with("bob,")).unwrap();
    assert!(
        bob.starts_with("bob,100.00,7.46,300.00,27.27,33%,"),
        "{bob}"
    );
}

#[test]
fn utilisation_adds_up_and_never_shows_more_slots_than_there_are() {
    let Some(input) = vectors("contribution.input.json") else {
        return;
    };
    let bank = filled(&input);
    for buckets in ["day", "week", "month", "7", "50"] {
        let response = report(&bank, &["--buckets", buckets, "--tz", "Europe/Berlin"]);
        let all = response["periods"][0]["utilisation"].as_array().unwrap();
        let all = all.iter().find(|own| own["machine"].is_null()).unwrap();
        let parts = all["buckets"].as_array().unwrap();
        let hundredths =
            |text: &Value| -> i64 { text.as_str().unwrap().replace('.', "").parse().unwrap() };
        let used: i64 = parts.iter().map(|part| hundredths(&part["used"])).sum();
        let off = i64::try_from(parts.len()).unwrap();
        assert!((used - 134_000).abs() <= off, "{buckets}: {used}");
        // 100 old processors, and 100 new ones that count twice, for 744 hours.
        let there: i64 = parts.iter().map(|part| hundredths(&part["capacity"])).sum();
        assert!((there - 300 * 744 * 100).abs() <= off, "{buckets}: {there}");
        assert!(
            parts
                .iter()
                .all(|part| hundredths(&part["percent"]) <= 10_000)
        );
        for pair in parts.windows(2) {
            assert_eq!(pair[0]["to"], pair[1]["from"]);
        }
    }
    let shown = bank.bank_ok(
        &[
            &["report", "utilization", "--by", "day", "--csv"],
            &JANUARY[..],
        ]
        .concat(),
    );
    assert_eq!(shown.lines().count(), 1 + 2 * 31, "{shown}");
}

#[test]
fn invalid_queries_are_reported() {
    let bank = Bank::new();
    for (more, exit) in [
        (&["--buckets", "0"][..], 1),
        (&["--buckets", "soon"], 1),
        (&["--buckets", "1001"], 1),
        (&["--tz", "Mars/Olympus"], 1),
        (&["-A", "nochem"], 4),
        (&["-m", "moon"], 4),
        (
            &[
                "--from",
                "2026-02-01T00:00:00Z",
                "--to",
                "2026-01-01T00:00:00Z",
            ],
            1,
        ),
    ] {
        let ran = bank.bank(&[&["report", "contribution"], more].concat());
        assert_eq!(ran.exit, exit, "{more:?}: {}", ran.stderr);
    }
    let empty = bank.bank_ok(&["report", "contribution"]);
    assert!(empty.contains("unassigned"), "{empty}");
}

#[test]
fn the_ten_cells() {
    let Some(expected) = vectors("contribution.json") else {
        return;
    };
    let number = |cell: &Value, name: &str| {
        let billionths = Decimal::parse(word(cell, name)).unwrap().billionths();
        u128::try_from(billionths).unwrap()
    };
    let cells = expected["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 10);
    for cell in cells {
        let standing = Standing {
            exempt: cell["exempt"] == true,
            usage: number(cell, "usage").try_into().unwrap(),
            contribution: number(cell, "contribution"),
        };
        let total = Total {
            usage: number(cell, "total_usage").try_into().unwrap(),
            contribution: number(cell, "total_contribution"),
        };
        assert_eq!(
            Subscription::of(&standing, total).text(),
            word(cell, "ours"),
            "{cell}"
        );
    }
}

#[test]
fn a_balance_sheet_adds_up() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "add", "chem"]);
    bank.bank_ok(&["deposit", "chem", "500"]);
    bank.bank_ok(&["deposit", "chem", "40"]);
    bank.bank_ok(&["withdraw", "chem", "15"]);
    let response = bank.json(&["report", "balance-sheet", "--from", "2026-01-01T00:00:00Z"]);
    let rows = response["items"].as_array().unwrap();
    let chem = rows.iter().find(|row| row["account"] == "chem").unwrap();
    let cells = [
        "opening",
        "deposits",
        "withdrawals",
        "charges",
        "other",
        "closing",
    ];
    assert_eq!(
        cells.map(|cell| word(chem, cell)),
        ["0", "540", "-15", "0", "0", "525"]
    );
    let total = rows.last().unwrap();
    let number = |row: &Value, cell: &str| word(row, cell).parse::<i64>().unwrap();
    for row in rows {
        let moved: i64 = row
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| !["account", "opening", "closing"].contains(&key.as_str()))
            .map(|key| number(row, key))
            .sum();
        assert_eq!(
            number(row, "opening") + moved,
            number(row, "closing"),
            "{row}"
        );
    }
    let closing: i64 = rows
        .iter()
        .rev()
        .skip(1)
        .map(|row| number(row, "closing"))
        .sum();
    assert_eq!(closing, number(total, "closing"));
    bank.verify();
}
