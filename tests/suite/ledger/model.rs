//! The model test: random command sequences against the naive reference, the book in memory and
//! the store on disk. All three must say the same, hold the same and journal the same; what fails
//! is shrunk to a script that a person can read.
//!
//! Checked on the way are the properties of ledger.md 11: money is conserved (a), no reserve takes
//! an allocation below zero (b), the journal alone gives every balance (c), and a repeated key
//! changes nothing (e).

use super::ask::job;
use super::bench::Bench;
use super::fixture::T0;
use super::ground::{Ground, Line, Tx};
use super::memory::Memory;
use super::naive::Naive;
use super::reply::refused;
use super::script::{NAMES, Script, Step, WHO, furnish, job_id, script};
use super::sqlite::Sqlite;
use bank_core::command::Command;
use bank_core::directory::Policy;
use bank_core::ids::UNBILLED;
use bank_core::model::Allocation;
use bank_core::time::{Seconds, Timestamp};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The one seed: a failure is the same on every machine.
const SEED: [u8; 32] = *b"every credit is somewhere always";

/// Scripts, and the longest of them.
const SCRIPTS: u32 = 150;
const LONGEST: usize = 60;

/// Commands per commit: the writer groups them too.
const GROUP: usize = 8;

#[test]
fn random_commands_do_what_the_naive_reference_does() {
    let config = Config {
        cases: SCRIPTS,
        failure_persistence: None,
        max_shrink_iters: 1_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let mut runner = TestRunner::new_with_rng(config, rng);
    println!(
        "seed {:?}, {SCRIPTS} scripts",
        String::from_utf8_lossy(&SEED)
    );
    let policy = Policy::default();
    let (mut memory, mut sqlite) = (Memory::new(policy), Sqlite::new(policy, 1));
    furnish(&mut Bench::new(&mut memory));
    furnish(&mut Bench::new(&mut sqlite));
    let sqlite = RefCell::new(sqlite);
    let outcome = runner.run(&script(LONGEST), |script| {
        let mut trio = Trio {
            naive: Naive::new(),
            memory: memory.clone(),
            sqlite: sqlite.borrow_mut().copy(GROUP),
            clock: T0,
            asked: Vec::new(),
        };
        trio.play(&script).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, script)) => panic!("{reason}\n\n{script}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// What was asked with a key.
struct Asked {
    step: Step,
    at: Timestamp,
    command: Command,
    answer: String,
}

/// The three of them, side by side.
struct Trio {
    naive: Naive,
    memory: Memory,
    sqlite: Sqlite,
    clock: Timestamp,
    asked: Vec<Asked>,
}

impl Trio {
    /// Plays a script; says at which step who disagrees.
    fn play(&mut self, script: &Script) -> Result<(), String> {
        for (n, step) in script.0.iter().enumerate() {
            self.step(*step)
                .map_err(|why| format!("step {n}, {step}: {why}"))?;
        }
        self.at_the_end()
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Tick { seconds } => {
                self.clock = self.clock.plus(Seconds(seconds));
                Ok(())
            }
            Step::Reopen => {
                self.sqlite.reopen();
                self.compare()
            }
            Step::Repeat { back, altered } => self.repeat(back, altered),
            step => self.command(step),
        }
    }

    fn command(&mut self, step: Step) -> Result<(), String> {
        self.naive.now = self.clock;
        let answer = self.naive.step(step);
        let command = step.command(self.clock);
        let key = step
            .is_keyed()
            .then(|| format!("step-{}", self.asked.len()));
        self.submit(&command, key.as_deref(), &answer)?;
        self.compare()?;
        self.compare_active()?;
        if let (Step::Reserve { who, job, .. }, false) = (step, answer.starts_with("refused")) {
            self.covered(who, job)?;
        }
        if step.is_keyed() {
            let at = self.clock;
            self.asked.push(Asked {
                step,
                at,
                command,
                answer,
            });
        }
        Ok(())
    }

    /// The same bytes have the same answer; other bytes with the same key are refused.
    fn repeat(&mut self, back: usize, altered: bool) -> Result<(), String> {
        let Some(n) = self.asked.len().checked_sub(back) else {
            return Ok(());
        };
        let asked = &self.asked[n];
        let (command, answer) = if altered {
            (
                asked.step.altered().command(asked.at),
                refused("key_reused"),
            )
        } else {
            (asked.command.clone(), asked.answer.clone())
        };
        self.submit(&command, Some(&format!("step-{n}")), &answer)?;
        self.compare()
    }

    fn submit(&mut self, command: &Command, key: Option<&str>, naive: &str) -> Result<(), String> {
        for ground in [&mut self.memory as &mut dyn Ground, &mut self.sqlite] {
            let got = ground.submit(command, key, self.clock);
            same("answer", ground.name(), &got, &naive.to_owned())?;
        }
        Ok(())
    }

    /// All balances, and that no money came or went by itself.
    fn compare(&mut self) -> Result<(), String> {
        let (book, store) = (self.memory.allocations(), self.sqlite.allocations());
        same("allocations", "sqlite", &store, &book)?;
        let figures = |a: &Allocation| [a.amount.0, a.held.0, a.shadow.0, a.shadow_held.0];
        let held: Vec<_> = book.iter().map(figures).collect();
        same(
            "amount, held, shadow, shadow held",
            "book",
            &held,
            &self.naive.figures(),
        )?;
        let money: i64 = book.iter().map(|a| a.amount.0).sum();
        same("all money", "book", &money, &self.naive.money)?;
        same("findings", "book", &self.memory.findings(), &Vec::new())
    }

    /// The journal's active money of each account is what its open windows hold.
    fn compare_active(&mut self) -> Result<(), String> {
        let directory = self.memory.directory();
        let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
        let entries = self.memory.book.journal.iter().flat_map(|tx| &tx.entries);
        for entry in entries {
            let account = entry.account.map_or(0, |a| a.0);
            *sums.entry(account).or_default() += entry.delta.active;
        }
        let of = |name: &&str| {
            let id = directory.account_named(name).unwrap().id.0;
            sums.get(&id).copied().unwrap_or(0)
        };
        let active: Vec<i64> = NAMES.iter().chain([&UNBILLED]).map(of).collect();
        same("active money", "book", &active, &self.naive.active())
    }

    /// A lien never takes more than what was free (property b).
    fn covered(&mut self, who: usize, n: u8) -> Result<(), String> {
        let key = job(WHO[who].2, &job_id(who, n));
        let lien = self
            .memory
            .instances(&key)
            .into_iter()
            .next()
            .and_then(|i| i.lien);
        let all = self.memory.allocations();
        for portion in lien.filter(|l| !l.shadow).iter().flat_map(|l| &l.portions) {
            let on = all.iter().find(|a| a.id == portion.allocation).unwrap();
            if on.free(false) < 0 {
                return Err(format!(
                    "a lien took allocation {} below its limit",
                    on.id.0
                ));
            }
        }
        Ok(())
    }

    /// Both journals are the same, and each gives every balance (property c).
    fn at_the_end(&mut self) -> Result<(), String> {
        let (book, store) = (self.memory.journal(0), self.sqlite.journal(0));
        same("journal", "sqlite", &store, &book)?;
        same(
            "usage",
            "sqlite",
            &self.sqlite.usages(),
            &self.memory.usages(),
        )?;
        let mut sums: BTreeMap<i64, [i64; 4]> = BTreeMap::new();
        for line in store.iter().flat_map(|tx| &tx.entries) {
            let Some(id) = line.allocation else { continue };
            let d = line.delta;
            let deltas = [d.amount, d.held, d.shadow, d.shadow_held];
            let own = sums.entry(id).or_default();
            own.iter_mut()
                .zip(deltas)
                .for_each(|(sum, delta)| *sum += delta);
        }
        for a in self.sqlite.allocations() {
            let columns = [a.amount.0, a.held.0, a.shadow.0, a.shadow_held.0];
            let replayed = sums.get(&a.id.0).copied().unwrap_or_default();
            same("replayed journal", "sqlite", &replayed, &columns)?;
        }
        same(
            "liens",
            "sqlite",
            &self.sqlite.liens(),
            &self.memory.liens(),
        )?;
        self.liens_end_once(&store)?;
        same("verify", "sqlite", &self.sqlite.proof(), &Vec::new())
    }

    /// Every lien is open, or ended once as its last entry says; an ended one holds nothing. One
    /// without such an entry is settled where charges took all of it.
    fn liens_end_once(&mut self, journal: &[Tx]) -> Result<(), String> {
        for (id, state) in self.memory.liens() {
            let entries = journal.iter().flat_map(|tx| &tx.entries);
            let own: Vec<&Line> = entries.filter(|line| line.lien == Some(id)).collect();
            let left: i64 = own.iter().map(|e| e.delta.held + e.delta.shadow_held).sum();
            let said: Vec<&str> = own.iter().filter_map(|line| ending(&line.kind)).collect();
            let ended = said.last().copied();
            let ok = match state.as_str() {
                "open" => ended.is_none(),
                "settled" => ended.is_none() && left == 0,
                other => ended == Some(other) && left == 0 && said.iter().all(|s| *s == other),
            };
            if !ok {
                return Err(format!(
                    "lien {id} is {state}, holds {left}, journal {said:?}"
                ));
            }
        }
        Ok(())
    }
}

/// The state in which an entry of this kind leaves its lien, if it ends it.
fn ending(kind: &str) -> Option<&'static str> {
    match kind {
        "lien_release" => Some("released"),
        "lien_expire" => Some("expired"),
        "lien_replace" => Some("replaced"),
        _ => None,
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    whose: &str,
    got: &T,
    expected: &T,
) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!(
        "{what} of {whose}:\n  is     {got:?}\n  should {expected:?}"
    ))
}
