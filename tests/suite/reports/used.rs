//! `bank usage` over random jobs beside a plain look at each of them: every word with every length of
//! bucket, in zones of half hours and on days with a change of the clock; who sees what; and
//! rollups that somebody has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use bank_api::text::{format_rfc3339, parse_rfc3339};
use bankd_config::zones;
use serde_json::Value;

use crate::harness::{Bank, Numbers, Ran, Setup, programs, until};

/// 2026-03-20T00:00:00Z, and the ends of what is asked for: more than two weeks with three changes of
/// the clock.
pub(super) const FROM: i64 = 1_773_964_800;
const PERIOD: [&str; 4] = ["--from", "2026-03-22", "--to", "2026-04-08"];
/// Zones with a change of the clock of an hour, and of half an hour; with half hours; without either.
const ZONES: [&str; 5] = [
    "UTC",
    "Europe/Berlin",
    "Asia/Kolkata",
    "America/St_Johns",
    "Australia/Lord_Howe",
];
const TIMES: [&str; 7] = [
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "half-year",
    "year",
];
const WORDS: [&str; 9] = [
    "project", "user", "machine", "queue", "qos", "group", "state", "size", "wall",
];

/// One job, as it was.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// What each word says of it.
    pub(super) keys: BTreeMap<&'static str, String>,
    processors: i64,
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Job {
    pub(super) fn new(numbers: &mut Numbers) -> Job {
        let mut pick = |all: &[&str]| {
            let most = u64::try_from(all.len()).unwrap() - 1;
            let at = usize::try_from(numbers.between(0, most)).unwrap();
            all[at].to_owned()
        };
        let (project, user) = match pick(&["a", "b", "c"]).as_str() {
            "a" => ("chemistry", "amy"),
            "b" => ("astro", "bob"),
            _ => ("astro", "carol"),
        };
        let mut keys = BTreeMap::from([
            ("project", project.to_owned()),
            ("user", user.to_owned()),
            ("machine", pick(&["colony", "moon"])),
            ("queue", pick(&["", "batch", "long"])),
            ("qos", pick(&["", "high"])),
            ("group", pick(&["", "staff", "guests"])),
            ("state", pick(&["completed", "failed"])),
        ]);
        // From one second to nine days, most of them short.
        let length = match numbers.between(0, 3) {
            0 => numbers.seconds(1, 1_800),
            1 => numbers.seconds(1_800, 36_000),
            2 => numbers.seconds(3_600, 100_000),
            _ => numbers.seconds(64_800, 777_600),
        };
        let start = FROM + numbers.seconds(0, 18 * 86_400);
        let processors = numbers.seconds(1, 40);
        let size = match processors {
            1 => "1",
            2 => "2",
            3..=4 => "3-4",
            5..=8 => "5-8",
            9..=16 => "9-16",
            17..=32 => "17-32",
            _ => "33-64",
        };
        let wall = match length {
            ..30 => "1-30s",
            30..1_800 => "30s-30min",
            1_800..3_600 => "30-60min",
            3_600..18_000 => "1-5h",
            18_000..36_000 => "5-10h",
            36_000..64_800 => "10-18h",
            _ => "18h+",
        };
        keys.insert("size", size.to_owned());
        keys.insert("wall", wall.to_owned());
        Job {
            keys,
            processors,
            start,
            end: start + length,
        }
    }

    /// Processor-seconds between two instants, in seconds.
    fn between(&self, from: i64, until: i64) -> i64 {
        let overlap = self.end.min(until) - self.start.max(from);
        self.processors * overlap.max(0)
    }

    pub(super) fn line(&self, id: usize) -> String {
        let time = |seconds: i64| format_rfc3339(seconds * 1_000_000);
        let key = |word: &str| self.keys[word].clone();
        let mut record = serde_json::json!({
            "source": "slurm:x", "id": format!("j{id}"), "project": key("project"),
            "user": key("user"), "machine": key("machine"), "state": key("state"),
            "start": time(self.start), "end": time(self.end),
            "submit": time(self.start - 60), "processors": self.processors,
        });
        for (name, word) in [("class", "queue"), ("qos", "qos"), ("group", "group")] {
            if !key(word).is_empty() {
                record[name] = key(word).into();
            }
        }
        record.to_string()
    }
}

