//! Reports that the daemon makes by itself: once for each period, through restarts, crashes, long
//! downtimes and changes of the clock, to those who get them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use base64::Engine as _;
use serde_json::Value;

use crate::attention::webhook::{SECRET, receiver};
use crate::harness::{Bank, Request, Setup, T0, until};

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;
/// A folder and who else gets something; `FOLDER` is the bank's.
pub(super) const ARCHIVE: &str = "\n[[deliver]]\nname = \"archive\"\nby = \"folder\"\nfolder = \"FOLDER/out\"\n\
    retry_s = 1\nretry_max_s = 1\n";

/// A bank with these settings at the end of its file, and the folder `out`.
pub(super) fn scheduling(toml: &str) -> Bank {
    let setup = Setup::new().env("BANKD_LEDGER_MAX_DOWNTIME_S", "315360000");
    let mut bank = setup.start();
    bank.stop();
    fs::create_dir(bank.folder().join("out")).unwrap();
    add(&bank, toml);
    bank.start();
    charge(&bank, "1", 36_000);
    bank
}

pub(super) fn add(bank: &Bank, toml: &str) {
    bank.settings(&toml.replace("FOLDER", &bank.folder().display().to_string()));
}

/// A definition of usage by project in JSON into the archive.
pub(super) fn usage(every: &str, more: &str) -> String {
    format!(
        "{ARCHIVE}\n[[scheduled_report]]\nname = \"use\"\nreport = \"usage\"\noptions = [\"--by\", \"project\"]\n\
         form = \"json\"\nevery = \"{every}\"\ndeliver = [\"archive\"]\n{more}"
    )
}

/// Bills chemistry so many seconds of one processor, that end now.
fn charge(bank: &Bank, job: &str, seconds: i64) {
    let wall = seconds.to_string();
    let whose = ["-A", "chemistry", "-u", "amy", "-m", "colony"];
    let words = ["charge", job, "--procs", "1", "--wall", &wall];
    bank.bank_ok(&[&words[..], &whose].concat());
}

fn file(bank: &Bank, name: &str) -> PathBuf {
    bank.folder().join("out").join(name)
}

/// What a report says, once it is there.
pub(super) fn brought(bank: &Bank, name: &str) -> Value {
    let text = until(name, || fs::read_to_string(file(bank, name)).ok());
    serde_json::from_str(&text).unwrap()
}

