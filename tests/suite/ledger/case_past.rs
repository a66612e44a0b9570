//! ledger.md 11, cases 93 to 95: statements, and balances as they were.
//!
//! What the store's read side answers is compared with the whole journal added up from its
//! beginning; the book in memory has the journal only.

use super::ask::{c, ci, deposit, r};
use super::ask_after::{refund, undo};
use super::bench::{Bench, on_both};
use super::case_tree::below;
use super::fixture::{T0, time, window};
use super::ground::Ground;
use bank_core::ids::AccountId;
use bank_core::model::Overflow;
use bank_core::time::{MICROS, Timestamp, Window};
use bankd_store::read::past;
use bankd_store::read::statement::{self, Heading, Side};
use std::collections::BTreeSet;

/// Opening, credits, debits and closing.
type Sums = (i128, i128, i128, i128);

/// The journal added up.
fn replayed(ground: &mut dyn Ground, account: AccountId, period: &Window) -> Sums {
    let (mut opening, mut credits, mut debits) = (0, 0, 0);
    for tx in ground.journal(0) {
        let own = tx.entries.iter().filter(|e| e.account == Some(account.0));
        for active in own.map(|e| i128::from(e.delta.active)) {
            if period.is_over(tx.effective) {
                continue;
            }
            if !period.contains(tx.effective) {
                opening += active;
            } else if active > 0 {
                credits += active;
            } else {
                debits += active;
            }
        }
    }
    (opening, credits, debits, opening + credits + debits)
}

/// A statement, which must say what the journal says.
#[track_caller]
pub(super) fn stated(ground: &mut dyn Ground, account: AccountId, period: &Window) -> Sums {
    let name = ground.name();
    let now = ground.journal(0).last().map_or(T0, |tx| tx.recorded);
    let whole = replayed(ground, account, period);
    if let Some(reader) = ground.reader() {
        let (frame, sums, lines) = statement::whole(reader, account, period, now).unwrap();
        let credits: i64 = lines.iter().map(|line| line.active.max(0)).sum();
        let debits: i64 = lines.iter().map(|line| line.active.min(0)).sum();
        let opening = sums.opening(&frame, account);
        let closing = sums.closing(&frame, account).amount;
        let got = (opening, credits.into(), debits.into(), closing);
        assert_eq!(got, whole, "{name}: {account:?} {period:?}");
        // At each instant between, the opening and what was booked before it.
        let own = BTreeSet::from([account]);
        for (at, sample) in statement::samples(reader, &own, &frame, 5).unwrap() {
            let before = lines.iter().filter(|line| line.booked < at);
            let moved: i64 = before.map(|line| line.active).sum();
            let context = format!("{name}: {account:?} {period:?} at {at:?}");
            assert_eq!(sample.amount, opening + i128::from(moved), "{context}");
        }
        let both = sums.side(Side::Credit) + sums.side(Side::Debit);
        assert_eq!(opening + both, closing, "{name}: {period:?}");
        let differing = sums.differing(&frame, [&account]).count();
        assert_eq!(differing, 0, "{name}: {period:?}");
    }
    whole
}

fn account(t: &Bench<'_>, name: &str) -> AccountId {
    t.ground.directory().account_named(name).unwrap().id
}

fn state_16(t: &mut Bench<'_>) {
    t.given("Q{}, F1{}, F2{}");
    t.admin(below("F1", "Q", 33, Overflow::No));
    t.admin(below("F2", "Q", 33, Overflow::No));
    t.after([deposit("Q", "101")]);
}

fn state_34(t: &mut Bench<'_>) {
    t.given("F{a=10000}");
    t.after([r("j1", 7200), c("j1", 2468)]);
}

fn state_46(t: &mut Bench<'_>) {
    t.given("F{a=1000 L=500}");
    t.after([r("j", 1500), c("j", 1600)]);
}

fn state_60(t: &mut Bench<'_>) {
    t.given("F{a=5000 [2026,T0+4)}, G{b=300}");
    t.after([r("j", 1000)]);
    t.at("T0+8");
    t.after([c("j", 900)]);
}

/// Case 60, and what its expired allocation paid is given back to it.
fn state_62(t: &mut Bench<'_>) {
    state_60(t);
    t.after([refund("j", 0)]);
}

fn state_81(t: &mut Bench<'_>) {
    t.given("X{a=30}, Y{b=100}");
    t.after([c("j", 50), refund("j", 25), refund("j", 25)]);
}

fn state_89(t: &mut Bench<'_>) {
    t.given("F{}");
    t.after([deposit("F", "1000"), deposit("F", "500")]);
    let second = t.tx("deposit", 0);
    t.after([undo(second)]);
}

fn state_99(t: &mut Bench<'_>) {
    t.given("F{a=1000 [2026,T0+7200)}");
    t.after([r("j", 300)]);
    t.at("T0+86400");
    t.after([c("j", 300).at("T0+300")]);
}

/// Case 59 (c), with an allocation that has expired and one that has not begun.
fn state_59(t: &mut Bench<'_>) {
    t.given("F{a=200 [2026,T0+10), b=100 [T0+50,2027), c=500}");
    t.after([ci("s", 300).total()]);
    t.at("T0+60");
    t.after([ci("s", 250).total()]);
}

/// A state with the number of the case that leaves it.
type State = (&'static str, fn(&mut Bench<'_>));

