//! What a new user types: unknown names in filters, negative numbers, dates of fields of the site, rates of the past.

use crate::harness::{Bank, Setup, T0};

/// Each line with its exit code, and a part of what it prints.
#[track_caller]
fn check(bank: &Bank, steps: &[(&str, i32, &str)]) {
    let mut findings = Vec::new();
    for (line, exit, part) in steps {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = bank.bank_as(&[("TZ", "Europe/Berlin")], &words);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        if ran.exit != *exit || !text.contains(part) {
            findings.push(format!("{line}: {} {text}, not {exit} {part}", ran.exit));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn an_unknown_name_in_a_filter_is_an_error() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    check(
        &bank,
        &[
            ("jobs -u nix", 4, "no user \"nix\""),
            ("jobs -m nix", 4, "no machine \"nix\""),
            ("jobs -u amy -m nix", 4, "no machine \"nix\""),
            ("jobs -u amz", 4, "did you mean \"amy\""),
            ("lien ls -u nix", 4, "no user \"nix\""),
            ("lien ls -m nix", 4, "no machine \"nix\""),
            ("lien ls -u nix --at 2025-12-31", 4, "no user \"nix\""),
            ("monitor -u nix", 4, "no user \"nix\""),
            // Registered, without a job.
            ("jobs -u amy", 0, ""),
            ("lien ls -m colony", 0, ""),
            // A name of jobs only: the user is removed.
            ("user add kim", 0, ""),
            ("project members add chemistry kim", 0, ""),
            (
                "charge j1 -A chemistry -u kim -m colony --procs 1 --duration 60",
                0,
                "",
            ),
            ("project members rm chemistry kim --yes", 0, ""),
            ("user rm kim --yes", 0, ""),
            ("jobs -u kim", 0, "j1"),
            ("jobs -u kim --state open", 0, ""),
            ("lien ls -u kim", 0, ""),
        ],
    );
    bank.verify();
}

#[test]
fn negative_numbers_are_values() {
    let bank = Setup::new().chemistry(1000).start();
    check(
        &bank,
        &[
            (
                "limit set amy --per-day -5",
                1,
                "a limit must not be below zero: '-5' for '--per-day",
            ),
            ("undo -1", 4, "no transaction \"-1\""),
            ("usage --top -1", 2, "expected 1 to 10000"),
            ("rate test Processors=1 --wall -1", 2, "is not a duration"),
            ("lien show -3", 4, "no lien \"-3\""),
            (
                "adjust chemistry 0 --note x",
                1,
                "an adjustment must not be 0",
            ),
            ("adjust chemistry -1 --note x", 0, ""),
        ],
    );
}

#[test]
fn a_time_of_the_site_is_shown_in_the_zone_of_the_caller() {
    let bank = Setup::new().chemistry(1000).start();
    check(
        &bank,
        &[
            ("kind add project --field ends:time", 0, ""),
            (
                "project set chemistry --ends 2027-12-31",
                0,
                "ends 2027-12-31",
            ),
            ("project show chemistry", 0, "2027-12-31"),
            ("project ls", 0, "2027-12-31"),
            ("project tree", 0, "2027-12-31"),
            ("project show chemistry --json", 0, "2027-12-30T23:00:00Z"),
        ],
    );
}

/// The rate of `bankd init` is valid from 1970 on, though it was recorded later.
#[test]
fn the_first_rate_is_in_the_list_of_earlier_times() {
    let bank = Setup::new().chemistry(1000).start();
    bank.set_clock(T0 + 7200);
    check(
        &bank,
        &[
            ("rate ls --at 2020-01-01", 0, "Processors"),
            (
                "rate ls --at 2020-01-01 --recorded",
                0,
                "no rates were recorded by then",
            ),
            ("rate set VBR Processors 3", 0, ""),
            // The bank still had the rate of 1 an hour before.
            (
                "rate ls --at 2026-01-01T01:00:00Z --csv",
                0,
                "1,VBR,Processors,,1,",
            ),
        ],
    );
    let then = bank.bank_ok(&["rate", "ls", "--at", "2026-01-01T01:00:00Z", "--csv"]);
    assert_eq!(then.lines().count(), 2, "{then}");
}
