//! Clients by other people: AUDITOR's own, from the Python package `python-auditor`, over the same wire.

use std::path::PathBuf;
use std::process::Command;

use super::authority::Authority;
use super::{Site, secure_site, site};
use crate::harness::{Ran, python, skip};

/// A Python that has the package; a line that says so where there is none.
pub(super) fn client() -> Option<PathBuf> {
    let python = python("pyauditor");
    if python.is_none() {
        let why = "no Python with python-auditor (BANK_TEST_PYTHON)";
        skip("python-auditor", why);
    }
    python
}

/// The program that drives the client, with what it is to do.
pub(super) fn command(python: PathBuf, what: &str, address: &str) -> Command {
    let (host, port) = address.split_once(':').unwrap();
    let mut command = Command::new(python);
    command
        .arg("-W")
        .arg("ignore::DeprecationWarning")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/auditor.py"))
        .args([what, host, port]);
    command
}

fn ran(mut command: Command) -> String {
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn the_blocking_and_the_asynchronous_client_are_understood() {
    let Some(python) = client() else { return };
    let Site { mut bank, address } = site();
    let response = ran(command(python, "clients", &address));
    let parts = "{'site_id': ['hpc'], 'group_id': ['chemistry', 'ü/<\"\\\\']} \
                 Cores=8/HEPSPEC:3.5 Memory=1099511627776";
    let calls = |prefix: &str, done: &str, before: &str| {
        format!(
            "\
health: True
add: {done}
add again: RuntimeError RECORD_EXISTS
add other content: RuntimeError RECORD_EXISTS
bulk: {done}
bulk of nothing: {done}
bulk with a known one: RuntimeError RECORD_EXISTS
open: {prefix}3 2026-01-01T00:00:20.678901 - None {parts}
update: {done}
update again: {done}
update unknown: RuntimeError Reqwest Error: HTTP status client error (404 Not Found)
closed: {prefix}3 2026-01-01T00:00:20.678901 2026-01-01T00:00:40.678901 20 {parts}
one: {prefix}1 2026-01-01T00:00:00.678901 2026-01-01T00:01:40.678901 100 {parts}
one unknown: RuntimeError Reqwest Error: HTTP status client error (404 Not Found)
all: {}
started since: {}
stopped since: {}
query: {}
",
            both(before, prefix, &["3", "2", "1"]),
            both(before, prefix, &["3", "2"]),
            both(before, prefix, &["2", "1"]),
            both(before, prefix, &["2", "1"]),
        )
    };
    let expected = format!(
        "blocking\n{}asynchronous\n{}",
        calls("b", "None", ""),
        calls("a", "()", "b")
    );
    assert_eq!(response, expected);
    bank.verify();
}

/// Names in the order of their ends; those of the client before come first where they are equal.
fn both(before: &str, prefix: &str, numbers: &[&str]) -> String {
    let names = numbers.iter().flat_map(|number| {
        let prefixes = [before, prefix].into_iter().filter(|p| !p.is_empty());
        prefixes.map(move |prefix| format!("{prefix}{number}"))
    });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_query_that_the_builder_makes_is_answered() {
    let Some(python) = client() else { return };
    let Site {
        bank: _bank,
        address,
    } = site();
    let response = ran(command(python, "query", &address));
    // q1: 0 to 100, hpc, 8. q2: 10 to 60, odd site, 16. q3: from 20, hpc, 4. q#4: 30 to 40, htc, 8.
    let expected = "\
nothing: q#4 +%2f q2 q1 q3
record id: q#4 +%2f
start gt: q#4 +%2f q3
start gte: q#4 +%2f q2 q3
start lt: q1
start equals: q2
stop lte: q#4 +%2f q2
stop between: q2
stop gt and gte: q1
runtime gt: q2 q1
runtime lte: q#4 +%2f q2
runtime equals: q2
meta: q1 q3
meta odd: q2
meta both: q#4 +%2f q2 q1 q3
meta both of one: -
meta without: q#4 +%2f q2
meta unknown key: -
component equals: q#4 +%2f q1
component gt: q#4 +%2f q1
component large: q#4 +%2f q2 q1 q3
ascending: q#4 +%2f q2 q1 q3
descending: q3 q1 q2 q#4 +%2f
by id: q3 q2 q1 q#4 +%2f
limit: q1 q2
everything: q1
";
    assert_eq!(response, expected);
}

#[test]
fn the_client_with_a_certificate_is_known_by_it() {
    let (Some(python), Some(authority)) = (client(), Authority::new()) else {
        return;
    };
    authority.issue("writer", "/CN=the.collector");
    authority.issue("reader", "/CN=the.plugin");
    let Site { mut bank, address } = secure_site(
        &authority,
        "write = [\"the.collector\"]\nread = [\"the.plugin\"]\n",
    );
    let as_caller = |name: &str| {
        let mut command = command(python.clone(), "tls", &address);
        for file in [
            format!("{name}.pem"),
            format!("{name}.key"),
            "ca.pem".to_owned(),
        ] {
            command.arg(authority.path(&file));
        }
        ran(command)
    };
    let forbidden = "RuntimeError Reqwest Error: HTTP status client error (403 Forbidden)";
    assert_eq!(
        as_caller("writer"),
        format!(
            "health: True\nadd: None\nadd again: RuntimeError RECORD_EXISTS\nupdate: None\n\
             one: {forbidden}\nall: {forbidden}\n"
        )
    );
    // A client takes any answer to an insert for success: what it is told is nothing.
    assert_eq!(
        as_caller("reader"),
        format!(
            "health: True\nadd: None\nadd again: None\nupdate: {forbidden}\none: 60\nall: t1\n"
        )
    );
    bank.verify();
}
