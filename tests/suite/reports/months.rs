//! Months that are over are added up beside a daemon: answers stay what the jobs come to, before and
//! after, and what comes late counts at once.

use std::fs;

use super::used::{FROM, Job, agrees, usage, used};
use crate::harness::{Bank, Numbers, Request, until};
use serde_json::Value;

/// Every month with days of jobs.
const DAYS: &str = "SELECT count(DISTINCT strftime('%Y-%m', day * 86400, 'unixepoch')) FROM rollup";

fn count(bank: &Bank, sql: &str) -> String {
    bank.query(sql).remove(0).remove(0)
}

/// Waits until every month of the jobs stands.
fn until_added_up(bank: &Bank) {
    let all = count(bank, DAYS);
    assert!(all.parse::<i64>().unwrap() > 1, "{all} months");
    until("months are added up", || {
        let stored = count(bank, "SELECT count(*) FROM rollup_block WHERE unit = 2");
        (stored == all).then_some(())
    });
}

/// Answers that take months, in zones east and west of UTC.
fn agree(bank: &Bank, jobs: &[Job]) {
    let period = ["--from", "2026-02-01", "--to", "2026-05-01"];
    for (zone, every) in [
        ("UTC", "month"),
        ("Europe/Berlin", "month"),
        ("America/New_York", "quarter"),
    ] {
        let words = format!("project,{every}");
        let arguments = [&["--by", &words, "--tz", zone], &period[..]].concat();
        agrees(&usage(bank, &arguments), jobs, &["project"], zone);
    }
}

#[test]
fn months_that_are_over_are_added_up_and_late_jobs_count_at_once() {
    let mut numbers = Numbers::new("months");
    let (mut bank, mut jobs) = used(&mut numbers, 60);
    // Some minutes after the last look it looks again.
    bank.set_clock(FROM + 60 * 86_400 + 601);
    until_added_up(&bank);
    agree(&bank, &jobs);
    // A job of April that comes when April is over: April goes, and comes again some minutes later.
    let mut late = Job::new(&mut numbers);
    (late.start, late.end) = (FROM + 20 * 86_400, FROM + 21 * 86_400);
    let file = bank.folder().join("late.jsonl");
    fs::write(&file, late.line(jobs.len()) + "\n").unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
    jobs.push(late);
    agree(&bank, &jobs);
    bank.set_clock(FROM + 60 * 86_400 + 1_202);
    until_added_up(&bank);
    agree(&bank, &jobs);
    bank.verify();
}

/// With `sums`, an answer in buckets has the rows of the answer in one, and the largest of these are the same.
#[test]
fn sums_of_buckets_are_the_rows_of_the_whole_period() {
    let mut numbers = Numbers::new("sums");
    let (bank, _) = used(&mut numbers, 60);
    let period = "from=2026-03-22&until=2026-04-08";
    let ask = |query: &str| {
        let target = format!("/api/v1/report/usage?{period}&{query}");
        let answer = bank.over_socket(&Request::get(&target)).text();
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    for tz in ["UTC", "Europe/Berlin", "Asia/Kolkata"] {
        for by in ["project", "user,queue", "machine", "group"] {
            for cut in [
                "",
                "&top=2",
                "&sort=running",
                "&top=1&sort=gpu",
                "&credit=end",
            ] {
                let query = format!("tz={tz}&by={by}{cut}");
                let (all, days) = (ask(&query), ask(&format!("{query}&every=day&sums=true")));
                assert_eq!(all["rows"], days["sums"], "{query}");
                assert_eq!(all["total"], days["total"], "{query}");
                assert!(!days["rows"].as_array().unwrap().is_empty(), "{query}");
                assert_eq!(all["sums"], Value::Array(Vec::new()), "{query}");
            }
        }
    }
}