/// A bank in which nothing moves money, with so many jobs.
pub(super) fn used(numbers: &mut Numbers, many: usize) -> (Bank, Vec<Job>) {
    used_by(Setup::new(), numbers, many)
}

/// The same with other settings.
fn used_by(setup: Setup, numbers: &mut Numbers, many: usize) -> (Bank, Vec<Job>) {
    let bank = setup.env("BANKD_LEDGER_MODE", "track").start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.bank_ok(&["machine", "add", "moon", "--mode", "track"]);
    bank.set_clock(FROM + 60 * 86_400);
    let jobs: Vec<Job> = (0..many).map(|_| Job::new(numbers)).collect();
    let mut text = String::new();
    for (id, job) in jobs.iter().enumerate() {
        writeln!(text, "{}", job.line(id)).unwrap();
    }
    let file = bank.folder().join("jobs.jsonl");
    std::fs::write(&file, text).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap(), "--strict"]);
    (bank, jobs)
}

#[track_caller]
pub(super) fn usage(bank: &Bank, words: &[&str]) -> Value {
    bank.json(&[&["usage"], words].concat())
}

/// Seconds since 1970.
fn seconds(text: &Value) -> i64 {
    parse_rfc3339(text.as_str().unwrap()).unwrap() / 1_000_000
}

