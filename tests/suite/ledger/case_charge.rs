//! ledger.md 11, cases 34 to 36, 41 to 44, 46 to 50, 64 and 65: charges.

use super::ask::{c, c_text, r};
use super::bench::{Bench, on_both};

#[test]
fn ledger_case_034_a_closing_charge_releases_the_rest_of_the_lien() {
    on_both(|t| {
        t.given("F{a=10000}");
        t.after([r("j1", 7200)]);
        t.expect(
            c("j1", 2468),
            "charged 2468, balance 7532",
            "charge a -2468/-2468, lien_release a 0/-4732",
        );
        t.expect_balance("F", "amount 7532 held 0 balance 7532 available 7532");
    });
}

#[test]
fn ledger_case_035_a_charge_takes_its_own_lien_in_one_row() {
    on_both(|t| {
        t.given("F{a=8000}");
        t.after([r("j", 7200)]);
        t.expect(
            c("j", 7000),
            "charged 7000, balance 1000",
            "charge a -7000/-7000, lien_release a 0/-200",
        );
    });
}

#[test]
fn ledger_case_036_the_account_with_the_lien_pays() {
    on_both(|t| {
        t.given("X{a=8000}, Y{b=10000}");
        t.expect(r("j", 7200), "lien 7200", "lien a 0/+7200");
        t.expect(
            c("j", 7000),
            "charged 7000, balance 1000",
            "charge a -7000/-7000, lien_release a 0/-200",
        );
        t.expect_balance("Y", "amount 10000 held 0 balance 10000 available 10000");
    });
}

/// What case 41 leaves behind.
fn case_41(t: &mut Bench<'_>) {
    t.given("F{a=100}");
    t.expect(
        c("j", 7200).key("K"),
        "charged 7200, debt 7100, balance -7100",
        "charge a -100, charge_debt a -7100",
    );
}

#[test]
fn ledger_case_041_a_charge_that_nothing_covers_is_debt() {
    on_both(|t| {
        case_41(t);
        t.expect_balance("F", "amount -7100 held 0 balance -7100 available -7100");
    });
}

#[test]
fn ledger_case_042_a_repeated_key_has_the_first_answer_and_no_effect() {
    on_both(|t| {
        case_41(t);
        t.expect(
            c("j", 7200).key("K"),
            "charged 7200, debt 7100, balance -7100",
            "",
        );
        t.expect_balance("F", "amount -7100 held 0 balance -7100 available -7100");
        assert_eq!(t.ground.usages().len(), 1);
    });
}

#[test]
fn ledger_case_043_a_key_belongs_to_one_request() {
    on_both(|t| {
        case_41(t);
        t.expect(c("j", 7300).key("K"), "refused key_reused, exit 7", "");
        t.expect_balance("F", "amount -7100 held 0 balance -7100 available -7100");
    });
}

#[test]
fn ledger_case_044_usage_that_nobody_can_be_billed_for_is_kept() {
    on_both(|t| {
        t.given("");
        t.expect(
            c("j", 20),
            "charged 20, unbilled, balance -20",
            "charge_debt #unbilled -20",
        );
        t.expect_usage("20 s, 20, unbilled");
        t.expect(
            c("k", 30).project("nosuch"),
            "charged 30, unbilled, balance -50",
            "charge_debt #unbilled -30",
        );
        t.expect_usage("30 s, 30, unbilled");
        let kept = t.instance("colony", "k").unwrap().facts.project;
        assert_eq!(kept, "nosuch", "{}", t.ground.name());
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.entries[0].project, "nosuch", "{}", t.ground.name());
        assert!(
            last.reason.contains("unbilled"),
            "{}: {}",
            t.ground.name(),
            last.reason
        );
    });
}

#[test]
fn ledger_case_046_a_charge_beyond_lien_and_limit_is_debt() {
    on_both(|t| {
        t.given("F{a=1000 L=500}");
        t.after([r("j", 1500)]);
        t.expect(
            c("j", 1600),
            "charged 1600, debt 100, balance -600",
            "charge a -1500/-1500, charge_debt a -100",
        );
        t.expect_balance(
            "F",
            "amount -600 held 0 balance -600 available -100, limit 500",
        );
    });
}

#[test]
fn ledger_case_047_a_charge_of_nothing_still_closes() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300)]);
        t.expect(
            c("j", 0),
            "charged 0, balance 1000",
            "charge a 0, lien_release a 0/-300",
        );
        t.expect_usage("0 s, 0, billed");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
        t.expect_job("j", "closed, used 0 s, billed 0, no lien");
    });
}

#[test]
fn ledger_case_048_negative_usage_is_refused() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(
            c("j", 10).processors(-4),
            "refused negative_charge, exit 1",
            "",
        );
        assert!(t.ground.usages().is_empty());
    });
}

#[test]
fn ledger_case_049_a_duration_is_whole_seconds() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(c_text("j", "1.5"), "refused bad_duration, exit 2", "");
        assert_eq!(bank_api::error::row("bad_duration").unwrap().http, 400);
    });
}

#[test]
fn ledger_case_050_a_charge_needs_a_duration() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(c_text("j", ""), "refused missing_field, exit 2", "");
        assert_eq!(bank_api::error::row("missing_field").unwrap().http, 400);
    });
}

#[test]
fn ledger_case_064_the_earlier_end_pays_first() {
    on_both(|t| {
        t.given("F{a=100 [2026-01-01,2027-06-01), b=150 [2026-01-01,2027-01-01)}");
        t.expect(
            c("j", 180),
            "charged 180, balance 70",
            "charge b -150, charge a -30",
        );
        t.expect_allocation("a", "70 held 0, deposited 100, active");
        t.expect_allocation("b", "0 held 0, deposited 150, active");
    });
}

#[test]
fn ledger_case_065_the_closest_lists_pay_first() {
    on_both(|t| {
        t.given(
            "X{x=10; -p P -u amy -m colony}, Y{y=10; -p P -u MEMBERS}, Z{z=10; -p P -u ANY}, \
             W{w=10; -p ANY -u amy}",
        );
        t.expect(
            c("j", 35),
            "charged 35, balance 0",
            "charge x -10, charge y -10, charge z -10, charge w -5",
        );
        t.expect_balance("W", "amount 5 held 0 balance 5 available 5");
    });
}
