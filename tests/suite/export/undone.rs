//! What is undone leaves a use as if it had never come: its price, its quantities and its hours, by usage, exports and journal.

use std::fs;

use super::owners::{agreed, funded};
use super::path;
use super::sums::last;
use crate::harness::{Bank, T0};

/// The record of a job of chemistry on two processors.
fn record(bank: &Bank, seconds: u32) {
    let end = format!("2026-01-01T01:{:02}:{:02}", seconds / 60, seconds % 60);
    let text = format!(
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
         9|colony|amy|chemistry|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T01:00:00|{end}|1|2\n"
    );
    let (file, name) = path(bank, "in.sacct");
    fs::write(file, text).unwrap();
    bank.bank_ok(&["import", "sacct", &name, "--source", "slurm-colony"]);
}

/// A refund is undone if the project then pays what the use costs, and not if it would pay more.
#[test]
fn a_refund_is_undone_up_to_the_cost_of_the_use() {
    let mut bank = funded();
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
    bank.set_clock(T0 + 4 * 3_600);
    record(&bank, 600);
    bank.bank_ok(&["refund", "9", "700"]);
    assert_eq!(agreed(&bank), ["chemistry 1200 500"]);
    let refund = last(&bank, "refund");
    // It costs 600, and 500 are left.
    record(&bank, 300);
    assert_eq!(agreed(&bank), ["chemistry 600 0"]);
    let refused = bank.bank(&["undo", &refund]);
    let fall = last(&bank, "adjust");
    assert_ne!(refused.exit, 0);
    let why = format!("transaction {fall} gave back all that the refund had left");
    assert!(refused.stderr.contains(&why), "{refused:?}");
    bank.bank_ok(&["undo", &fall]);
    // It costs 700: all that was left goes back, and no more would have.
    record(&bank, 350);
    assert_eq!(agreed(&bank), ["chemistry 700 0"]);
    bank.bank_ok(&["undo", &refund]);
    assert_eq!(agreed(&bank), ["chemistry 700 700"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agreed(&bank), ["chemistry 700 0"]);
    bank.verify();
}

/// The quantities of an undone charge do not price the next one.
#[test]
fn an_undone_charge_leaves_no_quantities() {
    let mut bank = funded();
    let charge = |job: &str, more: &[&str]| {
        let words = [
            "charge",
            job,
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
        ];
        let time = ["--duration", "60", "--interim"];
        bank.bank_ok(&[&words[..], &time, more].concat())
    };
    charge("5", &["--procs", "4"]);
    charge("5", &["--procs", "16"]);
    let wrong = last(&bank, "charge");
    bank.bank_ok(&["undo", &wrong]);
    charge("5", &[]);
    let sum = 240 + 240;
    // It closes by itself, and is exported.
    bank.set_clock(T0 + 30 * 86_400);
    assert_eq!(agreed(&bank), [format!("chemistry {sum} {sum}")]);
    bank.verify();
}
