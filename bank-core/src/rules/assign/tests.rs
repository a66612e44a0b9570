//! Usage without a project gets one: once, at the rates of its own time, and nothing else changes.

mod amended;

use crate::amount::{Amount, Precision};
use crate::book::Book;
use crate::command::After;
use crate::command::{
    AsNamed, Assign, Chunk, Command, Deposit, Refund, Request, Reverse, Scope, SetRate,
    UsageReport, Whose,
};
use crate::decimal::Decimal;
use crate::directory::{Bank, Policy};
use crate::effects::{Assigned, Outcome};
use crate::ids::{TxId, UNBILLED};
use crate::ledger::execute;
use crate::model::{Facts, Mode};
use crate::policy::{Ended, Figures};
use crate::rate::{Per, RateKind, RateValue};
use crate::refusal::Refusal;
use crate::time::{Timestamp, Window};
use crate::usage::Usage;
use std::sync::Arc;

struct Ground {
    book: Book,
    now: i64,
}

impl Ground {
    /// A machine, a rate of 1 a processor and second, and no project.
    fn new(mode: Mode) -> Ground {
        let bank = Bank {
            uuid: "u".into(),
            precision: Precision::new(0).unwrap(),
            unit: "credits".into(),
        };
        let policy = Policy {
            mode,
            ..Policy::default()
        };
        let book = Book::new(bank, policy);
        let mut ground = Ground { book, now: 0 };
        ground.done(Command::add_record("machine", "colony", &[]));
        ground.rate("1");
        ground
    }

    fn rate(&mut self, value: &str) {
        self.done(Command::SetRate(SetRate {
            kind: RateKind::Vbr,
            name: "Processors".into(),
            instance: String::new(),
            value: RateValue::parse(value).unwrap(),
            per: Per::Second,
            machine: None,
            from: None,
            until: None,
            when: None,
            description: String::new(),
        }));
    }

    fn project(&mut self, name: &str, amount: i64, window: Window) {
        self.done(Command::add_record("project", name, &[]));
        if amount > 0 {
            self.done(Command::Deposit(Deposit {
                name: name.into(),
                amount: Amount(amount),
                window,
                ..Deposit::default()
            }));
        }
    }

    fn run(&mut self, command: &Command) -> Result<Outcome, Refusal> {
        let now = Timestamp::from_seconds(self.now);
        let decided = execute(&mut self.book, command, &Scope::default(), now, false).unwrap();
        assert_eq!(self.book.findings(), Vec::<String>::new(), "{command:?}");
        decided
    }

    #[allow(
        clippy::needless_pass_by_value,
        reason = "commands are made where they are run"
    )]
    fn done(&mut self, command: Command) -> Outcome {
        self.run(&command).unwrap()
    }

    fn assign(&mut self, report: &UsageReport, project: &str) -> Result<Assigned, Refusal> {
        let assign = Assign {
            identity: report.identity(),
            project: project.into(),
            user: None,
            pi: None,
            ended: report.request.facts.end,
            note: "mapping=1".into(),
        };
        match self.run(&Command::Assign(Box::new(assign)))? {
            Outcome::Assigned(assigned) => Ok(*assigned),
            other => panic!("{other:?}"),
        }
    }

    /// Amount and shadow total of an account.
    fn figures(&self, account: &str) -> (i64, i64) {
        let id = self.book.reference().account_named(account).unwrap().id;
        let own = self.book.allocations.values().filter(|a| a.account == id);
        own.fold((0, 0), |(amount, shadow), a| {
            (amount + a.amount.0, shadow + a.shadow.0)
        })
    }

    /// The state afterwards, without the journal and the instance.
    fn transactions(&self) -> usize {
        self.book.journal.len()
    }
}

