//! Statements of closed periods over long random histories: the identity holds for every account and
//! any period, and what a closed period's statement said it says for ever (ledger.md 7 and 11 (f)).
//!
//! What is said is compared with the journal of the book in memory, added up from its beginning by
//! a rule of its own for what comes late.

use super::case_period::{close, reopen, text};
use super::fixture::T0;
use super::ground::Ground;
use super::many::{Doing, known};
use super::sqlite::Sqlite;
use super::wild::{Dice, Wild, furnish};
use crate::ledger::bench::Bench;
use bank_core::directory::Policy;
use bank_core::ids::AccountId;
use bank_core::months;
use bank_core::time::{MICROS, Timestamp, Window};
use bankd_store::read::statement;
use std::collections::BTreeMap;

const OPERATIONS: usize = 10_000;
const SEED: u64 = 20_261_031;
/// Statements that are looked at again and again.
const KEPT_MAX: usize = 24;

/// A statement of a closed period, and the close that it was told under.
struct Kept {
    account: AccountId,
    period: Window,
    statement: String,
}

/// Both grounds, and what was said.
struct Run {
    bank: Doing,
    store: Sqlite,
    dice: Dice,
    kept: Vec<Kept>,
    done: BTreeMap<&'static str, usize>,
}

impl Run {
    fn command(&mut self, ask: super::ask::Ask, key: &str) -> bool {
        let command = ask.command.unwrap();
        let clock = self.bank.clock;
        let answer = self.bank.memory.submit(&command, Some(key), clock);
        let got = self.store.submit(&command, Some(key), clock);
        assert_eq!(got, answer, "{command:?}");
        let accepted = !answer.starts_with("refused");
        let word = if accepted { command.op() } else { "refused" };
        *self.done.entry(word).or_default() += 1;
        accepted
    }

    fn wild(&mut self, n: usize) {
        let wild = Wild(self.dice.next());
        let known = known(&self.bank.memory);
        if let Some((op, answer)) = self.bank.step(wild) {
            let command = wild.command(known, self.bank.clock);
            let key = format!("wild-{n}");
            let got = self.store.submit(&command, Some(&key), self.bank.clock);
            assert_eq!(got, answer, "{op}");
            *self.done.entry(op).or_default() += 1;
        }
    }

    /// An instant near what happened of late, to the second.
    fn instant(&mut self, back: u64) -> Timestamp {
        let seconds = i64::try_from(self.dice.below(back)).unwrap();
        Timestamp((self.bank.clock.0 - seconds * MICROS).max(T0.0 - 1_000 * MICROS))
    }

    fn accounts(&self) -> Vec<AccountId> {
        let directory = self.store.directory();
        directory.all_accounts().map(|a| a.id).collect()
    }

    /// Closes up to some instant, and keeps statements of what is closed now.
    fn close(&mut self, n: usize) {
        let end = self.instant(4_000);
        if !self.command(close(None, &months::text(end)), &format!("close-{n}")) {
            return;
        }
        self.bank.memory.settle(self.bank.clock);
        let closes = self.bank.memory.book.closes();
        let last = *closes.last().unwrap();
        let accounts = self.accounts();
        for account in accounts {
            // The whole period, and one inside of everything that is closed.
            let end = Timestamp(last.end.0 - i64::try_from(self.dice.below(900)).unwrap() * MICROS);
            let start = Timestamp(end.0 - i64::try_from(self.dice.below(90_000)).unwrap() * MICROS);
            let whole = Window {
                start: last.start,
                end: Some(last.end),
            };
            let part = Window {
                start: Some(Timestamp(start.0 - MICROS)),
                end: Some(end),
            };
            for period in [whole, part] {
                let statement = self.say(account, &period);
                self.kept.push(Kept {
                    account,
                    period,
                    statement,
                });
            }
        }
        while self.kept.len() > KEPT_MAX {
            let at = usize::try_from(self.dice.below(self.kept.len() as u64)).unwrap();
            self.kept.swap_remove(at);
        }
    }

    fn reopen(&mut self, n: usize) {
        if self.command(reopen(), &format!("reopen-{n}")) {
            let closes = self.bank.memory.book.closes();
            let until = closes.last().map(|close| close.end);
            // What lies in the period that is open again may change.
            let is_closed = |k: &Kept| until.is_some_and(|c| k.period.end.unwrap() <= c);
            self.kept.retain(is_closed);
        }
    }

    fn say(&mut self, account: AccountId, period: &Window) -> String {
        let now = self.now();
        text(&mut self.store, account, period, now).unwrap()
    }

