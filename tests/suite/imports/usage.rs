//! `bank usage` over real files: the figures that were published of them, and the same from rollups as
//! from records.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{HEAD, file, summary, watching};
use crate::harness::{Bank, shared_folder, skip};

/// A report as JSON.
#[track_caller]
fn usage(bank: &Bank, arguments: &[&str]) -> Value {
    let all = [&["usage"], arguments, &["--json"]].concat();
    serde_json::from_str(&bank.bank_ok(&all)).unwrap()
}

/// A decimal with six places, in millionths.
fn millionths(text: &Value) -> i128 {
    let text = text.as_str().unwrap();
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{part:0<6}").parse().unwrap()
}

/// A decimal of the published series with four places, in millionths.
fn published(text: &str) -> i128 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{part:0<6}").parse().unwrap()
}

/// reports.md 5: hours and jobs by UTC day of a real file, as they were published; credited to the
/// end of jobs, the first eight days have nothing.
#[test]
fn days_of_a_real_file_are_those_that_were_published() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data/slurm");
    let mut bank = watching(&[]);
    let sample = data.join("xdmod-phillips.sacct");
    summary(&bank, &["sacct", sample.to_str().unwrap()]);
    let period = ["--from", "2016-12-22", "--to", "2017-01-02", "--tz", "UTC"];
    let by_day = usage(&bank, &[&["--by", "day"], &period[..]].concat());
    assert_eq!(by_day["from_what"], "rollups");
    let text = std::fs::read_to_string(data.join("xdmod-phillips.daily.csv")).unwrap();
    let rows = by_day["rows"].as_array().unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows.len() + 1, lines.len());
    let whole = std::iter::once(&by_day["total"]);
    for (row, line) in rows.iter().chain(whole).zip(lines) {
        let cells: Vec<&str> = line.split(',').collect();
        if row["bucket"].is_string() {
            assert_eq!(row["bucket"], cells[0]);
        }
        for (name, at) in [
            ("core_hours", 1),
            ("wall_hours", 2),
            ("gpu_hours", 3),
            ("node_hours", 4),
        ] {
            let apart = millionths(&row[name]) - published(cells[at]);
            // Half of the last place that was published.
            assert!(apart.abs() <= 50, "{line}: {name} {}", row[name]);
        }
        for (name, at) in [("ended", 5), ("started", 6), ("jobs", 8)] {
            assert_eq!(row[name], cells[at], "{line}: {name}");
        }
    }
    let at_end = usage(
        &bank,
        &[&["--by", "day", "--credit", "end"], &period[..]].concat(),
    );
    // Jobs begin when they do; all else lies where they end.
    let mut days = at_end["rows"].as_array().unwrap().iter();
    let first = days.find(|row| row["core_hours"] != "0.000000").unwrap();
    assert_eq!(first["bucket"], "2016-12-30", "nothing ended before");
    assert_eq!(at_end["total"]["ended"], "4046");
    ways_agree(&bank, &period);
    waits(&bank, &period, &sample);
    bank.verify();
}

/// Rollups and records give the same answer, whatever is asked for.
fn ways_agree(bank: &Bank, period: &[&str]) {
    for by in [
        "project,day",
        "user,hour",
        "machine,queue,week",
        "account,qos,month",
        "pi",
    ] {
        for zone in ["UTC", "Europe/Berlin", "America/Los_Angeles"] {
            let period = [&period[..4], &["--tz", zone]].concat();
            let arguments = [&["--by", by, "--top", "50"], &period[..]].concat();
            let rolled = usage(bank, &arguments);
            let looked = usage(bank, &[&arguments[..], &["--records"]].concat());
            assert_eq!(rolled["from_what"], "rollups", "{by}");
            assert_eq!(looked["from_what"], "records", "{by}");
            assert_eq!(stripped(&rolled), stripped(&looked), "{by} {zone}");
        }
    }
}

/// An answer without what only records know.
fn stripped(answer: &Value) -> Vec<Value> {
    let all = answer["rows"].as_array().unwrap().iter();
    let all = all.chain([&answer["total"]]).cloned().map(|mut row| {
        let figures = row.as_object_mut().unwrap();
        for name in [
            "submitted",
            "wait_mean_s",
            "expansion",
            "cpu_mhz_hours",
            "cpu_mhz_seconds",
        ] {
            figures.remove(name);
        }
        row
    });
    // Rows that only have jobs which were submitted are of records alone.
    all.filter(|row| millionths(&row["wall_hours"]) > 0)
        .collect()
}

/// How many jobs a file of sacct has that began, and the seconds that they waited, read by hand.
fn waited(sample: &std::path::Path) -> (i64, i64) {
    let text = std::fs::read_to_string(sample).unwrap();
    let (mut jobs, mut waited) = (0, 0);
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        let at = |n: usize| chrono::NaiveDateTime::parse_from_str(cells[n], "%Y-%m-%dT%H:%M:%S");
        // Those without a node were removed while they waited.
        if let (Ok(submitted), Ok(began)) = (at(10), at(12))
            && cells[24] != "None assigned"
        {
            jobs += 1;
            waited += (began - submitted).num_seconds();
        }
    }
    (jobs, waited)
}

