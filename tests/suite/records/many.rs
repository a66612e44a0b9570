//! Ten thousand records, while the daemon is killed again and again and another process writes into the
//! same file: every line of ours is there once and whole, and every byte of theirs too
//! (`usage-records.md` 8, item 3).

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use super::{bank, value};
use crate::harness::{Bank, Documents, Numbers, pause};
use bank_core::directory::Policy;
use bankd_store::{SqliteStore, open_reader, records_after};

const RECORDS: usize = 10_000;

/// Ten thousand records that no file has yet: copies of one that the daemon made.
fn seeded() -> Bank {
    let mut bank = bank(true);
    let body = Documents::own().with(5, &[("Moab.1024", "job.1.")]);
    bank.script("charge", &body).expect(0, "");
    bank.verify();
    let path = bank.data().join("bank.db");
    let mut store = SqliteStore::open(&path, Policy::default()).unwrap();
    let first = records_after(&open_reader(&path).unwrap(), 0, 1)
        .unwrap()
        .remove(0);
    let made = "SELECT created_at, number FROM record WHERE id = 1";
    let made = bank.query(made).remove(0);
    let (created, number) = (made[0].parse().unwrap(), made[1].parse().unwrap());
    store.begin().unwrap();
    for n in 2..=RECORDS {
        let text = first.text.replace("job.1.", &format!("job.{n}."));
        store.keep_record(created, number, &text).unwrap();
    }
    store.commit().unwrap();
    bank
}

/// The length that the daemon has confirmed.
fn confirmed(bank: &Bank) -> u64 {
    let row = bank.query("SELECT length FROM sink WHERE name = 'file'");
    row[0][0].parse().unwrap()
}

/// A part of what was written since is lost, as after a power cut.
fn tear(bank: &Bank, numbers: &mut Numbers) {
    let path = bank.data().join("file.txt");
    let size = std::fs::metadata(&path).unwrap().len();
    let kept = numbers.between(confirmed(bank).min(size), size);
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(kept).unwrap();
}

/// Another process's bytes, some without a line feed.
fn intrude(bank: &Bank, numbers: &mut Numbers, pieces: &mut Vec<String>) {
    let piece = format!("# piece {} of another process", pieces.len());
    let end = if numbers.between(0, 1) == 0 { "\n" } else { "" };
    let path = bank.data().join("file.txt");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{piece}{end}").as_bytes()).unwrap();
    pieces.push(piece);
}

/// Where our torn line stood before theirs, their piece follows it on the same line; where they ended
/// a line while the daemon was about to, a line is empty.
fn check(bank: &Bank, pieces: &[String], intruded: bool) {
    let text = std::fs::read_to_string(bank.data().join("file.txt")).unwrap();
    assert!(text.ends_with('\n'));
    let mut ours = Vec::new();
    for line in text.lines() {
        if let Some(at) = line.find("# piece ") {
            assert!(intruded || at == 0, "{line}");
            continue;
        }
        if intruded && line.is_empty() {
            continue;
        }
        assert!(line.starts_with("WITHDRAWAL TYPE=job "), "{line}");
        let id = value(line, "REQUESTID");
        assert!(id.ends_with('.'), "{line}");
        ours.push(id.to_owned());
    }
    let expected: Vec<String> = (1..=RECORDS).map(|n| format!("job.{n}.")).collect();
    let distinct: HashSet<&String> = ours.iter().collect();
    assert_eq!((ours.len(), distinct.len()), (RECORDS, RECORDS));
    assert_eq!(ours, expected);
    for piece in pieces {
        assert_eq!(text.matches(piece.as_str()).count(), 1, "{piece}");
    }
}

/// Lives of the daemon that end after so many batches, or at a random moment.
fn lives(name: &str, intruded: bool) {
    let mut numbers = Numbers::new(name);
    let mut bank = seeded();
    let mut pieces = Vec::new();
    for life in 0..12 {
        if life % 2 == 0 {
            let point = ["record_written", "record_synced"][life / 2 % 2];
            let at = format!("{point}:{}", numbers.between(1, 6));
            if bank.start_with(&[("BANKD_KILL_AT", &at)]) {
                bank.kill();
            }
        } else if bank.start_with(&[]) {
            if intruded {
                intrude(&bank, &mut numbers, &mut pieces);
            }
            pause(Duration::from_millis(numbers.between(0, 20)));
            bank.kill();
        }
        if intruded {
            intrude(&bank, &mut numbers, &mut pieces);
        } else {
            tear(&bank, &mut numbers);
        }
    }
    bank.start();
    bank.verify();
    check(&bank, &pieces, intruded);
}

#[test]
fn ten_thousand_lines_survive_kills_and_torn_tails() {
    lives("ten_thousand_lines_survive_kills_and_torn_tails", false);
}

#[test]
fn ten_thousand_lines_and_those_of_another_process() {
    lives("ten_thousand_lines_and_those_of_another_process", true);
}
