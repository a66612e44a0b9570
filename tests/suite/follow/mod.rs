//! Live files followed by the real daemon, the list of collectors, and what of their records was
//! charged.

mod crash;
mod live;
mod race;
mod reconcile;
mod switch;
mod turns;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Bank, Setup, until};

/// The collector of these tests.
const SOURCE: &str = "pbs:colony";

/// A bank that follows `acct` in its folder.
fn following(more: &str) -> Bank {
    let mut bank = Setup::new().chemistry(1_000_000_000).start();
    bank.stop();
    let path = file(&bank, "acct");
    bank.settings(&format!(
        "\n[[follow]]\nsource = \"{SOURCE}\"\npath = \"{}\"\nformat = \"pbs\"\nsettle_s = 30\n{more}",
        path.display()
    ));
    bank.start();
    bank
}

fn file(bank: &Bank, name: &str) -> PathBuf {
    bank.folder().join(name)
}

fn append(bank: &Bank, text: &str) {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file(bank, "acct"));
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

/// Rotates `acct` as logrotate does in one of three ways, older files first.
fn rotate(bank: &Bank, way: &str) {
    let numbered = |number: usize, ending: &str| file(bank, &format!("acct.{number}{ending}"));
    let is_there =
        |number: &usize| numbered(*number, "").exists() || numbered(*number, ".gz").exists();
    let last = (1..1000).take_while(is_there).last().unwrap_or(0);
    for number in (1..=last).rev() {
        for ending in ["", ".gz"] {
            let _ = std::fs::rename(numbered(number, ending), numbered(number + 1, ending));
        }
    }
    if way == "copy" {
        std::fs::copy(file(bank, "acct"), numbered(1, "")).unwrap();
        std::fs::write(file(bank, "acct"), "").unwrap();
        return;
    }
    std::fs::rename(file(bank, "acct"), numbered(1, "")).unwrap();
    if way == "gzip" {
        let ran = std::process::Command::new("gzip")
            .arg(numbered(1, ""))
            .status();
        assert!(ran.unwrap().success());
    }
}

/// Waits until so many jobs are taken, while the clock passes that closes rotated files.
fn settled(bank: &Bank, count: usize, clock: &mut i64) {
    let wanted = count.to_string();
    let mut looks = 0_u64;
    until("every job is taken", || {
        looks += 1;
        if looks.is_multiple_of(100) {
            *clock += 40;
            bank.set_clock(*clock);
            bank.signal("HUP");
        }
        let found = bank.query("SELECT count(*) FROM usage_identity");
        (found == [[wanted.as_str()]]).then_some(())
    });
}

/// Lines of jobs of an hour on four processors, before the clock of these tests.
fn jobs(ids: std::ops::Range<usize>) -> String {
    let line = |id: usize| {
        let start = 1_767_000_000 + id;
        let end = start + 3600;
        format!(
            "12/31/2025 10:00:00;E;{id}.pbs01;user=amy account=chemistry ctime={start} \
             start={start} end={end} resources_used.ncpus=4\n"
        )
    };
    ids.map(line).collect()
}

fn source(bank: &Bank) -> Value {
    bank.json(&["source", "show", SOURCE])
}

fn jobs_taken(bank: &Bank) -> Option<i64> {
    let ran = bank.bank(&["source", "show", SOURCE, "--json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).ok()?;
    shown["jobs"].as_i64()
}

/// Waits until so many jobs are in the bank. The figures of a collector also count what came again.
fn taken(bank: &Bank, count: i64) {
    let wanted = count.to_string();
    until("the jobs are taken", || {
        let found = bank.query("SELECT count(*) FROM usage_identity");
        (found == [[wanted.as_str()]]).then_some(())
    });
}
