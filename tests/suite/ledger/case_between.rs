//! What one rule may do to another: undos, totals, refunds, windows, cycles, blocked and removed
//! accounts together.

use super::ask::{Ask, c, ci, deposit, withdraw};
use super::ask_after::{account_rm, adjust, refund, transfer, undelete, undo};
use super::bench::{on_both, on_both_with};
use bank_core::amount::Amount;
use bank_core::command::{AddCycle, Command};
use bank_core::directory::Policy;
use bank_core::model::{Every, Mode};

fn used(window: &str) -> Ask {
    ci("s", 0).used(window)
}

#[test]
fn an_undone_window_can_be_billed_again() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.at("T0+300");
        t.after([used("[T0+100,T0+200)"), used("[T0,T0+300)")]);
        // The second billed both ends; those are free again, the middle is not.
        let second = t.tx("charge", 0);
        t.expect(undo(second), "undid charge", "reverse a +200");
        t.expect_job("s", "open, used 100 s, billed 100, no lien");
        t.expect(
            used("[T0+50,T0+250)"),
            "charged 100, balance 800",
            "charge a -100 (T0+250)",
        );
        // Doing it again would bill some of it twice.
        let undone = t.tx("undo", 0);
        t.expect(undo(undone), "refused overlap, exit 1", "");
        let third = t.tx("charge", 0);
        t.after([undo(third)]);
        t.expect(undo(undone), "undid undo", "reverse a -200");
        t.expect(used("[T0,T0+300)"), "charged 0, balance 700", "charge a 0");
        t.expect_job("s", "open, used 300 s, billed 300, no lien");
    });
}

#[test]
fn what_was_refunded_does_not_go_back_again_with_a_falling_total() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), refund("s", 80)]);
        t.expect(
            ci("s", 40).total(),
            "charged -20, balance 1000",
            "refund a +20, refund 0",
        );
        t.expect_job("s", "open, used 40 s, billed 80, no lien");
        t.expect(ci("s", 40).total(), "charged 0, balance 1000", "charge a 0");
        t.expect(
            ci("s", 90).total(),
            "charged 10, balance 990",
            "charge a -10",
        );
        t.expect_job("s", "open, used 90 s, billed 90, no lien");
    });
}

/// 80 of 100 were refunded, so a total of 40 gave 20 back. Without the refund 60 would have gone back: 60 too much would be
/// charged.
#[test]
fn a_refund_is_not_undone_after_a_total_that_fell_into_it() {
    let refused = "refused not_reversible, exit 1";
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), refund("s", 80), ci("s", 40).total()]);
        let refunded = t.tx("refund", 0);
        t.expect(undo(refunded), refused, "");
        let fall = t.tx("charge", 0);
        t.expect(undo(fall), "undid charge", "reverse a -20, reverse 0");
        t.expect(undo(refunded), "undid refund", "reverse a -80");
        t.expect_balance("F", "amount 900 held 0 balance 900 available 900");
        t.expect(
            ci("s", 40).total(),
            "charged -60, balance 960",
            "refund a +60",
        );
    });
    // What was left is what goes back without the refund too.
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), refund("s", 60), ci("s", 60).total()]);
        let refunded = t.tx("refund", 0);
        t.expect(undo(refunded), "undid refund", "reverse a -60");
        t.expect_balance("F", "amount 940 held 0 balance 940 available 940");
        let undone = t.tx("undo", 0);
        t.expect(undo(undone), "undid undo", "reverse a +60");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
    });
    // A total that falls less gives all of its part back.
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), refund("s", 30), ci("s", 60).total()]);
        let refunded = t.tx("refund", 0);
        t.expect(undo(refunded), "undid refund", "reverse a -30");
        t.expect_balance("F", "amount 940 held 0 balance 940 available 940");
    });
}

