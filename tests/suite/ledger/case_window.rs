//! ledger.md 11, cases 58 and 59: windows and totals, and what else they can come to.

use super::ask::{Ask, c, ci, r};
use super::ask_after::refund;
use super::bench::{Bench, on_both, on_both_with};
use bank_core::directory::Policy;
use bank_core::terms::{Overlap, SPANS_MAX};

/// An interim charge of s for a window, start and end sent.
fn used(window: &str) -> Ask {
    ci("s", 0).used(window)
}

fn case_58(t: &mut Bench<'_>) {
    t.given("F{a=1000}");
    t.at("T0+100");
    t.expect(
        used("[T0,T0+100)"),
        "charged 100, balance 900",
        "charge a -100",
    );
}

#[test]
fn ledger_case_058_a_window_is_billed_once() {
    on_both(|t| {
        case_58(t);
        t.expect(used("[T0,T0+100)"), "charged 0, balance 900", "charge a 0");
        t.expect_job("s", "open, used 100 s, billed 100, no lien");
        t.expect_balance("F", "amount 900 held 0 balance 900 available 900");
    });
}

#[test]
fn ledger_case_059_of_a_longer_window_the_rest_is_billed() {
    on_both(|t| {
        case_58(t);
        t.at("T0+250");
        t.expect(
            used("[T0,T0+250)"),
            "charged 150, balance 750",
            "charge a -150",
        );
        t.expect_balance("F", "amount 750 held 0 balance 750 available 750");
    });
    let policy = Policy {
        overlap: Overlap::Reject,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        case_58(t);
        t.at("T0+250");
        t.expect(used("[T0,T0+250)"), "refused overlap, exit 1", "");
        t.expect(
            used("[T0+100,T0+250)"),
            "charged 150, balance 750",
            "charge a -150",
        );
    });
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(
            ci("s", 300).total(),
            "charged 300, balance 700",
            "charge a -300",
        );
        t.expect(
            ci("s", 250).total(),
            "charged -50, balance 750",
            "refund a +50",
        );
        t.expect_job("s", "open, used 250 s, billed 250, no lien");
        t.expect_balance("F", "amount 750 held 0 balance 750 available 750");
    });
}

#[test]
fn windows_may_come_in_any_order_and_after_the_close() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.at("T0+400");
        t.after([used("[T0+100,T0+200)"), used("[T0+300,T0+400)")]);
        t.expect(
            used("[T0,T0+400)"),
            "charged 200, balance 600",
            "charge a -200",
        );
        t.expect(
            c("s", 0).used("[T0+350,T0+400)"),
            "charged 0, balance 600",
            "charge a 0",
        );
        t.expect_job("s", "closed, used 400 s, billed 400, no lien");
        // A repeat of what closed it is about the same use of the id.
        t.expect(
            c("s", 0).used("[T0,T0+400)"),
            "charged 0, late, balance 600",
            "late_charge a 0",
        );
        t.at("T0+5000");
        t.expect(
            c("s", 0).used("[T0,T0+400)"),
            "charged 0, late, balance 600",
            "late_charge a 0 (T0+400)",
        );
    });
}

#[test]
fn a_window_is_charged_when_it_ended_and_its_lien_pays() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("s", 300)]);
        t.at("T0+200");
        t.expect(
            used("[T0,T0+100)"),
            "charged 100, balance 700",
            "charge a -100/-100 (T0+100)",
        );
        t.expect(
            c("s", 0).used("[T0+50,T0+150)"),
            "charged 50, balance 850",
            "charge a -50/-50, lien_release a 0/-150 (T0+150)",
        );
    });
}

