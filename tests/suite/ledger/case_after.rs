//! ledger.md 11, cases 27 to 32, 62, 63, 79 to 83, 114 and 119; defects D4 to D9: transfers and
//! refunds, and settlements of what is unbilled.

use super::ask::{c, deposit, r};
use super::ask_after::{adjust, refund, settle, transfer, undo};
use super::bench::{Bench, on_both};

#[test]
fn ledger_case_027_a_transfer_names_both_allocations() {
    on_both(|t| {
        t.given("F{a=750}, G{b=7532}");
        t.expect(
            transfer("F", "G", 250),
            "moved 250",
            "transfer_out a -250, transfer_in b +250",
        );
        t.expect_allocation("a", "500 held 0, deposited 750, active");
        t.expect_allocation("b", "7782 held 0, deposited 7532, active");
    });
}

#[test]
fn ledger_case_028_a_transfer_to_itself_is_refused() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(transfer("F", "F", 100), "refused same_account, exit 1", "");
    });
}

#[test]
fn ledger_case_029_a_transfer_of_more_than_is_there_is_refused() {
    on_both(|t| {
        t.given("F{a=1000}, G{}");
        t.expect(
            transfer("F", "G", 2000),
            "refused insufficient_funds, exit 3: needed 2000, available 1000",
            "",
        );
    });
}

#[test]
fn ledger_case_030_a_transfer_is_above_zero() {
    on_both(|t| {
        t.given("F{a=1000}, G{}");
        for amount in [0, -1] {
            t.expect(transfer("F", "G", amount), "refused bad_amount, exit 1", "");
        }
    });
}

/// F: an allocation in debt, and one with money.
fn debt_and_money(t: &mut Bench<'_>) {
    t.given("G{}, F{a=10 [2026,2027)}");
    t.after([c("x", 25), deposit("F", "100").window("[2026,2028)")]);
    t.expect_allocation("a", "-15 held 0, deposited 10, active");
}

#[test]
fn ledger_case_031_debts_do_not_move() {
    on_both(|t| {
        debt_and_money(t);
        t.expect(
            transfer("F", "G", 50),
            "moved 50",
            "transfer_out b -50, transfer_in c +50",
        );
        t.expect_allocation("a", "-15 held 0, deposited 10, active");
        t.expect_allocation("b", "50 held 0, deposited 100, active");
        t.expect_allocation("c", "50 held 0, deposited 0, active");
    });
}

#[test]
fn ledger_case_032_a_transfer_keeps_the_window() {
    on_both(|t| {
        t.given("F{a=100 [2026,2027)}, G{}");
        t.expect(
            transfer("F", "G", 40),
            "moved 40",
            "transfer_out a -40, transfer_in b +40",
        );
        t.expect_allocation("a", "60 held 0, deposited 100, active");
        let made = t.ground.allocations().pop().unwrap();
        let given = t.ground.allocations()[1].window;
        assert_eq!((made.window, made.credit_limit.0), (given, 0));
    });
}

#[test]
fn a_transfer_takes_neither_credit_nor_what_liens_hold() {
    on_both(|t| {
        t.given("F{a=100 L=500}, G{}, H{z=9 [2030,2031)}");
        t.after([r("j", 30)]);
        t.expect(
            transfer("F", "G", 71),
            "refused insufficient_funds, exit 3: needed 71, available 70",
            "",
        );
        t.expect(
            transfer("F", "G", 70),
            "moved 70",
            "transfer_out a -70, transfer_in b +70",
        );
        t.expect(
            transfer("H", "G", 4).on_allocation(3),
            "moved 4",
            "transfer_out z -4 active 0, transfer_in c +4 active 0",
        );
        t.expect(transfer("F", "#unbilled", 1), "refused in_use, exit 1", "");
    });
}

