//! Backups under load: what was answered before one began is in it, and what breaks off leaves no
//! half one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{bankd, bankd_ok, text};
use crate::harness::{
    Address, Bank, Connection, Numbers, Request, Setup, exchange, pause, programs, until,
};

/// Clients that write all the time.
const WRITERS: usize = 4;
/// Backups of one run.
const ROUNDS: usize = 4;

/// A request and its answer.
type Answered = (Request, Vec<u8>);

fn deposit(writer: usize, number: usize) -> Request {
    let body = r#"{"name":"chemistry","amount":"1"}"#;
    let request = Request {
        method: "POST",
        target: "/api/v1/deposits".to_owned(),
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
    };
    request
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", &format!("w{writer}-{number}"))
}

/// Writes without a pause until it is told to stop.
fn write(address: &Address, writer: usize, answered: &Mutex<Vec<Answered>>, stop: &AtomicBool) {
    let mut connection = Connection::open(address).unwrap();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        let request = deposit(writer, number);
        let answer = connection.send(&request).unwrap();
        assert_eq!(answer.status, 201, "{}", answer.text());
        answered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((request, answer.body));
        number += 1;
    }
}

/// The folders in a folder that have a backup's name; its lock is none.
pub(crate) fn named(out: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("bank-")
        })
        .collect();
    found.sort();
    found
}

