//! What a new administrator types first, with the slips of a first day: each answer names the value and the way on.

use super::statement::{clock, done};
use crate::harness::{Bank, programs};

#[track_caller]
fn refused(bank: &Bank, words: &str, parts: &[&str], without: &[&str]) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let ran = bank.typed(&programs().bank(), &words);
    assert_ne!(ran.exit, 0, "{words:?}: {}", ran.stdout);
    ran.expect_stderr(parts);
    for part in without {
        assert!(!ran.stderr.contains(part), "{part:?} in: {}", ran.stderr);
    }
}

/// A project with money and a job that was charged.
fn site() -> Bank {
    let bank = Bank::site();
    clock(&bank, "2026-11-10T12:00:00Z");
    for words in [
        "machine add ia64",
        "user add amy",
        "user add bob",
        "project add chem --members amy",
        "project add laser --members bob",
        "deposit chem 1000 --end 2027-04-01",
    ] {
        done(&bank, words);
    }
    bank
}

#[test]
fn a_quarter_closes_the_months_that_are_open() {
    let mut bank = site();
    clock(&bank, "2027-01-05T12:00:00Z");
    done(&bank, "close 2026-10");
    let expected = "closed from 2026-11-01 to 2027-01-01";
    let first = done(&bank, "close 2026Q4 --key q4");
    assert!(first.contains(expected), "{first}");
    let again = done(&bank, "close 2026Q4 --key q4");
    assert!(again.contains(expected), "{again}");
    refused(&bank, "close 2026Q4", &["is closed already"], &[]);
    bank.verify();
}

#[test]
fn refusals_name_the_value_and_the_way_on() {
    let bank = site();
    let parts = |line: &'static str| line.split('|').collect::<Vec<_>>();
    for (words, expected, without) in [
        (
            "deposit chem 12.34567",
            "this bank keeps 3 decimals: \"12.34567\"",
            "",
        ),
        (
            "deposit chem 99999999999999999999",
            "larger than the bank can hold: \"99999999999999999999\"",
            "",
        ),
        (
            "usage --tz Foo/Bar",
            "invalid value 'Foo/Bar' for '--tz|expected the name of a time zone",
            "",
        ),
        (
            "usage --by colour",
            "invalid value 'colour' for '--by|: expected words of project",
            "refused",
        ),
        (
            "jobs --state lala",
            "invalid value 'lala' for '--state|expected open or closed",
            "refused",
        ),
        (
            "deposit chem 0",
            "above zero: '0' for '<AMOUNT>'",
            "a limit",
        ),
        (
            "deposit chem 5 --limit -3",
            "'-3' for '--limit",
            "the amount",
        ),
        (
            "limit set amy",
            "--per-operation|--per-day|is missing",
            "per_day",
        ),
        (
            "deposit chem 5 -i 99",
            "account \"chem\" has no allocation 99",
            "",
        ),
        (
            "project members rm chem bob --yes",
            "project \"chem\" has no member \"bob\"",
            "",
        ),
        (
            "withdraw chem 5000",
            "hint: use an amount that is available",
            "shorter duration",
        ),
        (
            "transfer chem laser 5000",
            "hint: use an amount that is available",
            "shorter duration",
        ),
        (
            "cycle add m -a chem --every month --amount 10 --start 2020-01-01",
            "hint: use a start whose period is not over yet",
            "allow-past",
        ),
        (
            "account set chem --fallback chem",
            "an account cannot be its own fallback",
            "has a fallback too",
        ),
        (
            "account set chem --share 33.3",
            "'33.3'|not a whole number",
            "invalid digit",
        ),
        ("undo seven", "'seven'|not a whole number", "invalid digit"),
        (
            "user set amy --email foo",
            "invalid value 'foo' for '--email|expected a mail address",
            "",
        ),
    ] {
        let without: Vec<&str> = without.split('|').filter(|part| !part.is_empty()).collect();
        refused(&bank, words, &parts(expected), &without);
    }
    done(&bank, "user set amy --email amy@uni.example");
    done(&bank, "user set amy --email=");
}