/// The states that statements are made of; one more is one more line.
const STATES: [State; 9] = [
    ("16", state_16),
    ("34", state_34),
    ("46", state_46),
    ("59", state_59),
    ("60", state_60),
    ("62", state_62),
    ("81", state_81),
    ("89", state_89),
    ("99", state_99),
];

/// Twenty windows inside of a period, always the same.
fn windows(period: &Window) -> Vec<Window> {
    let (first, last) = (period.start.unwrap().0, period.end.unwrap().0);
    let seconds = (last - first) / MICROS;
    let mut state: i64 = 20_260_601;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        // Half of them near T0, where things happen.
        let near = (time("T0").0 - first) / MICROS + state % 200 - 50;
        let anywhere = (state * 7) % seconds;
        Timestamp(first + MICROS * if state % 2 == 0 { near } else { anywhere })
    };
    let window = |_| {
        let (a, b) = (next(), next());
        Window {
            start: Some(a.min(b)),
            end: Some(a.max(b)),
        }
    };
    (0..20).map(window).collect()
}

#[test]
fn ledger_case_093_statements_add_up() {
    let period = window("[2026-05-01,2026-07-01)");
    for (name, state) in STATES {
        on_both(|t| {
            state(t);
            let all: Vec<AccountId> = t.ground.directory().accounts().map(|a| a.id).collect();
            for id in all {
                let (opening, credits, debits, closing) = stated(t.ground, id, &period);
                assert_eq!(opening + credits + debits, closing, "{name}");
                for part in windows(&period) {
                    stated(t.ground, id, &part);
                }
                stated(t.ground, id, &Window::ALWAYS);
            }
        });
    }
}

/// What an account had, and what was held on it: `amount/held`.
#[track_caller]
fn balance_at(t: &mut Bench<'_>, name: &str, at: &str) -> String {
    let (id, at) = (account(t, name), time(at));
    let (mut amount, mut held) = (0, 0);
    for tx in t.ground.journal(0).iter().filter(|tx| tx.effective <= at) {
        let own = tx.entries.iter().filter(|e| e.account == Some(id.0));
        for entry in own {
            amount += i128::from(entry.delta.active);
            held += i128::from(entry.delta.held);
        }
    }
    let ground = t.ground.name();
    if let Some(reader) = t.ground.reader() {
        let then = past::figures(reader, &[id], at).unwrap().remove(0);
        let all_held = then.held + then.held_future + then.held_expired;
        assert_eq!((then.amount, all_held), (amount, held), "{ground}: {at:?}");
    }
    format!("{amount}/{held}")
}

#[test]
fn ledger_case_094_a_balance_as_it_was() {
    on_both(|t| {
        t.given("F{a=10000}");
        t.after([r("j1", 7200)]);
        t.at("T0+100");
        t.after([c("j1", 2468)]);
        for (at, figures) in [
            ("T0-1", "10000/0"),
            ("T0+50", "10000/7200"),
            ("T0+100", "7532/0"),
            ("2026-05-01", "0/0"),
        ] {
            assert_eq!(balance_at(t, "F", at), figures, "{at}");
        }
    });
}

#[test]
fn a_past_balance_includes_windows_that_have_ended_since() {
    on_both(|t| {
        t.given("F{a=1000 [2026,T0+7200), b=77 [T0+3600,2027)}");
        t.after([r("j", 300)]);
        t.at("T0+86400");
        t.after([c("j", 300).at("T0+300")]);
        for (at, figures) in [
            ("T0-1", "1000/0"),
            ("T0+299", "1000/300"),
            ("T0+300", "700/300"),
            ("T0+1500", "700/0"),
            ("T0+3600", "777/0"),
            ("T0+7199", "777/0"),
            ("T0+7200", "77/0"),
        ] {
            assert_eq!(balance_at(t, "F", at), figures, "{at}");
        }
        let id = account(t, "F");
        if let Some(reader) = t.ground.reader() {
            let then = past::figures(reader, &[id], time("T0+1"))
                .unwrap()
                .remove(0);
            assert_eq!((then.deposited, then.future), (1000, 77));
            let before = past::figures(reader, &[id], time("2026-01-01")).unwrap();
            assert_eq!(before[0], bankd_store::read::money::Figures::default());
        }
    });
}

#[test]
fn ledger_case_095_a_window_ends_at_its_end_whoever_looks_when() {
    on_both(|t| {
        t.given("F{a=500 [2026-01-01,2026-06-02)}");
        t.at("2026-06-02T09:00:00Z");
        t.ground.settle(t.clock);
        t.expect_journal("expire a 0 active -500 (T0+86400)");
        let id = account(t, "F");
        let first = stated(t.ground, id, &window("[2026-06-01,2026-06-02)"));
        assert_eq!(first, (500, 0, 0, 500));
        let period = window("[2026-06-02,2026-06-03)");
        assert_eq!(stated(t.ground, id, &period), (500, 0, -500, 0));
        if let Some(reader) = t.ground.reader() {
            let now = time("2026-06-03");
            let (_, sums, lines) = statement::whole(reader, id, &period, now).unwrap();
            let lines: Vec<_> = lines.iter().map(|l| (l.kind.word(), l.at)).collect();
            assert_eq!(lines, [("expire", time("2026-06-02"))]);
            let expired = &sums.groups[&(Side::Debit, false, Heading::Expiries)];
            assert_eq!((expired.amount, expired.entries), (-500, 1));
        }
    });
}