/// Every answer is found in the restored bank: asked again with its key, it is the same, byte by byte.
#[test]
fn every_answer_before_a_backup_is_in_it() {
    let mut bank = Setup::new()
        .env("BANKD_LIMITS_RATE", "0")
        .env("BANKD_LOG_LEVEL", "warn")
        .start();
    let out = bank.folder().join("out");
    let answered: Mutex<Vec<Answered>> = Mutex::default();
    let stop = AtomicBool::new(false);
    let address = Address::Unix(bank.socket());
    let data = bank.data();
    let mut counts = Vec::new();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (address, answered, stop) = (&address, &answered, &stop);
            scope.spawn(move || write(address, writer, answered, stop));
        }
        let count = || {
            answered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .len()
        };
        for _ in 0..ROUNDS {
            let more = count() + 50;
            until("there are answers", || (count() >= more).then_some(()));
            counts.push(count());
            let output = bankd_ok(
                &bank,
                &["backup", "--data", text(&data), "--out", text(&out)],
            );
            assert!(output.contains("verified every hash"), "{output}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    let answered = answered.into_inner().unwrap();
    let backups = named(&out);
    assert_eq!((backups.len(), counts.len()), (ROUNDS, ROUNDS));
    assert!(
        answered.len() > *counts.last().unwrap(),
        "nothing was written beside the backups"
    );
    bank.verify();

    for (backup, count) in backups.iter().zip(&counts) {
        fs::rename(bank.data(), bank.folder().join("away")).unwrap();
        bankd_ok(&bank, &["restore", text(backup), "--data", text(&data)]);
        bankd_ok(&bank, &["verify", "--data", text(&data)]);
        bank.start();
        for (request, body) in &answered[..*count] {
            let again = exchange(&address, request).unwrap();
            assert_eq!(
                again.header("idempotent-replay"),
                Some("true"),
                "{request:?}"
            );
            assert_eq!(&again.body, body);
        }
        bank.stop();
        fs::remove_dir_all(bank.data()).unwrap();
        fs::rename(bank.folder().join("away"), bank.data()).unwrap();
    }
    bank.start();
    let status = bank.bank_ok(&["status"]);
    assert!(status.contains("last backup"), "{status}");
}

/// Killed at named places and at random moments: what has a backup's name is always a whole one.
#[test]
fn a_backup_that_is_killed_leaves_no_half_one() {
    let mut numbers = Numbers::new("backup killed");
    let bank = Bank::new();
    let out = bank.folder().join("out");
    let data = bank.data();
    let arguments = [
        "backup",
        "--data",
        text(&data),
        "--out",
        text(&out),
        "--with-keys",
    ];
    for (point, left) in [
        ("backup_copied", 0),
        ("backup_written", 0),
        ("backup_named", 1),
    ] {
        let ran = bankd(&bank, &arguments, &[("BANKD_KILL_AT", point)]);
        assert_ne!(ran.exit, 0, "{point}");
        assert_eq!(named(&out).len(), left, "{point}");
    }
    for _ in 0..12 {
        let mut child = Command::new(programs().bankd())
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        pause(Duration::from_millis(numbers.between(1, 80)));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
    }
    let killed = named(&out);
    bankd_ok(&bank, &arguments);
    assert_eq!(named(&out).len(), killed.len() + 1);
    let elsewhere = bank.folder().join("elsewhere");
    for backup in named(&out) {
        bankd_ok(
            &bank,
            &["restore", text(&backup), "--data", text(&elsewhere)],
        );
        fs::remove_dir_all(&elsewhere).unwrap();
    }
    let hidden = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let partial: Vec<_> = hidden
        .filter(|name| name.to_str().unwrap().contains("partial"))
        .collect();
    assert!(partial.is_empty(), "{partial:?}");
}

/// By the setting the daemon makes one by itself, and tells of it.
#[test]
fn the_daemon_makes_backups_by_itself() {
    let mut bank = Setup::new().env("BANKD_BACKUP_EVERY_H", "24").start();
    let out = bank.data().join("backups");
    until("there is a backup", || {
        (named(&out).len() == 1).then_some(())
    });
    until("the state tells of it", || {
        bank.bank_ok(&["status"])
            .contains("last backup")
            .then_some(())
    });
    // The next one is due in a day only.
    bank.stop();
    bank.start();
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    assert_eq!(named(&out).len(), 1);
    bank.verify();
}

/// A copy that shall serve beside the original takes nobody's signature.
#[test]
fn a_rekeyed_copy_contains_no_key_of_the_original() {
    let mut bank = Bank::new();
    let out = bank.folder().join("out");
    let data = bank.data();
    bankd_ok(
        &bank,
        &[
            "backup",
            "--data",
            text(&data),
            "--out",
            text(&out),
            "--with-keys",
        ],
    );
    bank.stop();
    let backup = named(&out).remove(0);
    let output = bankd_ok(
        &bank,
        &[
            "restore",
            text(&backup),
            "--data",
            text(&data),
            "--force",
            "--rekey",
        ],
    );
    assert!(output.contains("off      keys admin, moab"), "{output}");
    bank.start();
    let keys = bank.bank_ok(&["key", "ls", "--csv", "--columns", "id,state"]);
    assert!(
        keys.contains(",disabled") && !keys.contains(",active"),
        "{keys}"
    );
    let signed = crate::harness::Signing::new().sign_all(Request::get("/api/v1/balances"));
    assert_eq!(bank.over_tcp(&signed).status, 401);
    bank.verify();
}

/// A copy has the settings of its original, but not its folders, targets and listeners: the original's backups stay.
#[test]
fn a_rekeyed_copy_acts_for_itself_only() {
    let bank = Bank::new();
    let (out, data) = (bank.folder().join("out"), bank.data());
    let file = data.join("bankd.toml");
    let settings = fs::read_to_string(&file).unwrap();
    let backups = format!("[backup]\nfolder = {:?}\nkeep = 2\n", text(&out));
    let reports = bank.folder().join("reports");
    let target = format!(
        "\n[[deliver]]\nname = \"archive\"\nby = \"folder\"\nfolder = {:?}\n",
        text(&reports)
    );
    assert!(settings.contains("[backup]\n"), "{settings}");
    let settings = settings.replace("[backup]\n", &backups) + &target;
    fs::write(&file, &settings).unwrap();
    for _ in 0..2 {
        bankd_ok(&bank, &["backup", "--data", text(&data)]);
    }
    let before = named(&out);
    let copy = bank.folder().join("copy");
    let words = [
        "restore",
        text(&before[1]),
        "--data",
        text(&copy),
        "--rekey",
    ];
    let output = bankd_ok(&bank, &words);
    let off = output
        .lines()
        .find(|line| line.starts_with("off      settings "));
    let off = off.unwrap_or_else(|| panic!("{output}"));
    for section in ["backup", "deliver", "set those of the copy in bankd.toml"] {
        assert!(off.contains(section), "{off}");
    }
    for _ in 0..3 {
        bankd_ok(&bank, &["backup", "--data", text(&copy)]);
    }
    assert_eq!(named(&out), before, "the original's backups");
    assert_eq!(named(&copy.join("backups")).len(), 3);
    bankd_ok(&bank, &["config", "check", "--data", text(&copy)]);
    bankd_ok(&bank, &["verify", "--data", text(&copy)]);
    assert_eq!(fs::read_to_string(&file).unwrap(), settings);
}

/// A backup of the future, made while the clock was ahead, is not kept in place of the new one.
#[test]
fn the_new_backup_stays_whatever_the_clock_stamped_on_others() {
    let bank = Bank::new();
    let out = bank.folder().join("out");
    let data = bank.data();
    let arguments = [
        "backup",
        "--data",
        text(&data),
        "--out",
        text(&out),
        "--keep",
        "1",
    ];
    bankd_ok(&bank, &arguments);
    let [first] = named(&out).try_into().unwrap();
    let manifest = fs::read_to_string(first.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for made_at in ["2131-11-30T00:00:00.000000Z", "1971-01-01T00:00:00.000000Z"] {
        let [old] = named(&out).try_into().unwrap();
        manifest["made_at"] = made_at.into();
        fs::write(old.join("manifest.json"), manifest.to_string()).unwrap();
        let other = out.join("bank-of-another-clock");
        fs::rename(&old, &other).unwrap();
        let printed = bankd_ok(&bank, &arguments);
        let [new] = named(&out).try_into().unwrap();
        assert!(
            printed.contains(&format!("created  {}", text(&new))),
            "{printed}"
        );
        assert!(
            printed.contains(&format!("removed  {}", text(&other))),
            "{printed}"
        );
    }
}
