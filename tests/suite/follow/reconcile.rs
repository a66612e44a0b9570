//! A Moab event log beside what Moab had charged (collectors.md f.2, decisions.md 19).

use std::fs;

use super::*;
use crate::harness::T0;

/// A bank whose scheduler charges, and whose event log is followed.
fn watched() -> Bank {
    let mut bank = Setup::new().chemistry(1_000_000_000).start();
    bank.bank_ok(&["machine", "set", "colony", "--source", "nami"]);
    bank.stop();
    let path = file(&bank, "events");
    bank.settings(&format!(
        "\n[[follow]]\nsource = \"moab:colony\"\npath = \"{}\"\nformat = \"moab-events\"\n\
         machine = \"colony\"\n",
        path.display()
    ));
    bank.start();
    bank
}

/// What Moab says to the bank of a job that ends now.
fn charged(bank: &Bank, job: &str, project: &str, processors: u32, seconds: i64) {
    let body = format!(
        "<Job><ObjectID>{job}</ObjectID><User>amy</User><Account>{project}</Account>\
         <Machine>colony</Machine><Processors>{processors}</Processors>\
         <StartTime>{}</StartTime><ChargeDuration>{seconds}</ChargeDuration></Job>",
        T0 - seconds
    );
    bank.script("charge", body.as_bytes()).expect(0, "");
    bank.script("delete", body.as_bytes()).expect(0, "");
}

/// The line of the event log for the end of a job.
fn event(job: &str, project: &str, processors: u32, start: i64, end: i64) -> String {
    format!(
        "01:00:10 {end}:4 job {job} jobend 2 {processors} amy staff 7200 Completed [batch:1] \
         {start} {start} {start} {end} - - >= 0M >= 0M - {start} {processors} -1 -:- - {project} - - \
         0 - 28000.50 base 1 0 0 0 0 0 n01,n02 rm1 - - -\n"
    )
}

fn rows(found: &Value) -> Vec<(String, String, String)> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or("-").to_owned();
    let difference = |row: &Value| {
        let all = row["differences"].as_array().unwrap();
        let all: Vec<&str> = all.iter().map(|word| word.as_str().unwrap()).collect();
        all.join(", ")
    };
    let items = found["items"].as_array().unwrap();
    let row = |row: &Value| (text(row, "kind"), text(row, "job"), difference(row));
    items.iter().map(row).collect()
}

#[test]
fn an_event_log_is_held_against_the_charges() {
    let mut bank = watched();
    charged(&bank, "Moab.1", "chemistry", 8, 3600);
    charged(&bank, "Moab.2", "chemistry", 8, 3600);
    charged(&bank, "Moab.3", "chemistry", 8, 3600);
    charged(&bank, "Moab.4", "physics", 16, 60);
    let log = event("Moab.1", "chemistry", 8, T0 - 3600, T0)
        + &event("Moab.2", "physics", 4, T0 - 3600, T0 - 600)
        + &event("Moab.9", "chemistry", 2, T0 - 100, T0)
        + &event("Moab.4", "physics", 16, T0 - 61, T0);
    fs::write(file(&bank, "events"), log).unwrap();
    let read = || {
        let ran = bank.bank(&["source", "show", "moab:colony", "--json"]);
        let shown: Value = serde_json::from_str(&ran.stdout).ok()?;
        (shown["jobs"] == 4).then_some(())
    };
    until("the event log is taken", read);
    assert_eq!(
        bank.query("SELECT DISTINCT became FROM usage_identity"),
        [["kept"]]
    );

    let until = ["--to", "2026-01-02", "--from", "2025-12-01"];
    let ask =
        |more: &[&str]| bank.json(&[&["reconcile", "-m", "colony"], &until[..], more].concat());
    let found = ask(&[]);
    let row = |kind: &str, job: &str, more: &str| (kind.into(), job.into(), more.into());
    let differs = "wall -600 s, processors -4, project physics not chemistry";
    assert_eq!(
        rows(&found),
        [
            row("differs", "Moab.2", differs),
            row("not_charged", "Moab.9", ""),
            row("not_recorded", "Moab.3", ""),
        ]
    );
    let totals = &found["totals"];
    assert_eq!(totals["matched"]["jobs"], 2, "{totals}");
    assert_eq!(totals["matched"]["processor_s"], "29776");
    assert_eq!(totals["matched"]["charged_processor_s"], "29760");
    assert_eq!(totals["not_charged"]["processor_s"], "200");
    assert_eq!(totals["not_recorded"]["charged_processor_s"], "28800");
    assert_eq!(found["charged_by"], "nami");

    // A second is too much where none may differ.
    let strict = ask(&["--tolerance", "0", "--all"]);
    let matched = row("matched", "Moab.1", "");
    assert!(rows(&strict).contains(&matched), "{strict}");
    assert!(
        rows(&strict).contains(&row("differs", "Moab.4", "wall +1 s")),
        "{strict}"
    );
    let other = ask(&["--source", "slurm:colony"]);
    assert_eq!(rows(&other), [], "nobody of that name recorded anything");
    let screen = bank.bank_ok(&[&["reconcile"], &until[..], &["--csv"]].concat());
    assert!(screen.contains("not_recorded,Moab.3"), "{screen}");
    bank.verify();
}

