//! A disk without room: commands are refused with a code of their own, scripts keep their documents, the log
//! stays short, and everything goes on once there is room.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{Bank, Documents, Request, Setup, skip, until};

/// A disk of its own, as long as it lives.
struct Disk(std::path::PathBuf);

impl Disk {
    /// Puts the data of a bank that is stopped on a small disk; `None` without the right to mount one.
    fn under(bank: &Bank, size: &str) -> Option<Self> {
        let data = bank.data();
        let before = data.with_extension("before");
        fs::rename(&data, &before).unwrap();
        fs::create_dir(&data).unwrap();
        let mounted = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={size},mode=0711"),
                "tmpfs",
            ])
            .arg(&data)
            .output();
        if !mounted.is_ok_and(|ran| ran.status.success()) {
            return None;
        }
        let disk = Self(data.clone());
        let copied = Command::new("cp")
            .arg("-a")
            .arg(before.join("."))
            .arg(&data)
            .status();
        assert!(copied.unwrap().success());
        Some(disk)
    }

    /// Leaves no room on it.
    fn fill(&self) {
        let _ = Command::new("dd")
            .args(["if=/dev/zero", "bs=4096"])
            .arg(format!("of={}", self.filler().display()))
            .output();
    }

    fn filler(&self) -> std::path::PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[test]
fn a_full_disk_refuses_with_a_code_of_its_own_and_one_line() {
    let mut bank = Setup::new().chemistry(1_000_000_000).start();
    bank.stop();
    let Some(disk) = Disk::under(&bank, "24m") else {
        skip("mount", "only root can make a small disk");
        return;
    };
    bank.start();
    bank.script("charge", &Documents::own().get(4))
        .expect(0, "");
    disk.fill();
    let body = br#"{"job":"full","project":"chemistry","user":"amy","machine":"colony","processors":1,"duration":60}"#;
    let mut refused = 0;
    // The log has room of its own for a while.
    let answer = until("the disk is full for the bank", || {
        for n in 0..50 {
            let key = format!("full-{refused}-{n}");
            let request = Request {
                target: "/api/v1/charges".to_owned(),
                ..Request::nami("x", &key, body)
            };
            let answer = bank.over_socket(&request.header("Content-Type", "application/json"));
            if answer.status >= 500 {
                refused += 1;
                return Some(answer);
            }
        }
        None
    });
    assert_eq!(answer.status, 507, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("60"));
    assert!(answer.text().contains("\"disk_full\""), "{}", answer.text());
    for n in 0..100 {
        let request = Request {
            target: "/api/v1/charges".to_owned(),
            ..Request::nami("x", &format!("more-{n}"), body)
        };
        let answer = bank.over_socket(&request.header("Content-Type", "application/json"));
        assert_eq!(answer.status, 507, "{}", answer.text());
        // What writes nothing is answered, and is no sign of room.
        let quote = br#"{"project":"chemistry","user":"amy","machine":"colony","processors":1,"wall_s":60}"#;
        let request = Request {
            target: "/api/v1/quotes".to_owned(),
            ..Request::nami("x", &format!("quote-{n}"), quote)
        };
        let answer = bank.over_socket(&request.header("Content-Type", "application/json"));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let ran = bank.bank(&["deposit", "chemistry", "1"]);
    assert_eq!(ran.exit, 5, "{}", ran.stderr);
    // `bank status` and `bankd doctor` have the reason.
    let status = bank.bank_ok(&["status"]);
    let reason = "the disk of the database is full";
    assert!(
        status.contains("NOT healthy") && status.contains(reason),
        "{status}"
    );
    assert_eq!(bank.json(&["status"])["obstacles"][0], reason);
    let check = bank.bank(&["status", "--check", "-q"]);
    let fault = "bank: 1 fault: commands are refused\n";
    assert_eq!(
        (check.exit, check.stdout.as_str(), check.stderr.as_str()),
        (1, "", fault)
    );
    bank.script("charge", &Documents::own().get(5))
        .expect(0, "");
    assert_eq!(bank.spooled(), 1);
    let errors = |log: &str| log.lines().filter(|line| line.contains("ERROR")).count();
    let log = bank.log();
    assert!(
        (1..=3).contains(&errors(&log)),
        "{} lines: {log}",
        errors(&log)
    );
    assert!(!log.contains("has room again"), "{log}");
    fs::remove_file(disk.filler()).unwrap();
    bank.script("drain", b"").expect(0, "");
    assert_eq!(bank.spooled(), 0);
    until("the log says that there is room", || {
        bank.log().contains("has room again").then_some(())
    });
    assert!(size(&bank.data().join("bank.db")) > 0);
    bank.verify();
    drop(disk);
}

/// The log is on the full disk too: later it contains how many of its lines are missing.
#[test]
fn the_log_counts_the_lines_that_a_full_disk_took() {
    let mut bank = Setup::new().chemistry(1000).start();
    bank.stop();
    let Some(disk) = Disk::under(&bank, "24m") else {
        skip("mount", "only root can make a small disk");
        return;
    };
    let log = bank.clock().with_file_name("bankd.log");
    fs::remove_file(&log).unwrap();
    fs::write(disk.0.join("log"), "").unwrap();
    std::os::unix::fs::symlink(disk.0.join("log"), &log).unwrap();
    bank.start();
    disk.fill();
    // More than the last block of the log has room for.
    for _ in 0..30 {
        bank.bank(&["deposit", "chemistry", "1"]);
    }
    fs::remove_file(disk.filler()).unwrap();
    bank.bank_ok(&["deposit", "chemistry", "1"]);
    let written = bank.log();
    let line = "lines of the log could not be written since the start lost=";
    assert!(written.contains(line), "{written}");
    bank.stop();
}
