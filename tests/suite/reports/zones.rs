//! One zone for all of a report: its dates, its times of day, and what it shows; and figures that add up
//! to the last digit whatever they are told in.

use serde_json::{Value, json};

use crate::harness::{Bank, T0};

const LATE: i64 = 500 * 86_400;

/// Jobs whose hours are no decimals: of 100 s, 700 s and 1 s, on days behind each other.
fn used() -> Bank {
    let bank = Bank::new();
    bank.set_clock(T0 + LATE);
    let lines = (0..30).map(|n| {
        let (day, seconds) = (n + 1, [100, 700, 1][n % 3]);
        let user = ["amy", "bob"][n % 2];
        json!({"source": "sge:colony", "id": n.to_string(), "machine": "colony", "project": "chemistry",
            "user": user, "processors": 1, "cpu_s": seconds, "state": "completed",
            "start": format!("2026-01-{day:02}T00:00:00Z"),
            "end": format!("2026-01-{day:02}T00:{:02}:{:02}Z", seconds / 60, seconds % 60)})
        .to_string()
    });
    let file = bank.folder().join("usage.jsonl");
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    bank
}

fn ask(bank: &Bank, words: &str) -> Value {
    bank.json(&words.split(' ').collect::<Vec<_>>())
}

#[test]
fn a_time_of_day_is_one_of_the_requested_zone() {
    let bank = used();
    let bounds = |from: &str, to: &str, tz: &str| {
        bank.json(&["usage", "--from", from, "--to", to, "--tz", tz])
    };
    let response = bounds("2026-01-01 13:17:11", "2026-03-01", "America/New_York");
    assert_eq!(response["from"], "2026-01-01T18:17:11Z");
    assert_eq!(response["until"], "2026-03-01T05:00:00Z");
    assert_eq!(response["shown_from"], "2026-01-01 13:17:11");
    // Offsets are heeded, and of an hour that comes twice it is the first.
    let response = bounds("2026-01-01T13:00:00Z", "2026-10-25T02:30", "Europe/Berlin");
    assert_eq!(response["from"], "2026-01-01T13:00:00Z");
    assert_eq!(response["until"], "2026-10-25T00:30:00Z");
    for (command, to) in [("usage", "2026-03-30"), ("report", "2026-03-30")] {
        let mut words = vec![command];
        words.extend((command == "report").then_some("utilization"));
        words.extend([
            "--from",
            "2026-03-29 02:30",
            "--to",
            to,
            "--tz",
            "Europe/Berlin",
        ]);
        let ran = bank.bank(&words);
        assert_eq!(ran.exit, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("its clocks skip"), "{}", ran.stderr);
    }
}

#[test]
fn contributions_are_shown_in_the_requested_zone() {
    let bank = used();
    let words = [
        "--from",
        "2026-01-01 09:30",
        "--to",
        "2026-01-03",
        "--tz",
        "Asia/Tokyo",
    ];
    for report in ["contribution", "utilization"] {
        let arguments = [&["report", report], &words[..]].concat();
        // Sentences are folded at the width of the screen.
        let screen = bank.bank_ok(&arguments).replace('\n', " ");
        let when = "from 2026-01-01 09:30:00 to 2026-01-03 (exclusive), times of Asia/Tokyo";
        assert!(screen.contains(when), "{screen}");
        let page = bank.bank_ok(&[&arguments[..], &["-O", "html"]].concat());
        assert!(page.contains(when), "{page}");
        let title = if report == "contribution" {
            "Contributions and usage"
        } else {
            "Utilization"
        };
        assert!(page.contains(&format!("<title>{title}")), "{page}");
    }
    let days = ["--buckets", "day"];
    let arguments = [&["report", "utilization"], &words[..], &days].concat();
    let screen = bank.bank_ok(&arguments);
    assert!(
        screen.contains("2026-01-02  ") && !screen.contains("2026-01-01 15:00"),
        "{screen}"
    );
    let response = bank.json(&arguments);
    let period = &response["periods"][0];
    assert_eq!(period["from"], "2026-01-01T00:30:00Z");
    let bucket = &period["utilisation"][0]["buckets"][1];
    assert_eq!(bucket["from"], "2026-01-01T15:00:00Z");
    assert_eq!(bucket["shown_from"], "2026-01-02");
    // For programs there is one zone.
    let csv = bank.bank_ok(&[&arguments[..], &["--csv"]].concat());
    assert!(
        csv.contains(",2026-01-01T15:00:00Z,2026-01-02T15:00:00Z,"),
        "{csv}"
    );
}

