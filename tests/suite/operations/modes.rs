//! Modes of the bank's files when the daemon starts.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};

use super::{bankd_ok, text};
use crate::harness::{Bank, skip};

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

/// A user who is not root, as the daemon's is.
const DAEMON: u32 = 65_534;

/// Everything in a folder, and the folder itself.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            all.extend(all_in(&path));
        } else {
            all.push(path);
        }
    }
    all
}

#[test]
fn what_root_writes_belongs_to_the_owner_of_the_directory() {
    let mut bank = Bank::new();
    bank.stop();
    let (data, out) = (bank.data(), bank.folder().join("backups/new"));
    for path in all_in(&data) {
        if lchown(path, Some(DAEMON), Some(DAEMON)).is_err() {
            return skip("owners", "only root can run this test");
        }
    }
    let at = text(&data);
    let check = |what: &str, folder: &Path| {
        for path in all_in(folder) {
            let owner = path.symlink_metadata().unwrap().uid();
            assert_eq!(owner, DAEMON, "{what}: {}", path.display());
        }
    };
    bankd_ok(&bank, &["backup", "--data", at, "--with-keys"]);
    check("a backup in the directory", &data);
    bankd_ok(&bank, &["backup", "--data", at, "--out", text(&out)]);
    check("a backup elsewhere", out.parent().unwrap());
    bankd_ok(&bank, &["checkpoint-key", "new", "--data", at]);
    check("a key", &data);
    let made = fs::read_dir(data.join("backups")).unwrap();
    let mut made = made.map(|entry| entry.unwrap().path());
    let backup = made.find(|path| path.is_dir()).unwrap();
    fs::remove_file(data.join("bankd.lock")).unwrap();
    let backup = text(&backup);
    bankd_ok(&bank, &["restore", backup, "--data", at, "--force"]);
    check("a restored bank", &data);
    bank.start();
    bank.verify();
}
