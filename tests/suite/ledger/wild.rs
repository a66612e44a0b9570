//! Random operations of every kind, for the tests that judge a ledger by its invariants alone: ten
//! accounts in a tree with shares and overflow, five projects in four modes.
//!
//! An operation is its seed: the same number is the same operation on every machine.

use super::ask::{Ask, c, ci, deposit, extend, quote, r, rate, release, withdraw};
use super::ask_after::{
    account_rm, adjust, allocation_rm, refund, settle, transfer, undelete, undo,
};
use super::bench::{BEFORE, Bench};
use super::case_tree::below;
use super::fixture::show_time;
use bank_core::command::{AddCycle, Command, Promise, SetAccount, SetAllocation, SetRate};
use bank_core::ids::AllocationId;
use bank_core::model::{Every, Mode, Overflow};
use bank_core::terms::Shortfall;
use bank_core::time::{Seconds, Timestamp};
use std::fmt;

/// The accounts of this world.
const ACCOUNTS: &str = "Q{q=900; -p P,R}, A{a=400; -p P}, \
     B{b=300 [2026,T0+9000) L=50; -p P -u amy -m colony}, C{c=500 [T0+3000,T0+90000); -p R}, \
     D{d=700; -p R -u MEMBERS,-bob}, E{e=100 L=100; -p R -u ANY}, F{f=2000; -p R -u bob}, \
     N{n=200; -p N}, T{t=0; -p T}, X{x=250; -p X}";

/// Their names.
const NAMES: [&str; 10] = ["Q", "A", "B", "C", "D", "E", "F", "N", "T", "X"];

/// The projects, P and R more often than the others.
const PROJECTS: [&str; 8] = ["P", "P", "P", "R", "R", "N", "T", "X"];

const WINDOWS: [&str; 5] = [
    "[,)",
    "[2026,T0+9000)",
    "[T0+3000,T0+90000)",
    "[2026,2027)",
    "[,)",
];

/// Fills a ground with this world.
pub(super) fn furnish(bench: &mut Bench<'_>) {
    bench.clock = BEFORE;
    for (name, mode) in [
        ("R", Mode::Strict),
        ("N", Mode::Notional),
        ("T", Mode::Track),
        ("X", Mode::Fast),
    ] {
        bench.project(name, Some("P").filter(|_| name == "R"));
        bench.member(name, "amy", true);
        bench.admin(set_mode(name, mode));
    }
    bench.member("P", "bob", true);
    bench.member("R", "bob", true);
    bench.given(ACCOUNTS);
    bench.admin(below("A", "Q", 40, Overflow::Listed));
    bench.admin(below("B", "Q", 30, Overflow::Any));
    bench.admin(below("E", "D", 100, Overflow::Listed));
    bench.admin(Command::SetAccount(SetAccount {
        name: "C".to_owned(),
        fallback: Some(Some("F".to_owned())),
        ..SetAccount::default()
    }));
    bench.admin(Command::AddCycle(AddCycle {
        name: "monthly".to_owned(),
        account: "D".to_owned(),
        every: Every::Month,
        amount: bank_core::amount::Amount(60),
        rollover: 50,
        start: None,
        note: String::new(),
    }));
}

fn set_mode(project: &str, mode: Mode) -> Command {
    Command::set_record("project", project, &[("mode", mode.word().into())])
}

/// What an operation may point at: how many there are of each by now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) transactions: i64,
    pub(super) liens: i64,
    pub(super) allocations: i64,
}

impl Known {
    /// About as many as there will be after so many operations: what is not there yet is refused.
    pub(super) fn about(done: i64) -> Known {
        Known {
            transactions: 60 + done,
            liens: done / 8,
            allocations: 20 + done / 40,
        }
    }
}

/// One random operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Wild(pub(super) u64);

impl fmt::Debug for Wild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Wild {
    /// As it would be with nothing known: numbers of transactions count back from the last.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.seconds();
        if seconds > 0 {
            return write!(f, "#{:x} tick {seconds}", self.0);
        }
        let command = self.command(Known::default(), super::fixture::T0);
        write!(f, "#{:x} {} {command:?}", self.0, command.op())
    }
}

/// Numbers out of a seed.
#[derive(Clone, Copy)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// The next number, below a bound (`SplitMix64`).
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn number(&mut self, from: i64, to: i64) -> i64 {
        let width = u64::try_from(to - from).unwrap();
        from + i64::try_from(self.below(width)).unwrap()
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        let n = self.below(all.len().try_into().unwrap());
        all[usize::try_from(n).unwrap()]
    }

    /// True in one of so many throws.
    fn once_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// One of the newest of so many things.
    fn newest(&mut self, all: i64, within: i64) -> i64 {
        (all - self.number(0, within)).max(1)
    }
}

impl Wild {
    /// How far the clock goes; 0 for a command.
    pub(super) fn seconds(self) -> i64 {
        let mut dice = Dice(self.0);
        if !dice.once_in(8) {
            return 0;
        }
        let far = dice.once_in(12);
        dice.number(1, if far { 400_000 } else { 700 })
    }

