//! The properties (c) and (f) of ledger.md 11 over random histories with refunds, transfers,
//! expiries and reversals: what the journal alone says, and statements of random periods.

use super::ask::{ci, deposit};
use super::ask_after::{refund, undo};
use super::bench::Bench;
use super::case_past::stated;
use super::fixture::T0;
use super::ground::Ground;
use super::history::history;
use super::many::{Doing, known};
use super::rolled::operation;
use super::sqlite::Sqlite;
use super::wild::{Dice, Wild, furnish};
use bank_core::directory::Policy;
use bank_core::effects::EntryKind;
use bank_core::ids::AccountId;
use bank_core::time::{MICROS, Timestamp, Window};
use bankd_store::read::statement::{self, Part};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

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
        check(&history, &mut store).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, history)) => panic!("{reason}\n\n{history:#?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Plays a history on both grounds, and states random periods of each account.
fn check(history: &[Wild], store: &mut Sqlite) -> Result<(), String> {
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

/// The lower table of an account's statement over all time, compared with its movements by user.
fn lower(store: &mut Sqlite, account: AccountId, now: Timestamp) -> BTreeMap<String, Part> {
    let reader = store.reader().unwrap();
    let (_, sums, lines) = statement::whole(reader, account, &Window::ALWAYS, now).unwrap();
    let mut net: BTreeMap<String, i128> = BTreeMap::new();
    for line in lines
        .iter()
        .filter(|line| line.is_use && line.kind != EntryKind::Expire)
    {
        *net.entry(line.user.clone()).or_default() += i128::from(line.active);
    }
    let own = sums.parts.iter();
    let own: BTreeMap<String, i128> = own
        .map(|(user, part)| (user.clone(), part.refunded - part.charged))
        .collect();
    assert_eq!(own, net, "account {}", account.0);
    sums.parts
}

/// The lower table adds up to the upper one, whatever was undone, done again, amended or settled, and what
/// was undone is in neither column.
#[test]
fn lower_tables_add_up_to_upper_ones() {
    let (mut charged, mut refunded) = (0, 0);
    for seed in 0..12 {
        let (mut store, clock) = history(seed, 3_000, operation);
        let accounts: Vec<AccountId> = store.directory().accounts().map(|a| a.id).collect();
        for account in accounts {
            for (user, part) in lower(&mut store, account, clock) {
                let seen = format!("seed {seed}, account {}, {user}: {part:?}", account.0);
                assert!(part.charged >= 0 && part.refunded >= 0, "{seen}");
                charged += part.charged;
                refunded += part.refunded;
            }
        }
    }
    assert!(charged > 1_000 && refunded > 100, "{charged} {refunded}");
}

/// An undone charge lowers what was charged, an undone refund what was given back; done again, they rise.
#[test]
fn what_was_undone_counts_for_the_first_of_its_chain() {
    let mut store = Sqlite::new(Policy::default(), 1);
    furnish(&mut Bench::new(&mut store));
    let (mut clock, mut keys) = (T0, 0);
    let mut run = |store: &mut Sqlite, command| {
        clock = clock.plus(bank_core::time::Seconds(60));
        keys += 1;
        store.submit(&command, Some(&format!("chain-{keys}")), clock);
        store.journal(0).last().unwrap().id
    };
    run(&mut store, deposit("A", "1000").command.unwrap());
    let charge = ci("chain", 10).project("P").user("amy").machine("colony");
    let charge = charge.processors(1).amount(100).command.unwrap();
    let mut last = run(&mut store, charge);
    let expect = |store: &mut Sqlite, charged: i128, refunded: i128| {
        let all: Vec<AccountId> = store.directory().accounts().map(|a| a.id).collect();
        let mut sums = (0, 0);
        for id in all {
            let parts = lower(store, id, T0.plus(bank_core::time::Seconds(100_000)));
            sums.0 += parts.values().map(|part| part.charged).sum::<i128>();
            sums.1 += parts.values().map(|part| part.refunded).sum::<i128>();
        }
        assert_eq!(sums, (charged, refunded));
    };
    expect(&mut store, 100, 0);
    for charged in [0, 100, 0, 100] {
        last = run(&mut store, undo(last).command.unwrap());
        expect(&mut store, charged, 0);
    }
    last = run(&mut store, refund("chain", 40).command.unwrap());
    expect(&mut store, 100, 40);
    for refunded in [0, 40, 0, 40] {
        last = run(&mut store, undo(last).command.unwrap());
        expect(&mut store, 100, refunded);
    }
}
