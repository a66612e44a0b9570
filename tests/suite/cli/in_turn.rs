//! Corrections after one another: what a later one makes of an earlier one.

use serde_json::Value;

use crate::export::sums::agree_exactly;
use crate::harness::{Bank, Request, Setup, T0};

const JOB: [&str; 9] = [
    "j",
    "-A",
    "chemistry",
    "-u",
    "amy",
    "-m",
    "colony",
    "--procs",
    "1",
];

/// Charges a part of the job, and gives its transaction.
fn part(bank: &Bank, seconds: &str) -> String {
    let words = ["--interim", "--duration", seconds];
    bank.bank_ok(&[&["charge"], &JOB[..], &words].concat());
    newest(bank)
}

fn newest(bank: &Bank) -> String {
    bank.query("SELECT max(id) FROM tx")[0][0].clone()
}

/// What the job has paid.
fn paid(bank: &Bank) -> i64 {
    100_000 - bank.figures("chemistry").0
}

/// Ends the job: exports have what is closed. Then they, `bank usage`, the journal, the balance sheet and the statement have
/// what it has paid.
#[track_caller]
fn add_up(bank: &Bank, more: &[&str], credits: i64) {
    bank.bank_ok(&[&["charge"], &JOB[..], more].concat());
    assert_eq!(paid(bank), credits);
    assert_eq!(agree_exactly(bank).1, i128::from(credits) * 1_000);
    let journal = "SELECT -sum(delta_amount) FROM entry WHERE usage IS NOT NULL";
    assert_eq!(bank.query(journal), [[credits.to_string()]]);
    let closing = (100_000 - credits).to_string();
    let words = [
        "report",
        "balance-sheet",
        "--from",
        "2025-12-01",
        "--to",
        "2026-02-01",
    ];
    let sheet = bank.json(&words);
    let rows = sheet["items"].as_array().unwrap().iter();
    let own: Vec<&Value> = rows.filter(|row| row["account"] == "chemistry").collect();
    assert_eq!(own[0]["closing"], closing, "{sheet}");
    let target = "/api/v1/statements?project=chemistry&from=2025-12-01T00:00:00Z";
    let answer = bank.over_socket(&Request::get(target)).text();
    let statement: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(statement["closing"], closing, "{statement}");
}

#[test]
fn a_redo_does_not_exceed_the_maximum_price() {
    let mut bank = Setup::new().start();
    bank.bank_ok(&["rate", "set", "MAX", "90"]);
    bank.set_clock(T0 + 3_600);
    let first = part(&bank, "60");
    part(&bank, "60");
    bank.bank_ok(&["undo", &first]);
    let undo = newest(&bank);
    let third = part(&bank, "60");
    assert_eq!(paid(&bank), 90);
    let again = bank.bank(&["undo", &undo]);
    assert_eq!(again.exit, 1);
    assert!(
        again.stderr.contains("minimum or maximum price"),
        "{}",
        again.stderr
    );
    assert_eq!(paid(&bank), 90);
    // Without the charge that has billed it since, it is done again.
    bank.bank_ok(&["undo", &third]);
    bank.bank_ok(&["undo", &undo]);
    assert_eq!(paid(&bank), 90);
    add_up(&bank, &["--duration", "10"], 90);
    bank.verify();
}

#[test]
fn a_redo_does_not_bill_the_minimum_price_twice() {
    let mut bank = Setup::new().start();
    bank.bank_ok(&["rate", "set", "MIN", "50"]);
    bank.set_clock(T0 + 3_600);
    let first = part(&bank, "10");
    bank.bank_ok(&["undo", &first]);
    let undo = newest(&bank);
    part(&bank, "10");
    assert_eq!(paid(&bank), 50);
    assert_eq!(bank.bank(&["undo", &undo]).exit, 1);
    add_up(&bank, &["--duration", "10"], 50);
    bank.verify();
}

/// A smaller total gives money back as a refund does.
#[test]
fn a_smaller_total_by_hand_needs_the_approval_of_a_refund() {
    let mut bank = Setup::new().env("BANKD_APPROVAL_REFUND", "1000").start();
    bank.bank_ok(&[&["charge"], &JOB[..], &["--duration", "5000"]].concat());
    for total in [&["--duration", "1"][..], &["--amount", "0"]] {
        let ran = bank.bank(&[&["charge"], &JOB[..], &["--total"], total].concat());
        assert_ne!(ran.exit, 0, "{total:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("approv"), "{}", ran.stderr);
    }
    assert_eq!(paid(&bank), 5000);
    add_up(&bank, &["--total", "--duration", "4500"], 4500);
    bank.verify();
}

/// In the mode `fast`, an account below zero is blocked until money comes.
#[test]
fn an_account_is_blocked_again_without_the_money_that_cleared_its_block() {
    let mut bank = Setup::new().chemistry(100).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "fast"]);
    bank.bank_ok(&[&["charge"], &JOB[..], &["--duration", "300"]].concat());
    let reserve = || {
        let words = [
            "reserve",
            "k",
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
        ];
        bank.bank(&[&words[..], &["--procs", "1", "--wall", "100"]].concat())
    };
    assert!(
        reserve().stderr.contains("below zero"),
        "{}",
        reserve().stderr
    );
    bank.bank_ok(&["deposit", "chemistry", "1000"]);
    let deposit = newest(&bank);
    bank.bank_ok(&["undo", &deposit, "--allow-debt"]);
    assert_eq!(paid(&bank), 100_000 + 200);
    assert!(
        reserve().stderr.contains("below zero"),
        "{}",
        reserve().stderr
    );
    let undo = newest(&bank);
    bank.bank_ok(&["undo", &undo]);
    assert_eq!(reserve().exit, 0);
    bank.verify();
}

/// A machine that is removed and added again is charged by the source that charged it before.
#[test]
fn a_machine_that_comes_back_keeps_its_source() {
    let mut bank = Setup::new().start();
    let report = |job: u32| {
        let row = format!(
            r#"{{"source":"s","id":"{job}","machine":"blue","project":"chemistry","user":"amy","start":"2025-12-31T0{job}:00:00Z","end":"2025-12-31T0{job}:01:00Z","processors":1}}"#
        );
        let file = bank.folder().join("in.jsonl");
        std::fs::write(&file, row + "\n").unwrap();
        bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    };
    bank.bank_ok(&["machine", "add", "blue"]);
    report(1);
    assert_eq!(paid(&bank), 60);
    bank.bank_ok(&["machine", "rm", "blue", "--yes"]);
    bank.bank_ok(&["machine", "add", "blue"]);
    report(2);
    assert_eq!(paid(&bank), 120);
    assert_eq!(bank.json(&["machine", "show", "blue"])["source"], "s");
    bank.verify();
}