#[test]
fn seconds_add_up_to_the_last_digit_and_hours_are_rounded_once() {
    let bank = used();
    let micros = |text: &Value| -> i64 { text.as_str().unwrap().replace('.', "").parse().unwrap() };
    let whole = ask(&bank, "usage --by user --month 2026-01 --tz UTC");
    assert_eq!(whole["total"]["core_seconds"], "8010.000000");
    assert_eq!(whole["total"]["core_hours"], "2.225000");
    for by in ["user", "user,day", "hour", "machine,week"] {
        for tz in ["UTC", "Asia/Kathmandu", "America/New_York"] {
            let response = ask(
                &bank,
                &format!("usage --by {by} --from 2025-12-30 --to 2026-02-03 --tz {tz}"),
            );
            for figure in [
                "core_seconds",
                "wall_seconds",
                "cpu_seconds",
                "factored_seconds",
            ] {
                let rows = response["rows"].as_array().unwrap();
                let sum: i64 = rows.iter().map(|row| micros(&row[figure])).sum();
                assert_eq!(
                    sum,
                    micros(&response["total"][figure]),
                    "{by} {tz} {figure}"
                );
                assert_eq!(sum, 8_010_000_000, "{by} {tz} {figure}");
            }
        }
    }
    // Thirty parts of an hour, each of them rounded, would come to something else.
    let page = |by: &str| {
        let words = format!("usage --by {by} --month 2026-01 --tz UTC -O html");
        bank.bank_ok(&words.split(' ').collect::<Vec<_>>())
    };
    assert!(page("user,day").contains("2.225"), "the page of days");
    assert!(page("user").contains("2.225"), "the page of users");
    let screen = |words: &str| bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    let response = screen("usage --by user,day --month 2026-01 --tz UTC");
    assert!(
        response.contains("core-hours") && response.contains(" 2.225"),
        "{response}"
    );
    let response = screen("usage --by user --month 2026-01 --tz UTC --units seconds");
    assert!(
        response.contains("core-seconds") && response.contains(" 8,010 "),
        "{response}"
    );
    let csv = screen("usage --by user --month 2026-01 --tz UTC --units seconds --csv");
    let head = csv.lines().next().unwrap();
    assert!(
        head.contains("core_seconds") && !head.contains("core_hours"),
        "{head}"
    );
    let ran = bank.bank(&["usage", "--units", "seconds", "--json"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
}

/// What a job used counts where it ended; that it began is true where it did.
#[test]
fn jobs_begin_where_they_did_wherever_their_usage_counts() {
    let bank = used();
    let job = json!({"source": "sge:colony", "id": "long", "machine": "colony", "project": "chemistry",
        "user": "amy", "processors": 1, "start": "2026-01-31T12:00:00Z", "end": "2026-02-01T12:00:00Z",
        "state": "completed"});
    let file = bank.folder().join("more.jsonl");
    std::fs::write(&file, job.to_string()).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    let response = ask(
        &bank,
        "usage --by month --from 2026-01-01 --to 2026-03-01 --tz UTC --credit end",
    );
    let of = |row: usize, figure: &str| response["rows"][row][figure].as_str().unwrap().to_owned();
    assert_eq!(
        (of(0, "started"), of(0, "ended"), of(0, "jobs")),
        ("31".into(), "30".into(), "30".into())
    );
    assert_eq!(
        (of(1, "started"), of(1, "ended"), of(1, "jobs")),
        ("0".into(), "1".into(), "1".into())
    );
    assert_eq!(of(1, "core_seconds"), "86400.000000");
}

/// Billed jobs whose source says how busy they were do say it.
#[test]
fn the_processors_of_a_billed_job_are_counted() {
    let bank = used();
    let hardware =
        "hardware add epyc -m colony --processors 8 --nodes 2 --factor 1.5 --from 2025-01-01";
    bank.bank_ok(&hardware.split(' ').collect::<Vec<_>>());
    let arguments = "report contribution --basis cpu --month 2026-01 --tz UTC";
    let words: Vec<&str> = arguments.split(' ').collect();
    let ran = bank.bank(&words);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    let response = ask(&bank, arguments);
    assert_eq!(response["periods"][0]["from_what"], "records");
    assert_eq!(response["periods"][0]["uses"], 30);
    assert_eq!(response["periods"][0]["unmeasured"], 0);
    assert_eq!(response["periods"][0]["all"]["usage"], "3.34");
    // A charge by hand says nothing of it.
    bank.bank_ok(&[
        "charge",
        "h",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
        "--start",
        "2026-01-05T00:00:00Z",
        "--end",
        "2026-01-05T01:00:00Z",
    ]);
    let ran = bank.bank(&words);
    assert!(
        ran.stderr.contains("1 of 31 jobs have no value for cpu"),
        "{}",
        ran.stderr
    );
}

/// Pages and pictures have the zone of the table; what the daemon does not cut into days reads its times in
/// it all the same.
#[test]
fn pages_and_statements_are_shown_in_the_requested_zone() {
    let bank = used();
    let run = |words: &str| {
        let words = format!("{words} --tz Asia/Tokyo");
        let ran = bank.bank(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit, 0, "{words}: {}", ran.stderr);
        ran.stdout
    };
    let days = "--from 2026-01-02 --to 2026-01-05";
    let page = run(&format!("usage --by user,day {days} -O html"));
    for text in ["2026-01-02</th>", "2026-01-04</th>", "+0900"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("15:00:00"), "no day begins at three");
    assert!(run("report monthly 2026-01 -O html").contains("+0900"));
    assert!(run(&format!("report utilization {days} -O html")).contains("+0900"));
    for words in [
        "statement chemistry --month 2026-01 --json",
        "report balance-sheet --month 2026-01 --json",
        "report efficiency --month 2026-01 --json",
        "report fallback --month 2026-01 --json",
    ] {
        let answer = run(words);
        assert!(answer.contains("2025-12-31T15:00:00Z"), "{words}: {answer}");
    }
    let ran = bank.bank(&["statement", "chemistry", "--tz", "Mars/Olympus"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("no time zone \"Mars/Olympus\""),
        "{}",
        ran.stderr
    );
}
