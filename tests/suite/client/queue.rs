//! The queue on disk: its program is killed at any moment, and the daemon too.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::{example, run};
use crate::harness::{Numbers, Setup};

/// Rounds of the test, each with one kill.
const ROUNDS: u64 = 12;
/// Jobs that one round adds.
const JOBS: u64 = 8;

/// The running example.
fn start(words: &[&str]) -> Child {
    Command::new(example("charge"))
        .args(words)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills the program after so many lines; the jobs that it had queued by then.
fn kill_after(mut child: Child, lines: u64) -> Vec<String> {
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut queued = Vec::new();
    let mut seen = 0;
    while seen < lines {
        let Some(Ok(line)) = output.next() else {
            break;
        };
        queued.extend(line.strip_prefix("queued ").map(str::to_owned));
        seen += 1;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had printed before it was gone.
    let rest = output.map_while(Result::ok);
    queued.extend(rest.filter_map(|line| Some(line.strip_prefix("queued ")?.to_owned())));
    queued
}

/// Input: programs that queue jobs, each killed after a random number of lines, with daemons that run, are away
/// or are killed. Expected: each job that was queued is charged once, and no job is charged twice.
#[test]
fn kills_lose_no_charge_and_make_none_twice() {
    let mut numbers = Numbers::new("client::queue");
    let mut bank = Setup::new().chemistry(10_000_000).start();
    let folder = bank.folder().join("queue");
    let server = format!("unix:{}", bank.socket().display());
    let words = [
        &server,
        folder.to_str().unwrap(),
        "colony",
        "chemistry",
        "amy",
    ];
    let mut queued = Vec::new();
    for round in 0..ROUNDS {
        let jobs: Vec<String> = (0..JOBS).map(|job| format!("r{round}.{job}")).collect();
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        if round % 4 == 1 {
            bank.stop();
        }
        let child = start(&[&words[..], &jobs].concat());
        // Beyond the lines of the jobs, the kill comes while the queue is sent.
        let lines = numbers.between(0, JOBS * 2);
        if round % 4 == 3 {
            bank.kill();
        }
        queued.extend(kill_after(child, lines));
        if !bank.is_running() {
            bank.start();
        }
    }
    let ran = run("charge", &words);
    assert!(ran.stdout.contains(" 0 refused, 0 left"), "{}", ran.stdout);
    let mut charges: BTreeMap<String, u64> = BTreeMap::new();
    for row in bank.journal("charge") {
        let job = row["job"].as_str().unwrap().to_owned();
        *charges.entry(job).or_default() += 1;
    }
    let twice: Vec<_> = charges.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "charged twice: {twice:?}");
    let lost: Vec<_> = queued
        .iter()
        .filter(|job| !charges.contains_key(*job))
        .collect();
    assert!(lost.is_empty(), "queued and not charged: {lost:?}");
    assert!(queued.len() > 10, "{queued:?}");
    bank.verify();
}
