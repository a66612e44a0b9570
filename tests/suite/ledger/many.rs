//! ledger.md 11, case 116: ten thousand random operations, and the invariants of ledger.md 7 after
//! each of them; against the store from four threads.

use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::memory::Memory;
use super::reply;
use super::sqlite::Sqlite;
use super::watcher::Watcher;
use super::wild::{Dice, Known, Wild, furnish};
use super::writer::in_threads;
use bank_core::directory::Policy;
use bank_core::time::{Seconds, Timestamp};
use std::collections::BTreeMap;

/// The operations of case 116, and whose they are.
const OPERATIONS: usize = 10_000;
const SEED: u64 = 20_260_601;
const THREADS: u64 = 4;

/// What a memory knows by now.
pub(super) fn known(memory: &Memory) -> Known {
    let last = |n: Option<(&i64, _)>| n.map_or(0, |(id, ())| *id);
    let allocations = memory.book.allocations.last_key_value();
    let liens = memory.book.liens.last_key_value();
    Known {
        transactions: memory.book.journal.last().map_or(0, |tx| tx.id.0),
        liens: last(liens.map(|(id, _)| (id, ()))),
        allocations: last(allocations.map(|(id, _)| (id, ()))),
    }
}

/// A bank in memory that does wild operations one after the other.
pub(super) struct Doing {
    pub(super) memory: Memory,
    pub(super) clock: Timestamp,
    keys: usize,
}

impl Doing {
    pub(super) fn new() -> Doing {
        let mut memory = Memory::new(Policy::default());
        furnish(&mut Bench::new(&mut memory));
        Doing {
            memory,
            clock: T0,
            keys: 0,
        }
    }

    /// What was answered; nothing where only time passes.
    pub(super) fn step(&mut self, wild: Wild) -> Option<(&'static str, String)> {
        if wild.seconds() > 0 {
            self.clock = self.clock.plus(Seconds(wild.seconds()));
            return None;
        }
        let command = wild.command(known(&self.memory), self.clock);
        self.keys += 1;
        let key = format!("wild-{}", self.keys);
        let answer = self.memory.submit(&command, Some(&key), self.clock);
        Some((command.op(), answer))
    }
}

#[test]
fn ledger_case_116_ten_thousand_operations_keep_every_invariant() {
    println!("seed {SEED}");
    let (mut bank, mut watcher) = (Doing::new(), Watcher::default());
    let mut dice = Dice(SEED);
    let mut done: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for n in 0..OPERATIONS {
        let wild = Wild(dice.next());
        let step = bank.step(wild);
        let findings = watcher.look(&bank.memory.book);
        assert!(
            findings.is_empty(),
            "seed {SEED}, operation {n}, {wild}: {step:?}\n{findings:#?}"
        );
        if let Some((op, answer)) = step {
            let refused = usize::from(answer.starts_with("refused"));
            done.entry(op).or_default()[refused] += 1;
        }
    }
    assert_eq!(bank.memory.findings(), Vec::<String>::new());
    println!("done and refused: {done:?}");
    for op in [
        "deposit", "withdraw", "transfer", "refund", "adjust", "undo", "reserve", "charge",
    ] {
        let [accepted, _] = done[op];
        assert!(accepted > 25, "{op} was done {accepted} times: {done:?}");
    }
}

#[test]
fn ledger_case_116_four_threads_leave_a_store_that_adds_up() {
    println!("seed {SEED}");
    let mut store = Sqlite::new(Policy::default(), 64);
    furnish(&mut Bench::new(&mut store));
    let mut dice = Dice(SEED);
    let wild = |n: usize, dice: &mut Dice| {
        let known = Known::about(i64::try_from(n).unwrap());
        let command = Wild(dice.next()).command(known, T0);
        super::ask::Ask::from(command)
    };
    let own = OPERATIONS / usize::try_from(THREADS).unwrap();
    let all = (0..THREADS).map(|_| (0..own).map(|n| wild(n * 4, &mut dice)).collect());
    let got = in_threads(store.take_store(), all.collect());
    assert_eq!(got.len(), OPERATIONS);
    let internal = reply::refused("internal");
    assert!(got.iter().all(|g| g.text != internal));
    store.open();
    assert_eq!(store.proof(), Vec::<String>::new(), "seed {SEED}");
}
