//! Each person gets one page for each period: through power cuts, failures, requests and limits.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::Value;

use super::{file, is_complete, personal, text, world};
use crate::harness::{Bank, T0, pause, programs, until};
use crate::reports::scheduled::{DAY, is_idle, until_defined};

/// A power cut at each step, again and again: each person has one page, and the summary comes once.
#[test]
fn killed_at_any_step_each_person_gets_one_page() {
    for point in ["report_made", "report_kept", "notice_tried", "notice_kept"] {
        let keeper = "\n[[deliver]]\nname = \"keeper\"\nby = \"command\"\n\
            command = [\"/bin/sh\", \"-c\", \"(cat; echo) >> FOLDER/told\"]\nretry_s = 1\n";
        let toml = personal("user", "[\"archive\", \"keeper\"]", "form = \"json\"\n");
        let mut bank = world(&format!("{keeper}{toml}"));
        bank.set_clock(T0 + 31 * DAY - 1);
        bank.stop();
        for _ in 0..3 {
            if !bank.start_with(&[("BANKD_KILL_AT", point)]) {
                continue;
            }
            bank.set_clock(T0 + 31 * DAY);
            until("the daemon is gone", || bank.is_gone().then_some(()));
            bank.stop_or_kill();
        }
        bank.start();
        is_complete(&bank, "2026-01");
        is_idle(&bank);
        let made = bank.query("SELECT person, turn, state FROM report_run ORDER BY person");
        let names = ["", "amy", "carol", "dave", "eve"];
        let expected: Vec<Vec<String>> = names
            .iter()
            .map(|name| vec![(*name).to_owned(), "0".to_owned(), "made".to_owned()])
            .collect();
        assert_eq!(made, expected, "{point}");
        let notices = bank.query("SELECT target, count(*) FROM notice GROUP BY target");
        assert_eq!(notices, [["archive", "5"], ["keeper", "5"]], "{point}");
        let heard = fs::read_to_string(bank.folder().join("told")).unwrap();
        let heard = heard.lines().filter(|line| !line.is_empty());
        let mut heard: Vec<Value> = heard
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        heard.sort_by_key(|one| one["notice"].as_i64());
        // The one under way may come again, with the same number and the same text.
        heard.dedup();
        let people: Vec<&str> = heard
            .iter()
            .map(|one| one["report"]["person"].as_str().unwrap_or(""))
            .collect();
        assert_eq!(people, ["amy", "carol", "dave", "eve", ""], "{point}");
        for name in ["amy", "carol", "dave", "eve"] {
            let page = text(&bank, &format!("{name}/page-2026-01.json"));
            let _: Value = serde_json::from_str(&page).unwrap();
        }
        bank.verify();
    }
}

/// The program `bank`, which fails for one person until a file is there.
fn failing(bank: &Bank, person: &str) {
    let program = bank.folder().join("bank");
    let real = programs().bank();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--user={person}*) [ -e \"$(dirname \"$0\")/well\" ] || \
         {{ echo 'bank: broken' >&2; exit 1; }};; esac\nexec {} \"$@\"\n",
        real.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = bank.data().join("bankd.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let own = format!("[report]\nprogram = \"{}\"", program.display());
    fs::write(&settings, text.replace("[report]", &own)).unwrap();
}