#[test]
fn defect_d04_a_transfer_never_exports_debt() {
    on_both(|t| {
        debt_and_money(t);
        t.expect(
            transfer("F", "G", 101),
            "refused insufficient_funds, exit 3: needed 101, available 100",
            "",
        );
        t.after([transfer("F", "G", 100)]);
        t.expect_balance("F", "amount -15 held 0 balance -15 available -15");
        t.expect_balance("G", "amount 100 held 0 balance 100 available 100");
    });
}

#[test]
fn defect_d05_every_entry_of_a_transfer_names_its_allocation() {
    on_both(|t| {
        t.given("F{a=750}, G{b=7532}");
        t.after([transfer("F", "G", 250)]);
        let tx = t.ground.journal(0).pop().unwrap();
        let named = tx.entries.iter().map(|e| (e.account, e.allocation));
        assert_eq!(
            named.collect::<Vec<_>>(),
            [(Some(2), Some(2)), (Some(3), Some(3))]
        );
    });
}

/// Case 60: a lien on an allocation that has expired paid.
fn expired_payer(t: &mut Bench<'_>) {
    t.given("F{a=5000 [2026,T0+4)}, G{b=300}");
    t.after([r("j", 1000)]);
    t.at("T0+8");
    t.after([c("j", 900)]);
    t.expect_allocation("a", "4100 held 0, deposited 5000, expired");
}

#[test]
fn ledger_case_062_a_refund_to_an_expired_allocation_expires_with_it() {
    on_both(|t| {
        expired_payer(t);
        t.expect(
            refund("j", 0),
            "refunded 900, left 0, expired 900",
            "refund a +900, expire a 0 active -900",
        );
        t.expect_allocation("a", "5000 held 0, deposited 5000, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

#[test]
fn ledger_case_063_a_refund_can_be_issued_anew() {
    on_both(|t| {
        expired_payer(t);
        t.expect(
            refund("j", 0).reissue_until("2027-01-01"),
            "refunded 900, left 0",
            "refund c +900",
        );
        t.expect_allocation("a", "4100 held 0, deposited 5000, expired");
        t.expect_allocation("c", "900 held 0, deposited 0, active");
        let made = t.ground.allocations().pop().unwrap().window;
        assert_eq!(made, super::fixture::window("[T0+8,2027)"));
        t.expect(refund("j", 0), "refused nothing_to_refund, exit 1", "");
    });
}

#[test]
fn ledger_case_079_a_refund_does_not_exceed_the_charge() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 400)]);
        t.expect(
            refund("j", 500),
            "refused refund_exceeds_charge, exit 1",
            "",
        );
        t.expect(refund("j", -1), "refused bad_amount, exit 1", "");
        t.expect(refund("k", 1), "refused not_found, exit 4", "");
    });
}

#[test]
fn ledger_case_080_refunds_in_parts() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 400)]);
        t.expect(refund("j", 100), "refunded 100, left 300", "refund a +100");
        t.expect_allocation("a", "700 held 0, deposited 1000, active");
        t.expect(refund("j", 0), "refunded 300, left 0", "refund a +300");
        t.expect_allocation("a", "1000 held 0, deposited 1000, active");
        t.expect(refund("j", 0), "refused nothing_to_refund, exit 1", "");
    });
}

#[test]
fn ledger_case_081_each_payer_gets_its_share() {
    on_both(|t| {
        t.given("X{a=30}, Y{b=100}");
        t.after([c("j", 50)]);
        t.expect(
            refund("j", 25),
            "refunded 25, left 25",
            "refund a +15, refund b +10",
        );
        t.expect(
            refund("j", 25),
            "refunded 25, left 0",
            "refund a +15, refund b +10",
        );
        t.expect_allocation("a", "30 held 0, deposited 30, active");
        t.expect_allocation("b", "100 held 0, deposited 100, active");
    });
}

#[test]
fn ledger_case_082_an_id_on_two_machines_is_ambiguous() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 10), c("j", 10).machine("blue")]);
        t.expect(
            refund("j", 0),
            "refused ambiguous, exit 1: job j on blue, job j on colony",
            "",
        );
        t.expect(
            refund("j", 0).on_machine("blue"),
            "refunded 10, left 0",
            "refund a +10",
        );
    });
}

