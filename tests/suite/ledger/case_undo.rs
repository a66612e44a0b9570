//! ledger.md 11, cases 84 to 86, 89 to 92 and 120; defect D13: what is undone, and what is removed
//! with its money.

use super::ask::{c, ci, deposit, r, withdraw};
use super::ask_after::{account_rm, allocation_rm, refund, set_fixed, transfer, undelete, undo};
use super::bench::{Bench, on_both};
use super::fixture::time;
use bank_core::command::{Command, SetAllocation};
use bank_core::ids::AllocationId;
use bank_core::model::Mode;

fn removed_with_a_lien(t: &mut Bench<'_>) {
    t.given("F{a=1000}");
    t.after([r("d", 300), account_rm("F", true)]);
}

#[test]
fn ledger_case_084_an_account_goes_by_force_with_its_money() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("d", 300)]);
        t.expect(account_rm("F", false), "refused live_liens, exit 1", "");
        t.expect(
            account_rm("F", true),
            "removed",
            "lien_release a 0/-300, lien #unbilled 0/+300, delete a -1000",
        );
        assert!(t.ground.directory().account_named("F").is_none());
        t.expect_job("d", "open, used 0 s, billed 0, lien 300 [T0,T0+900)");
        t.expect(
            c("d", 100),
            "charged 100, unbilled, balance -100",
            "charge #unbilled -100/-100, lien_release #unbilled 0/-200",
        );
    });
}

#[test]
fn ledger_case_085_the_removal_of_an_account_is_undone() {
    on_both(|t| {
        removed_with_a_lien(t);
        let removal = t.tx("account_rm", 0);
        t.expect(
            undo(removal),
            "undid account_rm",
            "reverse a +1000, lien_release #unbilled 0/-300, lien a 0/+300",
        );
        t.expect_balance("F", "amount 1000 held 300 balance 700 available 700");
        let lists = t
            .ground
            .directory()
            .account_named("F")
            .unwrap()
            .constraints
            .len();
        assert_eq!(lists, 3);
        t.expect_job("d", "open, used 0 s, billed 0, lien 300 [T0,T0+900)");
        t.expect(undo(removal), "refused already_reversed, exit 1", "");
        let undone = t.tx("undo", 0);
        t.expect(undo(undone), "refused not_reversible, exit 1", "");
    });
}

#[test]
fn an_account_comes_back_by_its_name_with_what_is_left_of_its_liens() {
    on_both(|t| {
        removed_with_a_lien(t);
        t.after([ci("d", 100)]);
        t.expect(
            undelete("F"),
            "undid account_rm",
            "reverse a +1000, lien_release #unbilled 0/-200, lien a 0/+200",
        );
        t.expect(undelete("F"), "refused already_exists, exit 7", "");
        t.expect(undelete("G"), "refused not_found, exit 4", "");
        t.given("E{}");
        t.after([account_rm("E", false)]);
        t.expect(undelete("E"), "undid account_rm", "");
    });
}

#[test]
fn liens_of_a_removed_account_hold_elsewhere_first() {
    on_both(|t| {
        t.given("F{a=1000 [2026,2027)}, G{b=250}");
        t.after([r("d", 300)]);
        t.expect(
            account_rm("F", true),
            "removed",
            "lien_release a 0/-300, lien b 0/+250, lien #unbilled 0/+50, delete a -1000",
        );
        t.expect(
            c("d", 300),
            "charged 300, balance 0",
            "charge b -250/-250, charge #unbilled -50/-50",
        );
    });
}

#[test]
fn ledger_case_086_what_an_allocation_holds_cannot_be_set() {
    on_both(|t| {
        t.given("F{a=1000}");
        for field in ["amount", "active", "deposited", "account"] {
            t.expect(set_fixed(2, field), "refused not_settable, exit 1", "");
        }
        t.expect(set_fixed(9, "amount"), "refused not_found, exit 4", "");
        t.expect_allocation("a", "1000 held 0, deposited 1000, active");
    });
}

