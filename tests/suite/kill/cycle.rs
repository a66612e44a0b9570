//! A cycle's boundary with the daemon killed around it: it runs once, whatever happens.

use std::time::Duration;

use super::Numbers;
use crate::harness::{Bank, T0, pause, until};

/// Boundaries, each with a kill.
const ROUNDS: i64 = 8;

fn bank() -> Bank {
    let bank = Bank::new();
    let cycle = [
        "cycle", "add", "c", "-a", "astro", "--every", "month", "--amount", "10",
    ];
    bank.bank_ok(&cycle);
    bank
}

/// The first instant of a month after January 2026.
fn month(after: i64) -> i64 {
    let (year, month) = (2026 + after / 12, 1 + after % 12);
    let text = format!("{year:04}-{month:02}-01T00:00:00Z");
    bank_api::text::parse_rfc3339(&text).unwrap() / 1_000_000
}

fn runs(bank: &Bank) -> i64 {
    let runs = bank.query("SELECT count(*) FROM tx WHERE op = 'cycle'");
    runs[0][0].parse().unwrap()
}

fn settle(bank: &Bank, expected: i64) {
    until("the boundary was run", || {
        (runs(bank) >= expected).then_some(())
    });
    let periods = "SELECT count(*), count(DISTINCT start_at) FROM allocation WHERE deposited = 10";
    let expected = expected.to_string();
    assert_eq!(bank.query(periods), [[expected.clone(), expected]]);
}

#[test]
fn killed_before_the_commit_of_a_boundary() {
    let mut bank = bank();
    for round in 1..=ROUNDS {
        bank.stop_or_kill();
        bank.set_clock(month(round) - 10);
        if bank.start_with(&[("BANKD_KILL_AT", "swept:1")]) {
            bank.set_clock(month(round) + 10);
            until("the daemon has killed itself", || {
                bank.is_gone().then_some(())
            });
        }
        assert_eq!(
            runs(&bank),
            round - 1,
            "what was not committed is not there"
        );
        bank.stop_or_kill();
        bank.start();
        settle(&bank, round);
    }
    bank.verify();
}

#[test]
fn killed_around_a_boundary() {
    let mut numbers = Numbers::new("cycle");
    let mut bank = bank();
    assert!(month(1) > T0);
    for round in 1..=ROUNDS {
        bank.set_clock(month(round) + 10);
        pause(Duration::from_millis(numbers.between(1, 1200)));
        bank.kill_now();
        bank.kill();
        // The clock may be before the boundary again when the daemon comes back.
        bank.set_clock(month(round) - 10);
        bank.start();
        bank.set_clock(month(round) + 20);
        settle(&bank, round);
    }
    bank.verify();
}
