//! Uses that the bank only records: with the jobs, they are the jobs that a usage report counts.

use serde_json::{Value, json};

use super::browser::{Browser, bank};
use crate::harness::{Bank, T0};

const DAY: i64 = 86_400;

/// A charged job of amy on one machine, and on another, in the mode `track`, uses of amy and ben, and one of a project
/// that no mapping has.
fn filled() -> Bank {
    let bank = bank();
    bank.bank_ok(&["deposit", "chemistry", "1000000"]);
    bank.bank_ok(&["user", "add", "ben"]);
    bank.bank_ok(&["project", "members", "add", "chemistry", "ben"]);
    bank.bank_ok(&["machine", "add", "blue", "--mode", "track"]);
    bank.set_clock(T0 + 3 * DAY);
    let words = "charge one -A chemistry -u amy -m colony --procs 1 --duration 7200";
    bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    bank.set_clock(T0 + 10 * DAY);
    let job = |id: &str, user: &str, project: &str, [start, end]: [&str; 2]| {
        let [start, end] = [start, end].map(|time| format!("2026-01-{time}:00:00"));
        format!("{id}|blue|{user}|{project}|COMPLETED|0:0|{start}|{start}|{end}|1|2|00:00:10")
    };
    let head = "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS|TotalCPU";
    let jobs = [
        head.to_owned(),
        job("11", "amy", "chemistry", ["02T00", "02T03"]),
        job("12", "amy", "chemistry", ["03T22", "04T04"]),
        job("13", "amy", "chemistry", ["04T01", "06T01"]),
        job("14", "amy", "chemistry", ["05T01", "05T02"]),
        job("21", "ben", "chemistry", ["04T05", "04T06"]),
        job("22", "ben", "chemistry", ["01T05", "07T06"]),
        job("31", "zed", "nowhere", ["04T07", "04T09"]),
    ];
    let file = bank.folder().join("in.sacct");
    std::fs::write(&file, jobs.join("\n") + "\n").unwrap();
    let file = file.to_str().unwrap();
    bank.bank_ok(&["import", "sacct", file, "--source", "slurm-blue"]);
    bank
}

/// The ids of stored uses without an instance, the newest first.
fn stored(bank: &Bank, user: &str) -> Vec<String> {
    let rows = bank.query(&format!(
        "SELECT object_id FROM usage_identity WHERE instance IS NULL AND user LIKE '{user}'
         AND became IN ('charged', 'adjusted', 'free') ORDER BY id DESC"
    ));
    rows.into_iter().flatten().collect()
}

/// Filters, the same for jobs, uses and reports.
const FILTERS: [&[&str]; 5] = [
    &[],
    &["-m", "blue"],
    &["-m", "colony"],
    &["-A", "chemistry"],
    &["-A", "chemistry", "-u", "ben"],
];

const PERIODS: [[&str; 2]; 4] = [
    ["2026-01-01T00:00:00Z", "2026-01-11T00:00:00Z"],
    ["2026-01-04T00:00:00Z", "2026-01-05T00:00:00Z"],
    ["2026-01-04T04:00:00Z", "2026-01-04T05:00:00Z"],
    ["2026-01-06T01:00:00Z", "2026-01-08T00:00:00Z"],
];

fn many(bank: &Bank, words: &[&str]) -> i64 {
    let list = bank.json(words);
    i64::try_from(list["items"].as_array().unwrap().len()).unwrap()
}

#[test]
fn jobs_and_recorded_uses_are_the_jobs_of_a_usage_report() {
    let mut bank = filled();
    let mut seen = 0;
    for filter in FILTERS {
        for [from, to] in PERIODS {
            let period = ["--from", from, "--to", to];
            let report = bank.json(&[&["usage"][..], &period, filter].concat());
            for (word, member) in [
                ("ended", "ended"),
                ("started", "started"),
                ("running", "jobs"),
            ] {
                let all = [&["jobs", "--period", word][..], &period, filter].concat();
                let uses = many(&bank, &[&all[..], &["--recorded"]].concat());
                let listed = many(&bank, &all) + uses;
                let counted = &report["total"][member];
                assert_eq!(
                    &json!(listed.to_string()),
                    counted,
                    "{filter:?} {period:?} {word}"
                );
                seen += uses;
            }
        }
    }
    assert!(seen > 20, "only {seen} uses");
    // Without a period all of them, the newest first; of another project with the names of the source.
    let list = bank.json(&["jobs", "--recorded"]);
    let items = list["items"].as_array().unwrap();
    let ids: Vec<_> = items
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, stored(&bank, "%"));
    assert!(ids.len() >= 6, "{ids:?}");
    for lost in items.iter().filter(|one| one["id"] == "31") {
        let names = [&lost["project"], &lost["user"]];
        assert_eq!(names, ["nowhere", "zed"], "{lost}");
    }
    let one = items.iter().find(|one| one["id"] == "13").unwrap();
    for (member, is) in [
        ("source", json!("slurm-blue")),
        ("type", json!("job")),
        ("machine", json!("blue")),
        ("project", json!("chemistry")),
        ("user", json!("amy")),
        ("start", json!("2026-01-04T01:00:00Z")),
        ("end", json!("2026-01-06T01:00:00Z")),
        ("wall_s", json!("172800")),
        ("processors", json!("2")),
        ("nodes", json!(1)),
        ("gpus", json!(0)),
    ] {
        assert_eq!(one[member], is, "{member}: {one}");
    }
    let csv = bank.bank_ok(&["jobs", "--recorded", "--csv"]);
    assert_eq!(csv.lines().count(), ids.len() + 1, "{csv}");
    assert!(csv.starts_with("id,source,"), "{csv}");
    let table = bank.bank_ok(&["jobs", "--recorded", "-u", "ben"]);
    assert!(table.contains("21") && table.contains("blue"), "{table}");
    for wrong in [
        &["--period", "never"][..],
        &["-A", "no-such-project"],
        &["--state", "open"],
        &["--from", "2026-01-02", "--to", "2026-01-02"],
    ] {
        let ran = bank.bank(&[&["jobs", "--recorded"], wrong].concat());
        assert_ne!(ran.exit, 0, "{wrong:?}: {}", ran.stdout);
    }
    bank.verify();
}