/// The names in the archive.
fn archive(bank: &Bank) -> Vec<String> {
    let entries = fs::read_dir(bank.folder().join("out")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The periods that were made, in their order, and how often.
fn marks(bank: &Bank) -> Vec<String> {
    let rows = bank.query("SELECT period FROM report_run WHERE state = 'made' ORDER BY id");
    rows.into_iter().flatten().collect()
}

/// How a definition stands, once it is so.
pub(super) fn until_defined(bank: &Bank, name: &str, so: impl Fn(&Value) -> bool) -> Value {
    until(name, || {
        let mut all = bank.items(&["report", "scheduled"]).into_iter();
        all.find(|one| one["name"] == name).filter(&so)
    })
}

pub(super) fn is_idle(bank: &Bank) {
    until("all is brought", || {
        let waiting = bank.query("SELECT count(*) FROM notice WHERE state <> 'sent'");
        (waiting == [["0"]]).then_some(())
    });
}

#[test]
fn a_month_is_brought_once_whatever_the_daemon_goes_through() {
    let mut bank = scheduling(&usage("monthly", ""));
    let before = until_defined(&bank, "use", |_| true);
    assert_eq!(before["next_period"], "2026-01");
    assert_eq!(before["next_due"], "2026-02-01T00:00:00Z");
    bank.set_clock(T0 + 31 * DAY - 1);
    charge(&bank, "2", 3600);
    assert_eq!(archive(&bank), [""; 0]);
    bank.set_clock(T0 + 31 * DAY);
    let response = brought(&bank, "use-2026-01.json");
    assert_eq!(response["from"], "2026-01-01T00:00:00Z");
    assert_eq!(response["until"], "2026-02-01T00:00:00Z");
    // The first job ran in December.
    assert_eq!(response["total"]["jobs"], "1");
    assert_eq!(response["total"]["core_hours"], "1.000000");
    let mode = fs::metadata(file(&bank, "use-2026-01.json")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o640);
    is_idle(&bank);
    // Between the end of a period and its turn the daemon is away; then for two months.
    bank.stop();
    bank.start();
    bank.stop();
    bank.set_clock(T0 + 121 * DAY);
    bank.start();
    for month in ["2026-02", "2026-03", "2026-04"] {
        brought(&bank, &format!("use-{month}.json"));
    }
    bank.kill();
    bank.start();
    let definition = until_defined(&bank, "use", |one| one["next_period"] == "2026-05");
    assert_eq!(definition["runs"][0]["deliveries"][0]["state"], "sent");
    is_idle(&bank);
    assert_eq!(marks(&bank), ["2026-01", "2026-02", "2026-03", "2026-04"]);
    assert!(
        bank.bank_ok(&["status"])
            .contains("reports        1 scheduled\n")
    );
    bank.verify();
}

#[test]
fn of_many_missed_periods_the_last_are_made_and_the_others_reported() {
    let mut bank = scheduling(&usage("daily", "catch_up = 3\n"));
    bank.stop();
    bank.set_clock(T0 + 40 * DAY);
    bank.start();
    brought(&bank, "use-2026-02-09.json");
    let definition = until_defined(&bank, "use", |one| one["next_period"] == "2026-02-10");
    assert_eq!(definition["passed_over"], 37);
    assert_eq!(definition["last_passed_over"], "2026-02-06");
    is_idle(&bank);
    assert_eq!(marks(&bank), ["2026-02-07", "2026-02-08", "2026-02-09"]);
    let status = bank.bank_ok(&["status"]);
    assert!(
        status.contains("1 scheduled, 37 periods passed over"),
        "{status}"
    );
    assert!(bank.log().contains("37 periods to 2026-02-06 are skipped"));
    bank.verify();
}

/// The day on which clocks go back has 25 hours, and is due when they are over.
#[test]
fn a_day_of_a_zone_is_as_long_as_its_clock_shows() {
    let mut bank = scheduling(&usage("daily", "tz = \"Europe/Berlin\"\ncatch_up = 1\n"));
    let midnight = 1_792_879_200; // 2026-10-24T22:00:00Z
    bank.set_clock(midnight + 24 * 3600);
    charge(&bank, "2", 3600);
    brought(&bank, "use-2026-10-24.json");
    is_idle(&bank);
    assert_eq!(marks(&bank), ["2026-10-24"]);
    bank.set_clock(midnight + 25 * 3600);
    let response = brought(&bank, "use-2026-10-25.json");
    assert_eq!(response["from"], "2026-10-24T22:00:00Z");
    assert_eq!(response["until"], "2026-10-25T23:00:00Z");
    assert_eq!(response["tz"], "Europe/Berlin");
    bank.verify();
}

/// A power cut at each step: one mark, and a file that is whole; a program may be told twice, under the
/// same number.
#[test]
fn killed_at_any_step_it_is_made_once() {
    for point in ["report_made", "report_kept", "notice_tried", "notice_kept"] {
        let keeper = "\n[[deliver]]\nname = \"keeper\"\nby = \"command\"\n\
            command = [\"/bin/sh\", \"-c\", \"(cat; echo) >> FOLDER/told\"]\nretry_s = 1\n";
        let toml = usage("monthly", "").replace("[\"archive\"]", "[\"archive\", \"keeper\"]");
        let mut bank = scheduling(&format!("{keeper}{toml}"));
        bank.stop();
        assert!(bank.start_with(&[("BANKD_KILL_AT", point)]));
        bank.set_clock(T0 + 31 * DAY);
        until("the daemon is gone", || bank.is_gone().then_some(()));
        bank.stop_or_kill();
        bank.start();
        brought(&bank, "use-2026-01.json");
        is_idle(&bank);
        assert_eq!(marks(&bank), ["2026-01"], "{point}");
        assert_eq!(archive(&bank), ["use-2026-01.json"], "{point}");
        let notifications = fs::read_to_string(bank.folder().join("told")).unwrap();
        let notifications: Vec<Value> = notifications
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            !notifications.is_empty() && notifications.len() <= 2,
            "{point}: {notifications:?}"
        );
        assert!(
            notifications.iter().all(|one| one == &notifications[0]),
            "{point}: {notifications:?}"
        );
        assert_eq!(notifications[0]["report"]["name"], "use");
        bank.verify();
    }
}

#[test]
fn a_webhook_that_is_away_gets_it_when_it_is_back() {
    let (port, heard) = receiver(&["500 Oops", "503 Busy", "204 No Content"]);
    let hook = format!(
        "\n[[deliver]]\nname = \"hook\"\nby = \"webhook\"\nurl = \"http://127.0.0.1:{port}/in\"\n\
         secret = \"FOLDER/secret\"\nretry_s = 1\nretry_max_s = 1\n"
    );
    let toml = usage("monthly", "").replace("[\"archive\"]", "[\"archive\", \"hook\"]");
    let mut bank = Setup::new().start();
    bank.stop();
    fs::create_dir(bank.folder().join("out")).unwrap();
    fs::write(bank.folder().join("secret"), SECRET).unwrap();
    add(&bank, &format!("{hook}{toml}"));
    bank.start();
    bank.set_clock(T0 + 31 * DAY);
    let got = |_| until("a request", || heard.try_recv().ok());
    let first: Vec<_> = (0..3).map(got).collect();
    for heard in &first {
        heard.is_signed();
        assert_eq!(heard.body, first[0].body);
    }
    let response = first[0].notification();
    let report = &response["report"];
    assert_eq!(
        (&report["period"], &report["form"]),
        (&"2026-01".into(), &"json".into())
    );
    let text: Value = serde_json::from_str(report["text"].as_str().unwrap()).unwrap();
    // Another target did not wait for it.
    assert_eq!(text, brought(&bank, "use-2026-01.json"));
    is_idle(&bank);
    bank.verify();
}

#[test]
fn a_folder_that_is_not_there_gets_it_when_it_is() {
    let mut bank = scheduling(&usage("monthly", ""));
    fs::remove_dir(bank.folder().join("out")).unwrap();
    bank.set_clock(T0 + 31 * DAY);
    let waits = until_defined(&bank, "use", |one| {
        !one["runs"][0]["deliveries"][0]["error"].is_null()
    });
    let delivery = &waits["runs"][0]["deliveries"][0];
    assert_eq!(delivery["state"], "waiting");
    assert!(
        delivery["error"].as_str().unwrap().contains("/out: "),
        "{delivery}"
    );
    let outbox = bank.json(&["attention", "outbox"]);
    assert_eq!(outbox["items"][0]["report"], "use 2026-01");
    fs::create_dir(bank.folder().join("out")).unwrap();
    brought(&bank, "use-2026-01.json");
    is_idle(&bank);
    bank.verify();
}

#[test]
fn mail_brings_a_page_to_staff_or_to_whom_it_is_for() {
    let mut bank = Setup::new().start();
    bank.stop();
    let mailer = bank.folder().join("mailer");
    let script = "#!/bin/sh\ncat > \"$(dirname \"$0\")/mail.new\"; \
        mv \"$(dirname \"$0\")/mail.new\" \"$(dirname \"$0\")/mail\"\n";
    fs::write(&mailer, script).unwrap();
    fs::set_permissions(&mailer, fs::Permissions::from_mode(0o755)).unwrap();
    add(
        &bank,
        "\n[[deliver]]\nname = \"mail\"\nby = \"sendmail\"\ncommand = [\"FOLDER/mailer\"]\n\
         from = \"bank@hpc.example\"\nstaff = [\"ops@hpc.example\"]\n\
         [[scheduled_report]]\nname = \"pi\"\nreport = \"statement\"\noptions = [\"chemistry\"]\n\
         deliver = [\"mail\"]\nto = [\"pi@uni.example\"]\n",
    );
    bank.start();
    charge(&bank, "1", 36_000);
    bank.set_clock(T0 + 31 * DAY);
    let mail = until("a mail", || {
        fs::read_to_string(bank.folder().join("mail")).ok()
    });
    assert!(mail.contains("\nTo: pi@uni.example\n"), "{mail}");
    assert!(mail.contains("filename=\"pi-2026-01.html\""), "{mail}");
    let attached = mail.split("base64\n\n").nth(1).unwrap();
    let attached: String = attached
        .lines()
        .take_while(|line| !line.starts_with("--"))
        .collect();
    let page = base64::engine::general_purpose::STANDARD
        .decode(attached)
        .unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("chemistry"),
        "{page}"
    );
    bank.verify();
}

