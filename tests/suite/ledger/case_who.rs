//! ledger.md 11, cases 40 and 66 to 70: who may use an account.

use super::ask::{Ask, c, ci, quote, r};
use super::bench::on_both;
use bank_core::command::Command;

#[test]
fn ledger_case_040_who_is_no_member_hears_so() {
    on_both(|t| {
        t.given("F{a=100}");
        t.expect(r("j", 10).user("bob"), "refused not_a_member, exit 1", "");
    });
    let row = bank_api::error::row("not_a_member").unwrap();
    assert_eq!((row.http, row.bank, row.nami), (403, 1, 74));
}

#[test]
fn ledger_case_066_denials_win() {
    on_both(|t| {
        t.member("P", "bob", true);
        t.given("F{a=1000; -u MEMBERS,-bob -m ANY,-colony}");
        let ask = |user: &str, machine: &str| -> Ask { quote(10).user(user).machine(machine) };
        let refused = "refused no_usable_account, exit 1";
        t.expect(ask("amy", "colony"), refused, "");
        t.expect(ask("amy", "blue"), "cost 10", "");
        t.expect(ask("bob", "colony"), refused, "");
        t.expect(ask("bob", "blue"), refused, "");
    });
}

#[test]
fn ledger_case_067_a_denial_of_members_denies_members_only() {
    on_both(|t| {
        t.given("F{a=1000; -u dave,-MEMBERS}");
        t.expect(quote(10).user("dave"), "cost 10", "");
        t.expect(quote(10), "refused no_usable_account, exit 1", "");
    });
}

#[test]
fn ledger_case_068_an_inactive_member_is_none() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.member("P", "amy", false);
        t.expect(r("j", 10), "refused not_a_member, exit 1", "");
    });
}

#[test]
fn ledger_case_069_an_inactive_user_is_charged_and_reserves_nothing() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.admin(Command::set_record(
            "user",
            "amy",
            &[("active", false.into())],
        ));
        t.expect(r("j", 10), "refused user_inactive, exit 1", "");
        t.expect(c("k", 10), "charged 10, balance 990", "charge a -10");
    });
}

#[test]
fn ledger_case_070_an_inactive_project_is_charged_and_reserves_nothing() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.admin(Command::set_record(
            "project",
            "P",
            &[("active", false.into())],
        ));
        t.expect(r("j", 10), "refused project_inactive, exit 1", "");
        t.expect(c("k", 10), "charged 10, balance 990", "charge a -10");
    });
}

/// A charge that took nothing leaves the job to the paying order.
#[test]
fn a_charge_of_nothing_binds_a_job_to_no_account() {
    on_both(|t| {
        t.given("F{a=100}, G{b=100 [T0+10,2027)}");
        t.expect(ci("j", 0), "charged 0, balance 100", "charge a 0");
        t.at("T0+20");
        t.expect(
            ci("j", 10),
            "charged 10, balance 90",
            "activate b 0 active +100 (T0+10); charge b -10",
        );
    });
}
