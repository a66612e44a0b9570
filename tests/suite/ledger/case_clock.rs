//! ledger.md 11, case 97, and the defect D19: boundaries are dated when they were due, and a clock
//! that jumped expires nothing before somebody confirms it.

use super::ask::{c, r};
use super::bench::on_both;
use super::fixture::time;

#[test]
fn ledger_case_097_a_jump_of_the_clock_expires_nothing() {
    on_both(|t| {
        t.given("F{a=100 [2026,2026-12-01)}");
        t.after([r("j", 10)]);
        t.jump("2027-06-01");
        t.ground.settle(t.clock);
        t.expect_journal("");
        t.jump("T0");
        t.ground.settle(t.clock);
        t.expect_journal("");
        t.expect_balance("F", "amount 100 held 10 balance 90 available 90");
    });
}

/// While a jump waits for an operator the ledger's own time goes on: jobs run, nothing that is due
/// before then is late, and what is recorded is not dated into the future.
#[test]
fn a_held_ledger_goes_on_by_itself() {
    on_both(|t| {
        t.given("F{a=100 [2026,T0+600)}");
        t.after([r("j", 10)]);
        t.jump("2027-06-01");
        t.expect(c("j", 10), "charged 10, balance 90", "charge a -10/-10");
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.recorded, time("T0"), "{}", t.ground.name());
        // A minute later by both clocks, and past the end by the one that passes time.
        t.at("2027-06-01T00:01:00Z");
        t.ground.settle(t.clock);
        t.expect_journal("");
        t.at("2027-06-01T00:10:00Z");
        t.ground.settle(t.clock);
        t.expect_journal("expire a 0 active -90");
    });
}

#[test]
fn a_jump_that_was_confirmed_counts() {
    on_both(|t| {
        t.given("F{a=100 [2026,2026-12-01)}");
        t.jump("2027-06-01");
        t.ground.settle(t.clock);
        t.expect_journal("");
        t.ground.confirm_clock();
        t.ground.settle(t.clock);
        t.expect_journal("expire a 0 active -100 (2026-12-01)");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

/// A bank that nobody used over a weekend has seen the time pass.
#[test]
fn a_weekend_without_requests_is_no_jump() {
    on_both(|t| {
        t.given("F{a=100 [2026,2026-06-02)}");
        t.at("2026-06-04");
        t.ground.settle(t.clock);
        t.expect_journal("expire a 0 active -100 (T0+86400)");
    });
}

#[test]
fn defect_d19_an_expiry_is_dated_when_it_was_due() {
    on_both(|t| {
        t.given("F{a=500 [2026-01-01,2026-06-02)}");
        t.at("2026-06-02T09:00:00Z");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
        let expiry = t.ground.journal(0).pop().unwrap();
        assert_eq!(expiry.effective, time("2026-06-02"), "{}", t.ground.name());
        assert_eq!(expiry.recorded, time("2026-06-02T09:00:00Z"));
        t.expect_journal("expire a 0 active -500 (T0+86400)");
    });
}
