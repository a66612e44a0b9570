//! A use that people charged in part, that closed by itself, and that its collector reports afterwards for another owner:
//! exports, usage and journal have the same hours and charges of each project.

use std::fs;

use super::owners::{agreed, funded};
use super::sums::{agree, last};
use super::{bank, path};
use crate::harness::{Bank, T0};

/// Ten minutes of two processors, charged by hand and not closed.
fn interim(bank: &Bank, machine: &str, (project, user): (&str, &str), hour: u32) {
    let [start, end] = [0, 10].map(|minute| format!("2025-12-01T{hour:02}:{minute:02}:00Z"));
    bank.bank_ok(&[
        "charge",
        "7",
        "--procs",
        "2",
        "-A",
        project,
        "-u",
        user,
        "-m",
        machine,
        "--start",
        &start,
        "--end",
        &end,
        "--interim",
    ]);
}

/// The record of a collector: so many minutes of two processors.
fn record(bank: &Bank, machine: &str, owner: (&str, &str), minutes: u32) {
    ended(bank, machine, owner, minutes, "COMPLETED");
}

fn ended(bank: &Bank, machine: &str, (project, user): (&str, &str), minutes: u32, state: &str) {
    let text = format!(
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
         7|{machine}|{user}|{project}|{state}|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
         2025-12-01T01:{minutes:02}:00|1|2\n"
    );
    let (file, name) = path(bank, "in.sacct");
    fs::write(file, text).unwrap();
    let source = format!("slurm-{machine}");
    bank.bank_ok(&["import", "sacct", &name, "--source", &source]);
}

/// A bank whose machine is charged from the records of a collector.
fn sourced() -> Bank {
    let bank = funded();
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
    bank.set_clock(T0 + 3_600);
    bank
}

const AMY: (&str, &str) = ("chemistry", "amy");
const BOB: (&str, &str) = ("physics", "bob");

#[test]
fn the_first_record_takes_the_hours_to_its_owner() {
    let mut bank = sourced();
    interim(&bank, "colony", AMY, 1);
    assert_eq!(agreed(&bank), ["chemistry 1200 1200"]);
    // It closes by itself.
    bank.set_clock(T0 + 30 * 86_400);
    assert_eq!(agreed(&bank), ["chemistry 1200 1200"]);
    record(&bank, "colony", BOB, 30);
    let both = ["chemistry 0 1200", "physics 3600 2400"];
    assert_eq!(agreed(&bank), both);
    let charge = last(&bank, "charge");
    bank.bank_ok(&["undo", &charge]);
    assert_eq!(agreed(&bank), ["chemistry 3600 1200"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agreed(&bank), both);
    let first = bank.query("SELECT min(id) FROM tx WHERE op = 'charge'");
    bank.bank_ok(&["undo", &first[0][0]]);
    assert_eq!(agreed(&bank), ["physics 3600 2400"]);
    // The record has billed its time.
    let again = bank.bank(&["undo", &last(&bank, "undo")]);
    assert!(again.stderr.contains("billed already"), "{again:?}");
    record(&bank, "colony", BOB, 40);
    assert_eq!(agreed(&bank), ["physics 4800 4800"]);
    record(&bank, "colony", AMY, 50);
    assert_eq!(agreed(&bank), ["chemistry 6000 6000"]);
    bank.verify();
}

/// The hours of everybody who was charged before leave with the record.
#[test]
fn the_hours_of_several_owners_leave() {
    let mut bank = sourced();
    interim(&bank, "colony", AMY, 1);
    interim(&bank, "colony", ("chemistry", "bob"), 2);
    bank.set_clock(T0 + 30 * 86_400);
    assert_eq!(agreed(&bank), ["chemistry 2400 2400"]);
    record(&bank, "colony", BOB, 30);
    assert_eq!(agreed(&bank), ["chemistry 0 2400", "physics 3600 1200"]);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    assert_eq!(agreed(&bank), ["chemistry 3600 2400"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agreed(&bank), ["chemistry 0 2400", "physics 3600 1200"]);
    bank.verify();
}

/// The record closes the use.
#[test]
fn a_record_of_an_open_use_has_its_hours() {
    let mut bank = sourced();
    interim(&bank, "colony", AMY, 1);
    record(&bank, "colony", BOB, 30);
    let both = ["chemistry 0 1200", "physics 3600 2400"];
    assert_eq!(agreed(&bank), both);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    assert_eq!(agreed(&bank), ["chemistry 3600 1200"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agreed(&bank), both);
    bank.verify();
}

/// Shadow charges move no money, and their hours move all the same.
#[test]
fn shadow_charges_leave_their_hours_too() {
    let mut bank = bank();
    bank.set_clock(T0 + 3_600);
    interim(&bank, "blue", AMY, 1);
    bank.set_clock(T0 + 30 * 86_400);
    agree(&bank);
    record(&bank, "blue", BOB, 30);
    agree(&bank);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    agree(&bank);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    agree(&bank);
    bank.verify();
}

/// A record that moves a use which cost nothing is undone: its hours are those of the project before again.
#[test]
fn the_undo_of_a_move_without_a_price_brings_the_hours_back() {
    let mut bank = sourced();
    let policy = "DEBITSUCCESSFULWC";
    bank.bank_ok(&["machine", "set", "colony", "--charge-policy", policy]);
    ended(&bank, "colony", AMY, 30, "FAILED");
    assert_eq!(agreed(&bank), ["chemistry 3600 0"]);
    ended(&bank, "colony", BOB, 30, "FAILED");
    assert_eq!(agreed(&bank), ["physics 3600 0"]);
    bank.bank_ok(&["undo", &last(&bank, "adjust")]);
    assert_eq!(agreed(&bank), ["chemistry 3600 0"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agreed(&bank), ["physics 3600 0"]);
    bank.verify();
}