/// Processor-seconds as hours with six decimals, half away from zero.
fn hours(seconds: i64) -> String {
    let millionths = (i128::from(seconds) * 1_000_000 * 2 + 3_600) / (2 * 3_600);
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

fn whole(text: &Value) -> i64 {
    text.as_str().unwrap().parse().unwrap()
}

/// One answer beside the jobs themselves.
#[track_caller]
pub(super) fn agrees(answer: &Value, jobs: &[Job], by: &[&str], context: &str) {
    let (from, until) = (seconds(&answer["from"]), seconds(&answer["until"]));
    let (mut all, mut charged) = (0, 0);
    let mut seen = BTreeSet::new();
    for row in answer["rows"].as_array().unwrap() {
        let (begin, end) = match row["bucket_from"].as_str() {
            Some(text) if !text.is_empty() => {
                (seconds(&row["bucket_from"]), seconds(&row["bucket_until"]))
            }
            _ => (from, until),
        };
        assert!(
            from <= begin && begin < end && end <= until,
            "{context}: {row}"
        );
        let fits = |job: &&Job| {
            by.iter()
                .all(|word| row["keys"][*word].as_str() == Some(job.keys[word].as_str()))
        };
        let own: Vec<&Job> = jobs.iter().filter(fits).collect();
        let sum: i64 = own.iter().map(|job| job.between(begin, end)).sum();
        let ran = own.iter().filter(|job| job.between(begin, end) > 0).count();
        assert_eq!(row["core_hours"], hours(sum), "{context}: {row}");
        assert_eq!(row["jobs"], ran.to_string(), "{context}: {row}");
        all += sum;
        charged += whole(&row["charged"]);
        assert!(
            seen.insert((begin, row.to_string())),
            "{context}: twice {row}"
        );
    }
    // Nothing is left out, and the parts are the whole.
    let sum: i64 = jobs.iter().map(|job| job.between(from, until)).sum();
    assert_eq!(all, sum, "{context}");
    assert_eq!(answer["total"]["core_hours"], hours(sum), "{context}");
    assert_eq!(whole(&answer["total"]["charged"]), charged, "{context}");
}

#[test]
fn every_word_and_bucket_equals_a_plain_look_at_the_jobs() {
    let mut numbers = Numbers::new("used");
    let (mut bank, jobs) = used(&mut numbers, 70);
    for zone in ZONES {
        let offsets = zones::zone(zone).unwrap();
        let period = [&PERIOD[..], &["--tz", zone]].concat();
        let ask = |by: &[&str], every: Option<&str>| {
            let words: Vec<&str> = by.iter().copied().chain(every).collect();
            let words = words.join(",");
            let answer = usage(&bank, &[&["--by", &words], &period[..]].concat());
            let context = format!("{zone} {words}");
            agrees(&answer, &jobs, by, &context);
            // Midnight of the zone, whatever its clock does on that day.
            for text in [&answer["from"], &answer["until"]] {
                let at = seconds(text);
                assert_eq!((at + offsets.offset(at)).rem_euclid(86_400), 0, "{context}");
            }
            answer["from_what"].as_str().unwrap().to_owned()
        };
        for every in TIMES {
            ask(&[], Some(every));
            ask(&["project"], Some(every));
        }
        for word in WORDS {
            ask(&[word], None);
            ask(&[word], Some("day"));
        }
        ask(&["project", "user", "size"], Some("week"));
        let rolled = ask(&["machine", "queue"], Some("day"));
        assert_eq!(rolled, "rollups", "{zone}");
        for word in ["account", "pi"] {
            let answer = usage(&bank, &[&["--by", word], &period[..]].concat());
            let rows = answer["rows"].as_array().unwrap();
            let sum: i64 = rows.iter().map(|row| whole(&row["charged"])).sum();
            assert_eq!(sum, whole(&answer["total"]["charged"]), "{zone} {word}");
        }
    }
    bank.verify();
}

/// What a program with this token gets.
fn shown_to(bank: &Bank, token: &str, words: &[&str]) -> Ran {
    let server = format!("http://{}", bank.tcp());
    let all = [&["usage"], words, &["--json", "--server", &server]].concat();
    bank.bank_as(&[("BANK_TOKEN", token)], &all)
}

#[test]
fn a_plain_user_and_a_scoped_key_see_what_is_theirs() {
    let mut numbers = Numbers::new("seen");
    let (mut bank, jobs) = used(&mut numbers, 40);
    let token = |id: &str, options: &[&str]| {
        let output =
            bank.bank_ok(&[&["token", "add", id, "--until", "2090-01-01"], options].concat());
        let text = output
            .split_whitespace()
            .find(|word| word.starts_with("bk_"));
        text.unwrap().to_owned()
    };
    let period = [&PERIOD[..], &["--tz", "UTC"]].concat();
    let bob = token("bob", &["--role", "user", "--client", "bob"]);
    let of = |token: &str, words: &[&str]| -> Value {
        let ran = shown_to(&bank, token, &[words, &period].concat());
        assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let (from, until) = (FROM + 2 * 86_400, FROM + 19 * 86_400);
    let sum = |is: &dyn Fn(&Job) -> bool| {
        let own = jobs.iter().filter(|job| is(job));
        hours(own.map(|job| job.between(from, until)).sum())
    };
    // Bob's own by name, the others of his project without one, and nothing of other projects.
    let all = of(&bob, &["--by", "user"]);
    let rows = all["rows"].as_array().unwrap();
    let own = rows
        .iter()
        .find(|row| row["keys"]["user"] == "bob")
        .unwrap();
    assert_eq!(own["core_hours"], sum(&|job| job.keys["user"] == "bob"));
    let hidden = rows
        .iter()
        .find(|row| row["keys"]["user"].is_null())
        .unwrap();
    assert_eq!(
        hidden["core_hours"],
        sum(&|job| job.keys["user"] == "carol")
    );
    assert_eq!(rows.len(), 2, "{all}");
    assert!(!all.to_string().contains("carol") && !all.to_string().contains("amy"));
    let total = sum(&|job| job.keys["project"] == "astro");
    assert_eq!(all["total"]["core_hours"], total);
    for elsewhere in [["-A", "chemistry"], ["-u", "amy"]] {
        let ran = shown_to(&bank, &bob, &[&elsewhere[..], &period].concat());
        assert_eq!(ran.exit, 4, "{elsewhere:?}: {}", ran.stdout);
    }
    let projects = of(&bob, &["--by", "project,day"]);
    let named: BTreeSet<&str> = projects["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["keys"]["project"].as_str().unwrap())
        .collect();
    assert_eq!(named, BTreeSet::from(["astro"]));
    // A key for one project, and one for one machine.
    let chem = token("chem", &["--role", "auditor", "--project", "chemistry"]);
    let response = of(&chem, &["--by", "project,user"]);
    assert_eq!(
        response["total"]["core_hours"],
        sum(&|job| job.keys["project"] == "chemistry")
    );
    assert_eq!(response["rows"].as_array().unwrap().len(), 1, "{response}");
    let moon = token("moon", &["--role", "auditor", "--machine", "moon"]);
    let response = of(&moon, &["--by", "machine"]);
    assert_eq!(
        response["total"]["core_hours"],
        sum(&|job| job.keys["machine"] == "moon")
    );
    assert_eq!(response["rows"].as_array().unwrap().len(), 1, "{response}");
    bank.verify();
}

fn rollup(bank: &Bank, word: &str) -> Ran {
    let mut command = Command::new(programs().bankd());
    Ran::of(
        command.args(["rollup", word, "--data"]).arg(bank.data()),
        b"",
    )
}

/// A day that was changed by hand is named by both proofs, and made anew it is as it was.
#[test]
fn a_changed_day_is_named_and_mended() {
    let mut numbers = Numbers::new("changed");
    let (mut bank, _) = used(&mut numbers, 30);
    let period = [&PERIOD[..], &["--tz", "UTC"]].concat();
    let ask = |bank: &Bank| usage(bank, &[&["--by", "project,day"], &period[..]].concat());
    let before = ask(&bank);
    let ran = rollup(&bank, "verify");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("ok: "), "{}", ran.stdout);
    // Nobody may serve the bank while they are made anew.
    let served = rollup(&bank, "rebuild");
    assert_ne!(served.exit, 0, "{}", served.stdout);
    bank.stop();
    let row = bank
        .query("SELECT day, key FROM rollup ORDER BY day, key LIMIT 1")
        .remove(0);
    let (day, key) = (row[0].clone(), row[1].clone());
    let change = "UPDATE rollup SET running = running + 1";
    bank.query(&format!("{change} WHERE day = {day} AND key = {key}"));
    let ran = rollup(&bank, "verify");
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("rollups of 1 day differ"),
        "{}",
        ran.stdout
    );
    let date = format_rfc3339(day.parse::<i64>().unwrap() * 86_400_000_000);
    assert!(ran.stdout.contains(&date[..10]), "{date}: {}", ran.stdout);
    let mut verify = Command::new(programs().bankd());
    let ran = Ran::of(verify.args(["verify", "--data"]).arg(bank.data()), b"");
    assert_ne!(ran.exit, 0, "{}", ran.stdout);
    let ran = rollup(&bank, "rebuild");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(rollup(&bank, "verify").exit, 0);
    bank.start();
    until("the daemon answers", || {
        (ask(&bank) == before).then_some(())
    });
    bank.verify();
}

/// Watts and grams of the settings, those of a machine before those of all, and the command line's before
/// both; each sum is rounded once.
#[test]
fn power_comes_from_the_settings_unless_it_is_given() {
    let mut numbers = Numbers::new("power");
    let setup = Setup::new()
        .env("BANKD_REPORT_WATTS", "9.5")
        .env("BANKD_REPORT_CO2_G_PER_KWH", "380")
        .toml("\n[report.machine.moon]\nwatts = \"20\"\n");
    let (mut bank, jobs) = used_by(setup, &mut numbers, 30);
    let ask = |words: &[&str]| {
        let period = ["--from", "2026-03-01", "--to", "2026-06-01"];
        bank.json(&[&["report", "efficiency"], &period[..], words].concat())
    };
    // Processor-seconds × tenths of watts.
    let energy = |of: &dyn Fn(&Job) -> i64| {
        let all = jobs
            .iter()
            .map(|job| i128::from(job.between(0, i64::MAX)) * i128::from(of(job)));
        let all: i128 = all.sum();
        let thousandths = (2 * all + 36_000) / (2 * 36_000);
        format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
    };
    let by_settings = energy(&|job| {
        if job.keys["machine"] == "moon" {
            200
        } else {
            95
        }
    });
    let response = ask(&[]);
    assert_eq!(response["total"]["energy_kwh"], by_settings, "{response}");
    assert_eq!(response["without_watts"], 0);
    assert!(response["total"]["co2_kg"].is_string(), "{response}");
    let given = ask(&["--watts", "1"]);
    assert_eq!(given["total"]["energy_kwh"], energy(&|_| 10), "{given}");
    let moon = ask(&["-m", "moon", "--co2", "0"]);
    let of_moon = energy(&|job| {
        if job.keys["machine"] == "moon" {
            200
        } else {
            0
        }
    });
    assert_eq!(moon["total"]["energy_kwh"], of_moon, "{moon}");
    assert_eq!(moon["total"]["co2_kg"], "0.000", "{moon}");
    bank.verify();
}
