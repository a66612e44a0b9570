//! Events that overtake one another: whatever the order in which the events of a job arrive, it costs the same, and
//! no lien is left.

use bank_core::amount::{Amount, Precision};
use bank_core::book::Book;
use bank_core::command::{Command, Deposit, Scope, SetRate};
use bank_core::directory::{Bank as Identity, Policy};
use bank_core::ledger::{self, Ledger as _};
use bank_core::rate::{Per, RateKind, RateValue};
use bank_core::time::Timestamp;
use bankd_http::nami::command::{self, Setting};
use bankd_nami::{Event, ReadOptions, read};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::harness::{Bank, Request, Setup, T0};

const SEED: [u8; 32] = *b"every order of a job's own event";
const EVENTS: [Event; 5] = [
    Event::Create,
    Event::Start,
    Event::Update,
    Event::End,
    Event::Delete,
];
/// A job that is paused once.
const PAUSED: [Event; 7] = [
    Event::Create,
    Event::Start,
    Event::Update,
    Event::Pause,
    Event::Resume,
    Event::End,
    Event::Delete,
];
/// Seconds of the pause.
const PAUSE: i64 = 50;
const PROCESSORS: i64 = 4;

/// A job, and how its five documents arrive.
#[derive(Clone, Debug)]
struct Course {
    order: Vec<Event>,
    /// Seconds of the charges: of the update, of the pause if there is one, and of the end.
    used: (i64, i64, i64),
    /// Whether its documents tell start and end.
    has_times: bool,
    /// Whether the documents waited in a spool: they carry the times of their events.
    waited: bool,
}

impl Course {
    /// When an event happened, in seconds after the creation.
    fn happened(&self, event: Event) -> i64 {
        let (first, second, third) = self.charges();
        let resumed = 10 + first + second + if second > 0 { PAUSE } else { 0 };
        match event {
            Event::Create => 0,
            Event::Update => 10 + first,
            Event::Pause => 10 + first + second,
            Event::Resume => resumed,
            Event::End => resumed + third,
            Event::Delete => resumed + third + 1,
            _ => 10,
        }
    }

    /// The seconds of the charges: of a job without a pause, the second is none.
    fn charges(&self) -> (i64, i64, i64) {
        let is_paused = self.order.contains(&Event::Pause);
        let (first, second, third) = self.used;
        (first, if is_paused { second } else { 0 }, third)
    }

    fn document(&self, event: Event, id: &str) -> String {
        let (first, second, third) = self.charges();
        let charged = match event {
            Event::Pause => second,
            Event::End => third,
            _ => first,
        };
        let mut times = String::new();
        if self.has_times && event != Event::Create {
            let start = T0 + self.happened(Event::Start);
            times = format!("<StartTime>{start}</StartTime>");
        }
        if self.has_times && event == Event::End {
            let end = T0 + self.happened(Event::End);
            times = format!("{times}<EndTime>{end}</EndTime>");
        }
        format!(
            "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Machine>colony</Machine><Processors>{PROCESSORS}</Processors>\
             <WallDuration>7200</WallDuration><ChargeDuration>{charged}</ChargeDuration>\
             {times}</Job>"
        )
    }

    fn cost(&self) -> i64 {
        let (first, second, third) = self.charges();
        PROCESSORS * (first + second + third)
    }
}

/// A ledger in memory with the machine colony, and amy's project with more than any job costs.
fn book() -> Book {
    let bank = Identity {
        uuid: "u".into(),
        precision: Precision::new(0).unwrap(),
        unit: "credits".into(),
    };
    let mut book = Book::new(bank, Policy::default());
    let (amy, chemistry) = ("amy".to_owned(), "chemistry".to_owned());
    for command in [
        Command::add_record("user", &amy, &[]),
        Command::add_record("machine", "colony", &[("flush_interval_s", 60.into())]),
        Command::add_record("project", &chemistry, &[("members", vec![amy].into())]),
        Command::Deposit(Deposit {
            name: chemistry,
            amount: Amount(1_000_000_000),
            ..Deposit::default()
        }),
        Command::SetRate(SetRate {
            kind: RateKind::Vbr,
            name: "Processors".to_owned(),
            instance: String::new(),
            value: RateValue::parse("1").unwrap(),
            per: Per::Second,
            machine: None,
            from: None,
            until: None,
            when: None,
            description: String::new(),
        }),
    ] {
        run(&mut book, &command, T0 - 1000);
    }
    book
}

