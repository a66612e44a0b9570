//! The properties of ledger.md 11 that need two banks: independent commands in either order (d),
//! and every request sent twice (e).

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::memory::Memory;
use super::script::{Script, Step, furnish, script, step};
use bank_core::directory::Policy;
use bank_core::time::{Seconds, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

const SEED: [u8; 32] = *b"two banks one order or the other";

fn runner() -> TestRunner {
    let config = Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    };
    println!("seed {:?}", String::from_utf8_lossy(&SEED));
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    TestRunner::new_with_rng(config, rng)
}

/// A bank with the world of the scripts, and its clock.
#[derive(Clone)]
struct Bank {
    memory: Memory,
    clock: Timestamp,
    keys: usize,
}

impl Bank {
    fn new() -> Bank {
        let mut memory = Memory::new(Policy::default());
        furnish(&mut Bench::new(&mut memory));
        Bank {
            memory,
            clock: T0,
            keys: 0,
        }
    }

    /// Does a step, and the same again as often as wanted.
    fn step(&mut self, step: Step, repeats: usize) {
        match step {
            Step::Tick { seconds } => self.clock = self.clock.plus(Seconds(seconds)),
            Step::Repeat { .. } | Step::Reopen => {}
            step => {
                let command = step.command(self.clock);
                self.keys += 1;
                let key = format!("step-{}", self.keys);
                for _ in 0..=repeats {
                    self.memory.submit(&command, Some(&key), self.clock);
                }
            }
        }
    }

    /// What every allocation holds, whatever its number.
    fn holdings(&mut self) -> Vec<String> {
        let all = self.memory.allocations();
        let texts = all.iter().map(|a| {
            let (account, window, limit) = (a.account.0, a.window, a.credit_limit.0);
            let held = (
                a.amount.0,
                a.held.0,
                a.shadow.0,
                a.shadow_held.0,
                a.deposited.0,
            );
            format!("{account} {window:?} {limit}: {held:?}")
        });
        let mut texts: Vec<String> = texts.collect();
        texts.sort_unstable();
        texts
    }
}

#[test]
fn every_request_sent_twice_changes_nothing() {
    let outcome = runner().run(&script(40), |script| {
        let (mut once, mut twice) = (Bank::new(), Bank::new());
        for step in &script.0 {
            once.step(*step, 0);
            twice.step(*step, 1);
        }
        prop_assert_eq!(once.memory.allocations(), twice.memory.allocations());
        prop_assert_eq!(once.memory.journal(0), twice.memory.journal(0));
        Ok(())
    });
    show(outcome.map_err(|e| match e {
        TestError::Fail(reason, script) => format!("{reason}\n\n{script}"),
        TestError::Abort(reason) => reason.to_string(),
    }));
}

#[test]
fn independent_commands_may_come_in_either_order() {
    // Accounts and people of project P on the one hand, of N, T and X on the other.
    let side = |of_p: bool| {
        let filter = move |step: &Step| match *step {
            Step::Deposit { account, .. } | Step::Withdraw { account, .. } => (account < 3) == of_p,
            Step::Reserve { who, .. } | Step::Charge { who, .. } | Step::Delete { who, .. } => {
                who != 7 && (who < 4) == of_p
            }
            _ => false,
        };
        step().prop_filter("a command of this side", filter)
    };
    let strategy = (script(25), side(true), side(false));
    let outcome = runner().run(&strategy, |(script, left, right)| {
        let mut bank = Bank::new();
        script.0.iter().for_each(|step| bank.step(*step, 0));
        let mut other = bank.clone();
        bank.step(left, 0);
        bank.step(right, 0);
        other.step(right, 0);
        other.step(left, 0);
        prop_assert_eq!(bank.holdings(), other.holdings());
        Ok(())
    });
    show(outcome.map_err(|e| match e {
        TestError::Fail(reason, (Script(mut steps), left, right)) => {
            steps.extend([left, right]);
            format!("{reason}\n\n{}the last two in either order", Script(steps))
        }
        TestError::Abort(reason) => reason.to_string(),
    }));
}

fn show(outcome: Result<(), String>) {
    if let Err(text) = outcome {
        panic!("{text}");
    }
}
