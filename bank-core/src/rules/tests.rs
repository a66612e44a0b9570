//! Rules that no numbered case names.

use crate::amount::{Amount, Precision};
use crate::book::Book;
use crate::command::{
    Charge, Close, Command, Create, Deposit, Request, Reserve, Scope, SetRate, Whose,
};
use crate::decimal::Decimal;
use crate::directory::{Bank, Policy};
use crate::effects::{Billing, Outcome};
use crate::ledger::execute;
use crate::model::{Closing, Facts, InstanceKey, ObjectType};
use crate::rate::{Per, RateKind, RateValue};
use crate::refusal::Refusal;
use crate::terms::Excess;
use crate::time::{Seconds, Timestamp};
use crate::usage::Usage;

pub(super) struct Ground {
    book: Book,
    pub(super) scope: Scope,
}

impl Ground {
    /// Projects `chem` and `bio` of amy with 1000 each, at 1 a processor and second.
    pub(super) fn new() -> Ground {
        let bank = Bank {
            uuid: "u".into(),
            precision: Precision::new(0).unwrap(),
            unit: "credits".into(),
        };
        let book = Book::new(bank, Policy::default());
        let mut ground = Ground {
            book,
            scope: Scope::default(),
        };
        ground.found();
        ground
    }

    fn found(&mut self) {
        let named = |name: &str| name.to_owned();
        self.done(0, Command::add_record("user", &named("amy"), &[]));
        self.done(0, Command::add_record("machine", "colony", &[]));
        self.rate(RateKind::Vbr, "Processors", "1");
        for name in ["chem", "bio"] {
            self.done(
                0,
                Command::add_record(
                    "project",
                    &named(name),
                    &[("members", vec![named("amy")].into())],
                ),
            );
            self.deposit(name, 1000);
        }
    }

    fn rate(&mut self, kind: RateKind, name: &str, value: &str) {
        let value = RateValue::parse(value).unwrap();
        // As that of a new bank, the first one holds before the first day too.
        let is_first = self.book.reference().rates.is_empty();
        self.done(
            0,
            Command::SetRate(SetRate {
                kind,
                name: name.into(),
                instance: String::new(),
                value,
                per: Per::Second,
                machine: None,
                from: is_first.then(|| Timestamp::from_seconds(-400_000_000)),
                until: None,
                when: None,
                description: String::new(),
            }),
        );
    }

    fn deposit(&mut self, name: &str, amount: i64) {
        let amount = Amount(amount);
        self.done(
            0,
            Command::Deposit(Deposit {
                name: name.into(),
                amount,
                ..Deposit::default()
            }),
        );
    }

    pub(super) fn run(&mut self, at: i64, command: &Command) -> Result<Outcome, Refusal> {
        let now = Timestamp::from_seconds(at);
        let decided = execute(&mut self.book, command, &self.scope, now, false).unwrap();
        assert_eq!(self.book.findings(), Vec::<String>::new());
        decided
    }

    pub(super) fn done(&mut self, at: i64, command: impl std::borrow::Borrow<Command>) -> Outcome {
        self.run(at, command.borrow()).unwrap()
    }
}

pub(super) fn request(project: &str, job: &str, processors: i64) -> Request {
    Request {
        object_id: job.into(),
        whose: Whose {
            project: Some(project.into()),
            user: Some("amy".into()),
            machine: "colony".into(),
            ..Whose::default()
        },
        facts: Facts {
            usage: Usage {
                processors: Some(Decimal::whole(processors)),
                ..Usage::default()
            },
            ..Facts::default()
        },
        ..Request::default()
    }
}

pub(super) fn reserve(project: &str, job: &str, seconds: i64) -> Command {
    Command::Reserve(Reserve {
        request: request(project, job, 1),
        charge_duration: Some(Seconds(seconds)),
        ..Reserve::default()
    })
}

pub(super) fn charge(project: &str, job: &str, processors: i64, seconds: i64) -> Command {
    Command::Charge(Charge {
        request: request(project, job, processors),
        duration: Some(Seconds(seconds)),
        closes: false,
        ..Charge::default()
    })
}

pub(super) fn delete(job: &str, event_time: Option<i64>) -> Command {
    Command::Close(Close {
        key: InstanceKey {
            machine: "colony".into(),
            object_type: ObjectType::Job,
            object_id: job.into(),
        },
        by: Closing::Delete,
        event_time: event_time.map(Timestamp::from_seconds),
    })
}

