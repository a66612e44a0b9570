//! Modes of the bank's files when the daemon starts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::harness::Bank;

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The lines that the daemon adds to its log when it starts, or tries to.
fn started(bank: &mut Bank) -> (bool, String) {
    let before = bank.log().len();
    let is_up = bank.start_with(&[]);
    if is_up {
        bank.stop();
    }
    (is_up, bank.log()[before..].to_owned())
}

#[test]
fn a_daemon_does_not_serve_with_secrets_that_others_can_read() {
    let mut bank = Bank::new();
    bank.stop();
    let keys = bank.data().join("keys");
    let secret = keys.join("moab");
    for (path, open, closed) in [
        (&keys, 0o750, 0o700),
        (&keys, 0o705, 0o700),
        (&secret, 0o640, 0o600),
        (&secret, 0o604, 0o600),
        (&secret, 0o620, 0o600),
    ] {
        set(path, open);
        let (is_up, log) = started(&mut bank);
        assert!(!is_up, "{open:o} {}", path.display());
        let todo = format!("chmod {closed:o} {}", path.display());
        assert!(log.contains(&todo), "{log}");
        set(path, closed);
        let (is_up, log) = started(&mut bank);
        assert!(is_up && !log.contains("chmod"), "{log}");
    }
    bank.verify();
}

#[test]
fn a_daemon_warns_of_what_else_is_open_to_others() {
    let mut bank = Bank::new();
    bank.stop();
    let data = bank.data();
    for (path, open, closed) in [
        (data.clone(), 0o777, 0o700),
        (data.join("bank.db"), 0o644, 0o600),
        (data.join("bankd.toml"), 0o666, 0o640),
    ] {
        set(&path, open);
        let (is_up, log) = started(&mut bank);
        assert!(is_up, "{log}");
        let line = log.lines().find(|line| line.contains("chmod"));
        let line = line.unwrap_or_else(|| panic!("no warning: {log}"));
        assert!(
            line.contains("WARN") && line.contains(path.to_str().unwrap()),
            "{line}"
        );
        set(&path, closed);
        // The log has the mode that the database had when it was made.
        let log = data.join("bank.db-wal");
        if log.exists() {
            set(&log, 0o600);
        }
        let (_, log) = started(&mut bank);
        assert!(!log.contains("chmod"), "{log}");
    }
    bank.verify();
}
