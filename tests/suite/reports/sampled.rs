//! How many jobs ran and waited, as snapshots show it: against figures counted by hand in the snapshots of
//! Nomad, and in small ones made here.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use super::named::with;
use crate::export::seen::token;
use crate::harness::{Bank, programs, shared_folder, skip};

/// Days of the snapshots, UTC: snapshots; of ai4eosc, imagine and ai4life how many ran on average and at most,
/// and likewise how many waited. Counted in the 28 documents: on the first day 5, 7, 10, 13 and 12 of ai4eosc
/// ran, 47 ÷ 5 = 9.4, and 1, 1, 1, 0 and 1 waited; 542 sightings ran and 23 waited in all. On the third and the
/// fourth day the snapshot of noon is missing.
const DAYS: &str = "\
2024-03-01 5  ai4eosc  9.400 13 0.800 1  imagine 2.000 2 0.200 1  ai4life 1.000 1 0.000 0
2024-03-02 6  ai4eosc 14.000 16 0.333 1  imagine 4.833 5 0.500 1  ai4life 1.167 2 0.167 1
2024-03-03 5  ai4eosc 14.400 17 0.400 2  imagine 7.200 9 0.200 1  ai4life 1.600 3 0.000 0
2024-03-04 5  ai4eosc 11.600 12 1.000 4  imagine 5.800 8 0.000 0  ai4life 1.800 2 0.000 0
2024-03-05 6  ai4eosc 10.667 12 0.500 1  imagine 6.667 8 0.167 1  ai4life 3.500 4 0.000 0
2024-03-06 1  ai4eosc 11.000 11 0.000 0  imagine 8.000 8 0.000 0  ai4life 4.000 4 0.000 0
";

const PERIOD: [&str; 6] = ["--from", "2024-03-01", "--to", "2024-03-07", "--tz", "UTC"];

/// A bank with a machine that is only watched.
fn watched() -> Bank {
    let bank = Bank::new();
    bank.bank_ok(&["machine", "add", "cloud"]);
    bank.bank_ok(&["machine", "set", "cloud", "--mode", "track"]);
    bank
}

fn import(bank: &Bank, folder: &str, source: &str) {
    bank.bank_ok(&["import", "nomad", folder, "--source", source, "-m", "cloud"]);
}

/// The snapshots of Nomad; none where there is no folder of them, which is said.
fn snapshots() -> Option<String> {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder with snapshots of Nomad (BANK_SHARED)");
        return None;
    };
    let folder = shared.join("data/nomad/snapshots");
    Some(folder.to_str().unwrap().to_owned())
}

fn sampled(bank: &Bank, words: &[&str]) -> Value {
    bank.json(&[&["usage", "--sampled"], words].concat())
}

fn rows(table: &Value) -> &Vec<Value> {
    table["rows"].as_array().unwrap()
}

/// What a row has, as the table above writes it.
fn figures(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
    format!(
        "{} {} {} {}",
        text("running_sampled_mean"),
        row["running_sampled_max"],
        text("queued_sampled_mean"),
        row["queued_sampled_max"]
    )
}

#[test]
fn days_of_projects_are_what_the_snapshots_show() {
    let Some(folder) = snapshots() else { return };
    let mut bank = watched();
    import(&bank, &folder, "nomad");
    let states = ["usage", "--by", "state", "--year", "2024", "--tz", "UTC"];
    let before = bank.json(&states);
    let check = |bank: &Bank| {
        let table = sampled(bank, &[&["--by", "project,day"], &PERIOD[..]].concat());
        assert_eq!(table["from_what"], "snapshots");
        let mut found = BTreeMap::new();
        for row in rows(&table) {
            let project = row["keys"]["project"].as_str().unwrap();
            let day = row["bucket"].as_str().unwrap();
            found.insert((day.to_owned(), project.to_owned()), row.clone());
        }
        let mut wanted = 0;
        for line in DAYS.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            for own in words[2..].chunks(5) {
                let row = &found[&(words[0].to_owned(), own[0].to_owned())];
                assert_eq!(figures(row), own[1..].join(" "), "{line}");
                assert_eq!(row["snapshots"].to_string(), words[1], "{line}");
                wanted += 1;
            }
        }
        assert_eq!(found.len(), wanted);
        // 542 and 23 in 28 snapshots; the most that ran at once: 17 + 8 + 1 on the third day at 04:00.
        let total = &table["total"];
        assert_eq!(total["snapshots"], 28);
        assert_eq!(figures(total), "19.357 26 0.821 4");
        let source = &table["sources"][0];
        assert_eq!(source["source"], "nomad");
        assert_eq!(source["snapshots"], 28);
        // From 08:00:09 to 16:00:08 on the third day.
        assert_eq!(source["gap_s"], 28_799);
        assert_eq!(source["gap_from"], "2024-03-03T08:00:09Z");
        assert_eq!(source["first"], "2024-03-01T04:00:16Z");
        assert_eq!(source["last"], "2024-03-06T00:00:10Z");
    };
    check(&bank);
    // The same snapshots once more change nothing, and without a daemon they come to the same.
    import(&bank, &folder, "nomad");
    check(&bank);
    assert_eq!(bank.json(&states), before);
    bank.verify();
    let mut other = watched();
    other.stop();
    let mut offline = Command::new(programs().bankd());
    offline.args(["import", "nomad", &folder, "--source", "nomad", "--data"]);
    offline.arg(other.data()).args(["--machine", "cloud"]);
    offline.env("BANKD_TEST_CLOCK", other.clock());
    let ran = offline.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    other.start();
    check(&other);
    other.verify();
}

