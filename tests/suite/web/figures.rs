//! Figures lead to what they are made of: the rows behind a link add up to the figure.

use serde_json::Value;

use super::browser::{Browser, bank};
use crate::harness::{Bank, T0};

const DAY: i64 = 86_400;

/// The links of a page to an address, each with its text.
fn links(page: &str, start: &str) -> Vec<(String, String)> {
    let all = page.split("<a ").skip(1);
    let found = all.filter_map(|link| {
        let target = link.split("href=\"").nth(1)?.split('"').next()?;
        let text = link.split('>').nth(1)?.split('<').next()?;
        Some((target.replace("&amp;", "&"), text.to_owned()))
    });
    found
        .filter(|(target, _)| target.starts_with(start))
        .collect()
}

/// The rows of the first table whose JSON is an address below `start`.
fn rows(browser: &mut Browser, bank: &Bank, page: &str, start: &str) -> Vec<Value> {
    let found = links(page, start).into_iter();
    let mut found = found.filter(|(_, text)| text == "JSON");
    let (target, _) = found.next().unwrap_or_else(|| panic!("no {start}: {page}"));
    let answer = browser.get(bank, &target);
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    answer["items"].as_array().unwrap().clone()
}

fn charge(bank: &Bank, job: &str, user: &str, seconds: &str) {
    bank.bank_ok(&[
        "charge",
        job,
        "-A",
        "chemistry",
        "-u",
        user,
        "-m",
        "colony",
        "--procs",
        "1",
        "--duration",
        seconds,
    ]);
}

#[test]
fn a_count_of_jobs_leads_to_the_jobs_that_it_counts() {
    let mut bank = bank();
    bank.bank_ok(&["deposit", "chemistry", "1000000"]);
    bank.bank_ok(&["user", "add", "ben"]);
    bank.bank_ok(&["project", "members", "add", "chemistry", "ben"]);
    charge(&bank, "one", "amy", "100");
    bank.set_clock(T0 + 8 * DAY);
    // It ran in two weeks and ended in one.
    charge(&bank, "two", "amy", "400000");
    charge(&bank, "three", "amy", "60");
    charge(&bank, "of-ben", "ben", "60");
    bank.set_clock(T0 + 9 * DAY);
    let mut amy = Browser::of_proxy(&bank, "amy");
    for zone in ["UTC", "Asia/Kolkata"] {
        let page = amy.get(&bank, &format!("/my-usage?zone={zone}")).text();
        let counts = links(&page, "/jobs?");
        let total: i64 = counts
            .iter()
            .map(|(_, count)| count.parse::<i64>().unwrap())
            .sum();
        assert!(counts.len() > 1 && total > 3, "{zone}: {page}");
        for (target, count) in counts {
            assert!(
                target.contains(&format!("zone={}", zone.replace('/', "%2F"))),
                "{target}"
            );
            let jobs = amy.get(&bank, &target).text();
            let own = links(&jobs, "/jobs/");
            let names: std::collections::BTreeSet<_> =
                own.iter().map(|(target, _)| target).collect();
            assert_eq!(names.len().to_string(), count, "{target}: {jobs}");
            assert!(!jobs.contains("of-ben"), "{jobs}");
            let data = rows(&mut amy, &bank, &jobs, "/data/jobs");
            assert_eq!(data.len().to_string(), count, "{target}");
        }
    }
    bank.verify();
}

#[test]
fn jobs_of_a_period_end_in_it() {
    let bank = bank();
    charge(&bank, "one", "amy", "100");
    bank.set_clock(T0 + DAY);
    charge(&bank, "two", "amy", "100");
    bank.bank_ok(&[
        "reserve",
        "held",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
        "--wall",
        "60",
    ]);
    let time = |seconds: i64| bank_api::text::format_rfc3339(seconds * 1_000_000);
    let shown = |more: &[&str]| {
        let list = bank.bank_ok(&[&["jobs", "--json"], more].concat());
        let list: Value = serde_json::from_str(&list).unwrap();
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|job| job["job"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let ended = bank.query("SELECT used_until / 1000000 FROM instance WHERE object_id = 'one'")[0]
        [0]
    .parse::<i64>()
    .unwrap();
    let (at, after, day) = (time(ended), time(ended + 1), time(T0 + DAY - 1000));
    assert_eq!(shown(&[]), ["held", "two", "one"]);
    assert_eq!(shown(&["--from", &at]), ["two", "one"]);
    assert_eq!(shown(&["--from", &after]), ["two"]);
    assert_eq!(shown(&["--to", &at]), Vec::<String>::new());
    assert_eq!(shown(&["--to", &after]), ["one"]);
    let (middle, end) = (time(ended - 50), time(ended - 1));
    assert_eq!(
        shown(&["--from", &middle, "--until", &end]),
        Vec::<String>::new()
    );
    assert_eq!(
        shown(&["--from", &middle, "--until", &end, "--period", "running"]),
        ["one"]
    );
    assert_eq!(shown(&["--until", &day, "--period", "started"]), ["one"]);
    assert_eq!(
        shown(&["--from", &middle, "--until", &day, "--period", "started"]),
        Vec::<String>::new()
    );
    assert_ne!(bank.bank(&["jobs", "--period", "never"]).exit, 0);
    assert_ne!(bank.bank(&["jobs", "--from", &at, "--to", &at]).exit, 0);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let jobs = |amy: &mut Browser, query: &str| {
        let answer = amy.get(&bank, &format!("/jobs?{query}"));
        (answer.status, answer.text())
    };
    let (status, page) = jobs(&mut amy, &format!("from={at}&to={after}&state=closed"));
    assert!(
        status == 200 && page.contains(">one<") && !page.contains(">two<"),
        "{page}"
    );
    assert!(
        page.contains("<option value=\"closed\" selected>"),
        "{page}"
    );
    let (status, page) = jobs(&mut amy, "from=2026-02&to=2026-01");
    assert!(status == 422 && page.contains("aria-invalid"), "{page}");
    assert_eq!(jobs(&mut amy, "period=never").0, 422);
    assert_eq!(jobs(&mut amy, "from=soon").0, 422);
}
