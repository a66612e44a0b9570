//! What is made of the journal never stops the bank: backups and checkpoints go on without it.

use super::{bankd, bankd_ok};
use crate::harness::Setup;

/// Sums of usage beyond 64 bits are the same for the writer, a rebuild and `verify`.
#[test]
fn enormous_usage_can_be_added_up() {
    let mut bank = Setup::new().start();
    for job in ["1", "2", "3"] {
        let words = format!(
            "charge {job} -A chemistry -u amy -m colony --procs 999999999999999 --wall 3600 --amount 1"
        );
        bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    }
    bank.verify();
    let data = bank.data();
    let data = data.to_str().unwrap();
    bankd_ok(&bank, &["rollup", "verify", "--data", data]);
    bankd_ok(&bank, &["rollup", "rebuild", "--data", data]);
    bankd_ok(&bank, &["verify", "--data", data]);
    let out = bank.folder().join("backups");
    bankd_ok(
        &bank,
        &["backup", "--data", data, "--out", out.to_str().unwrap()],
    );
}

#[test]
fn a_wrong_rollup_stops_no_backup() {
    let mut bank = Setup::new().start();
    let words = "charge 1 -A chemistry -u amy -m colony --procs 2 --wall 3600";
    bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    bank.stop();
    let database = rusqlite::Connection::open(bank.data().join("bank.db")).unwrap();
    database
        .execute("UPDATE rollup SET running = running + 1", [])
        .unwrap();
    drop(database);
    let data = bank.data();
    let data = data.to_str().unwrap();
    let output = bankd(&bank, &["verify", "--data", data], &[]);
    assert_ne!(output.exit, 0, "{}", output.stdout);
    assert!(
        output.stdout.contains("rollup rebuild"),
        "{}",
        output.stdout
    );
    let out = bank.folder().join("backups");
    bankd_ok(
        &bank,
        &["backup", "--data", data, "--out", out.to_str().unwrap()],
    );
    let made = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let made = made.filter(|path| path.join("bank.db").exists());
    let copies: Vec<_> = made.map(|path| path.join("bank.db")).collect();
    assert_eq!(copies.len(), 1);
    let copy = rusqlite::Connection::open(&copies[0]).unwrap();
    let running: i64 = copy
        .query_row("SELECT sum(running) FROM rollup", [], |r| r.get(0))
        .unwrap();
    assert_eq!(running, 1);
    // Of the journal nothing may differ.
    let database = rusqlite::Connection::open(bank.data().join("bank.db")).unwrap();
    database
        .execute_batch("DROP TRIGGER entry_no_update")
        .unwrap();
    database
        .execute(
            "UPDATE entry SET delta_amount = delta_amount - 1 WHERE kind = 'charge'",
            [],
        )
        .unwrap();
    drop(database);
    let refused = bankd(
        &bank,
        &["backup", "--data", data, "--out", out.to_str().unwrap()],
        &[],
    );
    assert_ne!(refused.exit, 0, "{}", refused.stdout);
}

/// Balance snapshots follow from the journal: a rebuild makes them again, by the advice of `verify`.
#[test]
fn wrong_balance_snapshots_are_made_anew() {
    let mut bank = Setup::new().start();
    let words = "charge 1 -A chemistry -u amy -m colony --procs 2 --wall 3600";
    bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    bank.stop();
    let database = rusqlite::Connection::open(bank.data().join("bank.db")).unwrap();
    database
        .execute(
            "INSERT INTO waypoint (n, tx, entry, from_at, whole, sums) VALUES (1, 1, 1, 0, 0, 0)",
            [],
        )
        .unwrap();
    drop(database);
    let data = bank.data();
    let data = data.to_str().unwrap();
    let output = bankd(&bank, &["verify", "--data", data], &[]);
    assert_ne!(output.exit, 0, "{}", output.stdout);
    assert!(output.stdout.contains("[waypoint"), "{}", output.stdout);
    assert!(
        output.stdout.contains("rollup rebuild"),
        "{}",
        output.stdout
    );
    bankd_ok(&bank, &["rollup", "rebuild", "--data", data]);
    bankd_ok(&bank, &["verify", "--data", data]);
}
