//! Thresholds in the journal: once each, with hysteresis, over restarts, switched off.

use super::*;

#[test]
fn each_threshold_is_notified_once_and_clears_after_a_deposit() {
    let mut bank = watching(&[], KEEPER);
    charge(&bank, "1", 50_000);
    assert_eq!(words(&bank, 1), ["raised used 50"]);
    charge(&bank, "2", 31_000);
    assert_eq!(words(&bank, 2)[1..], ["raised used 80"]);
    // 81,000 of 110,000: 73 %, below 80 − 5.
    bank.bank_ok(&["deposit", "chemistry", "10000"]);
    assert_eq!(words(&bank, 3)[2..], ["cleared used 80"]);
    charge(&bank, "3", 13_000);
    assert_eq!(words(&bank, 4)[3..], ["raised used 80"]);
    // What it knows it knows after a restart too; passed together, the last threshold is told.
    bank.stop();
    bank.start();
    charge(&bank, "4", 20_000);
    let all = words(&bank, 6);
    assert_eq!(all[4..], ["raised used 100", "raised negative"]);
    until_raised(
        &bank,
        &["negative", "used 100", "used 50", "used 80", "used 95"],
    );
    let notifications = notifications(&bank);
    let numbers: Vec<i64> = notifications
        .iter()
        .map(|t| t["notice"].as_i64().unwrap())
        .collect();
    assert!(
        numbers.is_sorted() && numbers.windows(2).all(|w| w[0] < w[1]),
        "{numbers:?}"
    );
    let event = &notifications[0]["event"];
    assert_eq!(event["project"], "chemistry");
    assert_eq!(event["account"], "chemistry");
    assert_eq!(event["level"], 50);
    assert_eq!(event["amount"], "50000");
    let message = event["message"].as_str().unwrap();
    assert!(
        message.starts_with("chemistry: 50.00 % used, 50,000 of 100,000"),
        "{message}"
    );
    // Each is one row of the journal that moves nothing.
    let rows = bank.bank_ok(&[
        "journal",
        "--kind",
        "attention",
        "--project",
        "chemistry",
        "-P",
        "-n",
    ]);
    assert_eq!(rows.lines().count(), 7, "{rows}");
    bank.verify();
}

/// A log for machines has each name once in a line: readers keep one of two.
#[test]
fn a_notice_that_failed_names_its_receiver_in_the_log() {
    let failing = "\n[[deliver]]\nname = \"pager\"\nby = \"command\"\ncommand = [\"/bin/false\"]\n";
    let bank = watching(&[("BANKD_LOG_FORMAT", "json")], failing);
    charge(&bank, "1", 60_000);
    let line = until("it was tried", || {
        let log = bank.log();
        let mut lines = log.lines().map(str::to_owned);
        lines.find(|line| line.contains("a notice is tried again later"))
    });
    assert_eq!(line.matches("\"target\":").count(), 1, "{line}");
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["deliver"], "pager", "{line}");
    assert_eq!(line["target"], "bankd_notices::deliver", "{line}");
}

#[test]
fn acknowledged_events_are_marked_and_kept() {
    let mut bank = watching(&[], "");
    charge(&bank, "1", 60_000);
    until_raised(&bank, &["used 50"]);
    let id = bank.json(&["attention", "ls"])["items"][0]["id"].to_string();
    bank.bank_ok(&["attention", "ack", &id, "--note", "renewal is under way"]);
    let shown = bank.json(&["attention", "show", &id]);
    assert_eq!(shown["open"], true);
    assert!(shown["acked_by"].is_string(), "{shown}");
    let again = bank.bank(&["attention", "ack", &id]);
    assert_eq!(again.exit, 7, "{}", again.stderr);
    let unknown = bank.bank(&["attention", "ack", "1"]);
    assert_eq!(unknown.exit, 4, "{}", unknown.stderr);
    let all = bank.json(&["attention", "ls", "--all"]);
    let turns: Vec<&str> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["turn"].as_str().unwrap())
        .collect();
    assert_eq!(turns, ["acked", "raised"]);
    assert_eq!(all["items"][0]["message"], "renewal is under way");
    bank.verify();
}

#[test]
fn a_project_that_is_switched_off_is_not_watched() {
    let mut bank = watching(&[], KEEPER);
    charge(&bank, "1", 60_000);
    until_raised(&bank, &["used 50"]);
    bank.bank_ok(&["attention", "off", "chemistry"]);
    until_raised(&bank, &[]);
    charge(&bank, "2", 60_000);
    bank.stop();
    bank.start();
    // Something else is seen after that, so there was a look.
    bank.bank_ok(&["withdraw", "astro", "50000"]);
    bank.bank_ok(&["deposit", "astro", "100", "--end", "2026-01-10"]);
    until_raised(&bank, &["expiring 14", "expiring 30"]);
    assert!(bank.screen_of_status().contains("not watched    chemistry"));
    bank.bank_ok(&["attention", "on", "chemistry"]);
    until_raised(
        &bank,
        &[
            "expiring 14",
            "expiring 30",
            "negative",
            "used 100",
            "used 50",
            "used 80",
            "used 95",
        ],
    );
    let none = bank.bank(&["attention", "off", "nochem"]);
    assert_eq!(none.exit, 4, "{}", none.stderr);
    bank.verify();
}