#[test]
fn an_end_in_the_past_shows_what_expires() {
    let mut bank = site();
    let expected =
        ": it ends 2026-11-10 13:00:00 instead of 2027-04-01, so it has ended: 1,000.000 SU expire";
    let words = ["allocation", "set", "2", "--end", "2026-06-30"];
    let slip = bank.typed(&programs().bank(), &words);
    assert_eq!(slip.exit, 1, "{}", slip.stdout);
    slip.expect_stderr(&["the end is in the past", "--allow-past"]);
    let tried = done(
        &bank,
        "allocation set 2 --end 2026-06-30 --allow-past --dry-run",
    );
    assert!(tried.contains(expected), "{tried}");
    let result = done(&bank, "allocation set 2 --end 2026-06-30 --allow-past");
    assert!(result.contains(expected), "{result}");
    let restored = done(&bank, "allocation set 2 --end 2027-06-30");
    assert!(
        restored.contains("it ends 2027-06-30 instead of"),
        "{restored}"
    );
    bank.verify();
}

#[test]
fn a_deposit_beside_a_debt_warns_of_it() {
    let mut bank = site();
    done(&bank, "charge j1 -A chem -u amy -m ia64 --amount 1500");
    let words = ["deposit", "chem", "2000"];
    let ran = bank.typed(&programs().bank(), &words);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.expect_stderr(&[
        "allocation 2 is 500.000 SU below zero",
        "`bank deposit chem 500.000 -i 2` does",
    ]);
    let paid = bank.typed(
        &programs().bank(),
        &["deposit", "chem", "500.000", "-i", "2"],
    );
    assert_eq!(
        (paid.exit, paid.stderr.as_str()),
        (0, ""),
        "{}",
        paid.stdout
    );
    bank.verify();
}

#[test]
fn requests_show_what_they_are_for() {
    let bank = site();
    let asked = done(&bank, "request member chem bob --reason May");
    let id = asked.split("request ").nth(1).unwrap();
    let id = id.split(' ').next().unwrap();
    let list = done(&bank, "request ls");
    assert!(
        list.contains("For") && list.contains("bob in chem"),
        "{list}"
    );
    done(&bank, &format!("request approve {id} --answer ok"));
    let again = format!("request approve {id} --answer ok");
    let expected = format!("request {id} is approved");
    refused(
        &bank,
        &again,
        &[&expected, "`bank request show`"],
        &["proposal show"],
    );
    for words in ["request show 9999", "request approve 9999 --answer ok"] {
        refused(&bank, words, &["no request \"9999\""], &["proposal"]);
    }
}

#[test]
fn a_refund_has_no_formula_of_no_use() {
    let bank = site();
    done(
        &bank,
        "charge j1 -A chem -u amy -m ia64 --procs 4 --duration 1:00:00",
    );
    done(&bank, "refund j1 1");
    let output = done(&bank, "rate explain j1");
    assert!(
        output.contains("billed \u{2212}1.000 SU (returned to the payers)"),
        "{output}"
    );
    assert!(!output.contains("= 0"), "{output}");
}

#[test]
fn an_unknown_time_zone_is_reported() {
    let bank = site();
    for (name, is_known) in [
        ("Foo/Bar", false),
        ("Berlin", false),
        ("Europe/Berlin", true),
        ("CET-1CEST", true),
        ("UTC", true),
        ("", true),
    ] {
        let ran = bank.bank_as(&[("TZ", name)], &["account", "ls"]);
        assert_eq!(ran.exit, 0, "{name}: {}", ran.stderr);
        let warned = ran.stderr.contains("there is no time zone");
        assert_eq!(warned, !is_known, "{name}: {}", ran.stderr);
    }
}
