//! Rotation that meets a killed daemon, at chosen points: everything that was written after the first start
//! is taken, and what was there before is listed.

use super::*;
use crate::harness::T0;

/// A bank whose followed file has lines before the daemon starts with it for the first time.
fn fresh() -> Bank {
    let mut bank = Setup::new().chemistry(1_000_000_000).start();
    bank.stop();
    let path = file(&bank, "acct");
    bank.settings(&format!(
        "\n[[follow]]\nsource = \"{SOURCE}\"\npath = \"{}\"\nformat = \"pbs\"\n",
        path.display()
    ));
    append(&bank, &jobs(0..5));
    bank
}

fn left_out(bank: &Bank) -> Vec<(String, String)> {
    let shown = source_or_none(bank);
    let rows = shown["follow"][0]["left_out"].as_array().cloned();
    let row = |row: &Value| {
        let file = row["file"].as_str().unwrap().rsplit('/').next().unwrap();
        (file.to_owned(), row["reason"].as_str().unwrap().to_owned())
    };
    rows.unwrap_or_default().iter().map(row).collect()
}

fn source_or_none(bank: &Bank) -> Value {
    let ran = bank.bank(&["source", "show", SOURCE, "--json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_default()
}

/// The daemon dies before, in and after the first portion of the very first file, which is then rotated
/// away twice while it is down.
#[test]
fn the_first_file_is_taken_wherever_the_daemon_dies() {
    for way in ["rename", "gzip", "copy"] {
        for point in [
            "follow_prepared",
            "follow_taking:1",
            "follow_taking:2",
            "follow_taken:2",
        ] {
            let mut bank = fresh();
            if bank.start_with(&[("BANKD_KILL_AT", point)]) {
                until("the daemon is gone", || bank.is_gone().then_some(()));
            }
            bank.stop_or_kill();
            rotate(&bank, way);
            append(&bank, &jobs(5..7));
            rotate(&bank, way);
            append(&bank, &jobs(7..10));
            bank.start();
            let mut clock = T0;
            settled(&bank, 10, &mut clock);
            assert_eq!(left_out(&bank), [], "{way} {point}: {}", bank.log());
            bank.verify();
        }
    }
}

/// Killed again and again, with rotations between two lives and while one begins.
#[test]
fn files_that_live_between_two_lives_of_the_daemon_are_taken() {
    for way in ["rename", "gzip", "copy"] {
        let mut bank = fresh();
        let (mut written, mut clock) = (5, T0);
        bank.start();
        for point in [
            "follow_taking",
            "follow_taken",
            "follow_taking:2",
            "follow_taken:2",
        ] {
            bank.kill();
            for more in [3, 1, 4] {
                append(&bank, &jobs(written..written + more));
                written += more;
                rotate(&bank, way);
            }
            append(&bank, &jobs(written..written + 2));
            written += 2;
            if bank.start_with(&[("BANKD_KILL_AT", point)]) {
                let mut passed = 0;
                until("the daemon is gone, or has nothing to do", || {
                    passed += 1;
                    clock += i64::from(passed % 100 == 0) * 40;
                    bank.set_clock(clock);
                    (bank.is_gone() || jobs_taken(&bank) >= i64::try_from(written).ok())
                        .then_some(())
                });
            }
            bank.stop_or_kill();
            append(&bank, &jobs(written..written + 1));
            written += 1;
            rotate(&bank, way);
            append(&bank, &jobs(written..written + 1));
            written += 1;
            bank.start();
            settled(&bank, written, &mut clock);
        }
        assert_eq!(left_out(&bank), [], "{way}: {}", bank.log());
        bank.verify();
    }
}

/// What was rotated away before the first start is listed, with what cannot be read, and logged.
#[test]
fn what_is_not_read_is_listed() {
    let mut bank = fresh();
    rotate(&bank, "rename");
    append(&bank, &jobs(5..7));
    // Nothing is durable yet: this is no start.
    assert!(!bank.start_with(&[("BANKD_KILL_AT", "follow_preparing")]));
    bank.start();
    taken(&bank, 2);
    rotate(&bank, "rename");
    append(&bank, &jobs(7..8));
    let odd = file(&bank, "acct-20251101.bz2");
    std::fs::write(odd, "what is this").unwrap();
    let mut clock = T0;
    settled(&bank, 3, &mut clock);
    let row = |name: &str, reason: &str| (name.to_owned(), reason.to_owned());
    let expected = [
        row("acct-20251101.bz2", "unsupported_compression"),
        row("acct.2", "before_first_start"),
    ];
    until("both are listed", || {
        bank.signal("HUP");
        let mut found = left_out(&bank);
        found.sort();
        (found == expected).then_some(())
    });
    let screen = bank.bank_ok(&["source", "show", SOURCE]);
    assert!(screen.contains("not read: 2"), "{screen}");
    let log = bank.log();
    assert!(
        log.contains("a file beside a followed file is not read"),
        "{log}"
    );
    bank.stop();
    bank.start();
    assert_eq!(left_out(&bank).len(), 2, "the list outlives the daemon");
    bank.verify();
}

/// The rest of a half line comes after the file was replaced by a copy, as backups and editors do it, and after
/// it was quiet for long: the line is read once, and whole.
#[test]
fn half_a_line_goes_on_in_a_copy_with_the_same_bytes() {
    let mut bank = following("");
    let text = jobs(0..3);
    let (first, rest) = text.split_at(text.len() - 60);
    append(&bank, first);
    taken(&bank, 2);
    std::fs::copy(file(&bank, "acct"), file(&bank, "new")).unwrap();
    std::fs::rename(file(&bank, "new"), file(&bank, "acct")).unwrap();
    let mut clock = T0;
    until("the copy is followed", || {
        clock += 40;
        bank.set_clock(clock);
        bank.signal("HUP");
        bank.log().contains("goes on in a copy of it").then_some(())
    });
    append(&bank, &(rest.to_owned() + &jobs(3..4)));
    taken(&bank, 4);
    let shown = source(&bank);
    assert_eq!((&shown["rejected"], &shown["jobs"]), (&0.into(), &4.into()));
    let used = bank.query("SELECT count(*) FROM usage_identity");
    assert_eq!(used, [["4"]]);
    bank.verify();
}