/// A total bills all of a use, less what was billed before.
#[test]
fn a_total_is_not_done_again_after_a_later_one() {
    let refused = "refused not_reversible, exit 1";
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), ci("s", 250).total()]);
        let second = t.tx("charge", 0);
        t.after([undo(second)]);
        let undone = t.tx("undo", 0);
        t.expect(
            ci("s", 300).total(),
            "charged 200, balance 700",
            "charge a -200",
        );
        t.expect(undo(undone), refused, "");
        t.expect_job("s", "open, used 300 s, billed 300, no lien");
        // Without the later one it is done again.
        let third = t.tx("charge", 0);
        t.after([undo(third)]);
        t.expect(undo(undone), "undid undo", "reverse a -150");
        t.expect_job("s", "open, used 250 s, billed 250, no lien");
    });
    // The later one fell, or none fell since.
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 250).total(), ci("s", 100).total()]);
        let fell = t.tx("charge", 0);
        t.after([undo(fell)]);
        let undone = t.tx("undo", 0);
        t.after([ci("s", 240).total()]);
        t.expect(undo(undone), refused, "");
        t.expect_job("s", "open, used 240 s, billed 240, no lien");
    });
    // Further time has its own charge.
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100)]);
        let first = t.tx("charge", 0);
        t.after([undo(first)]);
        let undone = t.tx("undo", 0);
        t.after([ci("s", 50)]);
        t.expect(undo(undone), "undid undo", "reverse a -100");
        t.expect_job("s", "open, used 150 s, billed 150, no lien");
    });
}

#[test]
fn a_charge_under_a_falling_total_is_not_undone_before_it() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("s", 100).total(), ci("s", 40).total()]);
        let (first, fell) = (t.tx("charge", 1), t.tx("charge", 0));
        t.expect(undo(first), "refused has_refunds, exit 1: 1 of them", "");
        t.expect(undo(fell), "undid charge", "reverse a -60");
        t.expect_job("s", "open, used 100 s, billed 100, no lien");
        t.expect(undo(first), "undid charge", "reverse a +100");
        t.expect_job("s", "open, used 0 s, billed 0, no lien");
    });
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([mode_of(Mode::Notional), ci("s", 100).total()]);
        t.after([ci("s", 40).total()]);
        let (first, fell) = (t.tx("charge", 1), t.tx("charge", 0));
        t.expect(undo(first), "refused has_refunds, exit 1: 1 of them", "");
        t.after([undo(fell), undo(first)]);
        t.expect_job("s", "open, used 0 s, billed 0, no lien");
    });
}

fn mode_of(mode: Mode) -> Ask {
    Command::set_record("project", "P", &[("mode", mode.word().into())]).into()
}

#[test]
fn nothing_goes_back_to_a_removed_account() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([withdraw("F", 300), c("s", 100), account_rm("F", true)]);
        for op in ["withdraw", "charge"] {
            let tx = t.tx(op, 0);
            t.expect(undo(tx), "refused not_reversible, exit 1", "");
        }
        t.after([undelete("F")]);
        let withdrawal = t.tx("withdraw", 0);
        t.expect(undo(withdrawal), "undid withdraw", "reverse a +300");
    });
}

#[test]
fn an_account_with_a_cycle_is_not_removed_by_force() {
    on_both(|t| {
        t.given("F{a=1000}");
        let cycle = AddCycle {
            name: "monthly".to_owned(),
            account: "F".to_owned(),
            every: Every::Month,
            amount: Amount(10),
            rollover: 0,
            start: None,
            note: String::new(),
        };
        t.after([Command::AddCycle(cycle).into()]);
        t.expect(account_rm("F", true), "refused in_use, exit 1", "");
        t.after([Command::RemoveCycle("monthly".to_owned()).into()]);
        t.expect(account_rm("F", true), "removed", "delete a -1000");
    });
}

#[test]
fn a_transfer_or_an_adjustment_unblocks_like_a_deposit() {
    for bring in [transfer("G", "F", 20), adjust("F", 20, "paid elsewhere")] {
        on_both(|t| {
            t.given("F{a=10}, G{b=0}");
            t.after([mode_of(Mode::Fast), c("s", 30), deposit("G", "100")]);
            assert!(t.ground.directory().account_named("F").unwrap().blocked);
            t.after([bring.clone()]);
            assert!(!t.ground.directory().account_named("F").unwrap().blocked);
        });
    }
}

#[test]
fn transfers_and_adjustments_keep_allocations_apart() {
    let policy = Policy {
        discrete: true,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.given("F{a=100}, G{b=100 [2026,2027)}");
        t.expect(
            transfer("F", "G", 1),
            "refused allocation_overlap, exit 1",
            "",
        );
        t.expect(
            adjust("G", 1, "x"),
            "refused allocation_overlap, exit 1",
            "",
        );
        t.after([deposit("F", "1")]);
        t.expect(adjust("F", 1, "x"), "adjusted 1", "adjust a +1");
    });
}
