//! Charges by hand, which no scheduler and no collector reports: exports say when they were, as far as
//! whoever charged said it.

use std::fs;

use serde_json::Value;

use super::{bank, export, path, uses};
use crate::harness::{Bank, T0};

/// Charges a job of chemistry on the machine of the scheduler.
fn charge(bank: &Bank, job: &str, words: &[&str]) {
    let of = ["-A", "chemistry", "-u", "amy", "-m", "colony"];
    let own = ["charge", job, "--procs", "2"];
    bank.bank_ok(&[&own[..], &of, words].concat());
}

/// Everything that can be said of when it was, on the last day of 2025.
fn by_hand() -> Bank {
    let bank = bank();
    bank.set_clock(T0 + 86_400);
    let at = |hour: &str| format!("2025-12-31T{hour}:00Z");
    charge(
        &bank,
        "both",
        &["--start", &at("01:00"), "--end", &at("03:00")],
    );
    let late = ["--start", &at("04:00"), "--end", &at("05:00"), "--interim"];
    charge(&bank, "several", &late);
    charge(
        &bank,
        "several",
        &["--start", &at("02:00"), "--end", &at("03:00")],
    );
    charge(
        &bank,
        "began",
        &["--start", &at("06:00"), "--duration", "1800"],
    );
    charge(
        &bank,
        "ended",
        &["--end", &at("08:00"), "--duration", "3600"],
    );
    charge(&bank, "long", &["--duration", "60"]);
    charge(&bank, "worth", &["--amount", "5"]);
    bank
}

fn of<'u>(uses: &'u [Value], job: &str) -> &'u Value {
    let found = uses.iter().find(|one| one["local_job_id"] == job);
    found.unwrap_or_else(|| panic!("no {job} in {uses:?}"))
}

#[test]
fn lines_contain_the_reported_values() {
    let mut bank = by_hand();
    let all = uses(&export(&bank, &["jsonl"]));
    let times = |job: &str| {
        let one = of(&all, job);
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        [
            text("start_time"),
            text("end_time"),
            text("wall_s"),
            text("charge_s"),
        ]
    };
    let day = |from: &str, to: &str, wall: &str, charged: &str| {
        let at = |hour: &str| {
            let full = || format!("2025-12-31T{hour}:00Z");
            if hour.is_empty() {
                String::new()
            } else {
                full()
            }
        };
        [at(from), at(to), wall.to_owned(), charged.to_owned()]
    };
    assert_eq!(times("both"), day("01:00", "03:00", "7200", "7200"));
    // The first start and the last end; what was charged of it lies apart.
    assert_eq!(times("several"), day("02:00", "05:00", "7200", "7200"));
    assert_eq!(times("began"), day("06:00", "06:30", "1800", "1800"));
    // What was not said is not made up.
    assert_eq!(times("ended"), day("", "08:00", "3600", "3600"));
    assert_eq!(times("long"), day("", "", "60", "60"));
    assert_eq!(times("worth"), day("", "", "0", "0"));
    let csv = export(&bank, &["csv"]);
    let row = csv.lines().find(|line| line.contains(",both,")).unwrap();
    assert!(
        row.contains("2025-12-31T01:00:00Z,2025-12-31T03:00:00Z"),
        "{row}"
    );
    let document = export(&bank, &["ur1", "--document"]);
    for part in [
        "StartTime>2025-12-31T02:00:00Z<",
        "EndTime>2025-12-31T05:00:00Z<",
    ] {
        assert!(document.contains(part), "{part}: {document}");
    }
    bank.verify();
}

#[test]
fn formats_of_finished_jobs_have_them() {
    let bank = by_hand();
    let (spool, name) = path(&bank, "spool");
    let output = export(&bank, &["apel", "--spool", &name]);
    assert!(output.starts_with("5 records in 1 message "), "{output}");
    let message = fs::read_dir(&spool)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let message = fs::read_to_string(message).unwrap();
    // Seconds since 1970 of the last day of 2025.
    let day = T0 - 86_400;
    let midnight = T0 + 86_400;
    for (job, start, end) in [
        ("both", day + 3_600, day + 3 * 3_600),
        ("several", day + 2 * 3_600, day + 5 * 3_600),
        ("began", day + 6 * 3_600, day + 6 * 3_600 + 1_800),
        // The time that was charged before the end.
        ("ended", day + 7 * 3_600, day + 8 * 3_600),
        ("long", midnight - 60, midnight),
    ] {
        let record = message
            .split("%%")
            .find(|one| one.contains(&format!("LocalJobId: {job}\n")));
        let record = record.unwrap_or_else(|| panic!("no {job}: {message}"));
        for line in [format!("StartTime: {start}\n"), format!("EndTime: {end}\n")] {
            assert!(record.contains(&line), "{line}: {record}");
        }
    }
    for (words, jobs) in [
        (&["xdmod"][..], 5),
        (&["swf"], 5),
        (&["jsonl", "--profile", "auditor"], 5),
    ] {
        let text = export(&bank, words);
        let lines = text.lines().filter(|line| !line.starts_with(';'));
        assert_eq!(lines.count(), jobs, "{words:?}: {text}");
    }
    let document = export(&bank, &["ur2"]);
    assert_eq!(document.matches("<UsageRecord>").count(), 5, "{document}");
    let sums = export(
        &bank,
        &[
            "apel",
            "--message",
            "summary",
            "--month",
            "2025-12",
            "--spool",
            &name,
        ],
    );
    assert!(sums.starts_with("1 record in 1 message "), "{sums}");
    // The fifth was charged up to now, in January.
    let sum = fs::read_to_string(spool.join("summary-202512-1")).unwrap();
    assert!(sum.contains("NumberOfJobs: 4\n"), "{sum}");
}

/// Reports that look at each job count it where sums by hour do: an hour that was charged without a start
/// lies before its end.
#[test]
fn reports_agree_on_when_it_was() {
    let bank = by_hand();
    let day = ["--from", "2025-12-31", "--to", "2026-01-02"];
    let report = |words: &[&str]| bank.json(&[&["report"], words, &day[..]].concat());
    let held = report(&["efficiency"])["total"]["hours"].clone();
    let shares = report(&["contribution"])["periods"][0].clone();
    assert_eq!(shares["from_what"], "rollups");
    // 2 processors × (2 h + 2 h + 30 min + 1 h + 1 min).
    assert_eq!(
        (&held, &shares["all"]["usage"]),
        (&"11.03".into(), &"11.03".into())
    );
    let later = ["--from", "2026-01-02", "--to", "2026-01-03"];
    let words = [&["report", "efficiency"], &later[..]].concat();
    assert_eq!(bank.json(&words)["total"]["uses"], 0);
}