#[test]
fn ledger_case_089_a_deposit_is_undone() {
    on_both(|t| {
        t.given("F{}");
        t.after([deposit("F", "1000"), deposit("F", "500")]);
        let second = t.tx("deposit", 0);
        t.expect(undo(second), "undid deposit", "reverse a -500");
        t.expect_allocation("a", "1000 held 0, deposited 1000, active");
        t.expect(undo(second), "refused already_reversed, exit 1", "");
        t.expect(undo(9999), "refused not_found, exit 4", "");
    });
}

#[test]
fn ledger_case_090_an_undo_leaves_what_came_later() {
    on_both(|t| {
        t.given("F{}");
        t.after([deposit("F", "500"), c("j", 490), deposit("F", "5")]);
        let first = t.tx("deposit", 1);
        t.expect(undo(first), "refused uncovered, exit 1: -485", "");
        t.expect(undo(first).allow_debt(), "undid deposit", "reverse a -500");
        t.expect_allocation("a", "-485 held 0, deposited 5, active");
        t.expect_job("j", "closed, used 490 s, billed 490, no lien");
    });
}

#[test]
fn ledger_case_091_an_undo_is_undone() {
    on_both(|t| {
        t.given("F{}");
        t.after([deposit("F", "1000"), deposit("F", "500")]);
        let second = t.tx("deposit", 0);
        t.after([undo(second)]);
        let undone = t.tx("undo", 0);
        t.expect(undo(undone), "undid undo", "reverse a +500");
        t.expect_allocation("a", "1500 held 0, deposited 1500, active");
        let redone = t.tx("undo", 0);
        t.expect(undo(redone), "undid undo", "reverse a -500");
    });
}

#[test]
fn ledger_case_092_a_transfer_is_undone() {
    on_both(|t| {
        t.given("F{a=100}, G{}");
        t.after([transfer("F", "G", 100), withdraw("G", 60)]);
        let moved = t.tx("transfer", 0);
        t.expect(undo(moved), "refused uncovered, exit 1: -60", "");
        t.expect(
            undo(moved).allow_debt(),
            "undid transfer",
            "reverse b -100, reverse a +100",
        );
        t.expect_allocation("a", "100 held 0, deposited 100, active");
        t.expect_allocation("b", "-60 held 0, deposited 0, active");
    });
}

#[test]
fn ledger_case_120_a_charge_with_refunds_is_not_undone() {
    on_both(|t| {
        t.given("X{a=100}, Y{b=100}, Z{c=100}");
        t.after([r("j", 150), c("j", 150)]);
        for left in [130, 110, 90] {
            t.expect(
                refund("j", 20),
                &format!("refunded 20, left {left}"),
                "refund a +13, refund b +7",
            );
        }
        let charge = t.tx("charge", 0);
        t.expect(undo(charge), "refused has_refunds, exit 1: 3 of them", "");
        for back in [2, 1, 0] {
            let refunded = t.tx("refund", back);
            t.expect(
                undo(refunded),
                "undid refund",
                "reverse a -13, reverse b -7",
            );
        }
        t.expect(
            undo(charge),
            "undid charge",
            "reverse a +100, reverse b +50",
        );
        t.expect_allocation("a", "100 held 0, deposited 100, active");
        t.expect_allocation("b", "100 held 0, deposited 100, active");
        t.expect_job("j", "closed, used 0 s, billed 0, no lien");
    });
}

#[test]
fn defect_d13_an_undo_is_about_one_transaction() {
    on_both(|t| {
        t.given("F{}");
        t.after([deposit("F", "1000"), deposit("F", "500"), c("j", 100)]);
        let before = t.ground.journal(0).len();
        let second = t.tx("deposit", 0);
        t.expect(undo(second), "undid deposit", "reverse a -500");
        t.expect_job("j", "closed, used 100 s, billed 100, no lien");
        assert_eq!(t.ground.journal(0).len(), before + 1, "history only grows");
        t.expect_allocation("a", "900 held 0, deposited 1000, active");
    });
}

