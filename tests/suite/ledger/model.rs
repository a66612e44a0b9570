//! The model test: random sequences of every command against the naive reference, the book in
//! memory and the store on disk. All three must answer the same, hold the same and journal the
//! same; what fails is shrunk to a script that a person can read.
//!
//! Checked on the way are the properties of ledger.md 11: money is conserved (a), no reserve takes
//! an allocation below zero (b), the journal alone gives every balance (c), and a repeated key
//! changes nothing (e).

mod found;

use super::bench::BEFORE;
use super::fixture::T0;
use super::ground::{Ground, Line, Tx};
use super::meetings::{MEETINGS, Meetings};
use super::memory::Memory;
use super::naive::Naive;
use super::reply::refused;
use super::script::{Known, SITES, Step, WORLD, command, script, site};
use super::seen;
use super::sqlite::Sqlite;
use bank_core::command::Command;
use bank_core::model::InstanceKey;
use bank_core::time::{Seconds, Timestamp};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The one seed: a failure is the same on every machine.
const SEED: [u8; 32] = *b"every credit is somewhere always";

/// Scripts, and the longest of them.
const SCRIPTS: u32 = 250;
const LONGEST: usize = 60;
/// Commands of a script that a long run counts on; it has more.
const USUAL: u32 = 20;

/// Commands per commit: the writer groups them too.
const GROUP: usize = 8;

/// What each command was answered how often: accepted, refused.
type Tally = BTreeMap<&'static str, [usize; 2]>;

