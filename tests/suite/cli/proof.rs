//! `bank verify` beside a daemon that goes on writing, `bankd verify` and signed checkpoints.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::harness::{Bank, Documents, Ran, Request, Setup, programs, until};
use rusqlite::Connection;

/// Runs `bankd` on the bank's data directory.
fn bankd(bank: &Bank, arguments: &[&str]) -> Ran {
    let mut command = Command::new(programs().bankd());
    command.args(arguments).arg("--data").arg(bank.data());
    Ran::of(&mut command, b"")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Changes a stopped bank as somebody does who has its file.
fn change(bank: &Bank, sql: &str) {
    let open = Connection::open(bank.data().join("bank.db")).unwrap();
    open.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}"))
        .unwrap();
}

#[test]
fn the_bank_is_proven_while_it_is_served() {
    let mut bank = Bank::new();
    assert!(
        bank.bank_ok(&["verify", "--last"])
            .contains("nothing was verified")
    );
    // Writers go on beside each of these.
    let output = std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            for n in 1..31 {
                bank.bank_ok(&["deposit", "chemistry", &n.to_string()]);
            }
        });
        let mut output = Vec::new();
        while !writes.is_finished() {
            output.push(bank.bank_ok(&["verify"]));
        }
        writes.join().unwrap();
        output
    });
    assert!(!output.is_empty());
    assert!(
        output.iter().all(|one| one.starts_with("ok: ")),
        "{output:?}"
    );
    let last = bank.json(&["verify"]);
    assert_eq!(
        (&last["state"], &last["sound"]),
        (&"done".into(), &true.into())
    );
    assert_eq!(last["checks"], last["of_checks"], "{last}");
    let status = bank.json(&["status"]);
    assert_eq!(last["entries"], status["journal_entries"], "{last}");
    assert_eq!(bank.json(&["verify", "--last"]), last);
    // Something that nobody writes behind the daemon's back is found without stopping it.
    change(
        &bank,
        "UPDATE allocation SET deposited = deposited + 1 WHERE id = 2",
    );
    let ran = bank.bank(&["verify"]);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    for expected in [
        "allocation 2: deposited is",
        "hint: ",
        "[allocation 2",
        "not sound",
    ] {
        assert!(all.contains(expected), "{all}");
    }
    change(
        &bank,
        "UPDATE allocation SET deposited = deposited - 1 WHERE id = 2",
    );
    bank.verify();
}