/// What an undone charge had billed is billed no more, and the next one costs what it would have.
#[test]
fn an_interim_charge_is_undone_without_a_trace_in_the_next() {
    on_both(|t| {
        t.rate("VBR Processors 0.5");
        t.given("F{a=1000}");
        t.at("T0+10");
        t.after([ci("j", 1), ci("j", 3)]);
        t.expect_job("j", "open, used 4 s, billed 2, no lien");
        let last = t.tx("charge", 0);
        t.expect(undo(last), "undid charge", "reverse a +2");
        t.expect_job("j", "open, used 1 s, billed 0, no lien");
        let undone = t.tx("undo", 0);
        t.expect(undo(undone), "undid undo", "reverse a -2");
        t.expect_job("j", "open, used 4 s, billed 2, no lien");
    });
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("j", 100), ci("j", 50)]);
        let last = t.tx("charge", 0);
        t.after([undo(last), ci("j", 20)]);
        t.expect_job("j", "open, used 120 s, billed 120, no lien");
        t.expect_allocation("a", "880 held 0, deposited 1000, active");
    });
}

#[test]
fn what_moved_no_money_is_not_undone() {
    on_both(|t| {
        t.given("F{a=1000 [2026,T0+4)}");
        t.after([r("j", 10)]);
        t.at("T0+8");
        t.after([deposit("F", "1")]);
        for op in ["reserve", "boundary", "rate_set", "account_add"] {
            let tx = t.tx(op, 0);
            t.expect(undo(tx), "refused not_reversible, exit 1", "");
        }
    });
}

#[test]
fn an_allocation_is_removed_and_comes_back() {
    on_both(|t| {
        t.given("F{a=1000 [2026,2027) L=7}, G{b=1}");
        t.after([r("d", 300)]);
        t.expect(allocation_rm(2, false), "refused live_liens, exit 1", "");
        t.expect(
            allocation_rm(2, true),
            "removed",
            "lien_release a 0/-300, lien b 0/+1, lien #unbilled 0/+299, delete a -1000",
        );
        t.expect_allocation("a", "0 held 0, deposited 1000, expired");
        let removal = t.tx("allocation_rm", 0);
        t.expect(
            undo(removal),
            "undid allocation_rm",
            "modify a 0, reverse a +1000, expire a 0 active -1000, lien_release b 0/-1, \
             lien_release #unbilled 0/-299, lien a 0/+300; activate a 0 active +1000",
        );
        t.expect_allocation("a", "1000 held 300, deposited 1000, limit 7, active");
        t.expect(
            allocation_rm(3, false),
            "refused balance_not_zero, exit 1",
            "",
        );
        t.expect(allocation_rm(1, true), "refused in_use, exit 1", "");
    });
}

#[test]
fn a_changed_window_is_undone() {
    on_both(|t| {
        t.given("F{a=150 [2026,2027)}");
        let cut = SetAllocation {
            id: AllocationId(2),
            start: None,
            end: Some(Some(time("T0"))),
            credit_limit: None,
        };
        t.expect(
            Command::SetAllocation(cut).into(),
            "changed",
            "modify a 0; expire a 0 active -150",
        );
        let set = t.tx("allocation_set", 0);
        t.expect(
            undo(set),
            "undid allocation_set",
            "modify a 0; activate a 0 active +150",
        );
        t.expect_allocation("a", "150 held 0, deposited 150, active");
    });
}

#[test]
fn a_shadow_charge_is_undone_in_the_shadow() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.admin(Command::set_record(
            "machine",
            "colony",
            &[("mode", Mode::Notional.word().into())],
        ));
        t.after([r("j", 70), c("j", 50)]);
        t.expect(refund("j", 0), "refused nothing_to_refund, exit 1", "");
        let charge = t.tx("charge", 0);
        t.expect(undo(charge), "undid charge", "reverse a 0 shadow +50/0");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
        t.expect_job("j", "closed, used 0 s, billed 0, no lien");
    });
}

/// A charge that spilled over, was refunded in part, and is charged further: the totals hold.
#[test]
fn a_refund_of_an_open_job_is_not_billed_again() {
    on_both(|t| {
        t.given("X{a=30}, Y{b=100}");
        t.after([ci("j", 50), refund("j", 10), ci("j", 20)]);
        t.expect_job("j", "open, used 70 s, billed 70, no lien");
        // 50 lay as 30 and 20; of 10, a got 6 and b 4; then 20 were taken: a's 6, and 14 of b.
        t.expect(
            refund("j", 0),
            "refunded 60, left 0",
            "refund a +24, refund b +16, refund a +6, refund b +14",
        );
        t.expect_balance("X", "amount 30 held 0 balance 30 available 30");
        t.expect_balance("Y", "amount 100 held 0 balance 100 available 100");
    });
}