    /// Every line of the journal is committed, and boundaries that have passed are in it.
    fn now(&mut self) -> Timestamp {
        let clock = self.bank.clock;
        self.store.settle(clock);
        self.bank.memory.settle(clock);
        self.store.ledger_now(clock)
    }

    /// What was said is said again.
    fn look_again(&mut self, n: usize) {
        for at in 0..self.kept.len() {
            let (account, period) = (self.kept[at].account, self.kept[at].period);
            let statement = self.say(account, &period);
            assert_eq!(
                statement, self.kept[at].statement,
                "seed {SEED}, operation {n}, {period:?}"
            );
        }
    }

    /// A random period of every account is what the book's journal says of it.
    fn compare(&mut self, n: usize) {
        let now = self.now();
        let (a, b) = (self.instant(200_000), self.instant(200_000));
        let period = Window {
            start: Some(a.min(b)).filter(|_| self.dice.below(8) > 0),
            end: Some(Timestamp(a.max(b).0 + MICROS)).filter(|_| self.dice.below(8) > 0),
        };
        for account in self.accounts() {
            let expected = self.added_up(account, &period, now);
            let reader = self.store.reader().unwrap();
            let (frame, sums, lines) = statement::whole(reader, account, &period, now).unwrap();
            let got = (
                sums.opening(&frame, account),
                lines.len(),
                sums.closing(&frame, account).amount,
            );
            assert_eq!(
                got, expected,
                "seed {SEED}, operation {n}, {account:?} {period:?}"
            );
            assert_eq!(sums.differing(&frame, [&account]).count(), 0);
        }
    }

    /// Opening, number of movements and closing, from the book's journal alone.
    fn added_up(&self, account: AccountId, period: &Window, now: Timestamp) -> (i128, usize, i128) {
        let book = &self.bank.memory.book;
        let mut ends: Vec<(i64, Timestamp)> = Vec::new();
        let standing = book.closes();
        let (mut opening, mut closing, mut lines) = (0, 0, 0);
        let end = period
            .end
            .unwrap_or(Timestamp::MAX)
            .min(Timestamp(now.0 + 1));
        for tx in &book.journal {
            let late = ends.iter().map(|(_, end)| *end).max();
            let booked = late.map_or(tx.at_effective, |end| end.max(tx.at_effective));
            if standing.all().iter().any(|close| close.tx == tx.id) {
                ends.push((tx.id.0, tx.traces.closed.as_ref().unwrap().end));
            }
            let own = tx.entries.iter().filter(|e| e.account == Some(account));
            for active in own.map(|e| e.delta.active).filter(|active| *active != 0) {
                if period.start.is_some_and(|start| booked < start) {
                    opening += i128::from(active);
                } else if booked < end {
                    lines += 1;
                }
                if booked < end {
                    closing += i128::from(active);
                }
            }
        }
        (opening, lines, closing)
    }
}

#[test]
fn statements_of_closed_periods_never_change_over_ten_thousand_operations() {
    println!("seed {SEED}");
    let mut store = Sqlite::new(Policy::default(), 32);
    furnish(&mut Bench::new(&mut store));
    let mut run = Run {
        bank: Doing::new(),
        store,
        dice: Dice(SEED),
        kept: Vec::new(),
        done: BTreeMap::new(),
    };
    for n in 0..OPERATIONS {
        run.wild(n);
        match n % 500 {
            249 => run.close(n),
            499 => run.compare(n),
            _ => {}
        }
        if n % 2_000 == 1_999 {
            run.look_again(n);
        }
        if n % 2_500 == 2_400 {
            run.reopen(n);
        }
    }
    run.look_again(OPERATIONS);
    println!("done: {:?}", run.done);
    assert!(run.done["period_close"] > 8, "{:?}", run.done);
    assert!(run.done["period_reopen"] > 1, "{:?}", run.done);
    assert!(!run.kept.is_empty());
    let late = run.kept.iter().filter(|k| k.statement.contains("true,"));
    println!(
        "of {} statements {} have adjustments",
        run.kept.len(),
        late.count()
    );
    let names: Vec<_> = run
        .bank
        .memory
        .book
        .journal
        .iter()
        .map(|tx| tx.op)
        .collect();
    let store: Vec<_> = run.store.journal(0).into_iter().map(|tx| tx.op).collect();
    assert_eq!(names, store);
    assert_eq!(run.bank.memory.findings(), Vec::<String>::new());
    assert_eq!(run.store.proof(), Vec::<String>::new(), "seed {SEED}");
}
