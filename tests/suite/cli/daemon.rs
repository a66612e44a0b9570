//! `bankd` at a terminal: init, a second daemon, settings.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::harness::{Bank, Ran, programs};

fn bankd(bank: &Bank, arguments: &[&str]) -> Ran {
    let mut command = Command::new(programs().bankd());
    command.args(arguments).arg("--data").arg(bank.data());
    Ran::of(&mut command, b"")
}

#[test]
fn a_bank_is_made_once() {
    let mut bank = Bank::new();
    let ran = bankd(&bank, &["init"]);
    assert_ne!(ran.exit, 0, "{}", ran.stdout);
    ran.expect_stderr(&["bankd: ", "already"]);
    bank.verify();
}

/// The units of systemd name `bankd(1)`.
#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let man = |folder: &std::path::Path| {
        let mut command = Command::new(programs().bankd());
        Ran::of(command.arg("man").arg(folder), b"")
    };
    let ran = man(&folder.path().join("man1"));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for (page, part) in [
        ("bankd.1", "The daemon of the allocation bank"),
        ("bankd-serve.1", "Run the daemon until SIGTERM"),
        ("bankd-checkpoint-key-new.1", ".SH OPTIONS"),
    ] {
        let text = std::fs::read_to_string(folder.path().join("man1").join(page)).unwrap();
        assert!(text.contains(part), "{page}: {text}");
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    man(&file.join("man1")).expect_stderr(&["bankd: ", "file/man1"]);
}

#[test]
fn init_prints_what_it_created() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("bank-data");
    let mut command = Command::new(programs().bankd());
    command
        .args(["init", "--precision", "2", "--unit", "SU", "--data"])
        .arg(&data);
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for part in [
        "VBR Processors 1",
        "keys/admin",
        "2 decimals",
        "fingerprint",
        "bankd serve",
    ] {
        assert!(ran.stdout.contains(part), "no {part} in\n{}", ran.stdout);
    }
    for (name, expected) in [
        ("", 0o711),
        ("bank.db", 0o600),
        ("keys", 0o700),
        ("keys/admin", 0o600),
    ] {
        let mode = std::fs::metadata(data.join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777;
        assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{name}");
    }
}

#[test]
fn two_daemons_cannot_serve_one_bank() {
    let mut bank = Bank::new();
    let ran = bankd(&bank, &["serve"]);
    assert_ne!(ran.exit, 0);
    assert!(ran.stderr.contains("bankd"), "{}", ran.stderr);
    assert_eq!(bank.figures("chemistry").0, 100_000, "the first goes on");
    bank.verify();
}

#[test]
fn a_wrong_setting_is_reported_with_its_line() {
    let bank = Bank::new();
    let settings = bank.data().join("bankd.toml");
    std::fs::write(settings, "[http]\nconcurency = 5\n").unwrap();
    let ran = bankd(&bank, &["config", "check"]);
    assert_ne!(ran.exit, 0);
    ran.expect_stderr(&["bankd.toml line 2", "concurency"]);
}

#[test]
fn a_test_clock_is_for_test_banks_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let clock = folder.path().join("clock");
    std::fs::write(&clock, "1767225600").unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(programs().bankd());
        command
            .args(words)
            .arg("--data")
            .arg(&data)
            .env("BANKD_TEST_CLOCK", &clock);
        command.env("BANKD_HTTP_LISTEN", "127.0.0.1:0");
        Ran::of(&mut command, b"")
    };
    let mut init = Command::new(programs().bankd());
    init.args(["init", "--data"]).arg(&data);
    assert_eq!(Ran::of(&mut init, b"").exit, 0);
    let ran = run(&["serve"]);
    assert_ne!(ran.exit, 0);
    ran.expect_stderr(&["BANKD_TEST_CLOCK"]);
}

#[test]
fn wrong_settings_end_with_2_before_anything_is_served() {
    let mut bank = Bank::new();
    bank.stop();
    let run = |words: &[&str], name: &str, value: &str| {
        let mut command = Command::new(programs().bankd());
        command.args(words).arg("--data").arg(bank.data());
        Ran::of(command.env(name, value), b"")
    };
    for words in [&["serve"][..], &["config", "check"]] {
        let ran = run(words, "BANKD_HTTP_CONCURENCY", "5");
        assert_eq!(ran.exit, 2, "{}", ran.stderr);
        ran.expect_stderr(&["BANKD_HTTP_CONCURENCY", "no setting has this name"]);
        let ran = run(words, "BANKD_HTTP_CONCURRENCY", "none");
        assert_eq!(ran.exit, 2, "{}", ran.stderr);
    }
    assert_eq!(bankd(&bank, &["config", "check"]).exit, 0);
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(programs().bankd());
    let nowhere = folder.path().join("nowhere");
    command.args(["config", "check", "--data"]).arg(&nowhere);
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 4, "{}", ran.stdout);
    ran.expect_stderr(&["no directory", "bankd init"]);
}
