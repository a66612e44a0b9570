//! Usage files through the real `bank` and the real daemon: the same totals as counted elsewhere,
//! imports that break off, who may send, what may be sent, and what could not be read.

mod access;
mod again;
mod broken;
mod busy;
mod exact;
mod expected;
mod live;
mod quarantine;
mod refused;
mod replayed;
mod samples;
mod unstated;
mod usage;
mod wire;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Bank, Setup, T0};

/// A bank in which nothing moves money, with settings.
fn watching(settings: &[(&str, &str)]) -> Bank {
    let mut setup = Setup::new().env("BANKD_LEDGER_MODE", "track");
    for (name, value) in settings {
        setup = setup.env(name, value);
    }
    let bank = setup.start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.set_clock(T0 + 86_400);
    bank
}

/// The header line of [`lines`].
const HEAD: &str = "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n";

/// So many jobs of an hour with two processors each, numbered from `first`.
fn lines(first: usize, many: usize) -> String {
    let mut text = String::new();
    for id in first..first + many {
        let minute = id % 60;
        writeln!(
            text,
            "{id}|colony|amy|chemistry|COMPLETED|0:0|2025-12-01T00:00:00|\
             2025-12-01T01:{minute:02}:00|2025-12-01T02:{minute:02}:00|1|2"
        )
        .unwrap();
    }
    text
}

/// So many lines that cannot be read: they name no job. Each has 95 bytes.
fn nameless(many: usize) -> String {
    let name = |(n, line): (usize, &str)| {
        let (_, rest) = line.split_once("|colony|amy|").unwrap();
        format!("|colony|am{n}|{rest}\n")
    };
    lines(0, many).lines().enumerate().map(name).collect()
}

/// A file in the bank's folder.
fn file(bank: &Bank, name: &str, text: impl AsRef<[u8]>) -> String {
    let path: PathBuf = bank.folder().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Gives the uses of the account `nope` to chemistry, and those alone.
#[track_caller]
fn assign(bank: &Bank) {
    let line = "unmapped assign account=nope chemistry --yes --no-rule";
    bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
}

/// Runs `bank import … --json`, which must succeed.
#[track_caller]
fn summary(bank: &Bank, arguments: &[&str]) -> Value {
    let all = [&["import"], arguments, &["--json"]].concat();
    serde_json::from_str(&bank.bank_ok(&all)).unwrap()
}
