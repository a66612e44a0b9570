//! The daemon dies between writing and confirming, or another process writes into the file: every
//! record is there once, as a whole line, and nobody else's byte is lost.

use std::fs::OpenOptions;
use std::io::Write as _;

use super::{bank, lines, value};
use crate::harness::{Bank, Documents, until};

/// Charges an object of its own, so that its line can be told apart.
fn charge(bank: &Bank, number: usize) {
    let id = format!("Moab.{number}");
    let body = Documents::own().with(4, &[("Moab.1024", &id)]);
    bank.script("charge", &body).expect(0, "");
}

fn ids(bank: &Bank) -> Vec<String> {
    let lines = lines(bank, "file.txt");
    let ours = lines.iter().filter(|line| line.starts_with("WITHDRAWAL "));
    ours.map(|line| value(line, "REQUESTID").to_owned())
        .collect()
}

fn expected(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("Moab.{number}")).collect()
}

/// Waits until every line is written and confirmed.
fn written(bank: &Bank) {
    let all = "SELECT max(id) FROM record";
    let got = "SELECT upto FROM sink WHERE name = 'file'";
    until("all records are written", || {
        (bank.query(all) == bank.query(got)).then_some(())
    });
}

/// One charge for each of several lives of the daemon, each of which ends at the point. Between
/// them one that lives, for the next would die of what the last one left.
fn killed_at(point: &str) {
    let mut bank = bank(true);
    for number in 0..6 {
        bank.stop_or_kill();
        assert!(
            bank.start_with(&[("BANKD_KILL_AT", point)]),
            "{}",
            bank.log()
        );
        charge(&bank, number);
        until("the daemon is gone", || bank.is_gone().then_some(()));
        bank.stop_or_kill();
        bank.start();
        bank.script("drain", b"").expect(0, "");
        written(&bank);
        assert_eq!(ids(&bank), expected(number + 1), "{}", bank.log());
    }
    bank.verify();
}

/// The daemon dies again and again of the same record, and it is written once all the same.
#[test]
fn killed_again_and_again_at_the_same_record() {
    let mut bank = bank(true);
    bank.stop();
    bank.start_with(&[("BANKD_KILL_AT", "record_written")]);
    charge(&bank, 0);
    until("the daemon is gone", || bank.is_gone().then_some(()));
    for _ in 0..5 {
        bank.stop_or_kill();
        if bank.start_with(&[("BANKD_KILL_AT", "record_written")]) {
            until("the daemon is gone again", || bank.is_gone().then_some(()));
        }
    }
    bank.stop_or_kill();
    bank.start();
    bank.script("drain", b"").expect(0, "");
    written(&bank);
    bank.verify();
    assert_eq!(ids(&bank), expected(1));
}

#[test]
fn killed_after_a_record_is_written() {
    killed_at("record_written");
}

#[test]
fn killed_after_a_record_is_on_the_disk() {
    // Both files are synced once when they are opened; the third time is the record's.
    killed_at("record_synced:3");
}

#[test]
fn half_a_line_of_our_own_is_written_again() {
    let mut bank = bank(true);
    charge(&bank, 0);
    until("the first line", || {
        (!lines(&bank, "file.txt").is_empty()).then_some(())
    });
    bank.stop();
    assert!(bank.start_with(&[("BANKD_KILL_AT", "record_written")]));
    charge(&bank, 1);
    until("the daemon is gone", || bank.is_gone().then_some(()));
    bank.kill();
    // What a power cut may leave of the second line.
    let path = bank.data().join("file.txt");
    let text = std::fs::read(&path).unwrap();
    let first = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let half = first + (text.len() - first) / 2;
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(half as u64)
        .unwrap();
    bank.start();
    bank.script("drain", b"").expect(0, "");
    bank.verify();
    assert_eq!(ids(&bank), expected(2));
}

#[test]
fn lines_of_others_stay() {
    let mut bank = bank(true);
    charge(&bank, 0);
    until("the first line", || {
        (!lines(&bank, "file.txt").is_empty()).then_some(())
    });
    let path = bank.data().join("file.txt");
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"# written by another process, without a line feed")
        .unwrap();
    charge(&bank, 1);
    bank.verify();
    let lines = lines(&bank, "file.txt");
    assert_eq!(
        lines[1],
        "# written by another process, without a line feed"
    );
    assert_eq!((ids(&bank), lines.len()), (expected(2), 3));
}

#[test]
fn a_file_that_was_moved_away_begins_anew() {
    let mut bank = bank(true);
    charge(&bank, 0);
    until("the first line", || {
        (!lines(&bank, "file.txt").is_empty()).then_some(())
    });
    std::fs::rename(bank.data().join("file.txt"), bank.data().join("file.old")).unwrap();
    charge(&bank, 1);
    bank.verify();
    assert_eq!(ids(&bank), ["Moab.1"]);
    assert_eq!(lines(&bank, "file.old").len(), 1);
}

/// The file was renamed, or compressed, after the daemon was killed: lines that were written there and not
/// confirmed are not written again.
#[test]
fn a_file_that_was_renamed_after_a_kill_keeps_its_lines() {
    for way in ["rename", "gzip"] {
        let mut bank = bank(true);
        charge(&bank, 0);
        written(&bank);
        bank.stop();
        assert!(bank.start_with(&[("BANKD_KILL_AT", "record_written")]));
        charge(&bank, 1);
        until("the daemon is gone", || bank.is_gone().then_some(()));
        bank.stop_or_kill();
        let old = bank.data().join("file.txt.1");
        std::fs::rename(bank.data().join("file.txt"), &old).unwrap();
        if way == "gzip" {
            let ran = std::process::Command::new("gzip")
                .arg("-k")
                .arg(&old)
                .status();
            assert!(ran.unwrap().success());
            // Another file has the old inode's place now.
            std::fs::rename(&old, bank.folder().join("elsewhere")).unwrap();
        }
        bank.start();
        bank.script("drain", b"").expect(0, "");
        charge(&bank, 2);
        written(&bank);
        bank.verify();
        if way == "gzip" {
            std::fs::rename(bank.folder().join("elsewhere"), &old).unwrap();
        }
        let ours = lines(&bank, "file.txt.1")
            .into_iter()
            .chain(lines(&bank, "file.txt"));
        let ids: Vec<String> = ours
            .map(|line| value(&line, "REQUESTID").to_owned())
            .collect();
        assert_eq!(ids, expected(3), "{way}: {}", bank.log());
    }
}
