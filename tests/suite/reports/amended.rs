//! An amended record replaces the one before: what it came to is shown for whom the record names now, at
//! the time that it says now, and exports name whom money went back to.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::harness::{Bank, Setup, T0};

const DAY: i64 = 86_400;

fn time(day: &str, hour: u32) -> String {
    format!("2025-{day}T{hour:02}:00:00Z")
}

/// A job of a collector, from noon of the last of October on.
fn job(id: u32, (project, user): (&str, &str), end: &str, processors: u32) -> String {
    serde_json::json!({
        "source": "slurm:x", "id": id.to_string(), "machine": "colony", "project": project,
        "user": user, "start": time("10-31", 12), "end": end, "processors": processors,
        "state": "completed", "cpu_s": "1000",
    })
    .to_string()
}

fn import(bank: &Bank, lines: &[String]) {
    let file = bank.folder().join("jobs.jsonl");
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
}

/// What was charged, by project, user and month; without what came to nothing.
fn charged(bank: &Bank) -> BTreeMap<(String, String, String), i64> {
    let words = "usage --by project,user,month --from 2025-01-01 --to 2026-01-01 --tz UTC";
    let answer = bank.json(&words.split(' ').collect::<Vec<_>>());
    let rows = answer["rows"].as_array().unwrap().iter();
    let rows = rows.map(|row| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let keys = &row["keys"];
        let place = (
            text(&keys["project"]),
            text(&keys["user"]),
            text(&row["bucket"]),
        );
        // Money that moved, or would have.
        let amounts = ["charged", "shadow_charged"].map(|key| text(&row[key]));
        let amounts = amounts.map(|amount| amount.parse::<i64>().unwrap());
        (place, amounts.into_iter().sum::<i64>())
    });
    rows.filter(|(_, charged)| *charged != 0).collect()
}

fn wanted(rows: &[(&str, &str, &str, i64)]) -> BTreeMap<(String, String, String), i64> {
    let rows = rows.iter();
    rows.map(|(project, user, month, charged)| {
        let place = (
            (*project).to_owned(),
            (*user).to_owned(),
            (*month).to_owned(),
        );
        (place, *charged)
    })
    .collect()
}

fn amended(mode: &str) -> Bank {
    let bank = Setup::new().start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
    bank.set_clock(T0 + DAY);
    let (next, chem) = (time("11-01", 12), ("chemistry", "amy"));
    let first: Vec<String> = (1..=4).map(|id| job(id, chem, &next, 2)).collect();
    import(&bank, &first);
    // 24 hours with 2 processors, half of them in each month.
    let all = 4 * 86_400;
    assert_eq!(
        charged(&bank),
        wanted(&[
            ("chemistry", "amy", "2025-10", all),
            ("chemistry", "amy", "2025-11", all)
        ]),
        "{mode}"
    );
    // Somebody else's and half as long; a quarter as long; with one processor and twice as long.
    import(
        &bank,
        &[
            job(1, ("physics", "bob"), &time("11-01", 0), 2),
            job(2, chem, &time("10-31", 18), 2),
            job(3, chem, &time("11-02", 12), 1),
        ],
    );
    bank
}

#[test]
fn what_an_amended_job_cost_goes_with_its_record() {
    for mode in ["strict", "notional"] {
        let mut bank = amended(mode);
        // The fourth stays as it was, unless it is given back; of shadow money there is nothing to give.
        let fourth = if mode == "strict" {
            bank.bank_ok(&["refund", "4"]);
            0
        } else {
            86_400
        };
        let want = [
            ("physics", "bob", "2025-10", 86_400),
            ("chemistry", "amy", "2025-10", 43_200 + 43_200 + fourth),
            ("chemistry", "amy", "2025-11", 129_600 + fourth),
        ];
        assert_eq!(charged(&bank), wanted(&want), "{mode}");
        bank.verify();
        let mut rollup = std::process::Command::new(crate::harness::programs().bankd());
        let ran = crate::harness::Ran::of(
            rollup.args(["rollup", "verify", "--data"]).arg(bank.data()),
            b"",
        );
        assert_eq!(ran.exit, 0, "{mode}: {}", ran.stdout);
    }
}

