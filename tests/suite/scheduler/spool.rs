//! `bank nami spool` and `bank nami quarantine`: what waits and what was set aside, by hand.

use serde_json::Value;

use super::conf;
use crate::harness::{Bank, Documents, Ran, T0, text};

/// Runs `bank nami PLACE VERB …` with this bank's settings.
fn nami(bank: &Bank, words: &[&str]) -> Ran {
    let conf = conf(bank, "");
    let all = [&["nami"], words, &["--conf", conf.to_str().unwrap()]].concat();
    bank.bank(&all)
}

fn listed(bank: &Bank, place: &str) -> Vec<Value> {
    let ran = nami(bank, &[place, "ls", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    list["items"].as_array().unwrap().clone()
}

#[test]
fn what_waits_is_listed_shown_sent_and_dropped() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    assert!(
        nami(&bank, &["spool", "ls"])
            .stdout
            .starts_with("nothing waits")
    );
    bank.stop();
    bank.script("charge", &documents.get(4)).expect(0, "");
    bank.set_clock(T0 + 60);
    let other = documents.with(4, &[("Moab.1024", "Moab.7")]);
    bank.script("charge", &other).expect(0, "");
    bank.script("delete", &documents.get(6)).expect(0, "");

    let rows = listed(&bank, "spool");
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (text(row, "event"), row["objects"][0].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            ("charge", "Moab.1024"),
            ("charge", "Moab.7"),
            ("delete", "Moab.1024")
        ]
    );
    assert_eq!(text(&rows[0], "time"), "2026-01-01T00:00:00Z");
    let csv = nami(&bank, &["spool", "ls", "--csv"]);
    assert_eq!(csv.stdout.lines().count(), 4, "{}", csv.stdout);
    assert!(
        csv.stdout
            .starts_with("id,event,objects,time,bytes,query,key,reason\n")
    );

    let id = text(&rows[1], "id");
    let one = nami(&bank, &["spool", "show", id]);
    assert!(
        one.stdout.contains("<ObjectID>Moab.7</ObjectID>"),
        "{}",
        one.stdout
    );
    // By the key too.
    let by_key = nami(&bank, &["spool", "show", text(&rows[1], "key")]);
    assert_eq!(by_key.stdout, one.stdout);

    // While the bank is out nothing is lost and the exit code says "try again".
    let ran = nami(&bank, &["spool", "retry"]);
    assert_eq!((ran.exit, bank.spooled()), (5, 3), "{}", ran.stderr);
    assert_eq!(ran.stdout, "0 delivered, 0 in quarantine, 3 left\n");

    // Nothing goes without being confirmed, and nothing of a list that is not whole.
    let ran = nami(&bank, &["spool", "drop", id]);
    assert_eq!((ran.exit, bank.spooled()), (2, 3), "{}", ran.stderr);
    let ran = nami(&bank, &["spool", "drop", id, "77", "--yes"]);
    assert_eq!((ran.exit, bank.spooled()), (4, 3), "{}", ran.stderr);
    let ran = nami(&bank, &["spool", "drop", id, "--yes"]);
    assert_eq!((ran.exit, bank.spooled()), (0, 2), "{}", ran.stderr);
    assert_eq!(ran.stdout, format!("dropped {id}: charge of Moab.7\n"));

    bank.start();
    let ran = nami(&bank, &["spool", "retry", "--json"]);
    assert_eq!((ran.exit, bank.spooled()), (0, 0), "{}", ran.stderr);
    let drained: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(drained["delivered"], 2);
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
    assert_eq!(text(&bank.job("Moab.1024"), "state"), "closed");
    bank.verify();
}

