//! Closed periods: what is closed, in which order, and what comes late (ledger.md 7, decision note
//! 0054).

use super::ask::{Ask, c, deposit, r};
use super::ask_after::{refund, undo};
use super::bench::{Bench, on_both};
use super::fixture::{T0, time, window};
use super::ground::Ground;
use super::reply::refused;
use bank_core::command::{ClosePeriod, Command, Period};
use bank_core::ids::AccountId;
use bank_core::time::{Timestamp, Window};
use bankd_store::read::closes;
use bankd_store::read::statement::{self, Movement, Side, Sums};

/// The command that closes until an instant.
pub(super) fn close(start: Option<&str>, end: &str) -> Ask {
    Command::Period(Period::Close(ClosePeriod {
        start: start.map(time),
        end: time(end),
        note: String::new(),
    }))
    .into()
}

pub(super) fn reopen() -> Ask {
    Command::Period(Period::Reopen(String::new())).into()
}

/// What is said of a statement: opening, closing, and each line with the day that it is booked and
/// whether it adjusts a closed period.
fn statement(t: &mut Bench<'_>, name: &str, period: &str) -> Option<String> {
    let account = t.ground.directory().account_named(name).unwrap().id;
    let now = t.clock;
    let reader = t.ground.reader()?;
    let period = window(period);
    let (frame, sums, lines) = statement::whole(reader, account, &period, now).unwrap();
    assert_eq!(sums.differing(&frame, [&account]).count(), 0);
    let mut text = sums.opening(&frame, account).to_string();
    for Movement { kind, active, .. } in lines.iter().filter(|l| !l.is_adjustment()) {
        text = format!("{text}, {} {active}", kind.word());
    }
    for late in lines.iter().filter(|l| l.is_adjustment()) {
        let since = (late.at.0 - T0.0) / 1_000_000;
        text = format!(
            "{text}, late {} {} of T0{since:+}",
            late.kind.word(),
            late.active
        );
    }
    let end = sums.closing(&frame, account);
    Some(format!(
        "{text}: {} held {} by {}",
        end.amount, end.held, end.liens
    ))
}

#[track_caller]
fn expect_statement(t: &mut Bench<'_>, period: &str, expected: &str) {
    if let Some(statement) = statement(t, "F", period) {
        assert_eq!(statement, expected, "{period}");
    }
}

#[test]
fn a_period_is_closed_once_and_in_order() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.at("2026-08-10T00:00:00Z");
        for (ask, code) in [
            (close(None, "2026-08-11"), "period_not_over"),
            (close(Some("2026-08-01"), "2026-07-01"), "bad_window"),
            (reopen(), "nothing_closed"),
        ] {
            t.expect(ask, &refused(code), "");
        }
        t.expect(
            close(Some("2026-06-01"), "2026-07-01"),
            "books closed until 2026-07-01T00:00:00Z",
            "",
        );
        for (ask, code) in [
            (close(Some("2026-06-01"), "2026-07-01"), "period_closed"),
            (close(None, "2026-06-15"), "period_closed"),
            (close(Some("2026-06-15"), "2026-07-15"), "period_closed"),
            (close(Some("2026-07-02"), "2026-08-01"), "period_gap"),
        ] {
            t.expect(ask, &refused(code), "");
        }
        t.expect(
            close(None, "2026-08-01"),
            "books closed until 2026-08-01T00:00:00Z",
            "",
        );
        t.expect(reopen(), "books open from 2026-07-01T00:00:00Z", "");
        t.expect(
            close(None, "2026-07-15"),
            "books closed until 2026-07-15T00:00:00Z",
            "",
        );
        let made = t.tx("period_close", 0);
        t.expect(undo(made), &refused("not_reversible"), "");
        if let Some(reader) = t.ground.reader() {
            let ends: Vec<_> = closes::standing(reader).unwrap().all().to_vec();
            let ends: Vec<_> = ends.iter().map(|close| (close.start, close.end)).collect();
            let [a, b, c] = ["2026-06-01", "2026-07-01", "2026-07-15"].map(time);
            assert_eq!(ends, [(Some(a), b), (Some(b), c)]);
            assert_eq!(closes::all(reader, None, 10).unwrap().len(), 3);
        }
    });
}

#[test]
fn what_comes_after_a_close_is_an_adjustment_of_the_open_period() {
    on_both(|t| {
        t.given("F{a=5000}");
        t.at("T0+10");
        t.after([c("k", 300), r("j", 2000)]);
        t.at("T0+3000");
        expect_statement(t, "[T0,T0+1000)", "5000, charge -300: 4700 held 2000 by 1");
        t.after([close(Some("2026-06-01"), "2026-06-01T00:16:40Z")]);
        let closed = "5000, charge -300: 4700 held 2000 by 1";
        expect_statement(t, "[T0,T0+1000)", closed);
        // A charge of then, a refund of now, and the undo of a charge of then.
        t.after([c("j", 250).at("T0+900")]);
        t.after([refund("k", 100)]);
        t.after([deposit("F", "5")]);
        expect_statement(t, "[T0,T0+1000)", closed);
        expect_statement(t, "[T0,T0+500)", closed);
        expect_statement(t, "[T0+5,T0+950)", closed);
        let open = statement(t, "F", "[T0+1000,T0+4000)");
        let expected = "4700, refund 100, deposit 5, late late_charge -250 of T0+900";
        if let Some(open) = open {
            let (lines, _) = open.split_once(": ").unwrap();
            let lines = lines.replace("late charge", "late late_charge");
            assert_eq!(lines, expected, "{open}");
        }
        // Opened again, each counts when it took effect.
        t.after([reopen()]);
        let again = statement(t, "F", "[T0,T0+1000)");
        if let Some(again) = again {
            assert!(again.starts_with("5000, charge -300,"), "{again}");
            assert!(!again.contains("late charge -250 of"), "{again}");
        }
    });
}

/// A statement of one account as text, with everything that it says.
pub(super) fn text(
    ground: &mut dyn Ground,
    account: AccountId,
    period: &Window,
    now: Timestamp,
) -> Option<String> {
    let reader = ground.reader()?;
    let (frame, sums, lines) = statement::whole(reader, account, period, now).unwrap();
    let Sums { groups, parts, .. } = &sums;
    let (opening, closing) = (sums.opening(&frame, account), sums.closing(&frame, account));
    let differing: Vec<_> = sums.differing(&frame, [&account]).collect();
    assert_eq!(differing, [], "{account:?} {period:?}");
    let sides = sums.side(Side::Credit) + sums.side(Side::Debit);
    assert_eq!(opening + sides, closing.amount);
    let words = groups.iter().map(|((side, late, heading), group)| {
        (
            *side,
            *late,
            heading.word(),
            group.amount,
            group.entries,
            group.jobs,
        )
    });
    let words: Vec<_> = words.collect();
    let lines = lines
        .iter()
        .map(|l| (l.entry, l.tx, l.kind.word(), l.active, l.at, l.booked));
    Some(format!(
        "{:?} {} {opening} {closing:?}\n{words:?}\n{parts:?}\n{:?}",
        frame.period,
        frame.upto,
        lines.collect::<Vec<_>>()
    ))
}
