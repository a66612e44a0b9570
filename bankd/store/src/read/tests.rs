//! Questions to a small bank that a store wrote.

use std::collections::{BTreeMap, BTreeSet};

use bank_core::amount::Amount;
use bank_core::command::{
    Charge, Close, Command, Deposit, Request, Reserve, Scope, SetRate, Whose,
};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::ids::AccountId;
use bank_core::ledger;
use bank_core::model::{Closing, Facts, LienState};
use bank_core::rate::{RateKind, RateValue};
use bank_core::time::Window;
use bank_core::usage::Usage;

use super::super::bank::NewBank;
use super::super::{SqliteStore, Stamp};
use super::journal::{Span, page};
use super::liens::{Cursor, Wanted};
use super::*;
use bank_core::time::{Seconds, Timestamp};

pub(super) struct Bank {
    folder: tempfile::TempDir,
    path: std::path::PathBuf,
    pub(super) store: SqliteStore,
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

impl Bank {
    pub(super) fn new() -> Bank {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        let new = NewBank::of_test();
        let store = SqliteStore::create(&path, &new, Policy::default()).unwrap();
        Bank {
            folder,
            path,
            store,
        }
    }

    /// Runs a command at an instant; it must be accepted.
    pub(super) fn run(&mut self, seconds: i64, command: &Command) {
        let refusal = self.decide(seconds, command).err();
        assert_eq!(refusal, None);
    }

    /// Runs a command at an instant, after the boundaries that have passed.
    pub(super) fn decide(&mut self, seconds: i64, command: &Command) -> ledger::Decision {
        let now = at(seconds);
        self.store.begin().unwrap();
        self.store.stamp(Stamp {
            now,
            request_id: "r".into(),
            actor: "root".into(),
            client: "unix:root".into(),
            origin: "nami",
            key: None,
        });
        let scope = Scope::default();
        ledger::sweep(&mut self.store, now).unwrap();
        let decision = ledger::execute(&mut self.store, command, &scope, now, false).unwrap();
        self.store.commit().unwrap();
        decision
    }