#[test]
fn what_was_set_aside_is_explained_and_tried_again() {
    let documents = Documents::own();
    let mut bank = Bank::new();
    // Without a ChargeDuration a charge can never be taken.
    bank.script("charge", &documents.get(25)).expect(31, "");
    bank.stop();
    bank.script("charge", &documents.get(4)).expect(0, "");
    bank.start();
    bank.script("drain", b"").expect(0, "");
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
    let rows = listed(&bank, "quarantine");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(
        text(&rows[0], "reason").contains("ChargeDuration"),
        "{rows:?}"
    );
    let id = text(&rows[0], "id").to_owned();
    let one = nami(&bank, &["quarantine", "show", &id]);
    assert!(one.stdout.contains("<ObjectID>"), "{}", one.stdout);

    // The reason is still there, so it comes back, and blocks nothing.
    for words in [
        vec!["quarantine", "retry", &id],
        vec!["quarantine", "retry", "--all"],
    ] {
        let ran = nami(&bank, &words);
        assert_eq!(
            (ran.exit, bank.spooled(), bank.quarantined()),
            (1, 0, 1),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "0 delivered, 1 in quarantine, 0 left\n");
    }
    let ran = nami(&bank, &["quarantine", "retry"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    let ran = nami(&bank, &["quarantine", "drop", &id, "-y"]);
    assert_eq!((ran.exit, bank.quarantined()), (0, 0), "{}", ran.stderr);
    let left = std::fs::read_dir(bank.spool().join("quarantine"))
        .unwrap()
        .count();
    assert_eq!(left, 0, "the reason goes with its document");
    let ran = nami(&bank, &["quarantine", "ls"]);
    assert!(
        ran.stdout.starts_with("nothing in the quarantine"),
        "{}",
        ran.stdout
    );
    bank.verify();
}

/// A reason that is gone: the user of a reserve that was kept is known now.
#[test]
fn what_was_set_aside_is_taken_once_its_reason_is_gone() {
    let mut bank = Bank::new();
    bank.stop();
    let body = b"<Job><ObjectID>Moab.9</ObjectID><User>dora</User><Account>astro</Account>\
        <Processors>1</Processors><WallDuration>100</WallDuration></Job>";
    let kept = bank.call("reserve").set("fail_open=yes").body(body).run();
    kept.expect(0, "");
    bank.start();
    bank.script("drain", b"")
        .expect(0, "")
        .expect_stderr(&["1 in quarantine"]);
    bank.bank_ok(&["user", "add", "dora"]);
    bank.bank_ok(&["project", "members", "add", "astro", "dora"]);
    // A refusal was the answer to its key: only under another one it is asked anew.
    let ran = nami(&bank, &["quarantine", "retry", "--all"]);
    assert_eq!(
        (ran.exit, bank.quarantined()),
        (0, 0),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(bank.held(), [("astro".to_owned(), 100)]);
    bank.verify();
}

#[test]
fn a_foreign_folder_and_wrong_settings_are_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let bank = Bank::new();
    std::fs::create_dir(bank.spool()).unwrap();
    std::fs::set_permissions(bank.spool(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = nami(&bank, &["spool", "ls"]);
    assert_eq!(ran.exit, 6, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("hint: run this as the user"),
        "{}",
        ran.stderr
    );
    let bad = conf(&bank, "colour=red\n");
    let ran = bank.bank(&["nami", "spool", "ls", "--conf", bad.to_str().unwrap()]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("nami.conf:4: unknown key"),
        "{}",
        ran.stderr
    );
}

/// Scripts that send and a person who drops at the same time: every document is taken or dropped.
#[test]
fn dropping_beside_running_scripts_loses_nothing_else() {
    let mut bank = Bank::new();
    bank.stop();
    let charge = |number: usize| {
        format!(
            "<Job><ObjectID>Moab.{number}</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Processors>1</Processors><ChargeDuration>10</ChargeDuration></Job>"
        )
    };
    for number in 0..40 {
        bank.script("charge", charge(number).as_bytes())
            .expect(0, "");
    }
    let keys: Vec<String> = listed(&bank, "spool")
        .iter()
        .map(|row| text(row, "key").to_owned())
        .collect();
    bank.start();
    let dropped = std::thread::scope(|scope| {
        let drains: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| bank.script("drain", b"")))
            .collect();
        let dropped = keys.iter().rev().step_by(4).filter(|key| {
            let ran = nami(&bank, &["spool", "drop", key, "--yes"]);
            assert!([0, 4].contains(&ran.exit), "{}", ran.stderr);
            ran.exit == 0
        });
        let dropped = dropped.count();
        for drain in drains {
            drain.join().unwrap().expect(0, "");
        }
        dropped
    });
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    let charges = bank.query("SELECT count(*), count(DISTINCT instance) FROM usage");
    let taken = (keys.len() - dropped).to_string();
    assert_eq!(charges, [[taken.clone(), taken]]);
    bank.verify();
}