/// A job of amy on so many processors, for the account of a source, that ended at 10000.
fn job(id: &str, account: &str, processors: i64, seconds: i64) -> UsageReport {
    let facts = Facts {
        project: account.into(),
        user: "amy".into(),
        start: Some(Timestamp::from_seconds(10_000 - seconds)),
        end: Some(Timestamp::from_seconds(10_000)),
        usage: Usage {
            processors: Some(Decimal::whole(processors)),
            ..Usage::default()
        },
        ..Facts::default()
    };
    UsageReport {
        source: "slurm:colony".into(),
        named: AsNamed::default(),
        pi: String::new(),
        host: None,
        more: None,
        flags: String::new(),
        track: false,
        is_present: false,
        charged_before: None,
        figures: Figures {
            ended: Ended::Completed,
            ..Figures::default()
        },
        request: Request {
            object_id: id.into(),
            whose: Whose {
                project: Some(account.into()),
                user: Some("amy".into()),
                machine: "colony".into(),
                ..Whose::default()
            },
            facts,
            ..Request::default()
        },
    }
}

fn usage(report: &UsageReport) -> Command {
    Command::Usage(Box::new(report.clone()))
}

#[test]
fn the_project_pays_what_unbilled_carried_at_the_rates_of_then() {
    let mut t = Ground::new(Mode::Strict);
    t.now = 20_000;
    let one = job("1", "grp_chem", 4, 100);
    t.done(usage(&one));
    assert_eq!(t.figures(UNBILLED).0, -400);
    t.rate("7");
    t.project("chem", 1000, Window::ALWAYS);
    t.now = 30_000;
    let before = t.transactions();
    let assigned = t.assign(&one, "chem").unwrap();
    assert!(assigned.changed);
    assert_eq!((assigned.was, assigned.amount), (Amount(400), Amount(400)));
    assert_eq!(t.figures(UNBILLED).0, 0);
    assert_eq!(t.figures("chem").0, 600);
    let ops: Vec<(&str, i64)> = t.book.journal[before..]
        .iter()
        .map(|tx| (tx.op, tx.at_effective.seconds()))
        .collect();
    // Booked when it became known.
    assert_eq!(ops, [("adjust", 30_000), ("adjust", 30_000)]);
    let reason = &t.book.journal.last().unwrap().reason;
    assert!(reason.contains("source=slurm:colony mapping=1"), "{reason}");
    let instance = t.book.instances.values().next().unwrap();
    assert_eq!(instance.facts.project, "chem");
    assert_eq!((instance.billed.0, instance.charged.0), (400, 100));
    // Twice changes nothing, and the same record again is known.
    let done = t.transactions();
    assert!(!t.assign(&one, "chem").unwrap().changed);
    assert!(!t.assign(&one, "grp_chem").is_ok_and(|a| a.changed));
    let Outcome::Used(again) = t.done(usage(&one)) else {
        panic!("a record is used")
    };
    assert_eq!(again.became.word(), "duplicate");
    assert_eq!(t.transactions(), done);
}

#[test]
fn who_cannot_pay_leaves_it_where_it_is() {
    let mut t = Ground::new(Mode::Strict);
    t.now = 20_000;
    let one = job("1", "grp_chem", 4, 100);
    t.done(usage(&one));
    let before = t.transactions();
    assert_eq!(
        t.assign(&one, "nobody").unwrap_err().code(),
        "project_unknown"
    );
    let unknown = job("2", "grp_chem", 1, 1);
    t.project("chem", 0, Window::ALWAYS);
    assert_eq!(t.assign(&unknown, "chem").unwrap_err().code(), "not_found");
    assert_eq!(
        t.assign(&one, "chem").unwrap_err().code(),
        "no_usable_account"
    );
    assert_eq!(t.figures(UNBILLED).0, -400);
    assert_eq!(t.transactions(), before + 1);
    // Nothing was there at that time, so a later deposit pays now.
    t.now = 40_000;
    let window = Window {
        start: Some(Timestamp::from_seconds(35_000)),
        end: None,
    };
    t.done(Command::Deposit(Deposit {
        name: "chem".into(),
        amount: Amount(300),
        window,
        ..Deposit::default()
    }));
    let assigned = t.assign(&one, "chem").unwrap();
    assert_eq!(assigned.charged.unwrap().debt, Amount(100));
    assert_eq!(t.figures("chem").0, -100);
    assert_eq!(
        t.book.journal.last().unwrap().at_effective.seconds(),
        40_000
    );
}

