//! Exports as other programs get them: every use once, along a cursor that survives the ends of runs, in
//! every format.

mod beside;
mod billed;
mod by_hand;
mod by_itself;
mod ended;
mod feed;
mod focus;
mod formats;
mod investigators;
mod machines;
mod moved;
mod names;
mod nerc;
mod openshift;
mod owners;
mod periods;
mod reissued;
pub(crate) mod seen;
pub(crate) mod sums;
mod undone;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Bank, Documents, Request, Setup, T0};

/// A bank whose machine `colony` is charged by its scheduler, and on which `blue` only is watched.
fn bank() -> Bank {
    let bank = Setup::new()
        .env("BANKD_EXPORT_SITE", "EXAMPLE-SITE")
        .env("BANKD_EXPORT_BENCHMARK", "HEPscore23")
        .env("BANKD_EXPORT_BENCHMARK_VALUE", "15.3")
        .env("BANKD_EXPORT_ASSUME_FULL_CPU", "true")
        .env("BANKD_EXPORT_VOS", "chemistry=chem")
        .start();
    bank.bank_ok(&["machine", "add", "blue"]);
    bank.bank_ok(&["machine", "set", "blue", "--mode", "track"]);
    bank
}

/// A job of the scheduler: charged, and closed.
fn charged(bank: &Bank) {
    let documents = Documents::own();
    for (event, number) in [("reserve", 3), ("charge", 4), ("charge", 5), ("delete", 6)] {
        bank.script(event, &documents.get(number)).expect(0, "");
    }
}

/// So many jobs of an hour with two processors each on the watched machine, numbered from `first`, with so
/// many seconds of processor time.
fn watched(bank: &Bank, first: usize, many: usize, cpu_s: u32) {
    imported(bank, "blue", (first, many), cpu_s);
}

/// The same on any machine, as a collector of its own.
fn imported(bank: &Bank, machine: &str, (first, many): (usize, usize), cpu_s: u32) {
    bank.set_clock(T0 + 86_400);
    let mut text =
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS|TotalCPU\n"
            .to_owned();
    for id in first..first + many {
        let minute = id % 60;
        writeln!(
            text,
            "{id}|{machine}|amy|chemistry|COMPLETED|0:0|2025-12-01T00:00:00|\
             2025-12-01T01:{minute:02}:00|2025-12-01T02:{minute:02}:00|1|2|00:00:{cpu_s:02}"
        )
        .unwrap();
    }
    let path = bank.folder().join("in.sacct");
    std::fs::write(&path, text).unwrap();
    bank.bank_ok(&[
        "import",
        "sacct",
        path.to_str().unwrap(),
        "--source",
        &format!("slurm-{machine}"),
    ]);
}

fn export(bank: &Bank, words: &[&str]) -> String {
    bank.bank_ok(&[&["export"], words].concat())
}

fn path(bank: &Bank, name: &str) -> (PathBuf, String) {
    let path = bank.folder().join(name);
    let text = path.to_str().unwrap().to_owned();
    (path, text)
}

/// The uses of a text of JSON Lines, without its first line.
fn uses(text: &str) -> Vec<Value> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(r#"{"schema":"bank-usage/1"}"#));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn names(uses: &[Value]) -> Vec<String> {
    let name = |one: &Value| one["record_id"].as_str().unwrap().to_owned();
    uses.iter().map(name).collect()
}

/// One page, as the daemon answers it.
fn page(bank: &Bank, target: &str) -> Value {
    let answer = bank.over_socket(&Request::get(target));
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_str(&answer.text()).unwrap()
}
