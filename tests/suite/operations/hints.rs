//! What `bankd` and `bank` answer to settings, files and arguments that are wrong: the place and the remedy.

use std::fs;

use super::{bankd, bankd_ok, text};
use crate::harness::Bank;

/// Files that the settings name and the daemon opens at its start.
#[test]
fn settings_whose_files_cannot_be_used_are_refused_before_the_start() {
    let mut bank = Bank::new();
    bank.stop();
    let data = bank.data();
    let path = data.join("bankd.toml");
    let right = fs::read_to_string(&path).unwrap();
    let right = right.replacen("[attention]", "[attention]\non = true", 1);
    fs::write(data.join("junk"), "0123456789abcdef").unwrap();
    fs::write(data.join("short"), "short").unwrap();
    let hook = |more: &str| {
        format!(
            "[[deliver]]\nname = \"hook\"\nby = \"webhook\"\nurl = \"https://127.0.0.1:1/f\"\n{more}"
        )
    };
    let csv = "[[follow]]\nsource = \"x:y\"\npath = \"/var/x\"\nformat = \"csv\"\n";
    for (text, expected) in [
        (hook("secret = \"keys/none\""), "keys/none"),
        (hook("secret = \"short\""), "short"),
        (hook("secret = \"junk\"\nca = \"none.pem\""), "none.pem"),
        (hook("secret = \"junk\"\nca = \"junk\""), "junk"),
        (csv.to_owned(), "mapping: csv needs"),
        (format!("{csv}mapping = \"none.toml\""), "none.toml"),
    ] {
        fs::write(&path, format!("{right}\n{text}\n")).unwrap();
        for words in [&["config", "check"][..], &["doctor"]] {
            let ran = bankd(
                &bank,
                &[words, &["--data", super::text(&data)]].concat(),
                &[],
            );
            assert_ne!(ran.exit, 0, "{words:?} {expected}");
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            assert!(printed.contains(expected), "{words:?}: {printed}");
        }
        assert!(!bank.start_with(&[]), "{expected}");
        assert!(!bank.log().contains("panic"), "{}", bank.log());
    }
    fs::write(&path, right).unwrap();
    bank.start();
}

#[test]
fn settings_that_cannot_work_are_refused_by_the_check() {
    let bank = Bank::new();
    let data = bank.data();
    let check = ["config", "check", "--data", text(&data)];
    for (env, what) in [
        (
            &[("BANKD_BACKUP_FOLDER", "keys")][..],
            &[
                "BANKD_BACKUP_FOLDER",
                "keys is the bank's own",
                "another folder",
            ],
        ),
        (
            &[("BANKD_CHECKPOINT_FOLDER", "bank.db")],
            &[
                "BANKD_CHECKPOINT_FOLDER",
                "bank.db is the bank's own",
                "another folder",
            ],
        ),
        (
            &[
                ("BANKD_HTTP_LISTEN", "127.0.0.1:18994"),
                ("BANKD_WEB_LISTEN", "127.0.0.1:18994"),
            ],
            &[
                "BANKD_WEB_LISTEN",
                "the address of http.listen",
                "another port",
            ],
        ),
    ] {
        let ran = bankd(&bank, &check, env);
        assert_ne!(ran.exit, 0, "{env:?}");
        ran.expect_stderr(what);
    }
}

#[test]
fn doctor_finds_that_checkpoints_have_no_key() {
    let bank = Bank::new();
    let data = bank.data();
    let doctor = ["doctor", "--data", text(&data)];
    let env = [("BANKD_CHECKPOINT_EVERY_S", "86400")];
    let line = |text: &str| text.lines().any(|line| line.contains("  checkpoint  "));
    let ran = bankd(&bank, &doctor, &env);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert!(line(&ran.stdout), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("`bankd checkpoint-key new --data"),
        "{}",
        ran.stdout
    );
    assert!(!line(&bankd(&bank, &doctor, &[]).stdout), "none are made");
    bankd_ok(&bank, &["checkpoint-key", "new", "--data", text(&data)]);
    let ran = bankd(&bank, &doctor, &env);
    assert_eq!(ran.exit, 0, "{}", ran.stdout);
    assert!(line(&ran.stdout), "{}", ran.stdout);
}

#[test]
fn doctor_finds_names_that_the_system_does_not_have() {
    let bank = Bank::new();
    let data = bank.data();
    let doctor = ["doctor", "--data", text(&data)];
    let ran = bankd(
        &bank,
        &doctor,
        &[("BANKD_ACCESS_ADMIN_GROUP", "no-such-admins")],
    );
    for line in ["warn  access", "no group no-such-admins", "[access]"] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    let ran = bankd(&bank, &doctor, &[("BANKD_ACCESS_ADMIN_GROUP", "root")]);
    assert!(ran.stdout.contains("ok    access"), "{}", ran.stdout);
}

#[test]
fn refusals_name_what_was_asked() {
    let mut bank = Bank::new();
    bank.bank_ok(&["project", "add", "upper"]);
    bank.bank_ok(&["project", "add", "lower", "--parent", "upper"]);
    let ran = bank.bank(&["project", "set", "upper", "--parent", "lower"]);
    assert_eq!(ran.exit, 1);
    ran.expect_stderr(&["\"upper\" cannot be its own parent or ancestor"]);
    let ran = bank.bank(&["role", "grant", "amy", "partner", "-A", "upper"]);
    assert_eq!(ran.exit, 1);
    ran.expect_stderr(&["admin, operator, manager", "partner is a role of keys"]);
    // A key that was switched off does not come back under another id.
    bank.bank_ok(&["key", "set", "moab", "--active", "no"]);
    let before = bank.bank_ok(&["key", "ls"]);
    let ran = bank.bank(&["key", "rotate", "moab", "--overlap", "1h"]);
    assert_eq!(ran.exit, 1);
    ran.expect_stderr(&["a key that is on", "bank key set", "bank key add"]);
    assert_eq!(bank.bank_ok(&["key", "ls"]), before);
    bank.verify();
}

/// Killed between its renames, a restore leaves no bank under its name: the hints do not propose a new one.
#[test]
fn a_restore_that_was_killed_is_run_again() {
    let mut bank = Bank::new();
    bank.stop();
    let (data, out) = (bank.data(), bank.folder().join("out"));
    let at = text(&data);
    bankd_ok(&bank, &["backup", "--data", at, "--out", text(&out)]);
    let made = fs::read_dir(&out).unwrap();
    let mut made = made.map(|entry| entry.unwrap().path());
    let backup = made.find(|path| path.is_dir()).unwrap();
    let restore = ["restore", text(&backup), "--data", at, "--force"];
    let ran = bankd(&bank, &restore, &[("BANKD_KILL_AT", "restore_aside")]);
    assert_ne!(ran.exit, 0);
    assert!(!data.join("bank.db").exists());
    let hint = [
        "`bankd restore` was interrupted here: run it again",
        "replaced-",
    ];
    bankd(&bank, &["serve", "--data", at], &[]).expect_stderr(&hint);
    let found = bankd(&bank, &["doctor", "--data", at], &[]);
    for word in hint {
        assert!(found.stdout.contains(word), "{}", found.stdout);
    }
    bankd_ok(&bank, &restore);
    bank.start();
    bank.verify();
}