#[test]
fn where_no_money_moves_the_shadow_figures_do() {
    for alone in [true, false] {
        let mut t = Ground::new(Mode::Track);
        t.now = 20_000;
        let (one, two) = (job("1", "grp_chem", 4, 100), job("2", "grp_bio", 1, 50));
        if alone {
            t.done(usage(&one));
            t.done(usage(&two));
        } else {
            t.done(Command::Import(Box::new(Chunk {
                source: "slurm:colony".into(),
                reports: [&one, &two]
                    .map(|report| Arc::new(report.clone()))
                    .into_iter()
                    .collect(),
                ..Chunk::default()
            })));
        }
        t.project("chem", 1000, Window::ALWAYS);
        let assigned = t.assign(&one, "chem").unwrap();
        assert!(assigned.changed, "alone {alone}");
        assert_eq!((assigned.was, assigned.amount), (Amount(400), Amount(400)));
        assert_eq!(t.figures("chem"), (1000, -400), "alone {alone}");
        assert_eq!(t.figures(UNBILLED), (0, 0));
        if !alone {
            let undo = Command::After(After::Reverse(Reverse {
                transaction: t.book.journal.last().unwrap().id,
                allow_debt: false,
                note: String::new(),
            }));
            assert_eq!(t.run(&undo).unwrap_err().code(), "not_reversible");
        }
        let done = t.transactions();
        assert!(!t.assign(&one, "chem").unwrap().changed, "alone {alone}");
        assert_eq!(t.transactions(), done);
        // A project without money has the use, and no figures; once more changes nothing.
        t.project("bio", 0, Window::ALWAYS);
        assert!(t.assign(&two, "bio").unwrap().changed, "alone {alone}");
        let stays = t.assign(&two, "bio").unwrap();
        assert!(!stays.changed, "alone {alone}");
        let why = stays.stays.map(|refusal| refusal.code());
        assert_eq!(why, Some("no_usable_account"), "alone {alone}");
        assert_eq!(t.assign(&one, "chem").unwrap().stays, None, "alone {alone}");
        // An amended record of it moves the difference only.
        let mut more = one.clone();
        more.named.account = Some("grp_chem".into());
        more.request.whose.project = Some("chem".into());
        more.request.facts.project = "chem".into();
        more.request.facts.usage.processors = Some(Decimal::whole(5));
        t.done(usage(&more));
        assert_eq!(t.figures("chem"), (1000, -500), "alone {alone}");
    }
}

#[test]
fn a_use_stays_in_its_mode_when_it_gets_a_project_in_another_one() {
    let mut t = Ground::new(Mode::Strict);
    t.now = 20_000;
    let one = job("1", "grp_chem", 4, 100);
    t.done(usage(&one));
    t.project("chem", 1000, Window::ALWAYS);
    t.done(Command::set_record(
        "project",
        "chem",
        &[("mode", Mode::Track.word().into())],
    ));
    t.assign(&one, "chem").unwrap();
    assert_eq!(t.figures(UNBILLED), (0, 0));
    assert_eq!(t.figures("chem"), (600, 0));
    let instance = t.book.instances.values().next().unwrap();
    assert_eq!((instance.billed.0, instance.shadow_billed.0), (400, 0));
}

#[test]
fn what_a_person_gave_back_is_not_charged_again() {
    let mut t = Ground::new(Mode::Strict);
    t.now = 20_000;
    let one = job("1", "grp_chem", 4, 100);
    t.done(usage(&one));
    t.done(Command::After(After::Refund(Refund {
        object_id: "1".into(),
        amount: Some(Amount(100)),
        ..Refund::default()
    })));
    t.project("chem", 1000, Window::ALWAYS);
    assert_eq!(t.assign(&one, "chem").unwrap_err().code(), "has_refunds");
    assert_eq!(t.figures("chem").0, 1000);
}