#[test]
fn a_key_for_one_project_cannot_reach_the_job_of_another() {
    let mut ground = Ground::new();
    ground.done(0, reserve("chem", "j", 100));
    ground.scope.projects = vec!["bio".into()];
    for command in [
        reserve("bio", "j", 10),
        charge("bio", "j", 1, 10),
        Command::Create(Create {
            request: request("bio", "j", 1),
            ..Create::default()
        }),
        reserve("chem", "k", 10),
    ] {
        let refused = ground.run(1, &command).unwrap_err();
        assert_eq!(refused.code(), "not_allowed", "{command:?}");
    }
    // To a delete it is as one that is not there.
    let Outcome::Closed(closed) = ground.done(1, delete("j", None)) else {
        panic!("no close");
    };
    assert_eq!(closed.instance, None);
    let held: Vec<i64> = ground.book.allocations.values().map(|a| a.held.0).collect();
    assert_eq!(held, [0, 100, 0]);
}

#[test]
fn a_key_for_one_machine_sets_no_rates_and_makes_no_keys() {
    let mut ground = Ground::new();
    ground.scope.machines = vec!["colony".into()];
    let refused = ground
        .run(1, &Command::add_record("machine", "blue", &[]))
        .unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
    assert!(ground.run(1, &charge("chem", "j", 1, 10)).is_ok());
}

#[test]
fn a_delete_that_comes_late_leaves_the_next_use_alone() {
    let mut ground = Ground::new();
    ground.done(0, reserve("chem", "j", 100));
    ground.done(10, delete("j", None));
    ground.done(20, reserve("chem", "j", 50));
    let Outcome::Closed(closed) = ground.done(30, delete("j", Some(5))) else {
        panic!("no close");
    };
    assert_eq!(closed.instance, None);
    let held: i64 = ground.book.allocations.values().map(|a| a.held.0).sum();
    assert_eq!(held, 50);
}

#[test]
fn a_debit_beyond_the_range_of_an_account_is_unbilled_and_not_lost() {
    let mut ground = Ground::new();
    let most = 315_360_000;
    let huge = i64::MAX / most;
    let Outcome::Charged(first) = ground.done(1, charge("chem", "j", huge, most)) else {
        panic!("no charge");
    };
    assert_eq!(first.billing, Billing::Billed);
    let Outcome::Charged(second) = ground.done(2, charge("chem", "k", huge, most)) else {
        panic!("no charge");
    };
    assert_eq!(
        (second.billing, second.amount),
        (Billing::Unbilled, Amount(0))
    );
    assert_eq!(ground.book.usages.len(), 2);
}

#[test]
fn a_name_that_was_removed_can_be_used_again() {
    let mut ground = Ground::new();
    let again = ground
        .run(1, &Command::add_record("machine", "colony", &[]))
        .unwrap_err();
    assert_eq!(again.code(), "already_exists");
    ground.done(2, Command::remove_record("machine", "colony"));
    let refused = ground.run(3, &reserve("chem", "j", 10)).unwrap_err();
    assert_eq!(refused.code(), "machine_unknown");
    ground.done(4, Command::add_record("machine", "colony", &[]));
    ground.done(5, reserve("chem", "j", 10));
}

#[test]
fn a_quote_counts_the_fallback_that_the_bank_would_use() {
    let mut policy = Policy {
        fallback: crate::directory::FallbackMode::Bank,
        ..Policy::default()
    };
    for expected in ["Ok", "insufficient_funds"] {
        let mut ground = Ground::new();
        ground.book = Book::new(ground.book.reference().bank.clone(), policy);
        ground.found();
        ground.done(
            0,
            Command::SetAccount(crate::command::SetAccount {
                name: "chem".into(),
                fallback: Some(Some("bio".into())),
                ..crate::command::SetAccount::default()
            }),
        );
        ground.deposit("bio", 4000);
        let quote = Command::Quote(crate::command::QuoteRequest {
            whose: request("chem", "j", 1).whose,
            usage: request("chem", "j", 1).facts.usage,
            duration: Some(Seconds(2000)),
            promise: crate::command::Promise::None,
            tid: String::new(),
            uses: 1,
            group: String::new(),
            cost_only: false,
            any_member: false,
        });
        let got = ground.run(1, &quote).map_or_else(|r| r.code(), |_| "Ok");
        assert_eq!(got, expected);
        let reserved = ground.run(1, &reserve("chem", "j", 2000));
        assert_eq!(reserved.map_or_else(|r| r.code(), |_| "Ok"), expected);
        policy.fallback = crate::directory::FallbackMode::Scheduler;
    }
}

/// A charge as a scheduler sends it: what it reports, and when it happened.
fn reported(seconds: i64, total: bool, happened: i64) -> Command {
    let Command::Charge(mut charge) = charge("chem", "j", 1, seconds) else {
        panic!("is no charge");
    };
    charge.is_checked = true;
    charge.terms.total = total;
    charge.request.event_time = Some(Timestamp::from_seconds(happened));
    Command::Charge(charge)
}