/// A whole number in the environment: `BANK_MODEL_COMMANDS` asks for a longer run, `BANK_MODEL_SEED` for other
/// scripts.
#[allow(
    clippy::disallowed_methods,
    reason = "how long a test runs is said outside"
)]
fn setting(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a script is named outside")]
fn random_commands_do_what_the_naive_reference_does() {
    if let Ok(file) = std::env::var("BANK_MODEL_SCRIPT") {
        let script = std::fs::read_to_string(&file).unwrap();
        found::play(&script).unwrap_or_else(|why| panic!("{why}"));
        return;
    }
    let wanted = setting("BANK_MODEL_COMMANDS");
    let scripts = wanted.map_or(SCRIPTS, |commands| commands.div_ceil(USUAL));
    let config = Config {
        cases: scripts,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let mut seed = SEED;
    let other = setting("BANK_MODEL_SEED").unwrap_or_default();
    seed[..4].copy_from_slice(&(u32::from_le_bytes(*b"ever") ^ other).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    println!("seed {other}, {scripts} scripts");
    let worlds: Vec<RefCell<Trio>> = (0..SITES.len())
        .map(|number| RefCell::new(Trio::new(number)))
        .collect();
    let tally = RefCell::new(Tally::new());
    let met = RefCell::new(BTreeSet::new());
    let outcome = runner.run(&script(LONGEST), |script| {
        let mut trio = worlds[script.site].borrow_mut().copy();
        let played = trio.play(&script.steps);
        met.borrow_mut().append(&mut trio.meetings.met);
        for (op, [accepted, refused]) in trio.tally {
            let mut all = tally.borrow_mut();
            let counts = all.entry(op).or_default();
            counts[0] += accepted;
            counts[1] += refused;
        }
        played.map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, script)) => panic!("{reason}\n\n{script}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
    let (tally, met) = (tally.into_inner(), met.into_inner());
    let count: usize = tally.values().flatten().sum();
    println!("{count} commands, done and refused: {tally:?}");
    assert!(wanted.is_none_or(|least| count >= usize::try_from(least).unwrap()));
    let rare: Vec<_> = EVERY.iter().filter(|op| !tally.contains_key(*op)).collect();
    assert!(rare.is_empty(), "no script does {rare:?}");
    let missing: Vec<_> = MEETINGS.iter().filter(|one| !met.contains(*one)).collect();
    assert!(missing.is_empty(), "no script meets {missing:?}");
}

/// Every command of the ledger; keys move no money, and their rules are tested elsewhere.
const EVERY: [&str; 39] = [
    "account_add",
    "account_rm",
    "account_set",
    "adjust",
    "allocation_rm",
    "allocation_set",
    "attr_add",
    "attr_rm",
    "charge",
    "clock_confirm",
    "create",
    "cycle_add",
    "cycle_rm",
    "cycle_run",
    "cycle_set",
    "delete",
    "deposit",
    "lien_extend",
    "lien_rm",
    "machine_add",
    "machine_rm",
    "machine_set",
    "member_rm",
    "member_set",
    "modify",
    "project_add",
    "project_rm",
    "project_set",
    "quote",
    "quote_rm",
    "rate_rm",
    "rate_set",
    "refund",
    "repeat",
    "reserve",
    "settle",
    "transfer",
    "undo",
    "usage",
];

/// Commands that an undo takes back.
const UNDOABLE: [&str; 18] = [
    "account_rm",
    "adjust",
    "allocation_rm",
    "allocation_set",
    "charge",
    "deposit",
    "machine_add",
    "machine_rm",
    "machine_set",
    "project_add",
    "project_rm",
    "project_set",
    "refund",
    "settle",
    "transfer",
    "undo",
    "user_set",
    "withdraw",
];

/// What was asked with a key.
struct Submitted {
    command: Command,
    answer: String,
}

/// The three of them, side by side.
struct Trio {
    naive: Naive,
    memory: Memory,
    sqlite: Sqlite,
    clock: Timestamp,
    submitted: Vec<Submitted>,
    /// The transactions that can be undone.
    txs: Vec<i64>,
    tally: Tally,
    meetings: Meetings,
}

impl Trio {
    /// A site with the world of the scripts.
    fn new(number: usize) -> Trio {
        let policy = site(number);
        let mut trio = Trio {
            naive: Naive::new(policy),
            memory: Memory::new(policy),
            sqlite: Sqlite::new(policy, GROUP),
            clock: BEFORE,
            submitted: Vec::new(),
            txs: Vec::new(),
            tally: Tally::new(),
            meetings: Meetings::default(),
        };
        for line in WORLD {
            trio.step(line)
                .unwrap_or_else(|why| panic!("{line}: {why}"));
            // Where allocations may not overlap some of them are not made.
            let answer = &trio.submitted.last().unwrap().answer;
            let ok = policy.discrete || !answer.starts_with("refused");
            assert!(ok, "{line}: {answer}");
        }
        trio.submitted.clear();
        trio.txs.clear();
        trio.meetings = Meetings::default();
        trio.clock = T0;
        trio
    }

    fn copy(&mut self) -> Trio {
        Trio {
            naive: self.naive.clone(),
            memory: self.memory.clone(),
            sqlite: self.sqlite.copy(GROUP),
            clock: self.clock,
            submitted: Vec::new(),
            txs: Vec::new(),
            tally: Tally::new(),
            meetings: Meetings::default(),
        }
    }

    /// Plays a script; says at which step who disagrees.
    fn play(&mut self, steps: &[String]) -> Result<(), String> {
        for (n, line) in steps.iter().enumerate() {
            self.step(line)
                .map_err(|why| format!("step {n}, {line}: {why}"))?;
        }
        self.at_the_end()
    }

    fn step(&mut self, line: &str) -> Result<(), String> {
        match Step::of(line) {
            Step::Tick(seconds) => {
                self.clock = self.clock.plus(Seconds(seconds));
                Ok(())
            }
            Step::Reopen => {
                self.sqlite.reopen();
                self.compare(self.naive.written())
            }
            Step::Repeat(back) => self.repeat(back, false),
            Step::Reuse(back) => self.repeat(back, true),
            Step::Command => self.command(line),
        }
    }

    fn command(&mut self, line: &str) -> Result<(), String> {
        let known = Known {
            now: self.clock,
            txs: self.txs.clone(),
            liens: i64::try_from(self.memory.book.liens.len()).unwrap(),
            submitted: self.submitted.len(),
        };
        let command = command(line, &known);
        let (before, written) = (self.memory.book.journal.len(), self.naive.written());
        self.naive.now = self.clock;
        let answer = self.naive.submit(&command);
        let key = self.key(self.submitted.len());
        self.submit(&command, &key, &answer)?;
        self.compare(written)?;
        let is_refused = answer.starts_with("refused");
        self.tally.entry(command.op()).or_default()[usize::from(is_refused)] += 1;
        if let (Command::Reserve(reserve), false) = (&command, is_refused) {
            self.covered(&reserve.request.key())?;
        }
        let new = &self.memory.book.journal[before..];
        self.meetings.meet(&command, &answer, new);
        let own = new.iter().find(|tx| UNDOABLE.contains(&tx.op));
        self.txs.extend(own.map(|tx| tx.id.0));
        self.submitted.push(Submitted { command, answer });
        Ok(())
    }

    /// The key of the command N; the world has its own.
    fn key(&self, n: usize) -> String {
        let stage = if self.clock < T0 { "given" } else { "step" };
        format!("{stage}-{n}")
    }

    /// The same bytes have the same answer; other bytes with the same key are refused.
    fn repeat(&mut self, back: usize, altered: bool) -> Result<(), String> {
        let Some(n) = self.submitted.len().checked_sub(back) else {
            return Ok(());
        };
        let submitted = &self.submitted[n];
        let written = self.naive.written();
        let (command, answer) = if altered {
            (
                Command::remove_record("project", &format!("other-{n}")),
                refused("key_reused"),
            )
        } else {
            (submitted.command.clone(), submitted.answer.clone())
        };
        self.submit(&command, &self.key(n), &answer)?;
        self.compare(written)
    }

    fn submit(&mut self, command: &Command, key: &str, naive: &str) -> Result<(), String> {
        for ground in [&mut self.memory as &mut dyn Ground, &mut self.sqlite] {
            let got = ground.submit(command, Some(key), self.clock);
            same("answer", ground.name(), &got, &naive.to_owned())?;
        }
        Ok(())
    }

    /// What was written since, and what there is; no money came or went by itself.
    fn compare(&mut self, written: usize) -> Result<(), String> {
        lines(
            "journal",
            &seen::journal_of_book(&self.memory, written),
            &self.naive.journal_from(written),
        )?;
        lines("state", &seen::of_book(&self.memory), &self.naive.shown())?;
        let (book, store) = (self.memory.allocations(), self.sqlite.allocations());
        same("allocations", "sqlite", &store, &book)?;
        same("findings", "reference", &self.naive.findings(), &Vec::new())?;
        same("findings", "book", &self.memory.findings(), &Vec::new())
    }

    /// A lien never takes more than what was free (property b).
    fn covered(&mut self, key: &InstanceKey) -> Result<(), String> {
        let newest = self.memory.instances(key).into_iter().next();
        let lien = newest.and_then(|i| i.lien);
        let all = self.memory.allocations();
        let lien = lien.filter(|l| !l.shadow);
        let portions = lien.iter().flat_map(|l| &l.portions);
        // One that a charge used up takes nothing.
        for portion in portions.filter(|portion| portion.amount.0 > 0) {
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
        self.instances_are_the_same()?;
        self.liens_end_once(&store)?;
        same("verify", "sqlite", &self.sqlite.proof(), &Vec::new())
    }

    fn instances_are_the_same(&mut self) -> Result<(), String> {
        let all = self.memory.book.instances.values();
        let mut keys: Vec<InstanceKey> = all.map(|i| i.key.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in &keys {
            let (book, store) = (self.memory.instances(key), self.sqlite.instances(key));
            same("instances", "sqlite", &store, &book)?;
        }
        Ok(())
    }

    /// Every lien is open, or ended once as its last entry says; an ended one holds nothing. One
    /// without such an entry is settled where charges took all of it.
    fn liens_end_once(&mut self, journal: &[Tx]) -> Result<(), String> {
        for (id, state) in self.memory.liens() {
            let entries = journal.iter().flat_map(|tx| &tx.entries);
            let own: Vec<&Line> = entries.filter(|line| line.lien == Some(id)).collect();
            let left: i64 = own.iter().map(|e| e.delta.held + e.delta.shadow_held).sum();
            let ended = own.iter().rfind(|line| ending(&line.kind).is_some());
            let last = ended.and_then(|line| ending(&line.kind));
            let is_nothing = ended.is_some_and(|e| (e.delta.held, e.delta.shadow_held) == (0, 0));
            let ok = match state.as_str() {
                // One that expired with nothing left holds nothing when it is revived. One that waits for the
                // record of another source has given a part back.
                "open" => left == 0 || matches!(last, Some("held" | "released")),
                "settled" => left == 0,
                // One that was revived with nothing ends without an entry of its own.
                _ if last == Some("expired") && is_nothing => left == 0,
                other => last == Some(other) && left == 0,
            };
            if !ok {
                return Err(format!(
                    "lien {id} is {state}, holds {left}, journal {last:?}"
                ));
            }
        }
        Ok(())
    }
}

/// The state in which an entry of this kind leaves its lien, if it changes it; one that expired may
/// hold again.
fn ending(kind: &str) -> Option<&'static str> {
    match kind {
        "lien" => Some("held"),
        "lien_release" => Some("released"),
        "lien_expire" => Some("expired"),
        "lien_replace" => Some("replaced"),
        _ => None,
    }
}

/// The first line in which the book and the reference differ.
fn lines(what: &str, book: &[String], naive: &[String]) -> Result<(), String> {
    for n in 0..book.len().max(naive.len()) {
        let (is, should) = (book.get(n), naive.get(n));
        if is != should {
            return Err(format!(
                "{what} of book:\n  is     {is:?}\n  should {should:?}"
            ));
        }
    }
    Ok(())
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
