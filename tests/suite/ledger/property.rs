//! The properties of ledger.md 11 that need two banks: independent commands in either order (d),
//! and every request sent twice (e).

use super::bench::BEFORE;
use super::fixture::T0;
use super::ground::Ground;
use super::memory::Memory;
use super::reach::{Reach, reach};
use super::script::{Known, SITES, Step, WORLD, command, script, site, step};
use bank_core::command::Command;
use bank_core::time::{Seconds, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

const SEED: [u8; 32] = *b"two banks one order or the other";

fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
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
    txs: Vec<i64>,
}

impl Bank {
    /// One for each site.
    fn all() -> Vec<Bank> {
        let new = |number| {
            let mut bank = Bank {
                memory: Memory::new(site(number)),
                clock: BEFORE,
                keys: 0,
                txs: Vec::new(),
            };
            for line in WORLD {
                bank.step(line, 0);
            }
            bank.clock = T0;
            bank
        };
        (0..SITES.len()).map(new).collect()
    }

    fn command(&self, line: &str) -> Command {
        let known = Known {
            now: self.clock,
            txs: self.txs.clone(),
            liens: i64::try_from(self.memory.book.liens.len()).unwrap(),
            submitted: self.keys,
        };
        command(line, &known)
    }

    /// Does a step, and the same again as often as wanted.
    fn step(&mut self, line: &str, repeats: usize) {
        match Step::of(line) {
            Step::Tick(seconds) => self.clock = self.clock.plus(Seconds(seconds)),
            Step::Command => {
                let command = self.command(line);
                self.submit(&command, repeats);
            }
            Step::Repeat(_) | Step::Reuse(_) | Step::Reopen => {}
        }
    }

    fn submit(&mut self, command: &Command, repeats: usize) -> String {
        self.keys += 1;
        let key = format!("step-{}", self.keys);
        let before = self.memory.book.journal.len();
        let answer = self.memory.submit(command, Some(&key), self.clock);
        for _ in 0..repeats {
            let again = self.memory.submit(command, Some(&key), self.clock);
            assert_eq!(again, answer, "{command:?}");
        }
        let new = self.memory.book.journal[before..].iter();
        let own = new.filter(|tx| tx.op == command.op());
        self.txs.extend(own.map(|tx| tx.id.0));
        answer
    }

    /// What every allocation and instance holds, whatever its number.
    fn holdings(&self) -> Vec<String> {
        let book = &self.memory.book;
        let name = |id| book.reference().account(id).map_or("", |a| a.name.as_str());
        let allocations = book.allocations.values().map(|a| {
            let (account, window, limit) = (name(a.account), a.window, a.credit_limit.0);
            let sums = (
                a.amount.0,
                a.held.0,
                a.shadow.0,
                a.shadow_held.0,
                a.deposited.0,
            );
            format!("{account} {window:?} {limit}: {sums:?}")
        });
        let instances = book.instances.values().map(|i| {
            let billed = (
                i.billed.0,
                i.shadow_billed.0,
                i.exact_sum,
                i.once_sum,
                i.charged.0,
            );
            let payer = i.account.map_or("", name);
            let open = (i.opened, i.closed, i.due);
            format!("{:?} {}: {billed:?} {payer} {open:?}", i.key, i.number)
        });
        let mut liens: Vec<String> = book
            .liens
            .values()
            .map(|l| {
                format!(
                    "lien {} until {:?}: {}",
                    l.state.word(),
                    l.end,
                    l.remaining()
                )
            })
            .collect();
        liens.extend(allocations.chain(instances));
        liens.sort_unstable();
        liens
    }
}

#[test]
fn every_request_sent_twice_changes_nothing() {
    let banks = Bank::all();
    let outcome = runner(60).run(&script(40), |script| {
        let (mut once, mut twice) = (banks[script.site].clone(), banks[script.site].clone());
        for line in &script.steps {
            once.step(line, 0);
            twice.step(line, 1);
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

/// Any two commands of which neither looks at what the other one changes.
#[test]
fn independent_commands_may_come_in_either_order() {
    let banks = Bank::all();
    let done: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    let pairs = prop::collection::vec((step(), step()), 40);
    let outcome = runner(250).run(&(script(30), pairs), |(script, pairs)| {
        let mut bank = banks[script.site].clone();
        script.steps.iter().for_each(|line| bank.step(line, 0));
        bank.memory.settle(bank.clock);
        for (left, right) in pairs {
            // Both are what they are before either is done.
            let (one, two) = (bank.command(&left), bank.command(&right));
            let reached = [&one, &two].map(|c| reach(c, &bank.memory.book));
            let [Some(first), Some(second)] = reached else {
                continue;
            };
            if !Reach::are_apart(&first, &second) {
                continue;
            }
            let (mut here, mut there) = (bank.clone(), bank.clone());
            let answers = [here.submit(&one, 0), here.submit(&two, 0)];
            there.keys += 10;
            there.submit(&two, 0);
            there.submit(&one, 0);
            // What was over when it was placed ends now.
            here.memory.settle(here.clock);
            there.memory.settle(there.clock);
            prop_assert_eq!(here.holdings(), there.holdings(), "{} and {}", left, right);
            for (command, answer) in [one, two].iter().zip(answers) {
                let accepted = usize::from(!answer.starts_with("refused"));
                *done.borrow_mut().entry(command.op()).or_default() += accepted;
            }
        }
        Ok(())
    });
    show(outcome.map_err(|e| match e {
        TestError::Fail(reason, (script, _)) => format!("{reason}\n\n{script}"),
        TestError::Abort(reason) => reason.to_string(),
    }));
    println!("in either order: {:?}", done.borrow());
    for op in COMMUTING {
        let accepted = done.borrow().get(op).copied().unwrap_or(0);
        assert!(accepted > 0, "{op} was never done in either order");
    }
}

/// Commands that are done in either order at least once.
const COMMUTING: [&str; 19] = [
    "account_rm",
    "account_set",
    "adjust",
    "allocation_rm",
    "allocation_set",
    "charge",
    "create",
    "delete",
    "deposit",
    "lien_extend",
    "lien_rm",
    "member_set",
    "quote",
    "rate_set",
    "refund",
    "reserve",
    "transfer",
    "undo",
    "withdraw",
];

fn show(outcome: Result<(), String>) {
    if let Err(text) = outcome {
        panic!("{text}");
    }
}