/// Charges as (seconds, all so far, happened at), each with what it bills and disputes, after a
/// reserve at 1000; the flush interval is 60 s. One processor costs 1 a second.
#[test]
fn a_scheduler_charges_what_can_have_been_used() {
    type Steps = &'static [(i64, bool, i64, i64, i64)];
    let cases: &[(Excess, Steps)] = &[
        (
            Excess::Clip,
            &[(60, false, 1000, 60, 0), (1, false, 1000, 0, 1)],
        ),
        (
            Excess::Clip,
            &[(900, false, 1500, 560, 340), (100, false, 1600, 100, 0)],
        ),
        // Overtaken: what came before is measured with what came after.
        (
            Excess::Clip,
            &[(500, false, 2000, 500, 0), (400, false, 1400, 400, 0)],
        ),
        // Used at 400: it had begun before the first reserve that is known.
        (
            Excess::Clip,
            &[(700, false, 1100, 160, 540), (900, false, 400, 600, 300)],
        ),
        (
            Excess::Accept,
            &[(900, false, 1500, 900, 340), (10, false, 1500, 10, 10)],
        ),
        (
            Excess::Clip,
            &[(900, true, 1500, 560, 340), (950, true, 1600, 100, 290)],
        ),
        // An older total changes nothing, a newer one below it gives money back.
        (
            Excess::Clip,
            &[(500, true, 1500, 500, 0), (300, true, 1400, 0, 0)],
        ),
        (
            Excess::Clip,
            &[(500, true, 1500, 500, 0), (300, true, 1600, -200, 0)],
        ),
    ];
    for (excess, steps) in cases {
        let mut ground = Ground::new();
        let policy = Policy {
            excess: *excess,
            ..Policy::default()
        };
        ground.book = Book::new(ground.book.reference().bank.clone(), policy);
        ground.found();
        ground.deposit("chem", 10_000);
        ground.done(
            0,
            Command::set_record("machine", "colony", &[("flush_interval_s", 60.into())]),
        );
        ground.done(1000, reserve("chem", "j", 3000));
        for (seconds, total, happened, billed, disputed) in *steps {
            let command = reported(*seconds, *total, *happened);
            let Outcome::Charged(charged) = ground.done(2000, command) else {
                panic!("no charge");
            };
            let found = (charged.amount.0, charged.disputed.0);
            assert_eq!(found, (*billed, *disputed), "{excess:?} {steps:?}");
        }
    }
}

/// A total replaces all disputed seconds; one that is older than the last changes nothing.
#[test]
fn disputed_totals_are_those_of_the_latest_report() {
    let mut ground = Ground::new();
    ground.deposit("chem", 10_000);
    ground.done(1000, reserve("chem", "j", 3000));
    // The flush interval makes 3600 s.
    for (seconds, happened, disputed) in [
        (4000, 1000, 400),
        (4100, 1010, 490),
        (3000, 1005, 490),
        (4100, 1500, 0),
    ] {
        ground.done(2000, reported(seconds, true, happened));
        let known = ground.book.instances.values().map(|i| i.disputed.0);
        assert_eq!(
            known.collect::<Vec<_>>(),
            [disputed],
            "{seconds} {happened}"
        );
    }
}

#[test]
fn more_than_can_have_been_used_is_refused_where_the_site_wants_it() {
    let mut ground = Ground::new();
    let policy = Policy {
        excess: Excess::Refuse,
        ..Policy::default()
    };
    ground.book = Book::new(ground.book.reference().bank.clone(), policy);
    ground.found();
    ground.done(1000, reserve("chem", "j", 900));
    let before = ground.book.journal.len();
    let refused = ground.run(1000, &reported(3601, false, 1000)).unwrap_err();
    assert_eq!(refused.code(), "implausible_duration");
    assert_eq!(ground.book.journal.len(), before);
    ground.done(1000, reported(3600, false, 1000));
    // A person may override it.
    ground.done(1001, charge("chem", "j", 1, 5000));
}

#[test]
fn a_note_has_an_end() {
    let mut ground = Ground::new();
    let deposit = |bytes: usize| {
        Command::Deposit(Deposit {
            name: "chem".into(),
            amount: Amount(1),
            note: "n".repeat(bytes),
            ..Deposit::default()
        })
    };
    let refused = Refusal::BadValue {
        field: "note",
        expected: "at most 4096 bytes",
    };
    assert_eq!(ground.run(0, &deposit(4097)), Err(refused));
    ground.done(0, deposit(4096));
}