/// With all usage at the end of its job, and by the size or the length of jobs, a job counts as its present record has it.
#[test]
fn dimensions_and_ends_of_amended_jobs_are_those_of_their_present_records() {
    for mode in ["strict", "notional"] {
        let bank = amended(mode);
        let ask = |words: &str| {
            let words = format!("usage {words} --from 2025-01-01 --to 2026-01-01 --tz UTC");
            let answer = bank.json(&words.split(' ').collect::<Vec<_>>());
            let rows = answer["rows"].as_array().unwrap().iter();
            let rows = rows.map(|row| {
                let keys = row["keys"].as_object().unwrap().values();
                let keys: Vec<&str> = keys.filter_map(Value::as_str).collect();
                let bucket = row["bucket"].as_str().unwrap_or_default();
                let hours = row["core_seconds"].as_str().unwrap();
                let hours = hours.strip_suffix(".000000").unwrap().to_owned();
                (
                    format!("{} {bucket}", keys.join(" ")).trim().to_owned(),
                    hours,
                )
            });
            // A job that only began in a month has a row there.
            let rows = rows.filter(|(_, hours)| hours != "0");
            rows.collect::<BTreeMap<_, _>>()
        };
        let want = |rows: &[(&str, i64)]| -> BTreeMap<String, String> {
            let rows = rows.iter();
            rows.map(|(place, seconds)| ((*place).to_owned(), seconds.to_string()))
                .collect()
        };
        // Job 1 has 12 h × 2, job 2 has 6 h × 2, job 3 has 48 h × 1 and job 4 has 24 h × 2.
        let sizes = want(&[("1", 172_800), ("2", 86_400 + 43_200 + 172_800)]);
        assert_eq!(ask("--by size"), sizes, "{mode}");
        let walls = want(&[
            ("5-10h", 43_200),
            ("10-18h", 86_400),
            ("18h+", 172_800 + 172_800),
        ]);
        assert_eq!(ask("--by wall"), walls, "{mode}");
        let ends = want(&[
            ("chemistry 2025-10", 43_200),
            ("chemistry 2025-11", 172_800 + 172_800),
            ("physics 2025-11", 86_400),
        ]);
        assert_eq!(ask("--by project,month --credit end"), ends, "{mode}");
        let cost = |words: &str| {
            let words = format!("usage --credit end {words} --tz UTC");
            let total = bank.json(&words.split(' ').collect::<Vec<_>>())["total"].clone();
            let amounts = ["charged", "shadow_charged"]
                .map(|key| total[key].as_str().unwrap().parse::<i64>());
            amounts.into_iter().map(Result::unwrap).sum::<i64>()
        };
        assert_eq!(cost("--month 2025-10"), 43_200, "{mode}");
        assert_eq!(
            cost("--month 2025-11"),
            86_400 + 172_800 + 172_800,
            "{mode}"
        );
    }
}

/// Only the user is another one: the journal gives back in one's name and charges in the other's.
#[test]
fn a_job_of_another_user_is_theirs_in_statements_too() {
    let mut bank = amended("strict");
    import(
        &bank,
        &[job(4, ("chemistry", "bob"), &time("11-01", 12), 2)],
    );
    let charges = |user: &str| {
        let words = [
            "statement",
            "-u",
            user,
            "--from",
            "2025-01-01",
            "--to",
            "2026-12-31",
        ];
        let statement = bank.json(&words)["statement"].clone();
        let sum = |name: &str| statement[name].as_str().unwrap().parse::<i64>().unwrap();
        -sum("total_debits") - sum("total_credits")
    };
    // Job 1 with 86,400 and job 4 with 172,800 are bob's.
    assert_eq!(charges("bob"), 86_400 + 172_800);
    assert_eq!(charges("amy"), 43_200 + 172_800);
    bank.verify();
}