#[test]
fn an_assignment_can_be_undone() {
    let mut t = Ground::new(Mode::Strict);
    t.now = 20_000;
    let one = job("1", "grp_chem", 4, 100);
    t.done(usage(&one));
    t.project("chem", 1000, Window::ALWAYS);
    t.assign(&one, "chem").unwrap();
    let last = t.book.journal.last().unwrap().id;
    for transaction in [last, TxId(last.0 - 1)] {
        t.done(Command::After(After::Reverse(Reverse {
            transaction,
            allow_debt: false,
            note: String::new(),
        })));
    }
    assert_eq!(t.figures(UNBILLED).0, -400);
    assert_eq!(t.figures("chem").0, 1000);
    let instance = t.book.instances.values().next().unwrap();
    assert_eq!((instance.billed.0, instance.charged.0), (400, 100));
}

/// What the assignment took comes back only after its charge was undone, whatever billed the use later.
#[test]
fn the_refused_undo_of_an_assignment_names_its_charge() {
    let mut t = Ground::new(Mode::Strict);
    t.now = 20_000;
    let one = job("1", "grp_chem", 4, 100);
    t.done(usage(&one));
    t.project("chem", 1000, Window::ALWAYS);
    t.assign(&one, "chem").unwrap();
    let charge = t.book.journal.last().unwrap().id;
    let mut more = one.clone();
    more.request.whose.project = Some("chem".into());
    more.request.facts.project = "chem".into();
    more.request.facts.usage.processors = Some(Decimal::whole(5));
    t.done(usage(&more));
    assert_eq!(t.figures("chem").0, 500);
    let undo = Command::After(After::Reverse(Reverse {
        transaction: TxId(charge.0 - 1),
        allow_debt: false,
        note: String::new(),
    }));
    let refusal = format!("{:?}", t.run(&undo).unwrap_err());
    let cause = format!("undo transaction {} first", charge.0);
    assert!(refusal.contains(&cause), "{cause}: {refusal}");
}

/// For any records and amendments in any order: an assignment of all of them moves the charges on `#unbilled`
/// to the projects, to the last unit. A second assignment moves nothing.
#[test]
fn giving_away_keeps_the_totals() {
    let mut seed = 0x5eed_1234_u64;
    println!("seed {seed:#x}");
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        i64::try_from((seed >> 33) % below).unwrap()
    };
    for mode in [Mode::Strict, Mode::Track] {
        for _ in 0..20 {
            let mut t = Ground::new(mode);
            t.now = 20_000;
            let mut reports: Vec<UsageReport> = Vec::new();
            for n in 0..12 {
                let id = format!("{}", next(8));
                let account = format!("grp{}", n % 3);
                let report = job(&id, &account, 1 + next(16), 10 * (1 + next(5)));
                t.done(usage(&report));
                reports.retain(|known| {
                    known.identity().id != id || known.incarnation() != report.incarnation()
                });
                reports.push(report);
            }
            for n in 0..3 {
                t.project(&format!("p{n}"), 100_000, Window::ALWAYS);
            }
            let worth = |r: &UsageReport| {
                let facts = &r.request.facts;
                let seconds = facts.end.unwrap().seconds() - facts.start.unwrap().seconds();
                let processors = facts.usage.processors.unwrap().billionths() / 1_000_000_000;
                seconds * i64::try_from(processors).unwrap()
            };
            for round in 0..2 {
                for report in &reports {
                    let project = report.account().replace("grp", "p");
                    let assigned = t.assign(report, &project).unwrap();
                    assert_eq!(assigned.changed, round == 0, "{mode:?} {report:?}");
                }
            }
            assert_eq!(t.figures(UNBILLED), (0, 0));
            for n in 0..3 {
                let of = format!("grp{n}");
                let sum: i64 = reports
                    .iter()
                    .filter(|r| r.account() == of)
                    .map(worth)
                    .sum();
                let (amount, shadow) = t.figures(&format!("p{n}"));
                assert_eq!(100_000 - amount - shadow, sum, "{mode:?} p{n}");
            }
        }
    }
}