#[test]
fn offline_proof_names_table_row_and_what_to_do() {
    let mut bank = Bank::new();
    bank.bank_ok(&["deposit", "chemistry", "5"]);
    bank.stop();
    change(
        &bank,
        "UPDATE allocation SET amount = amount + 1 WHERE id = 2",
    );
    let ran = bankd(&bank, &["verify"]);
    assert_eq!(ran.exit, 1);
    for expected in [
        "allocation 2: amount is",
        "the journal has 1000000",
        "hint: the journal has the right value",
    ] {
        assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    }
    let ran = bankd(&bank, &["verify", "--json"]);
    assert_eq!(ran.exit, 1);
    let output: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(output["sound"], false);
    let tables = output["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["table"]);
    assert!(
        tables.clone().any(|table| table == "allocation"),
        "{output}"
    );
    change(
        &bank,
        "UPDATE allocation SET amount = amount - 1 WHERE id = 2",
    );
    assert_eq!(bankd(&bank, &["verify"]).exit, 0);
    // A guard that was taken away is missed.
    change(&bank, "DROP TRIGGER entry_no_update");
    let ran = bankd(&bank, &["verify"]);
    assert!(
        ran.stdout
            .contains("trigger entry_no_update: it is missing"),
        "{}",
        ran.stdout
    );
}

/// A whole copy of an older day verifies; the checkpoint says that its tail is gone.
#[test]
fn a_checkpoint_finds_a_journal_that_was_cut_off_and_one_written_anew() {
    let mut bank = Bank::new();
    let none = bankd(&bank, &["checkpoint"]);
    assert_eq!(none.exit, 4, "{}", none.stderr);
    assert!(
        none.stderr.contains("bankd checkpoint-key new"),
        "{}",
        none.stderr
    );
    assert_eq!(bank.bank(&["checkpoint"]).exit, 4);
    assert_eq!(bankd(&bank, &["checkpoint-key", "new"]).exit, 0);
    assert_eq!(
        bankd(&bank, &["checkpoint-key", "new"]).exit,
        1,
        "never over one"
    );
    let secret = bank.data().join("keys/checkpoint.key");
    let away = bank.folder().join("site.pub");
    std::fs::copy(bank.data().join("keys/checkpoint.key.pub"), &away).unwrap();
    bank.stop();
    let database = bank.data().join("bank.db");
    let older = bank.folder().join("older.db");
    std::fs::copy(&database, &older).unwrap();

    bank.start();
    for _ in 0..3 {
        bank.bank_ok(&["deposit", "chemistry", "7"]);
    }
    let first = bank.folder().join("first.txt");
    let fetched = bank.folder().join("fetched.txt");
    assert_eq!(bankd(&bank, &["checkpoint", "--out", text(&first)]).exit, 0);
    assert_eq!(
        bankd(&bank, &["checkpoint", "--out", text(&first)]).exit,
        1,
        "never over one"
    );
    bank.bank_ok(&["checkpoint", "--out", text(&fetched)]);
    bank.bank_ok(&["deposit", "chemistry", "8"]);
    bank.stop();
    let against = |bank: &Bank, file: &Path| {
        let file = [
            "verify",
            "--checkpoint",
            text(file),
            "--public-key",
            text(&away),
        ];
        bankd(bank, &file)
    };
    for file in [&first, &fetched] {
        let ran = against(&bank, file);
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stdout.contains("contains everything up to transaction"),
            "{}",
            ran.stdout
        );
    }

    let now = bank.folder().join("now.db");
    std::fs::copy(&database, &now).unwrap();
    std::fs::copy(&older, &database).unwrap();
    assert_eq!(
        bankd(&bank, &["verify"]).exit,
        0,
        "an older day is sound in itself"
    );
    let cut = against(&bank, &first);
    assert_eq!(cut.exit, 1);
    assert!(
        cut.stdout.contains("the end of the journal was cut off"),
        "{}",
        cut.stdout
    );

    bank.start();
    for _ in 0..6 {
        bank.bank_ok(&["deposit", "chemistry", "7000"]);
    }
    bank.stop();
    assert_eq!(
        bankd(&bank, &["verify"]).exit,
        0,
        "another history is sound in itself"
    );
    let anew = against(&bank, &first);
    assert_eq!(anew.exit, 1);
    assert!(
        anew.stdout.contains("the history was rewritten"),
        "{}",
        anew.stdout
    );
    std::fs::copy(&now, &database).unwrap();

    // A checkpoint is only worth what its signature is.
    let words = std::fs::read_to_string(&first).unwrap();
    let forged = bank.folder().join("forged.txt");
    std::fs::write(&forged, words.replacen("entries ", "entries 1", 1)).unwrap();
    let ran = against(&bank, &forged);
    assert!(
        ran.exit != 0 && ran.stderr.contains("signature is not right"),
        "{}",
        ran.stderr
    );
    let other = Bank::new();
    let ran = against(&other, &first);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("it belongs to another bank") || ran.stdout.contains("cut off"));
    assert!(!std::fs::read_to_string(&first).unwrap().contains("secret") && secret.exists());
    bank.verify();
}