#[test]
fn ledger_case_083_usage_is_net_of_refunds() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 400), refund("j", 0)]);
        let used = t.ground.usages();
        let gross: i64 = used.iter().filter(|u| u.2 == "billed").map(|u| u.1).sum();
        let refunds: i64 = used.iter().filter(|u| u.2 == "refund").map(|u| -u.1).sum();
        assert_eq!((gross, refunds, gross - refunds), (400, 400, 0));
        // What was used stays used.
        assert_eq!(used.iter().map(|u| u.0).sum::<i64>(), 400);
    });
}

#[test]
fn ledger_case_114_a_transfer_within_a_project() {
    on_both(|t| {
        t.given("F{a=100}, G{b=0}");
        t.expect(
            transfer("F", "G", 40),
            "moved 40",
            "transfer_out a -40, transfer_in b +40",
        );
        t.expect_allocation("a", "60 held 0, deposited 100, active");
        t.expect_allocation("b", "40 held 0, deposited 0, active");
    });
}

#[test]
fn a_refund_after_the_end_reduces_the_ended_debt_first() {
    on_both(|t| {
        t.given("F{a=1000 [2026,T0+10)}");
        t.after([c("j", 5000)]);
        t.at("T0+20");
        t.expect(
            refund("j", 3500),
            "refunded 3500, left 1500, ended debt 3500",
            "expire a 0 active +4000 (T0+10); refund a +700, expire a 0 active -700, \
             refund a +2800, expire a 0 active -2800",
        );
        t.expect(
            refund("j", 700).reissue_until("2027-01-01"),
            "refunded 700, left 800, ended debt 500",
            "refund a +140, expire a 0 active -140, refund a +360, expire a 0 active -360, \
             refund b +200",
        );
        t.expect(
            refund("j", 0),
            "refunded 800, left 0, expired 800",
            "refund a +160, expire a 0 active -160, refund a +640, expire a 0 active -640",
        );
        t.expect_allocation("a", "800 held 0, deposited 1000, expired");
        // It is new money of its allocation, not less use.
        t.expect_allocation("b", "200 held 0, deposited 0, active");
        t.expect_balance("F", "amount 200 held 0 balance 200 available 200");
    });
}

#[test]
fn ledger_case_119_a_refund_after_the_end_of_the_window() {
    on_both(|t| {
        t.given("F{a=20 [2026,T0+10)}");
        t.after([c("j", 20)]);
        t.at("T0+20");
        t.expect(
            refund("j", 0),
            "refunded 20, left 0, expired 20",
            "expire a 0 (T0+10); refund a +20, expire a 0 active -20",
        );
        t.expect_allocation("a", "20 held 0, deposited 20, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
    on_both(|t| {
        t.given("F{a=20 [2026,T0+10)}");
        t.after([c("j", 20)]);
        t.at("T0+20");
        t.expect(
            refund("j", 0).reissue_until("2027-01-01"),
            "refunded 20, left 0",
            "expire a 0 (T0+10); refund b +20",
        );
        t.expect_balance("F", "amount 20 held 0 balance 20 available 20");
    });
}

#[test]
fn defect_d06_a_refund_returns_to_the_allocation_that_paid() {
    on_both(|t| {
        t.given("F{a=100 [2026,2028)}");
        t.after([c("j", 60), deposit("F", "5").window("[2026,2027)")]);
        t.expect(refund("j", 0), "refunded 60, left 0", "refund a +60");
    });
}

#[test]
fn defect_d07_a_refund_makes_no_money_that_never_expires() {
    on_both(|t| {
        expired_payer(t);
        t.after([refund("j", 0)]);
        assert_eq!(t.ground.allocations().len(), 3, "#unbilled, a and b");
    });
}

#[test]
fn defect_d08_partial_refunds_go_on_where_the_last_one_ended() {
    on_both(|t| {
        t.given("X{a=30}, Y{b=100}");
        t.after([c("j", 50)]);
        t.expect(
            refund("j", 20).of_account("Y"),
            "refunded 20, left 0",
            "refund b +20",
        );
        t.expect(refund("j", 31), "refused refund_exceeds_charge, exit 1", "");
        t.expect(refund("j", 30), "refunded 30, left 0", "refund a +30");
    });
}

#[test]
fn defect_d09_a_full_refund_leaves_no_net_use() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 400), refund("j", 150), refund("j", 0)]);
        let net: i64 = t.ground.usages().iter().map(|u| u.1).sum();
        assert_eq!(net, 0);
        t.expect_job("j", "closed, used 400 s, billed 400, no lien");
    });
}

