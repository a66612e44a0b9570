//! ledger.md 11, cases 1 to 15 and 22 to 26: money in and out.

use super::ask::{c, deposit, r, withdraw};
use super::bench::on_both;

#[test]
fn ledger_case_001_a_deposit_makes_an_allocation() {
    on_both(|t| {
        t.given("F{}");
        t.expect(
            deposit("F", "10000"),
            "new: amount 10000, deposited 10000",
            "deposit a +10000",
        );
        t.expect_balance("F", "amount 10000 held 0 balance 10000 available 10000");
    });
}

#[test]
fn ledger_case_002_an_equal_window_is_topped_up() {
    on_both(|t| {
        t.given("F{a=100}");
        t.expect(
            deposit("F", "50"),
            "amount 150, deposited 150",
            "deposit a +50",
        );
    });
}

#[test]
fn ledger_case_003_another_window_is_another_allocation() {
    on_both(|t| {
        t.given("F{a=100 [2026-01-01,2027-01-01)}");
        t.expect(
            deposit("F", "50").window("[2026-01-01,2027-06-01)"),
            "new: amount 50, deposited 50",
            "deposit b +50",
        );
        t.expect_allocation("a", "100 held 0, deposited 100, active");
    });
}

#[test]
fn ledger_case_004_a_credit_limit_is_an_allocation_of_its_own() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(
            deposit("F", "0").limit(500),
            "new: amount 0, deposited 0",
            "deposit b 0",
        );
        t.expect_allocation("b", "0 held 0, deposited 0, limit 500, active");
        t.expect_balance(
            "F",
            "amount 1000 held 0 balance 1000 available 1500, limit 500",
        );
    });
}

#[test]
fn ledger_case_005_the_limit_counts_for_a_top_up() {
    on_both(|t| {
        t.given("F{a=1000 L=500}");
        t.expect(
            deposit("F", "100"),
            "new: amount 100, deposited 100",
            "deposit b +100",
        );
        t.expect_allocation("a", "1000 held 0, deposited 1000, limit 500, active");
    });
}

#[test]
fn ledger_case_006_a_deposit_of_nothing_is_refused() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(deposit("F", "0"), "refused bad_amount, exit 1", "");
    });
}

#[test]
fn ledger_case_007_a_negative_deposit_is_refused_by_the_rule() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(deposit("F", "-5"), "refused bad_amount, exit 1", "");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

#[test]
fn ledger_case_008_more_decimals_than_the_bank_has_are_refused() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(deposit("F", "1.5"), "refused too_many_decimals, exit 1", "");
    });
}

#[test]
fn ledger_case_009_text_is_no_amount() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(deposit("F", "abc"), "refused bad_amount_syntax, exit 2", "");
    });
}

#[test]
fn ledger_case_010_an_amount_beyond_the_range_is_refused() {
    on_both(|t| {
        t.given("F{a=0}");
        let too_large = "100000000000000000000000";
        t.expect(
            deposit("F", too_large),
            "refused amount_too_large, exit 1",
            "",
        );
    });
}

#[test]
fn ledger_case_011_a_sum_beyond_the_range_is_refused() {
    on_both(|t| {
        t.given("F{a=9223372036854775807}");
        t.expect(deposit("F", "1"), "refused amount_overflow, exit 1", "");
        let most = "9223372036854775807";
        t.expect_allocation("a", &format!("{most} held 0, deposited {most}, active"));
    });
}

#[test]
fn ledger_case_012_an_unknown_name_is_not_found() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(deposit("G", "1"), "refused not_found, exit 4", "");
    });
}

#[test]
fn ledger_case_013_a_window_that_ends_before_it_starts_is_refused() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(
            deposit("F", "5").window("[2031-01-01,2030-01-01)"),
            "refused bad_window, exit 1",
            "",
        );
    });
}

#[test]
fn ledger_case_014_a_window_that_is_over_needs_allow_past() {
    on_both(|t| {
        t.given("F{a=0}");
        let past = || deposit("F", "5").window("[2020,2021)");
        t.expect(past(), "refused window_in_past, exit 1", "");
        t.expect(
            past().allow_past(),
            "new: amount 5, deposited 5",
            "deposit b +5 active 0",
        );
        t.expect_allocation("b", "5 held 0, deposited 5, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

#[test]
fn ledger_case_015_a_future_window_begins_by_itself() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(
            deposit("F", "77").window("[2030,2031)"),
            "new: amount 77, deposited 77",
            "deposit b +77 active 0",
        );
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0, future 77");
        t.at("2030-01-02");
        t.expect_balance("F", "amount 77 held 0 balance 77 available 77");
        t.expect_journal("activate b 0 active +77 (2030-01-01)");
    });
}

#[test]
fn ledger_case_022_more_than_is_there_cannot_be_withdrawn() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(
            withdraw("F", 5000),
            "refused insufficient_funds, exit 3: needed 5000, available 1000",
            "",
        );
    });
}

