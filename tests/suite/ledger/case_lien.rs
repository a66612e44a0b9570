//! ledger.md 11, cases 33, 38, 39, 45, 51 to 53, 60, 61, 72, 73, 88, 106 and 107: liens.

use super::ask::{c, quote, r};
use super::bench::on_both;
use super::fixture::time;
use bank_core::command::{Command, SetAllocation};
use bank_core::ids::AllocationId;

#[test]
fn ledger_case_033_a_lien_holds_and_debits_nothing() {
    on_both(|t| {
        t.given("F{a=10000}");
        t.expect(r("j1", 7200), "lien 7200", "lien a 0/+7200");
        t.expect_balance("F", "amount 10000 held 7200 balance 2800 available 2800");
    });
}

#[test]
fn ledger_case_038_a_lien_needs_its_money() {
    on_both(|t| {
        t.given("F{a=100}");
        t.expect(
            r("j", 7200),
            "refused insufficient_funds, exit 3: needed 7200, available 100",
            "",
        );
        t.expect_job("j", "none");
    });
}

#[test]
fn ledger_case_039_a_quote_tests_the_balance_unless_only_the_cost_is_requested() {
    on_both(|t| {
        t.given("F{a=100}");
        t.expect(
            quote(7200),
            "refused insufficient_funds, exit 3: needed 7200, available 100",
            "",
        );
        t.expect(quote(7200).cost_only(), "cost 7200", "");
    });
}

#[test]
fn ledger_case_045_a_lien_may_use_the_credit_limit_and_no_more() {
    on_both(|t| {
        t.given("F{a=1000 L=500}");
        t.expect(r("j", 1500), "lien 1500", "lien a 0/+1500");
        t.expect(
            r("k", 1),
            "refused insufficient_funds, exit 3: needed 1, available 0",
            "",
        );
    });
}

#[test]
fn ledger_case_051_a_second_reserve_replaces_the_first() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("s", 300)]);
        t.expect(
            r("s", 300),
            "lien 300",
            "lien_replace a 0/-300, lien a 0/+300",
        );
        t.expect_balance("F", "amount 1000 held 300 balance 700 available 700");
    });
}

#[test]
fn ledger_case_052_the_old_lien_pays_for_its_replacement() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("s", 900)]);
        t.expect(
            r("s", 950),
            "lien 950",
            "lien_replace a 0/-900, lien a 0/+950",
        );
        t.expect_balance("F", "amount 1000 held 950 balance 50 available 50");
    });
}

#[test]
fn ledger_case_053_a_refused_replacement_leaves_the_old_lien() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("s", 900)]);
        t.expect(
            r("s", 1100),
            "refused insufficient_funds, exit 3: needed 1100, available 1000",
            "",
        );
        t.expect_job("s", "open, used 0 s, billed 0, lien 900 [T0,T0+1500)");
        t.expect_balance("F", "amount 1000 held 900 balance 100 available 100");
    });
}

#[test]
fn ledger_case_060_a_lien_pays_although_its_allocation_has_expired() {
    on_both(|t| {
        t.given("F{a=5000 [2026,T0+4)}, G{b=300}");
        t.expect(
            r("j", 1000),
            "lien 1000, outlives_allocation",
            "lien a 0/+1000",
        );
        t.at("T0+8");
        t.expect(
            c("j", 900),
            "charged 900, balance 0",
            "expire a 0 active -5000 (T0+4); charge a -900/-900, lien_release a 0/-100; \
             expire a 0 active +900 (T0+4)",
        );
        t.expect_allocation("a", "4100 held 0, deposited 5000, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
        t.expect_balance("G", "amount 300 held 0 balance 300 available 300");
    });
}

#[test]
fn ledger_case_061_what_expired_allocations_hold_is_listed_apart() {
    on_both(|t| {
        t.given("F{a=5000 [2026,T0+4)}, G{b=300}");
        t.after([r("j", 1000)]);
        t.at("T0+5");
        t.expect_balance(
            "F",
            "amount 0 held 0 balance 0 available 0, held_expired 1000",
        );
        t.expect_balance("G", "amount 300 held 0 balance 300 available 300");
        t.expect_journal("expire a 0 active -5000 (T0+4)");
    });
}

#[test]
fn ledger_case_072_a_lien_outlives_its_duration_by_the_grace() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.expect(r("j", 3600), "lien 3600", "lien a 0/+3600");
        t.expect_job("j", "open, used 0 s, billed 0, lien 3600 [T0,T0+4200)");
        t.expect(r("k", 3600).nami(), "lien 3600", "lien a 0/+3600");
        t.expect_job("k", "open, used 0 s, billed 0, lien 3600 [T0,T0+11400)");
    });
}

#[test]
fn ledger_case_073_a_future_lien_lies_on_future_money() {
    on_both(|t| {
        t.given("F{a=77 [2030,2031)}");
        t.expect(
            r("j", 10),
            "refused insufficient_funds, exit 3: needed 10, available 0",
            "",
        );
        t.expect(r("k", 10).start("2030-06-01"), "lien 10", "lien a 0/+10");
        t.expect_balance(
            "F",
            "amount 0 held 0 balance 0 available 0, future 77, held_future 10",
        );
    });
}

#[test]
fn ledger_case_088_a_shortened_allocation_names_the_liens_that_outlive_it() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300)]);
        let shorten = SetAllocation {
            id: AllocationId(2),
            start: None,
            end: Some(Some(time("T0+100"))),
            credit_limit: None,
        };
        t.expect(
            Command::SetAllocation(shorten).into(),
            "changed, outlives_allocation j",
            "modify a 0",
        );
    });
}

#[test]
fn ledger_case_106_the_scheduler_asks_again_under_its_fallback_account() {
    on_both(|t| {
        t.project("FBP", None);
        t.given("F{a=0}, FB{b=1000; -p FBP -u ANY}");
        t.expect(
            r("j", 100),
            "refused insufficient_funds, exit 3: needed 100, available 0",
            "",
        );
        t.expect(r("j", 100).project("FBP"), "lien 100", "lien b 0/+100");
        t.expect_job("j", "open, used 0 s, billed 0, lien 100 [T0,T0+700)");
    });
}

#[test]
fn ledger_case_107_the_account_of_a_project_above_pays_after_the_nearer_one() {
    on_both(|t| {
        t.project("TOP", None);
        t.project("MID", Some("TOP"));
        t.admin(Command::set_record(
            "project",
            "P",
            &[("parent", "MID".into())],
        ));
        t.given("T{b=1000; -p TOP/ -u ANY}, F{a=10}");
        t.expect(r("j", 15), "lien 15", "lien a 0/+10, lien b 0/+5");
    });
}