    /// The command, for an operation that is one.
    pub(super) fn command(self, known: Known, now: Timestamp) -> Command {
        let mut dice = Dice(self.0 ^ 0x5eed);
        let ask = match dice.below(100) {
            0..=21 => place(&mut dice),
            22..=49 => used(&mut dice, now),
            50..=54 => whose(quote(dice.number(1, 90)), &mut dice),
            55..=61 => put_in(&mut dice, now),
            62..=65 => take_out(&mut dice),
            66..=70 => {
                let ask = transfer(dice.of(&NAMES), dice.of(&NAMES), dice.number(0, 120));
                if dice.once_in(4) {
                    ask.on_allocation(dice.newest(known.allocations, 12))
                } else {
                    ask
                }
            }
            71..=77 => give_back(&mut dice, now),
            78..=80 => adjust(dice.of(&NAMES), dice.number(-60, 90), "put right"),
            81..=87 => {
                let ask = undo(dice.newest(known.transactions, 30));
                if dice.once_in(3) {
                    ask.allow_debt()
                } else {
                    ask
                }
            }
            88..=90 => {
                let lien = dice.newest(known.liens, 12);
                let end = now.plus(Seconds(dice.number(-10, 3_000)));
                extend(lien, &show_time(end))
            }
            91..=92 => release(dice.newest(known.liens, 12)),
            93 => settle(&job_id(&mut dice), dice.of(&["P", "R"])),
            _ => rare(&mut dice, known, now),
        };
        ask.command.unwrap()
    }
}

/// Jobs with the same few ids, so that operations meet.
fn job_id(dice: &mut Dice) -> String {
    format!("j{}", dice.below(9))
}

fn whose(ask: Ask, dice: &mut Dice) -> Ask {
    let lost = dice.once_in(25);
    let project = if lost { "nosuch" } else { dice.of(&PROJECTS) };
    let user = dice.of(&["amy", "amy", "bob"]);
    let machine = dice.of(&["colony", "colony", "blue"]);
    let ask = ask.project(project).user(user).machine(machine);
    ask.processors(dice.number(1, 4))
}

fn place(dice: &mut Dice) -> Ask {
    let id = job_id(dice);
    let ask = whose(r(&id, dice.number(0, 90)), dice);
    if dice.once_in(6) { ask.nami() } else { ask }
}

fn used(dice: &mut Dice, now: Timestamp) -> Ask {
    let id = job_id(dice);
    let ask = if dice.once_in(3) { c } else { ci };
    let mut ask = whose(ask(&id, dice.number(0, 60)), dice);
    match dice.below(12) {
        0 | 1 => ask = ask.total(),
        2 => ask = ask.amount(dice.number(0, 90)),
        3 => ask = ask.shortfall(Shortfall::Reject),
        4 => ask = ask.shortfall(Shortfall::Fallback),
        5 => {
            let start = now.minus(Seconds(dice.number(1, 200)));
            let end = start.plus(Seconds(dice.number(1, 200))).min(now);
            let window = format!("[{},{})", show_time(start), show_time(end));
            ask = ask.used(&window);
        }
        6 => {
            let at = now.minus(Seconds(dice.number(1, 1_500)));
            ask = ask.at(&show_time(at));
        }
        _ => {}
    }
    ask
}

fn put_in(dice: &mut Dice, now: Timestamp) -> Ask {
    let amount = dice.number(0, 150).to_string();
    let ask = deposit(dice.of(&NAMES), &amount).window(dice.of(&WINDOWS));
    match dice.below(5) {
        0 => ask.no_tree(),
        1 => ask.limit(dice.number(0, 2) * 40),
        2 => ask.effective(&show_time(now.minus(Seconds(dice.number(-20, 1_500))))),
        _ => ask,
    }
}

fn take_out(dice: &mut Dice) -> Ask {
    let ask = withdraw(dice.of(&NAMES), dice.number(0, 120));
    if dice.once_in(2) {
        ask.no_credit()
    } else {
        ask
    }
}

fn give_back(dice: &mut Dice, now: Timestamp) -> Ask {
    let ask = refund(&job_id(dice), dice.number(-1, 40).max(0));
    let ask = ask.on_machine(dice.of(&["colony", "blue"]));
    match dice.below(5) {
        0 => ask.of_account(dice.of(&NAMES)),
        1 => ask.reissue_until(&show_time(now.plus(Seconds(50_000)))),
        _ => ask,
    }
}

/// What happens seldom: reference data, rates, modes, removals, promises.
fn rare(dice: &mut Dice, known: Known, now: Timestamp) -> Ask {
    match dice.below(10) {
        0 | 1 => {
            let value = dice.of(&["0.5", "1", "1", "2", "0.25"]);
            let mut ask = rate(&format!("VBR Processors {value}"));
            if dice.once_in(3) {
                ask = ask.change(|command| match command {
                    Command::SetRate(SetRate { machine, .. }) => *machine = Some("blue".to_owned()),
                    _ => panic!("is no rate"),
                });
            }
            ask
        }
        2 | 3 => {
            let mode = *dice.of(&[&Mode::Strict, &Mode::Strict, &Mode::Notional, &Mode::Fast]);
            set_mode(dice.of(&["R", "N", "X"]), mode).into()
        }
        4 => account_rm(dice.of(&["A", "C", "E", "N"]), dice.once_in(2)),
        5 | 6 => undelete(dice.of(&["A", "C", "E", "N"])),
        7 => allocation_rm(dice.newest(known.allocations, 12), dice.once_in(2)),
        8 => {
            let end = now.plus(Seconds(dice.number(-100, 40_000)));
            Command::SetAllocation(SetAllocation {
                id: AllocationId(dice.newest(known.allocations, 12)),
                start: None,
                end: Some(Some(end).filter(|_| dice.below(3) > 0)),
                credit_limit: None,
            })
            .into()
        }
        _ => {
            let tid = format!("t{}", dice.below(1_000_000));
            whose(quote(dice.number(1, 90)), dice).promised(Promise::Guarantee, &tid)
        }
    }
}
