//! A charge by hand of a job that a collector's record charges too, in either order. The record is of a minute.

use std::fs;

use super::moved::{funded, reported};
use super::path;
use super::sums::{agree_exactly, last};
use crate::harness::{Bank, Ran, T0};

/// A bank in which a collector charges the machine.
fn collected() -> Bank {
    let bank = funded("strict");
    bank.bank_ok(&["machine", "set", "green", "--source", "s"]);
    bank
}

/// Charges seconds of the minute by hand, on one processor.
fn by_hand(bank: &Bank, job: &str, seconds: (&str, &str), whose: [&str; 2]) -> Ran {
    let at = |second: &str| format!("2025-12-01T01:{second}Z");
    let (start, end) = (at(seconds.0), at(seconds.1));
    let own = ["charge", job, "-m", "green", "--procs", "1"];
    let time = ["--start", &start, "--end", &end];
    let [project, user] = whose;
    bank.bank(&[&own[..], &time, &["-A", project, "-u", user]].concat())
}

const AMY: [&str; 2] = ["chemistry", "amy"];

/// In thousandths: hours in processor-seconds, and credits.
fn sums(bank: &Bank, hours: i128, credits: i128) {
    assert_eq!(agree_exactly(bank), (hours * 1_000, credits * 1_000));
}

#[test]
fn time_that_a_record_billed_is_not_billed_again() {
    let mut bank = collected();
    reported(&bank, "1", "chemistry", 1);
    sums(&bank, 60, 60);
    let done = by_hand(&bank, "1", ("00:10", "00:40"), AMY);
    assert!(
        done.stdout.starts_with("charged 0 credits"),
        "{}",
        done.stdout
    );
    sums(&bank, 60, 60);
    let of_hand = last(&bank, "charge");
    reported(&bank, "1", "chemistry", 2);
    sums(&bank, 120, 120);
    bank.bank_ok(&["undo", &of_hand]);
    sums(&bank, 120, 120);
    bank.verify();
}

#[test]
fn a_record_bills_what_a_charge_by_hand_left() {
    let mut bank = collected();
    let done = by_hand(&bank, "1", ("00:10", "00:40"), AMY);
    assert!(
        done.stdout.starts_with("charged 30 credits"),
        "{}",
        done.stdout
    );
    let of_hand = last(&bank, "charge");
    bank.bank_ok(&["undo", &of_hand]);
    let undo = last(&bank, "undo");
    sums(&bank, 0, 0);
    // Nothing else charges the job, so the record does, in full.
    reported(&bank, "1", "chemistry", 1);
    sums(&bank, 60, 60);
    // Done again, the charge would bill the same seconds twice.
    let again = bank.bank(&["undo", &undo]);
    assert!(again.stderr.contains("billed already"), "{}", again.stderr);
    sums(&bank, 60, 60);
    bank.verify();
}

#[test]
fn the_record_states_whose_the_job_is() {
    let mut bank = collected();
    reported(&bank, "1", "chemistry", 1);
    for (whose, known) in [
        (["physics", "amy"], ": expected chemistry"),
        (["chemistry", "ops"], ": expected amy"),
    ] {
        let refused = by_hand(&bank, "1", ("01:00", "01:30"), whose);
        assert_eq!(refused.exit, 1, "{}", refused.stdout);
        for part in [known, "the record of s", "under a name of its own"] {
            assert!(refused.stderr.contains(part), "{}", refused.stderr);
        }
    }
    sums(&bank, 60, 60);
    bank.verify();
}

/// An interim charge is more than the whole record of another project bills.
#[test]
fn exports_name_the_project_that_paid_before_the_record() {
    let mut bank = collected();
    bank.set_clock(T0 + 3 * 3_600);
    let at = |hour: &str| format!("2026-01-01T{hour}:00Z");
    let time = ["--start", &at("00:30"), "--end", &at("02:30"), "--interim"];
    let own = ["charge", "1", "-m", "green", "--procs", "1"];
    bank.bank_ok(&[&own[..], &time, &["-A", "chemistry", "-u", "amy"]].concat());
    let row = r#"{"source":"s","id":"1","machine":"green","project":"physics","user":"amy","start":"2026-01-01T00:30:00Z","end":"2026-01-01T00:31:00Z","processors":1}"#;
    let (file, name) = path(&bank, "in.jsonl");
    fs::write(file, row).unwrap();
    bank.bank_ok(&["import", "jsonl", &name]);
    assert_eq!(agree_exactly(&bank), (60_000, 7_200_000));
    bank.verify();
}