    /// Goes on under other settings, as after a restart.
    pub(super) fn under(self, seconds: i64, policy: Policy) -> Bank {
        let Bank {
            folder,
            path,
            store,
        } = self;
        drop(store);
        let mut store = SqliteStore::open(&path, policy).unwrap();
        if !store.settings_are_recorded().unwrap() {
            store.begin().unwrap();
            store.stamp(Stamp {
                now: at(seconds),
                ..Stamp::default()
            });
            ledger::note_settings(&mut store, at(seconds)).unwrap();
            store.commit().unwrap();
        }
        assert!(store.settings_are_recorded().unwrap());
        Bank {
            folder,
            path,
            store,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn reader(&self) -> Connection {
        open_reader(&self.path).unwrap()
    }
}

fn request(job: &str) -> Request {
    let usage = Usage {
        processors: Some(Decimal::whole(4)),
        ..Usage::default()
    };
    Request {
        object_id: job.into(),
        whose: Whose {
            project: Some("chem".into()),
            user: Some("amy".into()),
            machine: "ia64".into(),
            ..Whose::default()
        },
        facts: Facts {
            project: "chem".into(),
            user: "amy".into(),
            usage,
            wall: Some(Seconds(100)),
            ..Facts::default()
        },
        ..Request::default()
    }
}

fn deposit(amount: i64, window: Window) -> Command {
    Command::Deposit(Deposit {
        name: "chem".into(),
        amount: Amount(amount),
        window,
        ..Deposit::default()
    })
}

/// 1,000 credits now, 500 from second 10,000 on; job 1 charged once and closed, job 2 waiting.
fn small() -> Bank {
    let mut bank = Bank::new();
    let amy = Command::add_record("user", "amy", &[]);
    bank.run(1, &amy);
    bank.run(1, &Command::add_record("machine", "ia64", &[]));
    let chem = Command::add_record("project", "chem", &[("members", vec!["amy".into()].into())]);
    bank.run(1, &chem);
    let rate = SetRate {
        kind: RateKind::Vbr,
        name: "Processors".into(),
        instance: String::new(),
        value: RateValue(1_000_000_000),
        per: bank_core::rate::Per::Second,
        machine: None,
        from: None,
        until: None,
        when: None,
        description: String::new(),
    };
    bank.run(1, &Command::SetRate(rate));
    bank.run(2, &deposit(1_000_000, Window::ALWAYS));
    let later = Window {
        start: Some(at(10_000)),
        end: Some(at(20_000)),
    };
    bank.run(2, &deposit(500_000, later));
    for job in ["1", "2"] {
        let reserve = Reserve {
            request: request(job),
            ..Reserve::default()
        };
        bank.run(10, &Command::Reserve(reserve));
    }
    let charge = Charge {
        request: request("1"),
        duration: Some(Seconds(30)),
        closes: false,
        ..Charge::default()
    };
    bank.run(50, &Command::Charge(charge));
    let close = Close {
        key: request("1").key(),
        by: Closing::Delete,
        event_time: None,
    };
    bank.run(60, &Command::Close(close));
    bank
}

fn chem(bank: &Bank) -> AccountId {
    bank.store.reference().account_named("chem").unwrap().id
}

#[test]
fn figures_are_of_the_allocations_active_at_the_instant() {
    let bank = small();
    let reader = bank.reader();
    for (second, deposited, amount, held, future, available) in [
        (60, 1_000_000, 880_000, 400_000, 500_000, 480_000),
        (10_000, 1_500_000, 1_380_000, 400_000, 0, 980_000),
        (20_000, 1_000_000, 880_000, 400_000, 0, 480_000),
    ] {
        let figures = money::figures(&reader, &[chem(&bank)], at(second)).unwrap();
        let f = figures[0];
        let got = (f.deposited, f.amount, f.held, f.future, f.available());
        assert_eq!(
            got,
            (deposited, amount, held, future, available),
            "at {second}"
        );
        assert_eq!(f.used, f.deposited - f.amount);
    }
}

#[test]
fn liens_come_open_first_and_newest_first() {
    let bank = small();
    let reader = bank.reader();
    let jobs = |wanted, after, limit| {
        let page = liens::list(&reader, wanted, after, limit, |_| true).unwrap();
        let line = |row: &liens::LienRow| {
            let (state, held) = (row.lien.state.word(), row.lien.remaining());
            format!("{} {state} {held}", row.object_id)
        };
        (page.rows.iter().map(line).collect::<Vec<_>>(), page.next)
    };
    assert_eq!(
        jobs(Wanted::Open, None, 9),
        (vec!["2 open 400000".into()], None)
    );
    let ended = Wanted::Ended(LienState::Released);
    assert_eq!(jobs(ended, None, 9), (vec!["1 released 0".into()], None));
    let (first, next) = jobs(Wanted::All, None, 1);
    assert_eq!(first, ["2 open 400000"]);
    let (second, next) = jobs(Wanted::All, next, 1);
    assert_eq!((second, next), (vec!["1 released 0".into()], None));
    for cursor in [Cursor::Open(7), Cursor::Ended(3)] {
        assert_eq!(Cursor::parse(&cursor.text()), Some(cursor));
    }
}

#[test]
fn a_job_has_its_charges_payers_and_lien() {
    let bank = small();
    let reader = bank.reader();
    let job = jobs::newest(&reader, "1", |_| true).unwrap().remove(0);
    assert_eq!((job.billed, job.charged), (Amount(120_000), Seconds(30)));
    assert_eq!(job.closed.map(|(_, by)| by), Some(Closing::Delete));
    let detail = jobs::detail(&reader, &job).unwrap();
    assert_eq!(detail.charges.len(), 1);
    assert_eq!(detail.charges[0].amount, Amount(120_000));
    assert_eq!(detail.shares.len(), 1);
    assert_eq!(detail.shares[0].amount, 120_000);
    let lien = detail.lien.unwrap().lien;
    assert_eq!(
        (lien.placed, lien.state),
        (Amount(400_000), LienState::Released)
    );
    assert_eq!(detail.taken_from_lien, 120_000);
    let list = jobs::list(&reader, None, 1, None, |_| Ok(true)).unwrap();
    assert_eq!(
        (list.rows[0].object_id.as_str(), list.next),
        ("2", Some(list.rows[0].id))
    );
    let rest = jobs::list(&reader, list.next, 1, None, |_| Ok(true)).unwrap();
    assert_eq!((rest.rows[0].object_id.as_str(), rest.next), ("1", None));
    assert_eq!(jobs::newest(&reader, "3", |_| true).unwrap(), []);
}

#[test]
fn the_journal_is_read_in_pages_without_gap_or_repeat() {
    let bank = small();
    let reader = bank.reader();
    let read = |span: Span| page(&reader, &span, |_| true).unwrap();
    let whole = read(Span {
        limit: 1000,
        ..Span::default()
    });
    assert_eq!(whole.next, None);
    let mut paged = Vec::new();
    let mut after = Some(0);
    while let Some(from) = after {
        let page = read(Span {
            after: from,
            limit: 2,
            ..Span::default()
        });
        paged.extend(page.rows);
        after = page.next;
    }
    assert_eq!(paged, whole.rows);
    let since = read(Span {
        since: Some(at(50)),
        limit: 1000,
        ..Span::default()
    });
    let kinds: Vec<&str> = since
        .rows
        .iter()
        .map(|row| {
            row.entry
                .as_ref()
                .map_or(row.tx.op.as_str(), |(_, e)| e.kind.as_str())
        })
        .collect();
    assert_eq!(kinds, ["charge", "lien_release"]);
    assert!(
        since
            .rows
            .iter()
            .all(|row| row.object == Some(("1".into(), "ia64".into(), "job".into())))
    );
    let until = read(Span {
        until: Some(at(2)),
        limit: 1000,
        ..Span::default()
    });
    assert!(until.rows.iter().all(|row| row.entry.is_none()));
}

#[test]
fn the_end_of_the_journal_comes_oldest_first() {
    let bank = small();
    let reader = bank.reader();
    let whole = |limit| Span {
        limit,
        ..Span::default()
    };
    let all = page(&reader, &whole(1000), |_| true).unwrap().rows;
    let end = journal::newest(&reader, &whole(1000), None, |_| true).unwrap();
    assert_eq!((end.rows, end.next), (all.clone(), None));
    for limit in 1..=all.len() {
        let mut before = None;
        let mut found: Vec<journal::JournalRow> = Vec::new();
        loop {
            let page = journal::newest(&reader, &whole(limit), before, |_| true).unwrap();
            assert!(!page.rows.is_empty());
            found.splice(..0, page.rows);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(found, all, "{limit} a page");
    }
    let since = Span {
        since: Some(at(50)),
        ..whole(1000)
    };
    let late = journal::newest(&reader, &since, None, |row| row.entry.is_some()).unwrap();
    assert_eq!(late.rows.len(), 2, "a charge and a release");
}

#[test]
fn what_is_charged_a_day_counts_the_last_month() {
    let bank = small();
    let reader = bank.reader();
    let own = BTreeSet::from([chem(&bank)]);
    let burn = |day: i64| {
        let now = at(day * 86_400);
        let all = burn::burn(&reader, None, now).unwrap();
        let of_one = burn::burn(&reader, Some(&own), now).unwrap();
        assert_eq!(of_one.per_day(chem(&bank)), all.per_day(chem(&bank)));
        of_one
    };
    // 120.000 were charged in the first minute.
    assert_eq!(
        burn(0).per_day(chem(&bank)),
        None,
        "less than a day is known"
    );
    assert_eq!(burn(10).per_day(chem(&bank)), Some(12_000));
    assert_eq!(burn(30).per_day(chem(&bank)), Some(4000));
    assert_eq!(burn(31).per_day(chem(&bank)), None, "it is too long ago");
    let empty = burn::used_up(12_000, 24_000, at(10 * 86_400));
    assert_eq!(empty, Some(at(12 * 86_400)));
}

/// Looked for along its allocations, or in the whole journal.
#[test]
fn what_one_account_of_many_is_charged_is_the_same_either_way() {
    let mut bank = small();
    bank.run(61, &Command::add_record("project", "bio", &[]));
    let money = Deposit {
        name: "bio".into(),
        amount: Amount(1_000_000_000),
        ..Deposit::default()
    };
    bank.run(61, &Command::Deposit(money));
    for n in 0..600 {
        let mut request = request(&format!("other-{n}"));
        let project = if n % 50 == 0 { "chem" } else { "bio" };
        request.whose.project = Some(project.into());
        request.facts.project = project.into();
        let charge = Charge {
            request,
            duration: Some(Seconds(1)),
            closes: true,
            ..Charge::default()
        };
        bank.run(100 + n * 5000, &Command::Charge(charge));
    }
    let (reader, chem) = (bank.reader(), chem(&bank));
    let own = BTreeSet::from([chem]);
    let everybody = bank.store.reference().accounts().map(|a| a.id).collect();
    let mut found = BTreeSet::new();
    for day in 1..70 {
        let now = at(day * 86_400);
        let all = burn::burn(&reader, None, now).unwrap();
        let one = burn::burn(&reader, Some(&own), now).unwrap();
        assert_eq!(one.speed(chem), all.speed(chem), "day {day}");
        let before = burn::before(&reader, &own, now).unwrap();
        let whole = burn::before(&reader, &everybody, now);
        assert_eq!(before.speed(chem), whole.unwrap().speed(chem), "day {day}");
        found.insert(one.per_day(chem));
    }
    assert!(found.len() > 10, "the rate changes: {found:?}");
}

#[test]
fn the_status_counts_what_is_there() {
    let bank = small();
    let reader = bank.reader();
    let suspense = bank.store.reference().suspense().map(|a| a.id);
    let status = status::whole(&reader, suspense).unwrap();
    assert_eq!(status.open_liens, 1);
    assert_eq!((status.unbilled, status.unbilled_instances), (0, 0));
    let status = status::read(&reader).unwrap();
    assert_eq!(status.contacts, BTreeMap::from([("ia64".into(), at(60))]));
    assert!(status.transactions > 0 && status.entries > 0 && status.bytes > 0);
}

#[test]
fn bisection_finds_the_first_of_equals() {
    let values = [1, 1, 3, 3, 3, 9];
    let value = |id: i64| Ok(values[usize::try_from(id - 1).unwrap()]);
    for (wanted, found) in [(0, 1), (1, 1), (2, 3), (3, 3), (4, 6), (9, 6), (10, 7)] {
        assert_eq!(
            crate::numbers::lower_bound(6, wanted, value).unwrap(),
            found,
            "{wanted}"
        );
    }
    assert_eq!(crate::numbers::lower_bound(0, 5, value).unwrap(), 1);
}

#[tokio::test]
async fn a_question_that_takes_too_long_is_interrupted() {
    let bank = small();
    let pool = Pool::sized(&bank.path, 1, Duration::from_millis(50)).unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                   SELECT count(*) FROM n";
    let late = pool
        .run(move |c| Ok(c.query_row(endless, [], |r| r.get::<_, i64>(0))?))
        .await;
    assert!(matches!(late, Err(ReadError::Late)), "{late:?}");
    let count =
        pool.run(|c| Ok(c.query_row("SELECT count(*) FROM tx", [], |r| r.get::<_, i64>(0))?));
    assert!(count.await.unwrap() > 0);
    let write = pool.run(|c| Ok(c.execute("DELETE FROM project", [])?));
    assert!(matches!(write.await, Err(ReadError::Store(_))));
}
