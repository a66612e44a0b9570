//! The properties (c) and (f) of ledger.md 11 over random histories with refunds, transfers,
//! expiries and reversals: what the journal alone says, and statements of random periods.

use super::bench::Bench;
use super::case_past::stated;
use super::fixture::T0;
use super::ground::Ground;
use super::many::{Doing, known};
use super::sqlite::Sqlite;
use super::wild::{Dice, Wild, furnish};
use bank_core::directory::Policy;
use bank_core::ids::AccountId;
use bank_core::time::{MICROS, Timestamp, Window};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;

const SEED: [u8; 32] = *b"opening + credits + debits = end";

/// Histories, and the longest of them; periods of each account.
const HISTORIES: u32 = 25;
const LONGEST: usize = 120;
const PERIODS: usize = 6;

/// A period with bounds near something that happened, or none.
fn period(dice: &mut Dice, last: Timestamp) -> Window {
    let whole = u64::try_from((last.0 - T0.0) / MICROS).unwrap() + 200_000;
    let mut bound = || {
        let second = i64::try_from(dice.below(whole)).unwrap() - 100_000;
        (dice.below(8) > 0).then_some(Timestamp(T0.0 + second * MICROS))
    };
    match (bound(), bound()) {
        (Some(a), Some(b)) => Window {
            start: Some(a.min(b)),
            end: Some(a.max(b).plus(bank_core::time::Seconds(1))),
        },
        (start, end) => Window { start, end },
    }
}

#[test]
fn statements_of_random_periods_of_random_histories_add_up() {
    let config = Config {
        cases: HISTORIES,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    println!("seed {:?}", String::from_utf8_lossy(&SEED));
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let mut first = Sqlite::new(Policy::default(), 1);
    furnish(&mut Bench::new(&mut first));
    let first = RefCell::new(first);
    let history = prop::collection::vec(any::<u64>().prop_map(Wild), 1..LONGEST);
    let outcome = runner.run(&history, |history| {
        let mut store = first.borrow_mut().copy(16);
        told(&history, &mut store).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, history)) => panic!("{reason}\n\n{history:#?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Plays a history on both grounds, and states random periods of each account.
fn told(history: &[Wild], store: &mut Sqlite) -> Result<(), String> {
    let mut bank = Doing::new();
    for (n, wild) in history.iter().enumerate() {
        let known = known(&bank.memory);
        if let Some((op, answer)) = bank.step(*wild) {
            let command = wild.command(known, bank.clock);
            let got = store.submit(&command, Some(&format!("wild-{n}")), bank.clock);
            if got != answer {
                return Err(format!("{op}: store {got}, book {answer}"));
            }
        }
    }
    if bank.memory.journal(0) != store.journal(0) {
        return Err("the journals of book and store differ".to_owned());
    }
    let proof = store.proof();
    if !proof.is_empty() {
        return Err(format!("{proof:#?}"));
    }
    let mut dice = Dice(history.iter().fold(0, |seed, wild| seed ^ wild.0));
    let accounts: Vec<AccountId> = store.directory().accounts().map(|a| a.id).collect();
    for account in accounts {
        stated(store, account, &Window::ALWAYS);
        for _ in 0..PERIODS {
            stated(store, account, &period(&mut dice, bank.clock));
        }
    }
    Ok(())
}
