//! ledger.md 2.14: the defects of the bank before us that concern liens and charges, shown as fixed.

use super::ask::{c, c_text, ci, r};
use super::bench::on_both;
use super::fixture::time;

#[test]
fn defect_d01_a_lien_is_for_its_owner() {
    on_both(|t| {
        t.given("X{a=8000}, Y{b=10000}");
        t.after([r("j", 7200)]);
        t.expect(
            c("j", 7000),
            "charged 7000, balance 1000",
            "charge a -7000/-7000, lien_release a 0/-200",
        );
        t.expect_balance("Y", "amount 10000 held 0 balance 10000 available 10000");
    });
}

#[test]
fn defect_d03_the_same_use_is_billed_once() {
    on_both(|t| {
        t.given("F{a=10000}");
        t.at("T0+7200");
        let charge = || c("j", 7200).key("K");
        t.expect(charge(), "charged 7200, balance 2800", "charge a -7200");
        t.expect(charge(), "charged 7200, balance 2800", "");
        // With another key it is another request; its window says that it was billed.
        let window = || ci("k", 0).used("[T0,T0+100)");
        t.expect(
            window(),
            "charged 100, balance 2700",
            "charge a -100 (T0+100)",
        );
        t.expect(window(), "charged 0, balance 2700", "charge a 0 (T0+100)");
        assert_eq!(t.ground.instances(&super::ask::job("colony", "k")).len(), 1);
    });
}

#[test]
fn defect_d10_what_has_expired_holds_nothing_against_today() {
    on_both(|t| {
        t.given("F{a=5000 [2026,T0+4)}, G{b=300}");
        t.after([r("j", 1000)]);
        t.at("T0+5");
        t.expect_balance(
            "F",
            "amount 0 held 0 balance 0 available 0, held_expired 1000",
        );
        t.expect(
            r("k", 300),
            "lien 300",
            "expire a 0 active -5000 (T0+4); lien b 0/+300",
        );
    });
}

#[test]
fn defect_d11_a_negative_charge_is_refused() {
    on_both(|t| {
        t.given("F{a=1000}");
        for ask in [
            c("j", 10).processors(-4),
            c("j", 10).amount(-1),
            c("j", 0).used("[T0-10,T0)").processors(-1),
        ] {
            t.expect(ask, "refused negative_charge, exit 1", "");
        }
        t.expect(c("j", -10), "refused bad_duration, exit 2", "");
        t.expect(c_text("j", "-10"), "refused bad_duration, exit 2", "");
        assert!(t.ground.usages().is_empty());
    });
}

#[test]
fn defect_d19_a_boundary_has_its_own_date() {
    on_both(|t| {
        t.given("F{a=500 [2026,2026-06-02)}");
        t.after([r("j", 100)]);
        t.at("2026-06-02T09:00:05Z");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
        t.expect_journal("lien_expire a 0/-100 (T0+700); expire a 0 active -500 (T0+86400)");
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(
            (last.effective, last.recorded),
            (time("2026-06-02"), time("2026-06-02T09:00:05Z"))
        );
    });
}

#[test]
fn defect_d22_a_charge_leaves_the_liens_of_other_machines() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("42", 100).machine("blue"), r("42", 200)]);
        t.expect(
            c("42", 50).machine("blue"),
            "charged 50, balance 750",
            "charge a -50/-50, lien_release a 0/-50",
        );
        t.expect_job("42", "open, used 0 s, billed 0, lien 200 [T0,T0+800)");
    });
}