#[test]
fn what_is_not_sound_is_signed_for_those_only_who_say_so() {
    let mut bank = Bank::new();
    assert_eq!(bankd(&bank, &["checkpoint-key", "new"]).exit, 0);
    bank.stop();
    assert_eq!(bankd(&bank, &["checkpoint"]).exit, 0);
    change(&bank, "UPDATE allocation SET amount = amount + 1");
    let refused = bankd(&bank, &["checkpoint"]);
    assert_eq!(refused.exit, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--even-if-unsound"),
        "{}",
        refused.stderr
    );
    assert_eq!(refused.stdout, "");
    assert_eq!(bankd(&bank, &["checkpoint", "--even-if-unsound"]).exit, 0);
}

/// Neither on demand nor by its timer; when the bank is put right it signs again.
#[test]
fn a_daemon_signs_for_no_bank_that_is_not_sound() {
    let mut bank = Setup::new()
        .chemistry(1000)
        .env("BANKD_CHECKPOINT_EVERY_S", "60")
        .start();
    assert_eq!(bankd(&bank, &["checkpoint-key", "new"]).exit, 0);
    bank.stop();
    let made = bank.data().join("checkpoints");
    if made.exists() {
        std::fs::remove_dir_all(&made).unwrap();
    }
    change(&bank, "UPDATE allocation SET amount = amount + 1");
    bank.start();
    until("the timer says why it makes none", || {
        let log = bank.log();
        let output = log.contains("no checkpoint was made") && log.contains("is not sound");
        output.then_some(())
    });
    let refused = bank.bank(&["checkpoint"]);
    assert_eq!((refused.exit, refused.stdout.as_str()), (1, ""));
    assert!(
        refused.stderr.contains("the bank is not sound: "),
        "{}",
        refused.stderr
    );
    let status = bank.bank_ok(&["status"]);
    assert!(status.contains("no checkpoint"), "{status}");
    assert!(!made.exists());
    bank.stop();
    change(&bank, "UPDATE allocation SET amount = amount - 1");
    bank.start();
    let text = bank.bank_ok(&["checkpoint"]);
    assert!(text.contains("\nsignature "), "{text}");
    // What came since it was proven is proven too.
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    let last = bank.transactions();
    change(
        &bank,
        &format!("DROP TRIGGER tx_no_update; UPDATE tx SET hash = zeroblob(32) WHERE id = {last}"),
    );
    let refused = bank.bank(&["checkpoint"]);
    assert_eq!(refused.exit, 1, "{}{}", refused.stdout, refused.stderr);
    bank.stop_or_kill();
}

/// Going down in the middle of a proof is nothing wrong: the log says so, and no more.
#[test]
fn a_proof_that_the_daemons_end_ends_is_no_error() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    let mut lines = "JobID|Cluster|User|Account|State|Start|End|NCPUS\n".to_owned();
    for id in 0..4_000 {
        let times = "2025-12-31T01:00:00|2025-12-31T02:00:00|2";
        writeln!(lines, "{id}|colony|amy|chemistry|COMPLETED|{times}").unwrap();
    }
    let file = bank.folder().join("uses.sacct");
    std::fs::write(&file, lines).unwrap();
    bank.bank_ok(&["import", "sacct", text(&file), "--source", "slurm:c"]);
    // A proof may have come to its end before the signal did.
    until("a proof was broken off", || {
        let began = bank.json(&["verify", "--no-wait"]);
        assert_eq!(began["state"], "running", "{began}");
        bank.stop();
        let log = bank.log();
        let faults: Vec<&str> = log.lines().filter(|line| line.contains("ERROR")).collect();
        assert!(faults.is_empty(), "{faults:?}");
        let output = log
            .lines()
            .find(|line| line.contains("stopped before the verification finished"));
        assert!(
            output.is_none_or(|line| line.contains("INFO")),
            "{output:?}"
        );
        let is_reported = output.is_some();
        bank.start();
        is_reported.then_some(())
    });
    assert!(bank.bank_ok(&["verify"]).starts_with("ok: "));
    bank.verify();
}

