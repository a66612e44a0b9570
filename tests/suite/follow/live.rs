//! A file that is written, rotated and missing, and how the daemon tells of it.

use std::fs;

use super::*;
use crate::harness::T0;

#[test]
fn a_live_file_becomes_usage_and_shows_its_progress() {
    let mut bank = following("");
    let waiting = |bank: &Bank| bank.bank(&["source", "ls"]).stdout;
    assert!(
        waiting(&bank).contains("no collector"),
        "{}",
        waiting(&bank)
    );
    append(&bank, &jobs(0..5));
    taken(&bank, 5);
    append(&bank, "12/31/2025 10:00:00;E;torn");
    append(&bank, "\nnot a line of it\n");
    let torn = || (source(&bank)["rejected"] == 2).then_some(());
    until("what cannot be read is rejected", torn);
    let shown = source(&bank);
    let length = fs::metadata(file(&bank, "acct")).unwrap().len();
    assert_eq!(shown["follow"][0]["state"], "ok", "{shown}");
    assert_eq!(shown["follow"][0]["offset"], length);
    assert_eq!(
        (&shown["records"], &shown["quarantined"]),
        (&7.into(), &2.into())
    );
    assert_eq!(shown["charges"][0], "colony");
    assert_eq!(shown["last_event"], "2025-12-29T10:20:04Z");
    let screen = bank.bank_ok(&["source", "show", SOURCE]);
    assert!(screen.contains("bytes taken, 0 to go"), "{screen}");
    // An hour on four processors each, at a credit for a processor's second.
    let charged = bank.query("SELECT count(*) FROM usage WHERE amount = 14400");
    assert_eq!(charged, [["5"]]);
    let lines = bank.query("SELECT line FROM quarantine ORDER BY id");
    assert_eq!(lines, [["6"], ["7"]]);
    bank.verify();
}

#[test]
fn a_rotated_file_is_read_on_and_the_new_one_after_it() {
    let mut bank = following("");
    append(&bank, &jobs(0..3));
    taken(&bank, 3);
    fs::rename(file(&bank, "acct"), file(&bank, "acct.1")).unwrap();
    append(&bank, &jobs(10..12));
    let old = OpenOptions::new().append(true).open(file(&bank, "acct.1"));
    old.unwrap().write_all(jobs(3..5).as_bytes()).unwrap();
    taken(&bank, 5);
    // Nobody writes the old one for long enough.
    bank.set_clock(T0 + 120);
    taken(&bank, 7);
    bank.stop();
    append(&bank, &jobs(12..14));
    fs::rename(file(&bank, "acct"), file(&bank, "acct.1")).unwrap();
    append(&bank, &jobs(14..15));
    bank.start();
    taken(&bank, 9);
    bank.set_clock(T0 + 240);
    taken(&bank, 10);
    assert_eq!(bank.query("SELECT count(*) FROM usage_identity"), [["10"]]);
    assert!(bank.log().contains("was read to its end"), "{}", bank.log());
    bank.verify();
}

/// A file that fails says why, is tried again, and holds up no other; SIGHUP has it looked at now.
#[test]
fn a_file_that_fails_holds_up_no_other() {
    let mut bank = following("");
    bank.stop();
    let broken = file(&bank, "broken");
    bank.settings(&format!(
        "\n[[follow]]\nsource = \"sge:moon\"\npath = \"{}\"\nformat = \"sge\"\npoll_s = 3600\n",
        broken.display()
    ));
    fs::create_dir(&broken).unwrap();
    bank.start();
    append(&bank, &jobs(0..2));
    taken(&bank, 2);
    let is_reported = || bank.log().contains("not a regular file").then_some(());
    until("the failure is in the log", is_reported);
    fs::remove_dir(&broken).unwrap();
    fs::write(&broken, "too:few:fields\n").unwrap();
    bank.signal("HUP");
    let read = || {
        let ran = bank.bank(&["source", "show", "sge:moon", "--json"]);
        let shown: Value = serde_json::from_str(&ran.stdout).ok()?;
        (shown["rejected"] == 1).then_some(shown)
    };
    let shown = until("the file is read once it is one", read);
    assert_eq!(shown["follow"][0]["state"], "ok");
    assert_eq!(shown["follow"][0]["failures"], 1);
}

#[test]
fn files_that_cannot_be_followed_are_reported_at_the_start() {
    let mut bank = Bank::new();
    bank.stop();
    let path = bank.data().join("bankd.toml");
    let right = fs::read_to_string(&path).unwrap();
    for (format, more, expected) in [
        ("nomad", "", "nomad is one document"),
        ("sacct", "layout = \"mine\"\n", "layout \"mine\""),
        ("csv", "mapping = \"nowhere.toml\"\n", "nowhere.toml"),
    ] {
        let wrong = format!(
            "\n[[follow]]\nsource = \"x:y\"\npath = \"/var/x\"\nformat = \"{format}\"\n{more}"
        );
        fs::write(&path, format!("{right}{wrong}")).unwrap();
        assert!(!bank.start_with(&[]), "{format} was followed");
        assert!(bank.log().contains(expected), "{format}: {}", bank.log());
    }
}

/// A collector that says nothing for too long is named, until it speaks again or is taken off the list.
#[test]
fn a_silent_collector_is_named() {
    let bank = following("");
    append(&bank, &jobs(0..1));
    taken(&bank, 1);
    let silent = |bank: &Bank| bank.json(&["status"])["silent_sources"].clone();
    assert_eq!(silent(&bank), serde_json::json!([]));
    bank.bank_ok(&["source", "set", SOURCE, "--silent-after", "01:00:00"]);
    bank.set_clock(T0 + 3599);
    assert_eq!(silent(&bank), serde_json::json!([]));
    bank.set_clock(T0 + 3700);
    assert_eq!(silent(&bank), serde_json::json!([SOURCE]));
    let screen = bank.bank_ok(&["status"]);
    assert!(screen.contains("silent         pbs:colony:"), "{screen}");
    bank.bank_ok(&["source", "set", SOURCE, "--silent-after", "never"]);
    assert_eq!(silent(&bank), serde_json::json!([]));
    bank.bank_ok(&["source", "set", SOURCE, "--silent-after", "default"]);
    assert_eq!(source(&bank)["silent_after_s"], 93_600);
    let removed = bank.bank(&["source", "rm", SOURCE, "--yes"]);
    assert!(
        removed.stderr.contains("charge machine colony still"),
        "{}",
        removed.stderr
    );
    assert!(bank.items(&["source", "ls"]).is_empty());
    assert_eq!(bank.items(&["source", "ls", "--all"]).len(), 1);
    append(&bank, &jobs(1..2));
    taken(&bank, 2);
    assert_eq!(bank.items(&["source", "ls"]).len(), 1, "it was heard again");
    assert_eq!(bank.bank(&["source", "show", "pbs:mon"]).exit, 4);
}