fn run(book: &mut Book, command: &Command, now: i64) {
    let now = Timestamp::from_seconds(now);
    let Ok(decision) = ledger::execute(book, command, &Scope::default(), now, false);
    decision.unwrap_or_else(|refusal| panic!("{command:?}: {}", refusal.code()));
}

/// The sum over all uses, what is held, and what breaks a law: once all have arrived, and again when
/// every grace is over.
fn arrive(course: &Course) -> Result<(), TestCaseError> {
    let mut book = book();
    let arrival = T0 + course.happened(Event::Delete) + 1;
    for (after, event) in (0..).zip(&course.order) {
        let xml = course.document(*event, "Moab.1");
        let document = read(xml.as_bytes(), &ReadOptions::default())
            .unwrap()
            .remove(0);
        let happened = Timestamp::from_seconds(T0 + course.happened(*event));
        let Ok(directory) = book.directory();
        let setting = Setting {
            event_time: course.waited.then_some(happened),
            ..Setting::new(&directory)
        };
        let made = command::of(document, *event, &setting).unwrap();
        drop(directory);
        run(&mut book, &made.command, arrival + after);
    }
    let billed = |book: &Book| book.instances.values().map(|i| i.billed.0).sum::<i64>();
    let held = |book: &Book| book.allocations.values().map(|a| a.held.0).sum::<i64>();
    prop_assert_eq!(billed(&book), course.cost());
    if course.has_times || course.waited {
        prop_assert_eq!(held(&book), 0);
    }
    let over = Timestamp::from_seconds(arrival + 7200 + 600 + 2 * 60 + 10);
    let Ok(stuck) = ledger::sweep(&mut book, over);
    prop_assert!(stuck.is_empty());
    prop_assert_eq!((billed(&book), held(&book)), (course.cost(), 0));
    prop_assert_eq!(book.findings(), Vec::<String>::new());
    let disputed = book.instances.values().map(|i| i.disputed.0).sum::<i64>();
    prop_assert_eq!(disputed, 0);
    Ok(())
}

#[test]
fn a_job_costs_the_same_in_any_order() {
    println!("seed {:?}", String::from_utf8_lossy(&SEED));
    let config = Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let order = prop_oneof![Just(EVENTS.to_vec()), Just(PAUSED.to_vec())].prop_shuffle();
    let long = (1_i64..4000, 1_i64..4000, 1_i64..4000);
    // Calls overtake one another by seconds only, all within one flush interval; what waited is late by as
    // much as it likes.
    let short = (1_i64..20, 1_i64..20, 1_i64..20);
    let used = prop_oneof![(Just(true), long), (Just(false), short)];
    let courses = (order, used, any::<bool>());
    let tested = runner.run(&courses, |(order, (waited, used), has_times)| {
        arrive(&Course {
            order,
            used,
            has_times,
            waited,
        })
    });
    if let Err(error) = tested {
        panic!("{error}");
    }
}

/// All orders of five things.
fn orders(events: &[Event]) -> Vec<Vec<Event>> {
    let [_, _, ..] = events else {
        return vec![events.to_vec()];
    };
    let mut all = Vec::new();
    for (place, first) in events.iter().enumerate() {
        let mut others = events.to_vec();
        others.remove(place);
        for mut rest in orders(&others) {
            rest.insert(0, *first);
            all.push(rest);
        }
    }
    all
}

#[test]
fn all_orders_of_five_events_before_a_daemon() {
    let mut bank: Bank = Setup::new().chemistry(10_000_000).start();
    let mut cost = 0;
    for (number, order) in orders(&EVENTS).into_iter().enumerate() {
        let course = Course {
            order,
            used: (40, 0, 20),
            has_times: true,
            waited: false,
        };
        let id = format!("Moab.{number}");
        bank.set_clock(T0 + 80 + i64::try_from(number).unwrap());
        for event in &course.order {
            let body = course.document(*event, &id);
            let key = format!("{id}-{}", event.as_str());
            let request = Request::nami(event.as_str(), &key, body.as_bytes());
            let answer = bank.over_socket(&request);
            assert_eq!(answer.status, 200, "{:?}: {}", course.order, answer.text());
        }
        cost += course.cost();
    }
    let (amount, held, _) = bank.figures("chemistry");
    assert_eq!((amount, held), (10_000_000 - cost, 0));
    assert_eq!(bank.liens().len(), 0);
    bank.verify();
}