/// What comes back deposits nothing, so that the bound of all deposits is not its own.
#[test]
fn credits_come_back_near_the_bound_of_deposits() {
    let most = 300_000_000_000_000_000;
    on_both(|t| {
        t.given("F{a=9000000000000000000}");
        t.after([c("j", 1).amount(most), refund("j", 0)]);
        t.after([c("k", 1).amount(most)]);
        let charge = t.tx("charge", 0);
        t.after([undo(charge)]);
        t.expect_allocation(
            "a",
            "9000000000000000000 held 0, deposited 9000000000000000000, active",
        );
        t.expect(
            deposit("F", "300000000000000000"),
            "refused amount_overflow, exit 1",
            "",
        );
    });
}

#[test]
fn the_undo_of_a_deposit_takes_its_credit_limit_too() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([deposit("F", "100").limit(50)]);
        let made = t.tx("deposit", 0);
        t.expect(undo(made), "undid deposit", "reverse b -100, modify b 0");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
        let undone = t.tx("undo", 0);
        t.expect(undo(undone), "undid undo", "reverse b +100, modify b 0");
        t.expect_balance(
            "F",
            "amount 1100 held 0 balance 1100 available 1150, limit 50",
        );
    });
}

#[test]
fn a_lien_on_credit_keeps_the_deposit_that_brought_it() {
    on_both(|t| {
        t.given("F{}");
        t.after([deposit("F", "0").limit(500), r("d", 300)]);
        let made = t.tx("deposit", 0);
        t.expect(undo(made), "refused uncovered, exit 1: -300", "");
    });
}

#[test]
fn a_limit_that_was_set_since_stays() {
    on_both(|t| {
        t.given("F{}");
        t.after([deposit("F", "100").limit(50)]);
        let made = t.tx("deposit", 0);
        let raised = SetAllocation {
            id: AllocationId(2),
            start: None,
            end: None,
            credit_limit: Some(bank_core::amount::Amount(70)),
        };
        t.after([Command::SetAllocation(raised).into()]);
        t.expect(undo(made), "undid deposit", "reverse a -100");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 70, limit 70");
    });
}

/// The next charge has the quantities of the last one in force, as if the undone one had never come.
#[test]
fn the_quantities_of_an_undone_charge_price_no_other() {
    on_both(|t| {
        t.given("F{a=9000}");
        t.after([ci("s", 100).processors(8)]);
        let first = t.tx("charge", 0);
        t.after([undo(first)]);
        t.expect(
            ci("s", 100).no_processors(),
            "charged 0, balance 9000",
            "charge a 0",
        );
        t.after([ci("s", 100).processors(2), ci("s", 100).processors(8)]);
        let last = t.tx("charge", 0);
        t.after([undo(last)]);
        t.expect(
            ci("s", 100).no_processors(),
            "charged 200, balance 8600",
            "charge a -200",
        );
        // One that is undone under a later one changes nothing, and one that is done again as the last one is in force.
        let second = t.tx("charge", 2);
        t.after([undo(second)]);
        t.expect(
            ci("s", 10).no_processors(),
            "charged 20, balance 8780",
            "charge a -20",
        );
    });
    on_both(|t| {
        t.given("F{a=9000}");
        t.after([ci("s", 100).processors(2), ci("s", 100).processors(8)]);
        let last = t.tx("charge", 0);
        t.after([undo(last)]);
        let undone = t.tx("undo", 0);
        t.after([undo(undone)]);
        t.expect(
            ci("s", 10).no_processors(),
            "charged 80, balance 7920",
            "charge a -80",
        );
    });
    // A reserve has stated them before.
    on_both(|t| {
        t.given("F{a=9000}");
        t.after([r("s", 100).processors(4), ci("s", 10).processors(4)]);
        let first = t.tx("charge", 0);
        t.after([undo(first)]);
        t.after([ci("s", 10).no_processors()]);
        t.expect_job("s", "open, used 10 s, billed 40, lien 320 [T0,T0+700)");
    });
}
