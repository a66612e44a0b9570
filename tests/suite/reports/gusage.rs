//! `gusage`: charges by user.

use std::process::Command;

use crate::harness::{Bank, Ran};

/// `gusage` by its own name, with Gold's columns: charges less refunds, the largest first.
#[test]
fn gusage_shows_charges_by_user() {
    let mut bank = Bank::new();
    let links = bank.folder().join("links");
    bank.bank_ok(&["gen", "links", links.to_str().unwrap()]);
    for (job, user, seconds) in [
        ("1", "bob", "600"),
        ("2", "carol", "4000"),
        ("3", "bob", "50"),
    ] {
        let whose = ["-A", "astro", "-u", user, "-m", "colony"];
        let words = ["charge", job, "--procs", "1", "--wall", seconds];
        bank.bank_ok(&[&words[..], &whose].concat());
    }
    bank.bank_ok(&["refund", "2", "1000"]);
    let gusage = |words: &[&str]| {
        let mut command = Command::new(links.join("gusage"));
        command
            .args(words)
            .env_clear()
            .env("TZ", "UTC")
            .env("BANK_SERVER", format!("unix:{}", bank.socket().display()));
        Ran::of(&mut command, b"")
    };
    let span = ["-s", "2025-12-01", "-e", "2026-02-01"];
    let ran = gusage(&[&["-p", "astro", "--raw", "--quiet"], &span[..]].concat());
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (0, "carol|3000\nbob|650\n"),
        "{}",
        ran.stderr
    );
    let screen = gusage(&[&["-p", "astro"], &span[..]].concat()).stdout;
    assert!(
        screen.contains("User") && screen.contains("Amount"),
        "{screen}"
    );
    let one = gusage(&[&["-p", "astro", "-u", "bob", "--raw", "--quiet"], &span[..]].concat());
    assert_eq!(one.stdout, "bob|650\n");
    let other = gusage(&[&["-p", "physics", "--raw", "--quiet"], &span[..]].concat());
    assert_eq!((other.exit, other.stdout.as_str()), (0, ""));
    // Shadow charges take no money.
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    let shadow = ["charge", "4", "--procs", "1", "--wall", "70", "-A", "astro"];
    bank.bank_ok(&[&shadow[..], &["-u", "bob", "-m", "colony"]].concat());
    let one = gusage(&[&["-p", "astro", "-u", "bob", "--raw", "--quiet"], &span[..]].concat());
    assert_eq!(one.stdout, "bob|650\n");
    for object in ["Account", "Allocation"] {
        let query = [
            "query",
            object,
            "Query",
            "Shadow>0",
            "Show:=Shadow",
            "--csv",
        ];
        assert!(bank.bank_ok(&query).ends_with("\n70\n"), "{object}");
    }
    // Who is not there used nothing, and that is reported as a mistake.
    for (slip, message) in [
        (["-p", "astor"], "Project astor does not exist"),
        (["-u", "bop"], "User bop does not exist"),
    ] {
        let ran = gusage(&slip);
        assert!(ran.stderr.contains(message), "{ran:?}");
        assert!(ran.exit != 0 && ran.stdout.is_empty(), "{ran:?}");
    }
    bank.verify();
}