/// Banks of earlier versions charged a use a second time when the source of its machine changed.
#[test]
fn a_use_that_two_sources_have_charged_is_listed() {
    let bank = watched();
    charged(&bank, "Moab.1", "chemistry", 8, 3600);
    charged(&bank, "Moab.2", "chemistry", 8, 3600);
    let log = event("Moab.1", "chemistry", 8, T0 - 3600, T0)
        + &event("Moab.2", "chemistry", 8, T0 - 3600, T0);
    fs::write(file(&bank, "events"), log).unwrap();
    let kept = "SELECT count(*) FROM usage_identity WHERE became = 'kept'";
    let read = || (bank.query(kept) == [["2"]]).then_some(());
    until("the event log is taken", read);
    bank.query(
        "UPDATE usage_identity SET became = 'charged', amount = 28800
         WHERE object_id = 'Moab.1' RETURNING id",
    );
    let found = bank.json(&[
        "reconcile",
        "-m",
        "colony",
        "--to",
        "2026-01-02",
        "--from",
        "2025-12-01",
    ]);
    assert_eq!(
        rows(&found),
        [("charged_twice".into(), "Moab.1".into(), String::new())]
    );
    assert_eq!(found["totals"]["charged_twice"]["jobs"], 1);
}

/// A charge by hand on one processor, from one hour of the day before to another.
fn charged_by_hand(bank: &Bank, job: &str, from: u32, to: u32) {
    let at = |hour: u32| format!("2025-12-31T{hour:02}:00:00Z");
    let (seconds, from, to) = ((to - from) * 3600, at(from), at(to));
    let who = format!("charge {job} -A chemistry -u amy -m colony --procs 1");
    let line = format!("{who} --start {from} --end {to} --duration {seconds}");
    bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
}

/// Imports records of `sacct` with these columns behind user and account.
fn sacct(bank: &Bank, records: &[(&str, &str)]) {
    sacct_of(bank, "slurm:colony", records);
}

/// The same as a source.
fn sacct_of(bank: &Bank, source: &str, records: &[(&str, &str)]) {
    let head = "JobID|Cluster|User|Account|State|Submit|Start|End|Elapsed|NNodes|NCPUS\n";
    let line = |(job, rest): &(&str, &str)| format!("{job}|colony|amy|chemistry|{rest}\n");
    let text = head.to_owned() + &records.iter().map(line).collect::<String>();
    let path = file(bank, "day.sacct");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    bank.bank_ok(&["import", "sacct", path, "--source", source]);
}

/// The rows and the totals of the time of these tests.
fn compared(bank: &Bank) -> (Vec<(String, String, String)>, Value) {
    let words = ["reconcile", "-m", "colony", "--from", "2025-12-01"];
    let found = bank.json(&[&words[..], &["--to", "2026-01-02", "--all"]].concat());
    (rows(&found), found["totals"].clone())
}

fn expected(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let owned = |(kind, job, more): &(&str, &str, &str)| {
        ((*kind).to_owned(), (*job).to_owned(), (*more).to_owned())
    };
    rows.iter().map(owned).collect()
}

/// Each run of a requeued job has the charge of its own time, or none.
#[test]
fn a_charge_belongs_to_one_run_only() {
    let mut bank = watched();
    let run = "COMPLETED|2025-12-31T09:00:00|2025-12-31T12:00:00|2025-12-31T13:00:00|01:00:00|1|1";
    // The charge of the recorded run was lost.
    charged_by_hand(&bank, "17", 10, 11);
    // The first run has no record.
    charged_by_hand(&bank, "18", 10, 11);
    charged_by_hand(&bank, "18", 12, 13);
    sacct(&bank, &[("17", run), ("18", run)]);
    let (rows, totals) = compared(&bank);
    let all = [
        ("not_charged", "17", ""),
        ("matched", "18", ""),
        ("not_recorded", "17", ""),
        ("not_recorded", "18", ""),
    ];
    assert_eq!(rows, expected(&all));
    assert_eq!(totals["not_charged"]["processor_s"], "3600", "{totals}");
    assert_eq!(
        totals["not_recorded"]["charged_processor_s"], "7200",
        "{totals}"
    );
    bank.verify();
}

