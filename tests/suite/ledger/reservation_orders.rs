//! The charge of a reservation in every order of documents: it equals a direct computation, second by second.

use super::ask::Ask;
use super::ask_after::{refund, undo};
use super::bench::{BEFORE, Bench};
use super::case_reservation::{Doc, billed, job, reported, reserved};
use super::memory::Memory;
use super::sqlite::Sqlite;
use bank_core::amount::Precision;
use bank_core::command::{Command, SetRate};
use bank_core::directory::{Bank, Policy};
use bank_core::rate::{Per, RateKind, RateValue};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The seconds that documents are about, from an hour before T0 on.
const FROM: i64 = -3600;
const UNTIL: i64 = 10_800;

/// Time of an object: from, to (seconds after T0), processors.
type Time = (i64, i64, i64);

/// A document of a story.
#[derive(Clone, Debug)]
enum Step {
    Reserved(Time),
    Job(usize, Time, bool),
    /// A job of another reservation, or on another machine.
    Foreign(usize, Time, bool),
}

impl Step {
    fn doc(&self) -> Doc {
        let end = |to: i64| format!("T0{to:+}");
        match self {
            Step::Reserved((from, to, n)) => reserved(*n, to - from, &end(*to)),
            Step::Job(id, (from, to, n), _) => job(&format!("j{id}"), *n, to - from, &end(*to)),
            Step::Foreign(id, (from, to, n), other) => {
                let doc = job(&format!("f{id}"), *n, to - from, &end(*to));
                if *other { doc.of("r2") } else { doc.on("blue") }
            }
        }
    }

    /// Whether the charge is undone after all documents.
    fn is_undone(&self) -> bool {
        matches!(self, Step::Job(_, _, true))
    }
}

/// Interim charges that follow each other.
fn chain(first: i64, lengths: &[(i64, i64)]) -> Vec<Time> {
    let mut at = first;
    let one = |(length, processors): &(i64, i64)| {
        let from = at;
        at += length;
        (from, at, *processors)
    };
    lengths.iter().map(one).collect()
}

fn times(most: i64) -> impl Strategy<Value = Vec<Time>> {
    let lengths = prop::collection::vec((1i64..1500, 1i64..most), 1..4);
    (-3000i64..6000, lengths).prop_map(|(first, lengths)| chain(first, &lengths))
}

/// Documents in an order, and the processors that were idle in each second of the reservation.
fn story() -> impl Strategy<Value = Vec<Step>> {
    let reservation = prop::collection::vec((600i64..2400, 1i64..20), 1..4);
    let reservation = (-600i64..600, reservation).prop_map(|(first, all)| chain(first, &all));
    let jobs = prop::collection::vec((times(12), any::<[bool; 3]>()), 0..5);
    let foreign = prop::collection::vec((times(12), any::<bool>()), 0..2);
    let all = (reservation, jobs, foreign).prop_map(|(reservation, jobs, foreign)| {
        let mut steps: Vec<Step> = reservation.into_iter().map(Step::Reserved).collect();
        for (id, (times, undone)) in jobs.into_iter().enumerate() {
            let own = times.into_iter().zip(undone);
            steps.extend(own.map(|(time, undone)| Step::Job(id, time, undone)));
        }
        for (id, (times, other)) in foreign.into_iter().enumerate() {
            steps.extend(times.into_iter().map(|time| Step::Foreign(id, time, other)));
        }
        steps
    });
    all.prop_shuffle()
}

/// Idle processor-seconds, second by second.
fn idle(steps: &[Step], with_undone: bool) -> i64 {
    let count = usize::try_from(UNTIL - FROM).unwrap();
    let (mut has, mut used) = (vec![0i64; count], vec![0i64; count]);
    for step in steps {
        let (all, (from, to, processors)) = match step {
            Step::Reserved(time) => (&mut has, time),
            Step::Job(_, time, undone) if with_undone || !undone => (&mut used, time),
            _ => continue,
        };
        for second in *from..*to {
            all[usize::try_from(second - FROM).unwrap()] += processors;
        }
    }
    has.iter()
        .zip(used)
        .map(|(has, used)| (has - used).max(0))
        .sum()
}

