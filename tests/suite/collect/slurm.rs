//! Slurm: incremental, through outages of both sides, and never twice.

use std::fs;

use super::{Collector, PRICE, job, sacct};
use crate::harness::{Bank, T0};

pub(super) fn slurm(bank: &Bank, more: &str) -> Collector {
    let settings = format!(
        "[slurm]\nsacct = \"{}\"\nstart = \"2026-01-01\"\nwindow = \"30m\"\noverlap = \"10m\"\n{more}\n\
         [[slurm.clusters]]\nname = \"colony\"\n",
        sacct(bank).display()
    );
    Collector::new(bank, "slurm", &settings)
}

pub(super) fn jobs(bank: &Bank, count: u32) {
    let all: String = (1..=count).map(|id| job(id, id)).collect();
    fs::write(bank.folder().join("jobs"), all).unwrap();
}

#[test]
fn jobs_are_charged_once_whatever_windows_show_them() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 3600);
    jobs(&bank, 3);
    let slurm = slurm(&bank, "");
    let round = slurm.round(&bank);
    assert_eq!((&round["fetched"], &round["sent"]), (&2.into(), &2.into()));
    assert_eq!(round["outcomes"]["charged"], 3, "{round}");
    assert_eq!(
        round["outcomes"]["duplicate"], 3,
        "both windows show them: {round}"
    );
    assert_eq!(bank.figures("chemistry").0, 100_000 - 3 * PRICE);
    let calls = fs::read_to_string(bank.folder().join("calls")).unwrap();
    let windows: Vec<&str> = calls
        .lines()
        .map(|call| call.split("--starttime ").nth(1).unwrap())
        .map(|rest| rest.split(" --allocations").next().unwrap())
        .collect();
    assert_eq!(
        windows,
        [
            "2026-01-01T00:00:00 --endtime 2026-01-01T00:30:00",
            "2026-01-01T00:20:00 --endtime 2026-01-01T01:00:00",
        ]
    );
    // Nothing new: no call at the same moment, and one of the overlap later.
    assert_eq!(slurm.round(&bank)["fetched"], 0);
    jobs(&bank, 4);
    bank.set_clock(T0 + 3660);
    let round = slurm.round(&bank);
    assert_eq!(round["outcomes"]["charged"], 1, "{round}");
    assert_eq!(bank.figures("chemistry").0, 100_000 - 4 * PRICE);
    let status = slurm.status(&bank);
    assert_eq!(status.len(), 1);
    assert_eq!(status[0]["stream"], "colony");
    assert_eq!(status[0]["until"], "2026-01-01T01:01:00Z");
    assert_eq!(
        (&status[0]["waiting"], &status[0]["lag_s"]),
        (&0.into(), &0.into())
    );
    bank.verify();
}

#[test]
fn an_outage_of_the_bank_loses_and_doubles_nothing() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 3600);
    jobs(&bank, 5);
    let slurm = slurm(&bank, "");
    bank.kill();
    let ran = slurm.once(&bank, &[]);
    assert_eq!(ran.exit, 5, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("cannot reach the daemon"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("2 waiting"), "{}", ran.stdout);
    assert_eq!(slurm.waiting(), 2);
    let status = slurm.status(&bank);
    assert_eq!(
        (&status[0]["waiting"], status[0]["until"].is_null()),
        (&2.into(), true)
    );
    bank.start();
    let round = slurm.round(&bank);
    assert_eq!((&round["sent"], &round["waiting"]), (&2.into(), &0.into()));
    assert_eq!(bank.figures("chemistry").0, 100_000 - 5 * PRICE);
    bank.verify();
}

#[test]
fn an_outage_of_slurm_is_reported_and_made_up_for() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 3600);
    jobs(&bank, 2);
    let slurm = slurm(&bank, "");
    let broken = bank.folder().join("broken");
    fs::write(&broken, "").unwrap();
    let ran = slurm.once(&bank, &[]);
    assert_eq!(ran.exit, 5, "{}", ran.stderr);
    assert!(ran.stderr.contains("no connection"), "{}", ran.stderr);
    assert_eq!(slurm.waiting(), 0, "half an output is none");
    assert_eq!(bank.figures("chemistry").0, 100_000);
    fs::remove_file(broken).unwrap();
    slurm.round(&bank);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * PRICE);
    bank.verify();
}

#[test]
fn a_lost_queue_is_fetched_again() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 3600);
    jobs(&bank, 2);
    let slurm = slurm(&bank, "");
    bank.kill();
    slurm.once(&bank, &[]);
    for entry in fs::read_dir(slurm.folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "batch") {
            fs::remove_file(path).unwrap();
        }
    }
    bank.start();
    slurm.round(&bank);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 2 * PRICE);
    bank.verify();
}

#[test]
fn settings_that_cannot_work_are_a_usage_error() {
    let bank = Bank::new();
    let wrong = Collector::new(&bank, "slurm", "[slurm]\ncolour = 1\n");
    let ran = wrong.once(&bank, &[]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.contains("unknown field `colour`"),
        "{}",
        ran.stderr
    );
    let other = Collector::new(
        &bank,
        "nomad",
        "[slurm]\nstart = \"2026-01-01\"\n[[slurm.clusters]]\nname = \"c\"\n",
    );
    let ran = other.once(&bank, &[]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.contains("settings for slurm, not for nomad"),
        "{}",
        ran.stderr
    );
}