/// What the older program says of running jobs by day (`summarize`): the mean in whole jobs, half up.
#[test]
fn means_in_whole_jobs_are_those_of_the_older_program() {
    let Some(folder) = snapshots() else { return };
    let bank = watched();
    import(&bank, &folder, "nomad");
    let table = sampled(&bank, &[&["--by", "project,day"], &PERIOD[..]].concat());
    let mut seen = 0;
    for row in rows(&table) {
        let project = row["keys"]["project"].as_str().unwrap();
        let file = format!("{folder}/../upstream-summaries/{project}-timeseries.csv");
        let text = std::fs::read_to_string(file).unwrap();
        let day = row["bucket"].as_str().unwrap();
        let line = text.lines().find(|line| line.starts_with(day)).unwrap();
        let theirs: i64 = line.rsplit(';').next().unwrap().parse().unwrap();
        let mean = row["running_sampled_mean"].as_str().unwrap();
        let thousandths: i64 = mean.replace('.', "").parse().unwrap();
        // 3.5 of ai4life on the fifth day is 4 there.
        assert_eq!((thousandths + 500) / 1000, theirs, "{project} {day}");
        seen += 1;
    }
    assert_eq!(seen, 18);
}

/// Each of the words adds up to the whole: every job is of one user, one queue and one machine.
#[test]
fn users_and_queues_add_up_and_days_are_those_of_the_zone() {
    let Some(folder) = snapshots() else { return };
    let bank = watched();
    import(&bank, &folder, "nomad");
    for word in ["user", "queue", "machine", "source", "project"] {
        let table = sampled(&bank, &[&["--by", word], &PERIOD[..]].concat());
        let sum = |name: &str| -> i64 {
            let digits = |row: &Value| row[name].as_str().unwrap().replace('.', "");
            let all = rows(&table).iter().map(digits);
            all.map(|digits| digits.parse::<i64>().unwrap()).sum()
        };
        // Each row is rounded by itself.
        let most = i64::try_from(rows(&table).len()).unwrap();
        let (running, queued) = (sum("running_sampled_mean"), sum("queued_sampled_mean"));
        assert!((running - 19_357).abs() <= most, "{word} {running}");
        assert!((queued - 821).abs() <= most, "{word} {queued}");
    }
    // Five hours behind, the first snapshot is of the evening before, and the last of the fifth.
    let period = ["--from", "2024-02-29", "--to", "2024-03-07"];
    let zone = ["--by", "day", "--tz", "America/New_York"];
    let table = sampled(&bank, &[&period[..], &zone].concat());
    let found: Vec<(&str, u64)> = rows(&table)
        .iter()
        .map(|row| {
            (
                row["bucket"].as_str().unwrap(),
                row["snapshots"].as_u64().unwrap(),
            )
        })
        .collect();
    let wanted = [
        ("2024-02-29", 1),
        ("2024-03-01", 6),
        ("2024-03-02", 6),
        ("2024-03-03", 5),
        ("2024-03-04", 5),
        ("2024-03-05", 5),
        ("2024-03-06", 0),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_day_that_nobody_looked_at_is_not_zero() {
    let Some(folder) = snapshots() else { return };
    let bank = watched();
    import(&bank, &folder, "nomad");
    let period = ["--from", "2024-03-06", "--to", "2024-03-08", "--tz", "UTC"];
    let days = [&["--by", "day"], &period[..]].concat();
    let table = sampled(&bank, &days);
    assert_eq!(figures(&rows(&table)[0]), "23.000 23 0.000 0");
    let gap = &rows(&table)[1];
    assert_eq!(gap["snapshots"], 0);
    assert_eq!(figures(gap), "- null - null");
    let both = [&["--by", "day,project"], &period[..]].concat();
    let table = sampled(&bank, &both);
    assert_eq!(rows(&table).len(), 4, "{table}");
    assert_eq!(rows(&table)[3]["keys"]["project"], Value::Null);
    let screen = bank.bank_ok(&[&["usage", "--sampled"], &both[..]].concat());
    let line = screen.lines().find(|line| line.starts_with("2024-03-07"));
    assert!(line.unwrap().ends_with("no snapshot"), "{screen}");
    assert!(
        screen.contains("sampled") && screen.contains("nomad: 1 snapshot."),
        "{screen}"
    );
    let csv = bank.bank_ok(&[&["usage", "--sampled", "--csv"], &days[..]].concat());
    let line = csv.lines().last().unwrap();
    assert!(
        line.starts_with("2024-03-07,") && line.ends_with(",0,,,,"),
        "{csv}"
    );
    for form in ["html", "svg"] {
        let page = bank.bank_ok(&[&["usage", "--sampled", "-O", form], &both[..]].concat());
        assert!(
            page.contains("ai4eosc") && page.contains("sampled"),
            "{form}"
        );
    }
    let chart = bank.bank_ok(&[&["usage", "--sampled", "--chart"], &days[..]].concat());
    assert!(chart.contains("Running"), "{chart}");
}

/// A deployment of a snapshot made here.
pub(crate) fn deployment(job: &str, owner: &str, status: &str) -> Value {
    let has_begun = status == "running";
    json!({
        "job_ID": job,
        "alloc_ID": if has_begun { job } else { "" },
        "status": status,
        "owner": owner,
        "datacenter": "here",
        "alloc_start": has_begun.then_some("2026-01-01T00:00:00Z"),
        "resources": {"cpu_num": 1, "cpu_MHz": 0, "gpu_num": 0, "memory_MB": 10, "disk_MB": 10},
    })
}

/// Writes a snapshot of the hour of 2026-01-01, and takes it in.
pub(crate) fn look(bank: &Bank, source: &str, hour: u32, spaces: &Value) {
    let folder = bank.folder().join(format!("{source}-{hour}"));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("2026-01-01T{hour:02}:00:00.json"));
    std::fs::write(file, spaces.to_string()).unwrap();
    import(bank, folder.to_str().unwrap(), source);
}

const TODAY: [&str; 6] = ["--from", "2026-01-01", "--to", "2026-01-02", "--tz", "UTC"];

/// Two collectors look at moments of their own: means are added, and of both together there is no most. A
/// snapshot that comes again takes the place of the one before.
#[test]
fn collectors_are_added_and_snapshots_are_replaced() {
    let mut bank = watched();
    let two =
        json!({"physics": [deployment("a", "bob", "running"), deployment("b", "bob", "queued")]});
    let three = json!({"physics": [
        deployment("a", "bob", "running"),
        deployment("b", "bob", "running"),
        deployment("c", "bob", "starting"),
    ]});
    look(&bank, "east", 1, &two);
    look(&bank, "east", 2, &three);
    look(&bank, "west", 3, &two);
    let all = sampled(&bank, &TODAY);
    // (1 + 2) ÷ 2 + 1 ran, and 1 + 1 waited.
    assert_eq!(figures(&rows(&all)[0]), "2.500 null 2.000 null");
    assert_eq!(rows(&all)[0]["snapshots"], 3);
    let each = sampled(&bank, &[&["--by", "source"], &TODAY[..]].concat());
    let found: Vec<(&str, String)> = rows(&each)
        .iter()
        .map(|row| (row["keys"]["source"].as_str().unwrap(), figures(row)))
        .collect();
    let wanted = [
        ("east", "1.500 2 1.000 1".to_owned()),
        ("west", "1.000 1 1.000 1".to_owned()),
    ];
    assert_eq!(found, wanted);
    // The second hour of the east once more, as it was after all: nothing.
    look(&bank, "east", 2, &json!({"physics": []}));
    let each = sampled(&bank, &[&["--by", "source"], &TODAY[..]].concat());
    assert_eq!(figures(&rows(&each)[1]), "0.500 1 0.500 1");
    assert_eq!(rows(&each)[1]["snapshots"], 2);
    bank.verify();
}

/// Whoever is only a member sees their own by name, and that of others of the project without one; who leads
/// it sees all of it, and nobody sees other projects. Collectors that saw nothing of these are not told.
#[test]
fn members_see_their_own_and_projects_that_are_mapped_later_are_shown() {
    let mut bank = watched();
    bank.bank_ok(&["project", "members", "add", "physics", "carol"]);
    let spaces = json!({
        "physics": [deployment("a", "bob", "running"), deployment("b", "carol", "running"),
            deployment("c", "carol", "queued")],
        "chemistry": [deployment("d", "amy", "running")],
        "team-x": [deployment("e", "carol", "running")],
    });
    look(&bank, "nomad", 1, &spaces);
    look(
        &bank,
        "secret",
        1,
        &json!({"chemistry": [deployment("f", "amy", "running")]}),
    );
    let own = token(&bank, "carol", &["--role", "user", "--client", "carol"]);
    let users = [
        &["usage", "--sampled", "--json", "--by", "user"],
        &TODAY[..],
    ]
    .concat();
    let shown = |bank: &Bank, token: &str, words: &[&str]| -> Value {
        let ran = with(bank, token, words);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let response = shown(&bank, &own, &users);
    let text = response.to_string();
    for hidden in ["bob", "amy", "secret", "team-x", "chemistry"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    let by_user = |response: &Value| -> BTreeMap<Option<String>, String> {
        let user = |row: &Value| row["keys"]["user"].as_str().map(ToOwned::to_owned);
        rows(response)
            .iter()
            .map(|row| (user(row), figures(row)))
            .collect()
    };
    let wanted = [
        (None, "1.000 1 0.000 0".to_owned()),
        (Some("carol".to_owned()), "1.000 1 1.000 1".to_owned()),
    ];
    assert_eq!(by_user(&response), BTreeMap::from(wanted));
    for other in [["-A", "chemistry"], ["-u", "amy"]] {
        let ran = with(&bank, &own, &[&users[..], &other].concat());
        assert_eq!(ran.exit, 4, "{other:?}: {}", ran.stdout);
    }
    let machine = token(
        &bank,
        "other",
        &["--role", "auditor", "--machine", "colony"],
    );
    let response = shown(&bank, &machine, &users);
    assert_eq!(response["sources"], json!([]), "{response}");
    // What nobody knew becomes a part of the project that its names are mapped to.
    let projects = [&["--by", "project"], &TODAY[..]].concat();
    let table = sampled(&bank, &projects);
    let names = |table: &Value| -> Vec<String> {
        let name = |row: &Value| row["keys"]["project"].as_str().unwrap().to_owned();
        rows(table).iter().map(name).collect()
    };
    assert_eq!(names(&table), ["chemistry", "physics", "team-x"]);
    bank.bank_ok(&["mapping", "add", "account=team-x", "--project", "physics"]);
    let table = sampled(&bank, &projects);
    assert_eq!(names(&table), ["physics", "chemistry"]);
    assert_eq!(figures(&rows(&table)[0]), "3.000 3 1.000 1");
    bank.verify();
}

#[test]
fn what_snapshots_do_not_know_is_refused() {
    let bank = watched();
    look(
        &bank,
        "nomad",
        1,
        &json!({"physics": [deployment("a", "ghost", "queued")]}),
    );
    for (words, exit, expected) in [
        (&["--by", "state"][..], 1, "snapshots know nothing else"),
        (&["--by", "account"], 1, "snapshots know nothing else"),
        (&["--by", "day,month"], 2, "expected one of hour"),
        (&["--resource", "cpu"], 2, "cannot be used with"),
        (&["--qos", "high"], 2, "cannot be used with"),
        (&["--records"], 2, "cannot be used with"),
        (&["--units", "seconds"], 2, "no --units"),
        (&["-u", "ghots"], 4, "no user"),
        (&["--queue", "heer"], 4, "did you mean"),
        (
            &["--by", "hour", "--from", "1990-01-01"],
            1,
            "10,000 buckets",
        ),
    ] {
        let ran = bank.bank(&[&["usage", "--sampled"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
    // Whoever only waits is known by that.
    let response = sampled(
        &bank,
        &[&["-u", "ghost", "--queue", "here"], &TODAY[..]].concat(),
    );
    assert_eq!(figures(&rows(&response)[0]), "0.000 0 1.000 1");
    // Nobody ever looked at another machine.
    let none = bank.bank_ok(&["usage", "--sampled", "-m", "colony", "--year", "2025"]);
    assert!(none.contains("No snapshots are recorded"), "{none}");
}