#[test]
fn a_window_that_is_none_is_refused() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.at("T0+100");
        for (ask, refused) in [
            (used("[T0+100,T0)"), "refused bad_window, exit 1"),
            (used("[T0,T0)"), "refused bad_window, exit 1"),
            (
                used("[T0,2026-06-01T00:00:50.5Z)"),
                "refused bad_duration, exit 2",
            ),
            (used("[T0,T0+50)").total(), "refused bad_value, exit 1"),
            (
                used("[T0,T0+50)").charge(|c| c.duration = Some(bank_core::time::Seconds(49))),
                "refused bad_value, exit 1",
            ),
        ] {
            t.expect(ask, refused, "");
        }
        t.after([used("[T0,T0+50)")]);
        // An amount as given cannot be split at the overlap.
        t.expect(used("[T0,T0+100)").amount(7), "refused overlap, exit 1", "");
        t.expect(
            used("[T0,T0+50)").amount(7),
            "charged 0, balance 950",
            "charge a 0 (T0+50)",
        );
        t.expect(
            used("[T0+50,T0+100)").amount(7),
            "charged 7, balance 943",
            "charge a -7",
        );
    });
}

#[test]
fn windows_that_lie_apart_are_bounded() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.at("T0+86400");
        for n in 0..SPANS_MAX {
            let at = n * 4;
            t.after([used(&format!("[T0+{at},T0+{})", at + 1))]);
        }
        t.expect(used("[T0+86000,T0+86001)"), "refused bad_value, exit 1", "");
        t.expect(
            used("[T0,T0+5)"),
            "charged 3, balance 99497",
            "charge a -3 (T0+5)",
        );
    });
}

#[test]
fn a_falling_total_goes_back_to_those_who_paid() {
    on_both(|t| {
        t.given("X{a=30 [2026,T0+10)}, Y{b=100}");
        t.expect(
            ci("s", 50).total(),
            "charged 50, balance 0",
            "charge a -30, charge b -20",
        );
        t.expect(
            ci("s", 25).total(),
            "charged -25, balance 15",
            "refund a +15, refund b +10",
        );
        t.at("T0+20");
        t.expect(
            ci("s", 15).total(),
            "charged -10, balance 0",
            "expire a 0 active -15 (T0+10); refund a +6, expire a 0 active -6, refund b +4",
        );
        t.expect_allocation("a", "21 held 0, deposited 30, expired");
        t.expect(ci("s", 20).total(), "charged 5, balance 89", "charge b -5");
        t.expect(
            ci("s", 0).total(),
            "charged -20, balance 0",
            "refund a +9, expire a 0 active -9, refund b +11",
        );
        t.expect_job("s", "open, used 0 s, billed 0, no lien");
        t.expect_balance("Y", "amount 100 held 0 balance 100 available 100");
    });
}

#[test]
fn a_falling_total_of_unbilled_usage_goes_back_to_the_suspense_account() {
    on_both(|t| {
        t.given("");
        t.after([ci("s", 20).project("nosuch").total()]);
        t.expect(
            ci("s", 5).project("nosuch").total(),
            "charged -15, unbilled, balance -5",
            "refund #unbilled +15",
        );
    });
}

#[test]
fn a_given_amount_is_kept_with_its_reason() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(
            ci("s", 60).amount(25).itemisation("60 s at the old price"),
            "charged 25, balance 975",
            "charge a -25",
        );
        let last = t.ground.journal(0).pop().unwrap();
        assert!(
            last.reason.contains("itemisation=60 s at the old price"),
            "{}",
            last.reason
        );
        // What follows is billed on top of it.
        t.expect(ci("s", 10), "charged 10, balance 965", "charge a -10");
        t.expect(
            ci("s", 70).amount(30).total(),
            "charged -5, balance 970",
            "refund a +5",
        );
        t.expect_job("s", "open, used 70 s, billed 30, no lien");
        t.expect(c("s", 0).amount(-1), "refused negative_charge, exit 1", "");
        t.expect(
            c("s", 0).itemisation("two\nlines"),
            "refused bad_value, exit 1",
            "",
        );
    });
}

#[test]
fn a_total_that_falls_gives_back_no_more_than_refunds_left() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), refund("s", 60)]);
        t.expect(
            ci("s", 20).total(),
            "charged -40, balance 1000",
            "refund a +40, refund 0",
        );
        t.expect_job("s", "open, used 20 s, billed 60, no lien");
        t.expect(ci("s", 20).total(), "charged 0, balance 1000", "charge a 0");
        // An increment adds what it is worth; a total what it is worth above what is billed.
        t.expect(ci("s", 7), "charged 7, balance 993", "charge a -7");
        t.expect(ci("s", 70).total(), "charged 3, balance 990", "charge a -3");
    });
}