#[test]
fn ends_come_nearer_while_the_daemon_is_down() {
    let mut bank = watching(&[("BANKD_LEDGER_MAX_DOWNTIME_S", "315360000")], KEEPER);
    bank.bank_ok(&["deposit", "astro", "700", "--end", "2026-02-10"]);
    bank.set_clock(T0 + 9 * DAY);
    bank.bank_ok(&["status"]);
    bank.stop();
    // 40 days before its end; then 13.
    bank.set_clock(T0 + 27 * DAY);
    bank.start();
    assert_eq!(words(&bank, 1), ["raised expiring 14"]);
    until_raised(&bank, &["expiring 14", "expiring 30"]);
    bank.set_clock(T0 + 41 * DAY);
    assert_eq!(words(&bank, 2)[1..], ["raised expiring 0"]);
    let message = notifications(&bank)[1]["event"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.contains("700") && message.contains("ended unused"),
        "{message}"
    );
    // Long after it is history.
    bank.set_clock(T0 + 75 * DAY);
    until_raised(&bank, &[]);
    bank.verify();
}

#[test]
fn a_window_that_is_moved_clears_its_end() {
    let mut bank = watching(&[], "");
    bank.bank_ok(&["deposit", "astro", "700", "--end", "2026-01-06"]);
    until_raised(&bank, &["expiring 14", "expiring 30", "expiring 7"]);
    let list = bank.json(&["attention", "ls"]);
    let id = list["items"][0]["allocation"].to_string();
    bank.bank_ok(&["allocation", "set", &id, "--end", "2027-01-01"]);
    until_raised(&bank, &[]);
    bank.verify();
}

#[test]
fn fallback_liens_and_collectors_are_watched() {
    let mut bank = watching(
        &[
            ("BANKD_FALLBACK_MODE", "bank"),
            ("BANKD_ATTENTION_LIEN_STUCK_S", "60"),
            ("BANKD_LEDGER_MAX_JUMP_S", "315360000"),
        ],
        "\n[[follow]]\nsource = \"pbs:colony\"\npath = \"FOLDER/acct\"\nformat = \"pbs\"\n",
    );
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "freecycle"]);
    bank.bank_ok(&[
        "reserve",
        "big",
        "--procs",
        "1000",
        "--wall",
        "200",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
    ]);
    until_raised(&bank, &["fallback_used"]);
    let message = bank.json(&["attention", "ls"])["items"][0]["message"].clone();
    let message = message.as_str().unwrap();
    assert!(
        message.contains("chemistry: 1 job paid by freecycle"),
        "{message}"
    );
    bank.set_clock(T0 + 300);
    until_raised(&bank, &["fallback_used", "lien_stuck"]);
    let stuck = bank.json(&["attention", "ls", "--kind", "lien_stuck"]);
    let lien = stuck["items"][0]["lien"].to_string();
    bank.bank_ok(&["lien", "rm", &lien, "--yes"]);
    until_raised(&bank, &["fallback_used"]);
    let line = "01/01/2026 00:01:00;E;1.pbs01;user=amy account=chemistry ctime=1767225600 \
                start=1767225600 end=1767225660 resources_used.ncpus=1\n";
    fs::write(bank.folder().join("acct"), line.repeat(2)).unwrap();
    until("the file is read to its end", || {
        let ran = bank.bank(&["source", "show", "pbs:colony", "--json"]);
        let known: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        (known["records"] == 2).then_some(())
    });
    // Two days without a word, and without a fallback.
    bank.set_clock(T0 + 2 * DAY);
    until_raised(&bank, &["collector_silent"]);
    bank.verify();
}

#[test]
fn verify_finds_what_somebody_did_to_attention() {
    let mut bank = watching(&[], "");
    charge(&bank, "1", 85_000);
    until_raised(&bank, &["used 50", "used 80"]);
    bank.stop();
    for (damage, message) in [
        (
            "DELETE FROM attention WHERE threshold = 50",
            "missing, transaction",
        ),
        (
            "UPDATE attention SET threshold = 51 WHERE threshold = 50",
            "no event raised it",
        ),
        (
            "DROP TRIGGER attention_event_no_update; UPDATE attention_event SET level = 99",
            "its hash is wrong",
        ),
        (
            "DROP TRIGGER attention_event_no_delete; DELETE FROM attention; \
             DELETE FROM attention_event WHERE tx = (SELECT max(tx) FROM attention_event)",
            "its hash is wrong",
        ),
        (
            "INSERT INTO target (name, active, at_once, clears, kinds, digested, digest_at, made) \
             VALUES ('x', 1, 'all', 1, '', 0, 0, 2)",
            "2 notices were made",
        ),
    ] {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("bank.db");
        fs::copy(bank.data().join("bank.db"), &path).unwrap();
        let database = rusqlite::Connection::open(&path).unwrap();
        database.execute_batch(damage).unwrap();
        drop(database);
        let report = bankd_store::verify::run(&path).unwrap();
        let found = report
            .findings
            .iter()
            .any(|finding| finding.text.contains(message));
        assert!(found, "{damage}: {:?}", report.findings);
    }
    bank.verify();
}

impl Bank {
    /// What `bank status` shows.
    fn screen_of_status(&self) -> String {
        self.bank_ok(&["status"])
    }
}