#[test]
fn ledger_case_023_a_withdrawal_of_nothing_is_refused() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(withdraw("F", 0), "refused bad_amount, exit 1", "");
    });
}

#[test]
fn ledger_case_024_what_liens_hold_cannot_be_withdrawn() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 900)]);
        t.expect(
            withdraw("F", 200),
            "refused insufficient_funds, exit 3: needed 200, available 100",
            "",
        );
        t.expect_balance("F", "amount 1000 held 900 balance 100 available 100");
    });
}

#[test]
fn ledger_case_025_a_withdrawal_may_use_the_credit_limit() {
    on_both(|t| {
        t.given("F{a=100 L=500}");
        t.expect(
            withdraw("F", 400).no_credit(),
            "refused insufficient_funds, exit 3: needed 400, available 100",
            "",
        );
        t.expect(withdraw("F", 400), "withdrawn 400", "withdraw a -400");
        t.expect_balance(
            "F",
            "amount -300 held 0 balance -300 available 200, limit 500",
        );
    });
}

#[test]
fn ledger_case_026_a_withdrawal_takes_the_earliest_end_first() {
    on_both(|t| {
        t.given("F{a=50 [2026-01-01,2026-12-01), b=100}");
        t.expect(
            withdraw("F", 120),
            "withdrawn 120",
            "withdraw a -50, withdraw b -70",
        );
    });
}

#[test]
fn a_closing_charge_in_the_way_of_a_deposit_changes_nothing_about_it() {
    on_both(|t| {
        t.given("F{a=100}");
        t.after([c("j", 150)]);
        t.expect(
            deposit("F", "50"),
            "amount 0, deposited 150",
            "deposit a +50",
        );
    });
}

/// The sums of an account are numbers of 64 bits, however many allocations they are over.
#[test]
fn what_an_account_cannot_add_up_is_refused() {
    on_both(|t| {
        t.given("F{a=0}, G{b=5 [2026,2027)}");
        t.expect(
            deposit("F", "9223372036854775807"),
            "amount 9223372036854775807, deposited 9223372036854775807",
            "deposit a +9223372036854775807",
        );
        let refused = "refused amount_overflow, exit 1";
        t.expect(deposit("F", "1"), refused, "");
        t.expect(deposit("F", "1").window("[2026,2027)"), refused, "");
        t.expect(
            deposit("G", "1"),
            "new: amount 1, deposited 1",
            "deposit c +1",
        );
        let all = "amount 9223372036854775807 held 0 balance 9223372036854775807 \
                   available 9223372036854775807";
        t.expect_balance("F", all);
    });
}

/// A deposit of 0 is for a credit limit; where that is there already, nothing would change.
#[test]
fn a_deposit_of_nothing_that_changes_no_limit_is_refused() {
    on_both(|t| {
        t.given("F{a=100}, N{}, L{b=0 L=500}");
        for ask in [
            deposit("F", "0").limit(0),
            deposit("N", "0").limit(0),
            deposit("N", "0").limit(0).window("[2026,2027)"),
            deposit("L", "0").limit(500),
        ] {
            t.expect(ask, "refused bad_amount, exit 1", "");
        }
        t.expect(
            deposit("L", "0").limit(600),
            "new: amount 0, deposited 0",
            "deposit c 0",
        );
    });
}

#[test]
fn a_deposit_may_count_from_an_earlier_time() {
    on_both(|t| {
        t.given("F{}");
        t.at("2031-03-01");
        t.expect(
            deposit("F", "100")
                .window("[2031-01-01,2032-01-01)")
                .effective("2031-02-01"),
            "new: amount 100, deposited 100",
            "deposit a +100 (2031-02-01)",
        );
        t.expect_balance("F", "amount 100 held 0 balance 100 available 100");
    });
}

#[test]
fn a_deposit_from_before_its_window_is_followed_by_its_boundaries() {
    on_both(|t| {
        t.given("F{}");
        t.at("2031-03-01");
        t.expect(
            deposit("F", "100")
                .window("[2031-01-01,2031-02-01)")
                .effective("2030-12-01"),
            "new: amount 100, deposited 100",
            "deposit a +100 active 0 (2030-12-01); activate a 0 active +100 (2031-01-01); \
             expire a 0 active -100 (2031-02-01)",
        );
        t.expect_allocation("a", "100 held 0, deposited 100, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

#[test]
fn a_deposit_cannot_count_later_than_now_or_before_its_allocation() {
    on_both(|t| {
        t.given("F{a=100}");
        t.expect(
            deposit("F", "5").effective("2099-01-01"),
            "refused bad_value, exit 1",
            "",
        );
        t.expect(
            deposit("F", "5").effective("2001-01-01"),
            "refused bad_value, exit 1",
            "",
        );
    });
}