/// The ids of all pages of a list for a browser.
fn walked(browser: &mut Browser, bank: &Bank, limit: usize) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let answer = browser.get(bank, &format!("/data/uses?limit={limit}{after}"));
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let items = answer["items"].as_array().unwrap();
        ids.extend(
            items
                .iter()
                .map(|one| one["id"].as_str().unwrap().to_owned()),
        );
        match answer["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return ids,
        }
    }
}

#[test]
fn pages_of_recorded_uses_have_each_once_and_members_see_their_own() {
    let mut bank = filled();
    let mut root = Browser::of_link(&bank);
    let mut amy = Browser::of_proxy(&bank, "amy");
    let all = walked(&mut root, &bank, 1000);
    assert_eq!(all, stored(&bank, "%"));
    for limit in 1..=8 {
        assert_eq!(walked(&mut root, &bank, limit), all, "by {limit}");
        assert_eq!(
            walked(&mut amy, &bank, limit),
            ["14", "13", "12", "11"],
            "by {limit}"
        );
    }
    bank.verify();
}

/// The table of recorded uses of a page, and its number of rows.
fn table(page: &str) -> Option<(String, usize)> {
    let shown = page.split("<caption>Recorded uses").nth(1)?;
    let shown = shown.split("</section>").next().unwrap();
    let rows = shown.matches("scope=\"row\"").count();
    Some((shown.replace("&amp;", "&"), rows))
}

#[test]
fn the_page_of_jobs_lists_recorded_uses_below() {
    let mut bank = filled();
    let mut root = Browser::of_link(&bank);
    let period = "from=2026-01-04&to=2026-01-05&zone=UTC";
    let page = root.get(&bank, &format!("/jobs?{period}&period=running&user=amy"));
    let page = page.text();
    let (shown, rows) = table(&page).unwrap_or_else(|| panic!("no table: {page}"));
    assert_eq!(rows, 2, "{shown}");
    assert!(shown.contains(">12<") && shown.contains(">13<"), "{shown}");
    let data = shown.split("href=\"").skip(1);
    let data: Vec<&str> = data.filter_map(|link| link.split('"').next()).collect();
    let data: Vec<&&str> = data
        .iter()
        .filter(|target| target.starts_with("/data/uses"))
        .collect();
    assert_eq!(data.len(), 2, "{shown}");
    for target in data {
        let answer = root.get(&bank, target).text();
        assert!(answer.contains("12") && answer.contains("13"), "{answer}");
        if target.contains("format=csv") {
            assert_eq!(answer.lines().count(), 3, "{answer}");
        }
    }
    // None for this filter: no table; and beside open jobs there is none either.
    for query in ["machine=colony", "state=open", "from=2026-01-09"] {
        let page = root.get(&bank, &format!("/jobs?{query}")).text();
        assert!(table(&page).is_none(), "{query}: {page}");
    }
    // Every count of the usage page leads to as many rows.
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy
        .get(&bank, "/my-usage?zone=UTC")
        .text()
        .replace("&amp;", "&");
    let links = page.split("href=\"/jobs?").skip(1);
    let mut seen = 0;
    for link in links {
        let target = format!("/jobs?{}", link.split('"').next().unwrap());
        let count: usize = link
            .split('>')
            .nth(1)
            .unwrap()
            .split('<')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let shown = amy.get(&bank, &target).text();
        let jobs = shown.matches("<a href=\"/jobs/one").count().min(1);
        let uses = table(&shown).map_or(0, |(_, rows)| rows);
        assert_eq!(jobs + uses, count, "{target}: {shown}");
        assert!(
            !shown.contains(">21<") && !shown.contains(">22<"),
            "{shown}"
        );
        seen += count;
    }
    assert!(seen >= 5, "{seen}: {page}");
    bank.verify();
}

/// In the mode `track` nothing is charged: pages of usage and the personal report show what it would have cost.
#[test]
fn pages_of_usage_have_shadow_charges() {
    let mut bank = filled();
    let mut root = Browser::of_link(&bank);
    let report = bank.json(&["usage", "--by", "project", "--month", "2026-01"]);
    let shadow = report["total"]["shadow_charged"].as_str().unwrap();
    let shown = bank_picture::figure::grouped(shadow);
    let page = root.get(&bank, "/usage?from=2026-01-01&zone=UTC").text();
    assert!(
        page.contains("Shadow (credits)") && page.contains(&shown),
        "{shown}: {page}"
    );
    let page = root
        .get(&bank, "/usage?from=2026-01-01&zone=UTC&of=shadow")
        .text();
    assert!(
        !page.contains("No shadow charges") && page.contains(&shown),
        "{page}"
    );
    let mut amy = Browser::of_proxy(&bank, "amy");
    let page = amy.get(&bank, "/my-usage?zone=UTC").text();
    assert!(page.contains("Shadow (credits)"), "{page}");
    let text = bank.bank_ok(&["report", "personal", "--user", "amy", "--month", "2026-01"]);
    assert!(text.contains("shadow, credits"), "{text}");
    bank.verify();
}
