//! The bench of the conformance cases: a ground, a clock, names for allocations, and expectations
//! as text in the notation of ledger.md 11.
//!
//! A journal is one line: `kind a delta_amount/delta_held active X`, the held part where it is not
//! 0 and for every lien kind, the active part where it differs; ` shadow charged/held` likewise for
//! the shadow totals. Entries of one transaction are joined by commas, transactions by semicolons;
//! an effective time that is not now stands in brackets.

use super::ask::{Ask, job};
use super::fixture::{self, T0, show_time, time};
use super::ground::{Ground, Line, Tx, Used};
use super::memory::Memory;
use super::reply;
use super::sqlite::Sqlite;
use bank_core::amount::Precision;
use bank_core::command::{Command, Deposit, SetAccount, SetMember};
use bank_core::directory::{Bank, Policy};
use bank_core::ids::{AllocationId, UNBILLED};
use bank_core::model::{Allocation, Instance, Phase};
use bank_core::time::{MICROS, Timestamp};

/// When everything given was made: a day before T0.
pub(crate) const BEFORE: Timestamp = Timestamp(T0.0 - 86_400 * MICROS);

/// Runs a case on both grounds.
pub(crate) fn on_both(case: impl Fn(&mut Bench<'_>)) {
    on_both_with(Policy::default(), case);
}

/// Runs a case on both grounds of a site with these settings.
pub(crate) fn on_both_with(policy: Policy, case: impl Fn(&mut Bench<'_>)) {
    on(&mut Memory::new(policy), &case);
    on(&mut Sqlite::new(policy, 1), &case);
}

/// The same with amounts of so many places.
pub(crate) fn on_both_in(places: u8, case: impl Fn(&mut Bench<'_>)) {
    let bank = Bank {
        precision: Precision::new(places).unwrap(),
        ..super::ground::bank()
    };
    let policy = Policy::default();
    on(&mut Memory::of(bank.clone(), policy), &case);
    on(&mut Sqlite::of(bank, policy, 1), &case);
}

fn on(ground: &mut dyn Ground, case: &impl Fn(&mut Bench<'_>)) {
    let mut bench = Bench::new(ground);
    case(&mut bench);
    bench.end();
}

/// A ground with everything that a case needs.
pub(crate) struct Bench<'g> {
    pub(crate) ground: &'g mut dyn Ground,
    pub(crate) clock: Timestamp,
    names: Vec<(AllocationId, String)>,
    /// The last transaction that was looked at.
    mark: i64,
    keys: u32,
}

impl<'g> Bench<'g> {
    /// The world of the conventions: project P with member amy; users bob and dave; machines
    /// colony and blue; a rate of 1 credit per processor-second; the clock at T0.
    pub(crate) fn new(ground: &'g mut dyn Ground) -> Bench<'g> {
        let mut bench = Bench {
            ground,
            clock: BEFORE,
            names: vec![(AllocationId(1), UNBILLED.to_owned())],
            mark: 0,
            keys: 0,
        };
        for name in ["amy", "bob", "dave"] {
            bench.admin(Command::add_record("user", name, &[]));
        }
        for name in ["colony", "blue"] {
            bench.admin(Command::add_record("machine", name, &[]));
        }
        bench.project("P", None);
        bench.member("P", "amy", true);
        bench.rate("VBR Processors 1");
        bench.clock = T0;
        bench
    }

    /// Goes on with a ground that another bench has filled; its allocations are a, b, c.
    pub(crate) fn resume(ground: &'g mut dyn Ground, mark: i64) -> Bench<'g> {
        let mut bench = Bench {
            ground,
            clock: T0,
            names: vec![(AllocationId(1), UNBILLED.to_owned())],
            mark,
            keys: 1000,
        };
        bench.label_new();
        bench
    }

    /// The last transaction that was looked at.
    pub(crate) fn mark(&self) -> i64 {
        self.mark
    }

    /// Accounts with their allocations, made before T0.
    pub(crate) fn given(&mut self, text: &str) {
        self.clock = BEFORE;
        for account in fixture::accounts(text) {
            self.admin(Command::AddAccount(SetAccount {
                name: account.name.clone(),
                constraints: Some(account.lists),
                ..SetAccount::default()
            }));
            for given in account.allocations {
                self.admin(Command::Deposit(Deposit {
                    name: account.name.clone(),
                    amount: given.amount,
                    window: given.window,
                    credit_limit: Some(given.limit),
                    always_new: true,
                    ..Deposit::default()
                }));
                let newest = self.ground.allocations().pop().unwrap().id;
                self.names.retain(|(id, _)| *id != newest);
                self.names.push((newest, given.label));
            }
        }
        self.clock = T0;
        self.forget();
    }

    /// An administrative command that must be accepted, and whose journal nobody looks at.
    pub(crate) fn admin(&mut self, command: Command) {
        let reply = self.run(command.into());
        assert!(
            !reply.starts_with("refused"),
            "{}: {reply}",
            self.ground.name()
        );
        self.forget();
    }

    pub(crate) fn project(&mut self, name: &str, parent: Option<&str>) {
        self.admin(Command::add_record(
            "project",
            name,
            &[("parent", parent.into()), ("no_account", true.into())],
        ));
    }

    pub(crate) fn member(&mut self, project: &str, user: &str, active: bool) {
        self.admin(Command::SetMember(SetMember {
            project: project.to_owned(),
            user: user.to_owned(),
            active: Some(active),
            role: None,
        }));
    }

    pub(crate) fn rate(&mut self, text: &str) {
        let ask = super::ask::rate(text);
        self.admin(ask.command.unwrap());
    }

    /// Steps that lead to the case, all of them accepted.
    pub(crate) fn after(&mut self, asks: impl IntoIterator<Item = Ask>) {
        for ask in asks {
            let reply = self.run(ask);
            assert!(
                !reply.starts_with("refused"),
                "{}: {reply}",
                self.ground.name()
            );
        }
        self.forget();
    }

    /// Moves the clock.
    pub(crate) fn at(&mut self, text: &str) {
        self.clock = time(text);
    }

    /// Moves the clock although no time passes.
    pub(crate) fn jump(&mut self, text: &str) {
        let to = time(text);
        self.ground.unseen(to.0 - self.clock.0);
        self.clock = to;
    }

    /// Asks, and expects an answer and exactly these journal entries; none where it is empty.
    #[track_caller]
    pub(crate) fn expect(&mut self, ask: Ask, reply: &str, journal: &str) {
        let context = format!("{}: answer to {:?}", self.ground.name(), ask.command);
        let got = self.run(ask);
        assert_eq!(got, reply, "{context}");
        self.expect_journal(journal);
    }

    /// What was journalled since the last look.
    #[track_caller]
    pub(crate) fn expect_journal(&mut self, journal: &str) {
        let got = self.journal();
        assert_eq!(got, journal, "{}: journal", self.ground.name());
    }

    /// The figures of an account as readers see them now: boundaries that have passed are
    /// journalled first.
    #[track_caller]
    pub(crate) fn expect_balance(&mut self, account: &str, figures: &str) {
        self.ground.settle(self.clock);
        let got = self.balance(account);
        assert_eq!(got, figures, "{}: balance of {account}", self.ground.name());
    }

    /// An allocation: amount, held, phase.
    #[track_caller]
    pub(crate) fn expect_allocation(&mut self, label: &str, figures: &str) {
        let id = self.names.iter().find(|(_, l)| l == label).unwrap().0;
        let all = self.ground.allocations();
        let a = all.iter().find(|a| a.id == id).unwrap();
        let limit = match a.credit_limit.0 {
            0 => String::new(),
            limit => format!(", limit {limit}"),
        };
        let (amount, held, deposited) = (a.amount.0, a.held.0, a.deposited.0);
        let phase = a.phase.word();
        let got = format!("{amount} held {held}, deposited {deposited}{limit}, {phase}");
        assert_eq!(got, figures, "{}: allocation {label}", self.ground.name());
    }

    /// The newest use of a job's id on colony.
    #[track_caller]
    pub(crate) fn expect_job(&mut self, id: &str, figures: &str) {
        let got = self
            .instance("colony", id)
            .as_ref()
            .map_or_else(|| "none".to_owned(), show_job);
        assert_eq!(got, figures, "{}: job {id}", self.ground.name());
    }

    pub(crate) fn instance(&mut self, machine: &str, id: &str) -> Option<Instance> {
        self.ground.instances(&job(machine, id)).into_iter().next()
    }

    /// The latest usage row: `7200 s, 7200, billed`.
    #[track_caller]
    pub(crate) fn expect_usage(&mut self, text: &str) {
        let (seconds, amount, billing): Used = self.ground.usages().pop().unwrap();
        let got = format!("{seconds} s, {amount}, {billing}");
        assert_eq!(got, text, "{}: latest usage", self.ground.name());
    }

    /// The journal since the last look, transactions without entries left out.
    pub(crate) fn journal(&mut self) -> String {
        let new = self.look();
        self.label_new();
        let now = self.ground.ledger_now(self.clock);
        let shown = new.iter().filter(|tx| !tx.entries.is_empty());
        let texts: Vec<String> = shown.map(|tx| self.show(tx, now)).collect();
        texts.join("; ")
    }

    /// The transactions since the last look.
    pub(crate) fn look(&mut self) -> Vec<Tx> {
        let new = self.ground.journal(self.mark);
        self.mark = new.last().map_or(self.mark, |tx| tx.id);
        new
    }

    /// The number of the last transaction that did this, or of one before it: 0 for the last.
    pub(crate) fn tx(&mut self, op: &str, back: usize) -> i64 {
        let all = self.ground.journal(0).into_iter();
        let mut of_op = all.rev().filter(|tx| tx.op == op);
        of_op.nth(back).expect("no such transaction").id
    }

    /// Ends a case: everything that can be proved from the journal.
    pub(crate) fn end(&mut self) {
        let findings = self.ground.proof();
        assert!(findings.is_empty(), "{}: {findings:#?}", self.ground.name());
    }

    pub(super) fn run(&mut self, ask: Ask) -> String {
        let command = match ask.command {
            Ok(command) => command,
            Err(code) => return reply::refused(code),
        };
        self.keys += 1;
        let key = ask.key.unwrap_or_else(|| format!("key-{}", self.keys));
        let reply = self.ground.submit(&command, Some(&key), self.clock);
        let findings = self.ground.findings();
        assert!(
            findings.is_empty(),
            "{}: {command:?}: {findings:#?}",
            self.ground.name()
        );
        reply
    }

    pub(super) fn forget(&mut self) {
        self.look();
        self.label_new();
    }

    /// New allocations get the first letters that are free, in the order of their numbers.
    fn label_new(&mut self) {
        for allocation in self.ground.allocations() {
            if self.names.iter().any(|(id, _)| *id == allocation.id) {
                continue;
            }
            let mut letters = (b'a'..=b'z').map(|b| char::from(b).to_string());
            let free = letters.find(|l| self.names.iter().all(|(_, known)| known != l));
            self.names.push((allocation.id, free.unwrap()));
        }
    }

    fn balance(&mut self, account: &str) -> String {
        let id = self.ground.directory().account_named(account).unwrap().id;
        let own: Vec<Allocation> = self.ground.allocations();
        let own = || own.iter().filter(|a| a.account == id);
        let now = self.ground.ledger_now(self.clock);
        let sum = |phase: Phase, of: fn(&Allocation) -> i64| -> i64 {
            own()
                .filter(|a| Phase::of(&a.window, now) == phase)
                .map(of)
                .sum()
        };
        let active = |of: fn(&Allocation) -> i64| sum(Phase::Active, of);
        let (amount, held) = (active(|a| a.amount.0), active(|a| a.held.0));
        let limit = active(|a| a.credit_limit.0);
        let (balance, available) = (amount - held, amount - held + limit);
        let mut text =
            format!("amount {amount} held {held} balance {balance} available {available}");
        for (what, figure) in [
            ("limit", limit),
            ("future", sum(Phase::Future, |a| a.amount.0)),
            ("held_future", sum(Phase::Future, |a| a.held.0)),
            ("held_expired", sum(Phase::Expired, |a| a.held.0)),
            ("shadow held", active(|a| a.shadow_held.0)),
            ("shadow charged", active(|a| -a.shadow.0)),
        ] {
            if figure != 0 {
                text = format!("{text}, {what} {figure}");
            }
        }
        text
    }

    fn show(&self, tx: &Tx, now: Timestamp) -> String {
        let lines: Vec<String> = tx.entries.iter().map(|line| self.line(line)).collect();
        let text = lines.join(", ");
        if tx.effective == now {
            text
        } else {
            format!("{text} ({})", show_time(tx.effective))
        }
    }

    fn line(&self, line: &Line) -> String {
        let mut text = line.kind.clone();
        if let Some(id) = line.allocation {
            let known = self.names.iter().find(|(known, _)| known.0 == id);
            text = format!("{text} {}", known.map_or("?", |(_, label)| label));
        }
        let signed = |n: i64| {
            if n == 0 {
                "0".to_owned()
            } else {
                format!("{n:+}")
            }
        };
        let delta = &line.delta;
        let in_shadow = delta.shadow != 0 || delta.shadow_held != 0;
        text = format!("{text} {}", signed(delta.amount));
        if delta.held != 0 || (line.kind.starts_with("lien") && !in_shadow) {
            text = format!("{text}/{}", signed(delta.held));
        }
        if delta.active != delta.amount {
            text = format!("{text} active {}", signed(delta.active));
        }
        if in_shadow {
            let (shadow, held) = (signed(delta.shadow), signed(delta.shadow_held));
            text = format!("{text} shadow {shadow}/{held}");
        }
        text
    }
}

/// `open, used 0 s, billed 0, lien 300 [T0,T0+900)`.
fn show_job(i: &Instance) -> String {
    let state = if i.is_open() { "open" } else { "closed" };
    let lien = i.lien.as_ref().map_or_else(
        || "no lien".to_owned(),
        |l| {
            let (start, end) = (show_time(l.start), show_time(l.end));
            format!("lien {} [{start},{end})", l.remaining())
        },
    );
    let billed = i.billed.0 + i.shadow_billed.0;
    format!("{state}, used {} s, billed {billed}, {lien}", i.charged.0)
}