fn waits(bank: &Bank, period: &[&str], sample: &std::path::Path) {
    let arguments = [&["--by", "day", "--records"], period].concat();
    let answer = usage(bank, &arguments);
    let (jobs, waited) = waited(sample);
    assert_eq!(answer["total"]["submitted"], jobs.to_string());
    // Thousandths of a second, rounded half away from zero.
    let mean = (waited * 1_000 + jobs / 2) / jobs * 1_000;
    assert_eq!(millionths(&answer["total"]["wait_mean_s"]), mean.into());
    let sizes = usage(bank, &[&["--by", "size"], period].concat());
    let rows = sizes["rows"].as_array().unwrap();
    let sum: i128 = rows.iter().map(|row| millionths(&row["core_hours"])).sum();
    let apart = sum - millionths(&answer["total"]["core_hours"]);
    assert!(rows.len() > 2 && apart.abs() < 10, "{apart}");
    let half = [
        "--from",
        "2016-12-22",
        "--to",
        "2017-01-02",
        "--tz",
        "Asia/Kolkata",
    ];
    let halves = usage(bank, &[&["--by", "day"], &half[..]].concat());
    assert_eq!(halves["from_what"], "rollups", "a zone with a half hour");
    let looked = usage(bank, &[&["--by", "day", "--records"], &half[..]].concat());
    assert_eq!(looked["from_what"], "records");
    for figure in [
        "core_hours",
        "wall_hours",
        "factored_hours",
        "jobs",
        "started",
        "ended",
    ] {
        assert_eq!(halves["total"][figure], looked["total"][figure], "{figure}");
        let of = |response: &Value| -> Vec<Value> {
            let rows = response["rows"].as_array().unwrap().iter();
            let used = rows.filter(|row| row["wall_hours"] != "0");
            used.map(|row| row[figure].clone()).collect()
        };
        assert_eq!(of(&halves), of(&looked), "{figure}");
    }
}

/// The table of ai4-accounting (reports.md 2): resource hours of each namespace, with jobs and users.
#[test]
fn resource_hours_of_namespaces_are_what_snapshots_show() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder of shared samples (BANK_SHARED)");
        return;
    };
    let data = shared.join("data");
    let expected = std::fs::read_to_string(data.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let expected = &expected["nomad/snapshots"];
    let bank = watching(&[]);
    let folder = data.join("nomad/snapshots");
    summary(&bank, &["nomad", folder.to_str().unwrap()]);
    let at = |name: &str| {
        let second = expected["window"][name].as_i64().unwrap();
        let at = chrono::DateTime::from_timestamp(second, 0).unwrap();
        at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
    };
    let (from, until) = (at("start"), at("end"));
    let arguments = [
        "--by",
        "project",
        "--resource",
        "cpu,gpu,memory",
        "--tz",
        "UTC",
    ];
    let answer = usage(
        &bank,
        &[&arguments[..], &["--from", &from, "--to", &until]].concat(),
    );
    let all = ["--from", "2024-02-01", "--to", "2024-04-01"];
    let all = usage(&bank, &[&arguments[..], &all[..]].concat());
    assert_eq!(all["from_what"], "rollups");
    assert_eq!(
        all["total"]["jobs"].as_str().unwrap(),
        expected["jobs"].to_string()
    );
    let users = expected["users_by_account"].as_object().unwrap();
    let accounts = expected["window"]["by_account"].as_object().unwrap();
    let rows = answer["rows"].as_array().unwrap();
    let rows: BTreeMap<&str, &Value> = rows
        .iter()
        .map(|row| (row["keys"]["project"].as_str().unwrap(), row))
        .collect();
    assert_eq!(rows.len(), accounts.len());
    for (name, sums) in accounts {
        let row = rows[name.as_str()];
        for (of, is) in [
            ("core_s", "core_hours"),
            ("gpu_s", "gpu_hours"),
            ("memory_mb_s", "memory_mib_hours"),
            ("wall_s", "wall_hours"),
        ] {
            let should = millionths(&sums[of]) / 3_600;
            let apart = millionths(&row[is]) - should;
            assert!(apart.abs() < 5_000, "{name} {is}: {} of {should}", row[is]);
        }
        let whole = all["rows"].as_array().unwrap().iter();
        let whole = whole.filter(|row| row["keys"]["project"] == name.as_str());
        let counted: Vec<&Value> = whole.map(|row| &row["users"]).collect();
        assert_eq!(counted, [&users[name]], "{name}");
    }
}

/// Who only is a member sees their own usage, and that of the others without names; a stranger nothing.
#[test]
fn a_plain_user_sees_no_names_of_others() {
    let bank = watching(&[]);
    let line = |id: u8, user: &str| {
        format!(
            "{id}|colony|{user}|chemistry|COMPLETED|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
             2025-12-01T02:00:00|1|2\n"
        )
    };
    let text = format!("{HEAD}{}{}", line(1, "amy"), line(2, "bob"));
    summary(&bank, &["sacct", &file(&bank, "two.sacct", text)]);
    let period = ["--from", "2025-12-01", "--to", "2026-01-01", "--tz", "UTC"];
    let all = usage(
        &bank,
        &[&["chemistry", "--by", "user"], &period[..]].concat(),
    );
    let names = |answer: &Value| -> Vec<Value> {
        let rows = answer["rows"].as_array().unwrap();
        rows.iter().map(|row| row["keys"]["user"].clone()).collect()
    };
    assert_eq!(names(&all), ["amy", "bob"]);
    let screen = bank.bank_ok(&[&["usage", "chemistry"], &period[..]].concat());
    assert!(
        screen.starts_with("from 2025-12-01 to 2026-01-01 (exclusive) UTC"),
        "{screen}"
    );
    assert!(
        screen.contains("total                      2            4"),
        "{screen}"
    );
    let csv = bank.bank_ok(&[&["usage", "--by", "user", "--csv"], &period[..]].concat());
    assert!(csv.lines().nth(1).unwrap().contains(",amy,"), "{csv}");
}