#[test]
fn an_adjustment_has_a_reason() {
    on_both(|t| {
        t.given("F{a=100 [2026,2027)}");
        t.expect(adjust("F", 5, " "), "refused missing_field, exit 2", "");
        t.expect(adjust("F", 0, "x"), "refused bad_amount, exit 1", "");
        t.expect(adjust("F", -40, "x"), "adjusted -40", "adjust a -40");
        t.expect(
            adjust("F", -61, "x"),
            "refused insufficient_funds, exit 3: needed 61, available 60",
            "",
        );
        t.expect(adjust("F", 5, "x"), "adjusted 5", "adjust b +5");
        t.expect(
            adjust("F", 2, "x").on_allocation(2),
            "adjusted 2",
            "adjust a +2",
        );
        t.expect_allocation("a", "62 held 0, deposited 100, active");
        let undone = t.tx("adjust", 0);
        t.expect(undo(undone), "undid adjust", "reverse a -2");
    });
}

/// What came before a settlement belongs to nobody's usage any more.
#[test]
fn what_came_before_a_settlement_is_not_undone_after_it() {
    on_both(|t| {
        t.given("F{a=50}");
        t.after([c("k", 30).project("nosuch"), refund("k", 5)]);
        let refunded = t.tx("refund", 0);
        t.after([settle("k", "P")]);
        let settled = t.tx("settle", 0);
        t.expect(undo(refunded), "refused not_reversible, exit 1", "");
        t.after([undo(settled)]);
        t.expect(undo(refunded), "undid refund", "reverse #unbilled -5");
        let undone = t.tx("undo", 0);
        t.after([settle("k", "P")]);
        t.expect(undo(undone), "refused not_reversible, exit 1", "");
        t.expect_allocation("a", "20 held 0, deposited 50, active");
    });
}

#[test]
fn what_is_unbilled_can_be_settled() {
    on_both(|t| {
        t.given("F{a=50}");
        t.after([c("k", 30).project("nosuch"), refund("k", 5)]);
        t.expect_job("k", "closed, used 30 s, billed 30, no lien");
        t.expect(settle("k", "none"), "refused project_unknown, exit 4", "");
        t.expect(
            settle("k", "P"),
            "settled 25, debt 0",
            "reverse #unbilled +25, charge a -25",
        );
        t.expect_allocation("#unbilled", "0 held 0, deposited 0, active");
        t.expect(settle("k", "P"), "refused nothing_unbilled, exit 1", "");
        let settled = t.tx("settle", 0);
        t.expect(refund("k", 5), "refunded 5, left 20", "refund a +5");
        t.expect(undo(settled), "refused has_refunds, exit 1: 1 of them", "");
        let refunded = t.tx("refund", 0);
        t.expect(undo(refunded), "undid refund", "reverse a -5");
        t.expect(
            undo(settled),
            "undid settle",
            "reverse #unbilled -25, reverse a +25",
        );
        t.expect(
            settle("k", "P"),
            "settled 25, debt 0",
            "reverse #unbilled +25, charge a -25",
        );
    });
    on_both(|t| {
        t.given("F{a=10}");
        t.after([c("k", 30).project("nosuch")]);
        t.expect(
            settle("k", "P"),
            "settled 30, debt 20",
            "reverse #unbilled +30, charge a -10, charge_debt a -20",
        );
    });
}