#[test]
fn one_person_who_fails_does_not_stop_the_others() {
    let mut bank = world(&personal("pi", "[\"archive\"]", ""));
    bank.stop();
    failing(&bank, "amy");
    bank.start();
    bank.set_clock(T0 + 31 * DAY);
    text(&bank, "eve/page-2026-01.html");
    let failing = until_defined(&bank, "page", |one| !one["error"].is_null());
    assert!(
        failing["error"]
            .as_str()
            .unwrap()
            .starts_with("2026-01 amy: broken"),
        "{failing}"
    );
    assert!(
        bank.bank_ok(&["status"])
            .contains("report page: 2026-01 amy: broken")
    );
    // After some attempts the period is done without that page.
    for minutes in 1..40 {
        bank.set_clock(T0 + 31 * DAY + minutes * 60);
        pause(Duration::from_millis(100));
    }
    let defined = is_complete(&bank, "2026-01");
    assert_eq!(defined["runs"][0]["problems"][0]["person"], "amy");
    let reason = &defined["runs"][0]["problems"][0]["reason"];
    assert!(
        reason.as_str().unwrap().starts_with("failed: broken"),
        "{reason}"
    );
    assert!(defined["error"].is_null(), "{defined}");
    assert!(!file(&bank, "amy").exists());
    // It can be requested, alone.
    let words = [
        "report", "run", "page", "--period", "2026-01", "--for", "amy",
    ];
    fs::write(bank.folder().join("well"), "").unwrap();
    let dry = bank.bank_ok(&[&words[..], &["--dry-run"]].concat());
    assert!(
        dry.contains("dry run") && dry.contains("page 2026-01 for amy"),
        "{dry}"
    );
    bank.bank_ok(&words);
    text(&bank, "amy/page-2026-01.html");
    is_idle(&bank);
    assert_eq!(bank.bank(&words).exit, 7);
    let eve = fs::metadata(file(&bank, "eve/page-2026-01.html")).unwrap();
    bank.bank_ok(&[&words[..], &["--again"]].concat());
    is_idle(&bank);
    let nobody = [&words[..6], &["dave"]].concat();
    assert_eq!(bank.bank(&nobody).exit, 4);
    let people =
        bank.query("SELECT person, turn, state FROM report_run WHERE person <> '' ORDER BY id");
    assert_eq!(people.len(), 4, "{people:?}");
    assert_eq!(people[0], ["eve", "0", "made"]);
    assert_eq!(people[1], ["amy", "0", "failed"]);
    let after = fs::metadata(file(&bank, "eve/page-2026-01.html")).unwrap();
    assert_eq!(eve.modified().unwrap(), after.modified().unwrap());
    // All of them again.
    bank.bank_ok(&["report", "run", "page", "--period", "2026-01", "--again"]);
    until("both again", || {
        let rows = bank.query("SELECT count(*) FROM report_run WHERE state = 'made' AND turn = 3");
        (rows == [["3"]]).then_some(())
    });
    bank.verify();
}

/// Whoever has the page already gets it once, by hand or by the calendar.
#[test]
fn requests_before_the_calendar_count() {
    let mut bank = world(&personal("pi", "[\"archive\"]", "delay_s = 86400\n"));
    bank.set_clock(T0 + 31 * DAY);
    let words = ["report", "run", "page", "--period", "2026-01"];
    bank.bank_ok(&[&words[..], &["--for", "amy"]].concat());
    text(&bank, "amy/page-2026-01.html");
    assert!(!file(&bank, "eve").exists());
    bank.bank_ok(&words);
    is_complete(&bank, "2026-01");
    assert_eq!(bank.bank(&words).exit, 7);
    bank.set_clock(T0 + 32 * DAY);
    until_defined(&bank, "page", |one| one["next_period"] == "2026-02");
    is_idle(&bank);
    let made = bank.query("SELECT person, turn, state FROM report_run ORDER BY person");
    assert_eq!(
        made,
        [
            ["", "0", "made"],
            ["amy", "0", "made"],
            ["eve", "0", "made"]
        ]
    );
    let other = bank.bank(&[&words[..], &["--for", "carol"]].concat());
    assert_eq!(other.exit, 4, "{}", other.stderr);
    bank.verify();
}

#[test]
fn too_many_people_and_unsafe_names() {
    let mut bank = world(&personal("user", "[\"archive\"]", "people_max = 4\n"));
    bank.bank_ok(&["user", "add", "../../up"]);
    bank.bank_ok(&["project", "members", "add", "physics", "../../up"]);
    bank.set_clock(T0 + 31 * DAY);
    let failed = until_defined(&bank, "page", |one| !one["error"].is_null());
    assert_eq!(failed["error"], "2026-01: 5 people; people_max is 4");
    assert!(!file(&bank, "amy").exists());
    bank.bank_ok(&["user", "set", "carol", "--active", "no"]);
    bank.set_clock(T0 + 31 * DAY + 61);
    is_complete(&bank, "2026-01");
    is_idle(&bank);
    let mut names: Vec<String> = fs::read_dir(bank.folder().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["%2E.%2F..%2Fup", "amy", "dave", "eve", "page-2026-01.txt"]
    );
    bank.verify();
}