#[test]
fn the_daemon_makes_checkpoints_by_itself() {
    let mut bank = Setup::new()
        .env("BANKD_CHECKPOINT_EVERY_S", "60")
        .env("BANKD_CHECKPOINT_FOLDER", "made")
        .start();
    assert_eq!(bankd(&bank, &["checkpoint-key", "new"]).exit, 0);
    bank.stop();
    bank.start();
    let folder = bank.data().join("made");
    let made = until("a checkpoint was made", || {
        let file = std::fs::read_dir(&folder).ok()?.next()?.ok()?.path();
        // It is there from its first byte on, and whole with its last line.
        let whole = std::fs::read_to_string(&file)
            .ok()?
            .contains("\nsignature ");
        whole.then_some(file)
    });
    bank.stop();
    let ran = bankd(&bank, &["verify", "--checkpoint", text(&made)]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Whoever opens the file with another program counts nothing: the triggers that count are the
/// daemon's own.
#[test]
fn a_row_that_was_deleted_by_hand_is_missed() {
    let mut bank = Setup::new().chemistry(100_000).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    let line = r#"{"source":"slurm:c","id":"1","machine":"colony","project":"nobody","user":"x","start":"2025-12-31T01:00:00Z","end":"2025-12-31T02:00:00Z","processors":1}"#;
    let file = bank.folder().join("uses.jsonl");
    std::fs::write(&file, format!("{line}\nnonsense\n")).unwrap();
    bank.bank(&["import", "jsonl", file.to_str().unwrap()]);
    bank.script("reserve", &Documents::own().get(3))
        .expect(0, "");
    let token = bank.bank_ok(&[
        "token",
        "add",
        "t",
        "--until",
        "2090-01-01",
        "--role",
        "admin",
    ]);
    let token = token.lines().find(|line| line.starts_with("bk_")).unwrap();
    let ran = bank.bank_as(&[("BANK_TOKEN", token)], &["deposit", "chemistry", "1"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    bank.stop();
    let mut struck = Vec::new();
    for table in [
        "clock",
        "moved",
        "key_use",
        "web_session",
        "source",
        "raw_block",
        "quarantine",
        "sink",
        "unmapped",
        "shortage",
        "refused_reserve",
        "proposal",
        "notice",
        "target",
        "follow",
        "follow_file",
        "removal",
        "billed_window",
        "auditor_record",
        "source_reading",
    ] {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("bank.db");
        std::fs::copy(bank.data().join("bank.db"), &path).unwrap();
        let database = Connection::open(&path).unwrap();
        database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        let gone = database
            .execute(&format!("DELETE FROM {table}"), [])
            .unwrap();
        drop(database);
        if gone > 0 {
            let report = bankd_store::verify::run(&path).unwrap();
            assert!(!report.findings.is_empty(), "{table}: {gone} rows");
            struck.push(table);
        }
    }
    assert!(struck.len() >= 4, "{struck:?}");
    bank.verify();
}

/// What was taken with more digits than a document may write is shown, explained and given back.
#[test]
fn numbers_beyond_all_machines_are_read_again() {
    let mut bank = Setup::new().chemistry(100).start();
    let body = br#"{"job":"huge","project":"chemistry","user":"amy","machine":"colony","processors":1000000000000000000,"nodes":9000000000000000000,"duration":1}"#;
    let request = Request {
        target: "/api/v1/charges".to_owned(),
        ..Request::nami("x", "huge", body)
    };
    let answer = bank.over_socket(&request.header("Content-Type", "application/json"));
    assert!(answer.status < 500, "{}", answer.text());
    for words in [&["jobs"][..], &["explain", "huge"], &["jobs", "huge"]] {
        let ran = bank.bank(words);
        assert!(
            ran.exit != 70 && !ran.stderr.contains("internal"),
            "{words:?}: {}",
            ran.stderr
        );
    }
    bank.verify();
}