/// The amount of processor-seconds at a price per hour in thousandths, rounded half to even.
fn price(processor_seconds: i64, per_hour: i64) -> i64 {
    let whole = processor_seconds * per_hour;
    let (amount, rest) = (whole / 3600, whole % 3600);
    amount + i64::from(rest * 2 > 3600 || (rest * 2 == 3600 && amount % 2 == 1))
}

const PER_HOUR: i64 = 37;

/// Plays a story, and compares the charge with the direct computation.
fn play(t: &mut Bench<'_>, steps: &[Step]) -> Result<(), TestCaseError> {
    t.given("F{a=1000000}");
    t.clock = BEFORE;
    t.admin(Command::SetRate(SetRate {
        kind: RateKind::Vbr,
        name: "Processors".to_owned(),
        instance: String::new(),
        value: RateValue::parse("0.037").unwrap(),
        per: Per::Hour,
        machine: None,
        from: None,
        until: None,
        when: None,
        description: String::new(),
    }));
    t.at("T0+20000");
    reported(t);
    let mut undone = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let ask = step.doc().ask(false).key(&format!("doc-{n}"));
        let before = t.mark();
        t.after([ask.clone(), ask]);
        if step.is_undone() {
            let new = t.ground.journal(before);
            undone.push(new.iter().find(|tx| tx.op == "charge").unwrap().id);
        }
        // The charge is right after each document, for those that came.
        let direct = price(idle(&steps[..=n], true), PER_HOUR);
        prop_assert_eq!(billed(t), direct, "after {:?}", step);
    }
    let charged: Vec<Ask> = undone.iter().map(|tx| undo(*tx)).collect();
    t.after(charged);
    prop_assert_eq!(
        billed(t),
        price(idle(steps, false), PER_HOUR),
        "after undos"
    );
    if let Some(Step::Job(id, ..)) = steps.iter().find(|s| matches!(s, Step::Job(_, _, false))) {
        // Money of a job comes back, and its time was used all the same.
        t.run(refund(&format!("j{id}"), 1));
        prop_assert_eq!(
            billed(t),
            price(idle(steps, false), PER_HOUR),
            "after a refund"
        );
    }
    conserved(t)
}

/// The account lost what all objects pay, and nothing else.
fn conserved(t: &mut Bench<'_>) -> Result<(), TestCaseError> {
    let amount: i64 = t.ground.allocations().iter().map(|a| a.amount.0).sum();
    let used: i64 = t.ground.usages().iter().map(|(_, amount, _)| amount).sum();
    prop_assert_eq!(1_000_000 - amount, used);
    let findings = t.ground.proof();
    prop_assert!(findings.is_empty(), "{:?}", findings);
    Ok(())
}

fn bank() -> Bank {
    Bank {
        precision: Precision::new(3).unwrap(),
        ..super::ground::bank()
    }
}

fn run(cases: u32, play: impl Fn(Vec<Step>) -> Result<(), TestCaseError>) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, b"only idle time is its own always");
    let mut runner = TestRunner::new_with_rng(config, rng);
    runner.run(&story(), play).unwrap();
}

#[test]
fn the_charge_of_a_reservation_does_not_depend_on_the_order_of_documents() {
    run(60, |steps| {
        let mut memory = Memory::of(bank(), Policy::default());
        play(&mut Bench::new(&mut memory), &steps)
    });
}

#[test]
fn the_store_has_the_same_charges() {
    run(15, |steps| {
        let mut store = Sqlite::of(bank(), Policy::default(), 1);
        play(&mut Bench::new(&mut store), &steps)
    });
}
