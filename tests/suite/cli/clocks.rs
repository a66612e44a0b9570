//! Times that people type, where clocks are set back or forward.

use crate::harness::{Bank, Setup, T0};

/// What a command answers in a time zone.
#[track_caller]
fn within(bank: &Bank, zone: &str, words: &[&str]) -> String {
    let ran = bank.bank_as(&[("TZ", zone)], words);
    assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
    ran.stdout
}

/// A local time that occurs twice is its first occurrence, with the zone of the machine as with one by name.
#[test]
fn an_hour_that_occurs_twice_begins_with_its_first_occurrence() {
    let mut bank = Setup::new().start();
    bank.set_clock(T0 + 365 * 86_400);
    let job = [
        "charge",
        "d",
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
    ];
    let time = ["--start", "2026-11-01 01:30", "--end", "2026-11-01 03:00"];
    // From 05:30 to 08:00 UTC.
    let done = within(&bank, "America/New_York", &[&job[..], &time].concat());
    assert!(done.starts_with("charged 9,000 credits"), "{done}");
    // Midnight occurs twice.
    let words = ["statement", "chemistry", "--month", "2026-10", "--json"];
    let named = [&words[..], &["--tz", "America/Havana"]].concat();
    for answer in [
        within(&bank, "America/Havana", &words),
        within(&bank, "UTC", &named),
    ] {
        assert!(
            answer.contains("\"until\":\"2026-11-01T04:00:00Z\""),
            "{answer}"
        );
    }
    bank.verify();
}

/// In Cairo, 2026-04-24 begins at 01:00.
#[test]
fn a_day_without_a_midnight_has_a_first_instant() {
    let bank = Setup::new().start();
    bank.set_clock(T0 + 365 * 86_400);
    let words = ["statement", "chemistry", "--from", "2026-04-24", "--json"];
    let named = [&words[..], &["--tz", "Africa/Cairo"]].concat();
    for answer in [
        within(&bank, "Africa/Cairo", &words),
        within(&bank, "UTC", &named),
    ] {
        assert!(
            answer.contains("\"from\":\"2026-04-23T22:00:00Z\""),
            "{answer}"
        );
    }
}