/// What the former source of a machine counted is the charge of the records of the present one, whether money moved or not.
#[test]
fn a_use_of_the_former_source_is_charged() {
    for mode in ["strict", "track"] {
        let mut bank = Setup::new().chemistry(1_000_000_000).start();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        let run =
            "COMPLETED|2025-12-31T09:00:00|2025-12-31T12:00:00|2025-12-31T13:00:00|01:00:00|1|1";
        let later =
            "COMPLETED|2025-12-31T09:00:00|2025-12-31T14:00:00|2025-12-31T14:30:00|00:30:00|1|1";
        bank.bank_ok(&["machine", "set", "colony", "--source", "old:colony"]);
        sacct_of(&bank, "old:colony", &[("4", run), ("5", later)]);
        bank.bank_ok(&["machine", "set", "colony", "--source", "new:colony"]);
        sacct_of(&bank, "new:colony", &[("4", run), ("6", later)]);
        let (rows, totals) = compared(&bank);
        // The present source counts what is new.
        let all = [("matched", "4", ""), ("not_recorded", "5", "")];
        assert_eq!(rows, expected(&all), "{mode}");
        let matched = &totals["matched"];
        assert_eq!(matched["charged_processor_s"], "3600", "{mode}: {totals}");
        bank.verify();
    }
}

/// A document of the scheduler whose use the former source counted waits for no collector.
#[test]
fn a_document_of_a_use_of_the_former_source_is_recorded() {
    for mode in ["strict", "track", "notional"] {
        let mut bank = Setup::new().chemistry(1_000_000_000).start();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        let run =
            "COMPLETED|2025-12-31T09:00:00|2025-12-31T23:00:00|2026-01-01T00:00:00|01:00:00|1|8";
        bank.bank_ok(&["machine", "set", "colony", "--source", "old:colony"]);
        sacct_of(&bank, "old:colony", &[("4", run)]);
        bank.bank_ok(&["machine", "set", "colony", "--source", "nami"]);
        sacct_of(&bank, "old:colony", &[("5", run)]);
        charged(&bank, "4", "chemistry", 8, 3600);
        let (rows, _) = compared(&bank);
        assert_eq!(rows, expected(&[("not_charged", "5", "")]), "{mode}");
        bank.verify();
    }
}

/// Page by page the answer is the same.
#[test]
fn pages_add_up_to_the_whole() {
    let bank = watched();
    let mut log = String::new();
    for job in 0..12 {
        let name = format!("Moab.{job}");
        if job % 3 != 0 {
            charged(&bank, &name, "chemistry", 2, 100 + job);
        }
        if job % 3 != 1 {
            log += &event(&name, "chemistry", 2, T0 - 100 - job, T0);
        }
    }
    fs::write(file(&bank, "events"), log).unwrap();
    let read = || {
        let ran = bank.bank(&["source", "show", "moab:colony", "--json"]);
        let shown: Value = serde_json::from_str(&ran.stdout).ok()?;
        (shown["jobs"] == 8).then_some(())
    };
    until("the event log is taken", read);
    let target = |limit: usize, after: &str| {
        format!(
            "/api/v1/reconcile?from=2025-12-01T00:00:00Z&until=2026-01-02T00:00:00Z&all=true\
             &limit={limit}{after}"
        )
    };
    let mut whole: Vec<(String, String, String)> = Vec::new();
    for limit in [1, 2, 3, 5, 100] {
        let (mut all, mut after, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let response = bank.over_socket(&crate::harness::Request::get(&target(limit, &after)));
            let page: Value = serde_json::from_str(&response.text()).unwrap();
            all.extend(rows(&page));
            pages += 1;
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        assert_eq!(all.len(), 12, "{limit}: {all:?}");
        assert!(pages > 8 / limit, "{limit} rows a page were {pages} pages");
        if whole.is_empty() {
            whole.clone_from(&all);
        }
        assert_eq!(all, whole, "{limit}");
    }
    let kinds = |kind: &str| whole.iter().filter(|row| row.0 == kind).count();
    assert_eq!(
        (
            kinds("matched"),
            kinds("not_charged"),
            kinds("not_recorded")
        ),
        (4, 4, 4)
    );
}

#[test]
fn wrong_queries_are_reported() {
    let bank = watched();
    for (query, status, word) in [
        ("limit=0", 422, "limit"),
        ("limit=10001", 422, "limit"),
        ("tolerance_s=-1", 422, "tolerance_s"),
        ("after=x", 422, "after"),
        ("machine=ia64", 404, "ia64"),
        (
            "from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
            422,
            "window",
        ),
        ("form=2026-01-02", 400, "form"),
    ] {
        let target = format!("/api/v1/reconcile?{query}");
        let response = bank.over_socket(&crate::harness::Request::get(&target));
        let text = response.text();
        assert_eq!(response.status, status, "{query}: {text}");
        assert!(text.contains(word), "{query}: {text}");
    }
    bank.bank_ok(&["machine", "add", "moon"]);
    let ran = bank.bank(&["reconcile"]);
    assert_ne!(ran.exit, 0, "two machines, and none is named");
    assert!(ran.stderr.contains("machine"), "{}", ran.stderr);
    let empty = bank.bank_ok(&["reconcile", "-m", "moon"]);
    assert!(empty.contains("no differences"), "{empty}");
}