/// The records of a job add up to what it cost each project and user.
#[test]
fn records_name_whom_money_went_back_to() {
    for mode in ["strict", "notional"] {
        let bank = amended(mode);
        let ran = bank.bank(&["export", "jsonl"]);
        let mut sums: BTreeMap<(String, String), i64> = BTreeMap::new();
        for line in ran.stdout.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["local_job_id"] != "1" {
                continue;
            }
            let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
            // Money that is charged is no refund, though the job is shorter than it was.
            let is_back = ["refund", "reverse"].contains(&text("why").as_str());
            let amount = |name: &str| text(name).parse::<i64>().unwrap_or_default();
            let own = sums.entry((text("project"), text("user"))).or_default();
            let charged = amount("charge") + amount("shadow_charge");
            assert_eq!(is_back, charged < 0, "{mode}: {line}");
            *own += charged;
        }
        sums.retain(|_, sum| *sum != 0);
        let bob = ("physics".to_owned(), "bob".to_owned());
        assert_eq!(
            sums,
            BTreeMap::from([(bob, 86_400)]),
            "{mode}: {}",
            ran.stdout
        );
    }
}

/// Core-seconds by project and user of lines for `XDMoD`, the last line of each job.
fn shredded(text: &str) -> BTreeMap<(String, String), i64> {
    let clock = |text: &str| {
        let (days, clock) = text.split_once('-').unwrap_or(("0", text));
        let part = |n: usize| clock.split(':').nth(n).unwrap().parse::<i64>().unwrap();
        days.parse::<i64>().unwrap() * 86_400 + part(0) * 3600 + part(1) * 60 + part(2)
    };
    let mut jobs = BTreeMap::new();
    for line in text.lines() {
        let row: Vec<&str> = line.split('|').collect();
        let work = clock(row[14]) * row[18].parse::<i64>().unwrap();
        jobs.insert(row[0], ((row[5].to_owned(), row[8].to_owned()), work));
    }
    let mut sums = BTreeMap::new();
    for (whose, work) in jobs.into_values() {
        *sums.entry(whose).or_default() += work;
    }
    sums
}

/// Formats of finished jobs have no changes: they tell a job as it stands, once, and again to whom they told
/// it before.
#[test]
fn formats_of_jobs_export_amended_ones_in_their_current_state() {
    for mode in ["strict", "notional"] {
        let bank = amended(mode);
        let all = bank.bank(&["export", "xdmod"]);
        assert_eq!(all.stdout.lines().count(), 4, "{mode}: {}", all.stdout);
        let whose = |project: &str, user: &str| (project.to_owned(), user.to_owned());
        let (chem, physics) = (whose("chemistry", "amy"), whose("physics", "bob"));
        // 6 h × 2, 48 h × 1 and 24 h × 2; 12 h × 2.
        let want = BTreeMap::from([
            (chem.clone(), 12 * 3600 + 2 * 172_800),
            (physics.clone(), 86_400),
        ]);
        assert_eq!(shredded(&all.stdout), want, "{mode}: {}", all.stdout);
        // Refunded or amended afterwards: what was told is told anew where it is another, and nothing else.
        let words: Vec<&str> = all.stderr.split("--since ").collect();
        let cursor = words.last().unwrap().trim();
        if mode == "strict" {
            bank.bank_ok(&["refund", "3"]);
        }
        import(&bank, &[job(4, ("physics", "bob"), &time("11-01", 0), 1)]);
        let new = bank.bank(&["export", "xdmod", "--since", cursor]);
        let want = BTreeMap::from([(physics, 43_200)]);
        assert_eq!(shredded(&new.stdout), want, "{mode}: {}", new.stdout);
    }
}

/// What processors did is told once, whatever became of the charge.
#[test]
fn processor_time_is_not_repeated_with_each_change() {
    let bank = amended("strict");
    let ran = bank.bank(&["export", "jsonl"]);
    let records = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let (jobs, changes): (Vec<Value>, Vec<Value>) = records
        .filter(|r: &Value| r.get("kind").is_some())
        .partition(|r| r["kind"] == "Job");
    assert!(jobs.len() == 4 && changes.len() >= 3, "{}", ran.stdout);
    assert!(jobs.iter().all(|r| r["cpu_total_s"] == "1000"), "{jobs:?}");
    assert!(
        changes.iter().all(|r| r.get("cpu_total_s").is_none()),
        "{changes:?}"
    );
}
