//! A chunk of records comes to what the same records come to as single commands, in the modes in which
//! no money moves: shadow totals, identities, prices, refusals, balances.

use super::bench::BEFORE;
use super::fixture::T0;
use super::ground::Ground;
use super::memory::Memory;
use super::script::{Known, WORLD, command};
use super::sqlite::Sqlite;
use bank_core::book::Book;
use bank_core::command::{Chunk, Command, UsageReport};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::effects::EntryKind;
use bank_core::model::{Facts, Mode, ObjectType};
use bank_core::policy::{CHARGE_POLICIES, Ended, Figures};
use bank_core::time::{MICROS, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SEED: [u8; 32] = *b"a chunk is what its records are.";

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

/// What one record may say.
#[derive(Clone, Debug)]
struct Line {
    id: u8,
    start: i64,
    wall: i64,
    whose: (&'static str, &'static str, &'static str),
    processors: i64,
    cpu: Option<i64>,
    ended: Ended,
    never: bool,
}

impl Line {
    fn report(&self) -> UsageReport {
        let at = |second: i64| Timestamp(T0.0.saturating_add(second * MICROS));
        let some = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let mut report = UsageReport {
            source: "slurm".to_owned(),
            figures: Figures {
                ended: self.ended,
                cpu_s: self.cpu.map(Decimal::whole),
                ..Figures::default()
            },
            ..UsageReport::default()
        };
        let (project, user, machine) = self.whose;
        let request = &mut report.request;
        request.object_type = ObjectType::Job;
        request.object_id = format!("j{}", self.id);
        request.whose.project = some(project);
        request.whose.user = some(user);
        machine.clone_into(&mut request.whose.machine);
        request.facts = Facts {
            project: project.to_owned(),
            user: user.to_owned(),
            start: (!self.never).then(|| at(-self.start)),
            end: Some(at(self.wall - self.start)),
            ..Facts::default()
        };
        request.facts.usage.processors = Some(Decimal::whole(self.processors));
        report
    }
}

const USERS: [&str; 4] = ["amy", "bob", "stranger", ""];
const MACHINES: [&str; 4] = ["colony", "colony", "blue", "unheard"];

/// Records of few ids and starts, so that identities meet; no two uses of an id overlap.
fn line() -> impl Strategy<Value = Line> {
    let ended = prop::sample::select(
        &[
            Ended::Completed,
            Ended::Failed,
            Ended::Removed,
            Ended::Waiting,
            Ended::Suspended,
            Ended::Running,
        ][..],
    );
    let project = prop::sample::select(&["P", "N", "W", "Q", "nobody", ""][..]);
    let numbers = (0_u8..12, 1_i64..5, 0_i64..900, 0_i64..5);
    let cpu = prop::option::of(0_i64..500);
    let never = prop::bool::weighted(0.1);
    (project, numbers, cpu, ended, never).prop_map(|(project, numbers, cpu, ended, never)| {
        let (id, start, wall, processors) = numbers;
        // Who it was never changes; the project may.
        let user = USERS[usize::from(id) % USERS.len()];
        let machine = MACHINES[usize::from(id / 4) % MACHINES.len()];
        Line {
            id,
            start: start * 1_000 + 60,
            wall,
            whose: (project, user, machine),
            processors,
            cpu,
            ended,
            never,
        }
    })
}

/// A world with or without lists that look at more than names, and with or without allocations that
/// begin or end.
#[derive(Clone, Copy, Debug)]
struct World {
    mode: Mode,
    policy: usize,
    has_traits: bool,
    has_windows: bool,
}

impl World {
    fn make(self, ground: &mut dyn Ground) {
        let known = Known {
            now: BEFORE,
            txs: Vec::new(),
            liens: 0,
            submitted: 0,
        };
        for line in WORLD {
            let is_of_traits = line.contains("--class") || line.starts_with("deposit E");
            let is_of_window = line.contains('[');
            if (is_of_traits && !self.has_traits) || (is_of_window && !self.has_windows) {
                continue;
            }
            ground.submit(&command(line, &known), None, BEFORE);
        }
        for name in ["colony", "blue"] {
            ground.submit(
                &Command::set_record(
                    "machine",
                    name,
                    &[
                        ("mode", self.mode.word().into()),
                        (
                            "charge_policy",
                            CHARGE_POLICIES[self.policy].0.word().into(),
                        ),
                    ],
                ),
                None,
                T0,
            );
        }
        // A project's own mode is another than that of the machines.
        let set = Command::set_record("project", "W", &[("mode", Mode::Notional.word().into())]);
        ground.submit(&set, None, T0);
    }
}

fn site() -> Policy {
    Policy {
        mode: Mode::Track,
        ..Policy::default()
    }
}

/// Balances and shadow totals of every allocation, what is known of every identity, and whose word
/// each machine is charged by.
fn shown(book: &Book) -> Vec<String> {
    let allocations = book
        .allocations
        .values()
        .map(|a| format!("{:?} {:?} {:?} {:?}", a.id, a.amount, a.held, a.shadow));
    let uses = book.uses.iter().map(|(identity, row)| {
        let became = row.became.word();
        let (amount, refusal) = (row.amount, &row.refusal);
        let counted = (&row.policy, &row.counted, row.revision);
        let whose = &row.report.request.whose;
        format!("{identity:?} {became} {counted:?} {amount:?} {refusal:?} {whose:?}")
    });
    let machines = book.reference().machines();
    let claims = machines.map(|m| format!("{} {:?}", m.name, m.source));
    allocations.chain(uses).chain(claims).collect()
}

fn chunk(lines: &[Line]) -> Command {
    Command::Import(Box::new(Chunk {
        source: "slurm".to_owned(),
        reports: lines.iter().map(|line| Arc::new(line.report())).collect(),
        ..Chunk::default()
    }))
}

fn compare(world: World, lines: &[Line], size: usize) -> Result<(), TestCaseError> {
    let (mut alone, mut together) = (Memory::new(site()), Memory::new(site()));
    let mut disk = Sqlite::new(site(), 64);
    for ground in [
        &mut alone as &mut dyn Ground,
        &mut together as &mut dyn Ground,
        &mut disk as &mut dyn Ground,
    ] {
        world.make(ground);
    }
    for line in lines {
        alone.submit(&Command::Usage(Box::new(line.report())), None, T0);
    }
    for lines in lines.chunks(size) {
        let answer = together.submit(&chunk(lines), None, T0);
        prop_assert_eq!(answer, disk.submit(&chunk(lines), None, T0));
    }
    prop_assert_eq!(shown(&alone.book), shown(&together.book));
    prop_assert_eq!(together.allocations(), disk.allocations());
    prop_assert_eq!(together.journal(0), disk.journal(0));
    prop_assert_eq!(together.findings(), Vec::<String>::new());
    prop_assert_eq!(disk.proof(), Vec::<String>::new());
    Ok(())
}

fn worlds() -> impl Strategy<Value = World> {
    let mode = prop::sample::select(&[Mode::Track, Mode::Notional][..]);
    let (policy, flag) = (0..CHARGE_POLICIES.len(), any::<bool>());
    (mode, policy, flag).prop_map(|(mode, policy, has_traits)| World {
        mode,
        policy,
        has_traits,
        has_windows: true,
    })
}

/// Each identity once, on allocations with and without windows; and the whole of it once more.
#[test]
fn a_chunk_comes_to_what_its_records_come_to_alone() {
    let lines = prop::collection::vec(line(), 1..40);
    let outcome = runner(40).run(
        &(worlds(), lines, 1..40_usize),
        |(world, mut lines, size)| {
            let mut seen = BTreeSet::new();
            lines.retain(|line| seen.insert((line.id, line.start)));
            compare(world, &lines, size)
        },
    );
    outcome.unwrap();
}

/// Records that come again, with equal or other figures, or for another project. What the project's own
/// account is called stands for no other one: by an amended name of that kind the same sums may lie on
/// other accounts (decision note 0034).
#[test]
fn amended_records_in_chunks_come_to_what_they_come_to_alone() {
    let lines = prop::collection::vec(line(), 20..80);
    let outcome = runner(40).run(
        &(worlds(), lines, 1..40_usize),
        |(world, mut lines, size)| {
            for line in &mut lines {
                // Who has no project of their own and names none stays with what was known.
                line.whose.0 = match line.whose.0 {
                    "Q" => "W",
                    "" if line.whose.1 != "bob" => "P",
                    other => other,
                };
            }
            let again: Vec<Line> = lines.iter().step_by(3).cloned().collect();
            lines.extend(again);
            let world = World {
                has_windows: false,
                ..world
            };
            compare(world, &lines, size)
        },
    );
    outcome.unwrap();
}

/// What was counted in the shadow totals is not charged again once money moves: only the difference
/// to an amended record is.
#[test]
fn what_a_chunk_counted_stays_in_shadow_when_money_moves() {
    let world = World {
        mode: Mode::Track,
        policy: 0,
        has_traits: false,
        has_windows: false,
    };
    let mut bank = Sqlite::new(site(), 1);
    world.make(&mut bank);
    let mut line = Line {
        id: 0,
        start: 2_060,
        wall: 100,
        whose: ("P", "amy", "colony"),
        processors: 2,
        cpu: None,
        ended: Ended::Completed,
        never: false,
    };
    bank.submit(&chunk(&[line.clone()]), None, T0);
    let total = |bank: &mut Sqlite| -> (i64, i64) {
        let all = bank.allocations();
        let real = all.iter().map(|a| a.used.0).sum();
        (real, all.iter().map(|a| a.shadow.0).sum())
    };
    assert_eq!(total(&mut bank), (0, -100), "2 processors for 100 s at 0.5");
    bank.submit(
        &Command::set_record("machine", "colony", &[("mode", Mode::Strict.word().into())]),
        None,
        T0,
    );
    let usage = |line: &Line| Command::Usage(Box::new(line.report()));
    assert!(
        bank.submit(&usage(&line), None, T0)
            .starts_with("duplicate")
    );
    line.wall = 130;
    let answer = bank.submit(&chunk(&[line.clone()]), None, T0);
    assert_eq!(answer, "imported: adjusted");
    let answer = bank.submit(&usage(&line), None, T0);
    assert!(answer.starts_with("duplicate"), "{answer}");
    assert_eq!(total(&mut bank), (0, -130));
    assert_eq!(bank.proof(), [""; 0]);
}

/// What each account paid, where it paid anything.
fn paid(bank: &mut Sqlite) -> Vec<(String, i64)> {
    let (allocations, directory) = (bank.allocations(), bank.directory());
    let mut paid: BTreeMap<String, i64> = BTreeMap::new();
    for allocation in allocations {
        let account = directory.account(allocation.account).unwrap();
        *paid.entry(account.name.clone()).or_default() += allocation.used.0;
    }
    paid.into_iter().filter(|(_, sum)| *sum != 0).collect()
}

/// decisions.md 19: the old project's money goes back, and the new one pays all of it, in one transaction;
/// and the other way round.
#[test]
fn a_record_that_names_another_project_moves_what_was_paid() {
    let world = World {
        mode: Mode::Strict,
        policy: 0,
        has_traits: false,
        has_windows: false,
    };
    let mut bank = Sqlite::new(Policy::default(), 1);
    world.make(&mut bank);
    let line = |project, wall| Line {
        id: 0,
        start: 2_060,
        wall,
        whose: (project, "amy", "colony"),
        processors: 2,
        cpu: None,
        ended: Ended::Completed,
        never: false,
    };
    let usage = |line: &Line| Command::Usage(Box::new(line.report()));
    let answer = bank.submit(&usage(&line("P", 10)), None, T0);
    assert!(answer.starts_with("charged wc 20: charged 10"), "{answer}");
    let first = paid(&mut bank);
    assert_eq!(
        first.iter().map(|(_, sum)| sum).sum::<i64>(),
        10,
        "{first:?}"
    );
    let before = bank.journal(0).len();
    let answer = bank.submit(&usage(&line("X", 13)), None, T0);
    assert!(answer.starts_with("adjusted wc 26: charged 13"), "{answer}");
    assert_eq!(paid(&mut bank), [("X".to_owned(), 13)]);
    let new = bank.journal(0).split_off(before);
    assert_eq!(new.len(), 1, "{new:?}");
    assert_eq!(new[0].op, "adjust");
    let refund = new[0].entries.iter().find(|entry| entry.kind == "refund");
    assert_eq!(refund.map(|entry| entry.project.as_str()), Some("P"));
    // The first record again was replaced, and changes nothing.
    let answer = bank.submit(&usage(&line("P", 10)), None, T0);
    assert_eq!(answer, "duplicate wc 26");
    let third = Line {
        processors: 1,
        ..line("P", 20)
    };
    bank.submit(&usage(&third), None, T0);
    assert_eq!(paid(&mut bank), first);
    assert_eq!(bank.proof(), [""; 0]);
}

/// A finished use that strict enforcement would not have let start says so, in the journal and with its
/// identity.
#[test]
fn what_would_have_been_refused_is_noted() {
    let world = World {
        mode: Mode::Track,
        policy: 0,
        has_traits: false,
        has_windows: false,
    };
    for together in [false, true] {
        let mut bank = Memory::new(site());
        world.make(&mut bank);
        for (id, user) in [(0, "amy"), (1, "amy"), (2, "stranger")] {
            let line = Line {
                id,
                start: 2_060,
                // More than there is, but for the first.
                wall: if id == 0 { 10 } else { 850 },
                whose: ("P", user, "colony"),
                processors: 4,
                cpu: None,
                ended: Ended::Completed,
                never: false,
            };
            let command = if together {
                chunk(&[line])
            } else {
                Command::Usage(Box::new(line.report()))
            };
            bank.submit(&command, None, T0);
        }
        let codes = bank.book.uses.values().map(|row| row.refusal.as_deref());
        let expected = [None, Some("insufficient_funds"), Some("user_unknown")];
        assert_eq!(codes.collect::<Vec<_>>(), expected);
        let noted = bank.book.journal.iter().flat_map(|tx| &tx.entries);
        let noted = noted.filter(|entry| entry.kind == EntryKind::WouldRefuse);
        assert!(noted.map(|entry| entry.project.as_str()).eq(["P", "P"]));
    }
}
