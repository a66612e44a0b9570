//! The daemon killed under load, again and again, at random moments and at named points between
//! decide, append, commit and reply: every answered command is there exactly once, every unanswered
//! one that is sent again with its key ends up exactly once, the whole ledger verifies, and the
//! record files hold every charge once.
//!
//! The seed of a run is printed; `BANK_TEST_SEED` repeats its choices.

mod cycle;
mod import;
mod load;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::harness::{Bank, Numbers, Setup, pause};
use load::{Load, SECONDS, STEPS};

/// Rounds of each of the five tests.
const ROUNDS: u64 = 11;
/// What chemistry has: enough for everything.
const PLENTY: i64 = 1_000_000_000;

fn bank() -> Bank {
    Setup::new()
        .chemistry(PLENTY)
        .env("BANKD_FILE_PATH", "file.txt")
        .env("BANKD_GGF_PATH", "ggf.xml")
        .env("BANKD_LOG_LEVEL", "warn")
        .start()
}

/// Kills at a named point, after a random number of times that it was passed.
fn at_point(point: &str) {
    let mut numbers = Numbers::new(point);
    let mut bank = bank();
    let mut load = Load::new();
    for _ in 0..ROUNDS {
        bank.stop_or_kill();
        let count = numbers.between(1, if point == "committed" { 40 } else { 120 });
        let trap = format!("{point}:{count}");
        if bank.start_with(&[("BANKD_KILL_AT", &trap)]) {
            load.run_until_gone(&mut bank);
        }
    }
    settle(bank, load);
}

/// Kills from outside, at a random moment.
fn at_random() {
    let mut numbers = Numbers::new("random");
    let mut bank = bank();
    let mut load = Load::new();
    for _ in 0..ROUNDS {
        let time = Duration::from_millis(numbers.between(5, 150));
        load.run_while(&mut bank, |bank| {
            pause(time);
            bank.kill_now();
        });
        bank.kill();
        bank.verify();
        bank.start();
    }
    settle(bank, load);
}

/// Sends again what had no answer, and takes stock.
fn settle(mut bank: Bank, mut load: Load) {
    bank.stop_or_kill();
    bank.start();
    load.finish(&bank);
    bank.verify();
    let objects = load.objects();
    eprintln!(
        "{} objects, {} answers lost and asked for again",
        objects.len(),
        load.lost()
    );
    assert!(
        objects.len() > 20,
        "the load was too small: {}",
        objects.len()
    );
    in_the_ledger(&bank, &objects);
    in_the_files(&bank, &objects);
}

fn in_the_ledger(bank: &Bank, objects: &[String]) {
    let sql = "SELECT object_id, count(*), sum(amount) FROM usage JOIN instance \
               ON usage.instance = instance.id GROUP BY object_id ORDER BY object_id";
    let expected: Vec<Vec<String>> = objects
        .iter()
        .map(|id| vec![id.clone(), "1".to_owned(), SECONDS.to_string()])
        .collect();
    assert_eq!(bank.query(sql), expected, "every charge once");
    let count = objects.len().to_string();
    let closed = "SELECT count(*) FROM instance WHERE closed_by = 'delete'";
    assert_eq!(
        bank.query(closed),
        [[count.clone()]],
        "every object deleted once"
    );
    for (kind, times) in [("charge", "1"), ("lien_release", "1"), ("lien", "1")] {
        let sql = format!(
            "SELECT count(*), count(DISTINCT instance) * {times} FROM entry WHERE kind = '{kind}'"
        );
        assert_eq!(bank.query(&sql), [[count.clone(), count.clone()]], "{kind}");
    }
    let left = PLENTY - i64::try_from(objects.len()).unwrap() * SECONDS;
    let sql = "SELECT allocation.amount, allocation.held FROM allocation JOIN account \
               ON account.id = allocation.account WHERE account.name = 'chemistry'";
    assert_eq!(bank.query(sql), [[left.to_string(), "0".to_owned()]]);
    let keys = "SELECT count(*) FROM idempotency WHERE key LIKE 'load-%'";
    assert_eq!(bank.query(keys), [[(objects.len() * STEPS).to_string()]]);
}

/// Every object has one line in each file.
fn in_the_files(bank: &Bank, objects: &[String]) {
    for (file, before, after) in [
        ("file.txt", "REQUESTID=", "\n"),
        ("ggf.xml", "<LocalJobId>", "</LocalJobId>"),
    ] {
        let text = std::fs::read_to_string(bank.data().join(file)).unwrap();
        assert!(text.ends_with('\n'), "{file} ends with a whole line");
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.split_inclusive('\n') {
            let id = line
                .split_once(before)
                .and_then(|(_, rest)| rest.split_once(after));
            let (id, _) = id.unwrap_or_else(|| panic!("{file}: {line:?}"));
            *seen.entry(id).or_default() += 1;
        }
        let expected: BTreeMap<&str, usize> = objects.iter().map(|id| (id.as_str(), 1)).collect();
        assert_eq!(seen, expected, "{file}: every object once");
    }
    let behind = "SELECT count(*) FROM record r JOIN sink s ON r.id > s.upto";
    assert_eq!(bank.query(behind), [["0"]]);
}

#[test]
fn killed_after_deciding() {
    at_point("decided");
}

#[test]
fn killed_after_appending() {
    at_point("appended");
}

#[test]
fn killed_after_committing() {
    at_point("committed");
}

#[test]
fn killed_after_replying() {
    at_point("replied");
}

#[test]
fn killed_at_random_moments() {
    at_random();
}
