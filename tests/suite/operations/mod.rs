//! What whoever runs a bank does with it: backups of a served bank and the way back, a new schema,
//! settings that change while it serves, a disk without room, and what a client may ask of it.

pub(crate) mod backup;
mod derived;
mod full;
mod hints;
mod limits;
mod logged;
mod metrics;
mod modes;
mod moved;
mod read_only;
mod reload;
mod removed_money;
mod restored;

use std::path::Path;
use std::process::Command;

use crate::harness::{Bank, Ran, programs};

/// Runs `bankd` with the bank's clock.
fn bankd(bank: &Bank, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(programs().bankd());
    command
        .args(arguments)
        .env("BANKD_TEST_CLOCK", bank.clock())
        .envs(env.iter().copied());
    Ran::of(&mut command, b"")
}

/// Runs `bankd` and insists.
#[track_caller]
fn bankd_ok(bank: &Bank, arguments: &[&str]) -> String {
    let ran = bankd(bank, arguments, &[]);
    let words = arguments.join(" ");
    assert_eq!(ran.exit, 0, "bankd {words}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// Who the bank takes the tests for on its socket.
fn me() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    format!("unix:{}", String::from_utf8(output.stdout).unwrap().trim())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