#[test]
fn failures_are_reported_tried_again_and_block_nobody_else() {
    let other = "\n[[scheduled_report]]\nname = \"new\"\nreport = \"usage\"\noptions = [\"-A\", \"later\", \"--tree\"]\n\
        form = \"csv\"\ndeliver = [\"archive\"]\n";
    let mut bank = scheduling(&(usage("monthly", "") + other));
    bank.set_clock(T0 + 31 * DAY);
    brought(&bank, "use-2026-01.json");
    let failed = until_defined(&bank, "new", |one| !one["error"].is_null());
    let error = failed["error"].as_str().unwrap();
    assert!(
        error.starts_with("2026-01: no project \"later\""),
        "{error}"
    );
    let status = bank.bank_ok(&["status"]);
    assert!(
        status.contains("report new: 2026-01: no project"),
        "{status}"
    );
    bank.bank_ok(&["project", "add", "later"]);
    // A minute later, on the ledger's clock.
    bank.set_clock(T0 + 31 * DAY + 61);
    until("it is there", || {
        fs::read_to_string(file(&bank, "new-2026-01.csv")).ok()
    });
    let well = until_defined(&bank, "new", |one| one["error"].is_null());
    assert_eq!(well["failures"], 0);
    bank.verify();
}

#[test]
fn by_hand_a_period_is_made_again_and_counts() {
    let mut bank = scheduling(&usage("monthly", "delay_s = 86400\n"));
    let refused = |words: &[&str], exit| {
        let ran = bank.bank(&[&["report", "run"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}{}", ran.stdout, ran.stderr);
    };
    refused(&["nothing"], 4);
    refused(&["use", "--period", "2026-01"], 1);
    refused(&["use", "--period", "2026-W01"], 1);
    let dry = bank.bank_ok(&["report", "run", "use", "--period", "2025-12", "--dry-run"]);
    assert!(dry.contains("dry run"), "{dry}");
    let output = bank.bank_ok(&["report", "run", "use"]);
    assert!(output.contains("use 2025-12 is created next"), "{output}");
    brought(&bank, "use-2025-12.json");
    refused(&["use"], 7);
    bank.set_clock(T0 + 31 * DAY);
    bank.bank_ok(&["report", "run", "use", "--period", "2026-01"]);
    brought(&bank, "use-2026-01.json");
    fs::remove_file(file(&bank, "use-2026-01.json")).unwrap();
    // Its turn comes, and it was made already.
    bank.set_clock(T0 + 32 * DAY);
    until_defined(&bank, "use", |one| one["next_period"] == "2026-02");
    assert_eq!(archive(&bank), ["use-2025-12.json"]);
    bank.bank_ok(&["report", "run", "use", "--period", "2026-01", "--again"]);
    brought(&bank, "use-2026-01.json");
    is_idle(&bank);
    let who = bank.query("SELECT period, turn, asked_by <> '' FROM report_run ORDER BY id");
    assert_eq!(
        who,
        [
            ["2025-12", "0", "1"],
            ["2026-01", "0", "1"],
            ["2026-01", "1", "1"]
        ]
    );
    bank.verify();
}

/// The same call twice is one, as often as it is told to make it again; another call is another.
#[test]
fn a_repeat_makes_and_brings_nothing_once_more() {
    let mut bank = scheduling(&usage("monthly", "delay_s = 86400\n"));
    let ask = |key: &str, again: bool| {
        let body = format!("{{\"period\": \"2025-12\", \"again\": {again}}}");
        let request = Request {
            method: "POST",
            body: body.into_bytes(),
            ..Request::get("/api/v1/report/scheduled/use/run")
        };
        bank.over_socket(&request.header("Idempotency-Key", key))
    };
    let made = |count: &str| {
        until("it is made", || {
            let rows = bank.query("SELECT count(*) FROM report_run WHERE state = 'made'");
            (rows == [[count]]).then_some(())
        });
        is_idle(&bank);
    };
    let first = ask("one", false);
    assert_eq!(first.status, 200, "{}", first.text());
    made("1");
    for key in ["two", "three"] {
        assert_eq!(ask(key, false).status, 409);
    }
    let again = ask("two", true);
    assert_eq!(again.status, 200, "{}", again.text());
    made("2");
    for (key, is_again, expected) in [("two", true, &again), ("one", false, &first)] {
        let repeat = ask(key, is_again);
        assert_eq!((repeat.status, repeat.text()), (200, expected.text()));
        assert_eq!(repeat.header("idempotent-replay"), Some("true"));
    }
    // A key is for one call.
    assert_eq!(ask("one", true).status, 409);
    assert_eq!(ask("three", true).status, 200);
    made("3");
    let runs = bank.query("SELECT turn, state FROM report_run ORDER BY id");
    assert_eq!(runs, [["0", "made"], ["1", "made"], ["2", "made"]]);
    let brought = bank.query("SELECT count(*) FROM notice");
    assert_eq!(brought, [["3"]]);
    bank.verify();
}

#[test]
fn a_changed_definition_goes_on_from_where_it_is() {
    let mut bank = scheduling(&usage("monthly", ""));
    let settings = bank.data().join("bankd.toml");
    let change = |from: &str, to: &str| {
        let text = fs::read_to_string(&settings).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&settings, text.replace(from, to)).unwrap();
    };
    bank.set_clock(T0 + 31 * DAY);
    brought(&bank, "use-2026-01.json");
    is_idle(&bank);
    bank.stop();
    // Other options, another form: the month that was made stays made.
    change("\"--by\", \"project\"", "\"--by\", \"user\"");
    bank.start();
    bank.set_clock(T0 + 59 * DAY);
    let response = brought(&bank, "use-2026-02.json");
    assert_eq!(response["by"][0], "user");
    bank.stop();
    // Days from now on, and not those since the month began.
    change("every = \"monthly\"", "every = \"daily\"");
    bank.set_clock(T0 + 63 * DAY + 60);
    bank.start();
    bank.set_clock(T0 + 64 * DAY);
    brought(&bank, "use-2026-03-05.json");
    is_idle(&bank);
    assert_eq!(marks(&bank), ["2026-01", "2026-02", "2026-03-05"]);
    bank.stop();
    // Without it nothing is made; it is shown with what it made.
    let text = fs::read_to_string(&settings).unwrap();
    let cut = text.find("\n[[scheduled_report]]").unwrap();
    fs::write(&settings, &text[..cut]).unwrap();
    bank.start();
    bank.set_clock(T0 + 80 * DAY);
    let gone = until_defined(&bank, "use", |one| one["active"] == false);
    assert_eq!(gone["runs"][0]["period"], "2026-03-05");
    assert!(!bank.bank_ok(&["status"]).contains("scheduled"));
    bank.verify();
}
