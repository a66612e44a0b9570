//! What an account or the bank's settings ask of allocations: discrete ones, liens that are covered
//! to their end, who is short first; defect D17.

use super::ask::{c, deposit, quote, r};
use super::bench::{Bench, on_both, on_both_with};
use super::fixture::time;
use bank_core::command::{Command, SetAccount, SetAllocation};
use bank_core::directory::{FallbackMode, Policy};
use bank_core::ids::AllocationId;
use bank_core::time::Seconds;

fn discrete(t: &mut Bench<'_>, name: &str) {
    t.admin(Command::SetAccount(SetAccount {
        name: name.to_owned(),
        discrete: Some(true),
        ..SetAccount::default()
    }));
}

#[test]
fn a_lien_is_not_split_over_allocations_of_a_discrete_account() {
    on_both(|t| {
        t.given("F{a=30 [2026,2027), b=40 [2026,2028)}");
        discrete(t, "F");
        t.expect(
            r("j", 50),
            "refused insufficient_funds, exit 3: needed 50, available 40",
            "",
        );
        t.expect(
            quote(41),
            "refused insufficient_funds, exit 3: needed 41, available 40",
            "",
        );
        t.expect(quote(40), "cost 40", "");
        t.expect(r("j", 35), "lien 35", "lien b 0/+35");
        t.expect(r("k", 30), "lien 30", "lien a 0/+30");
    });
}

#[test]
fn what_a_discrete_account_cannot_cover_goes_on_to_the_next() {
    on_both(|t| {
        t.given("F{a=30 [2026,2027), b=40 [2026,2028)}, G{c=100}");
        discrete(t, "F");
        t.expect(r("j", 50), "lien 50", "lien c 0/+50");
        t.expect(
            c("k", 60),
            "charged 60, debt 10, balance -10",
            "charge c -50, charge_debt c -10",
        );
    });
}

#[test]
fn a_charge_is_not_split_over_allocations_of_a_discrete_account() {
    on_both(|t| {
        t.given("F{a=30 [2026,2027), b=40 [2026,2028)}");
        discrete(t, "F");
        t.expect(c("j", 35), "charged 35, balance 35", "charge b -35");
        t.after([r("k", 20)]);
        // What goes beyond the lien is taken where the lien lies, or is a debt there.
        t.expect(
            c("k", 40),
            "charged 40, debt 20, balance -5",
            "charge a -20/-20, charge_debt a -20",
        );
    });
}

#[test]
fn allocations_may_have_to_follow_one_another() {
    let policy = Policy {
        discrete: true,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.given("F{a=100 [2026,2027)}");
        let refused = "refused allocation_overlap, exit 1";
        t.expect(deposit("F", "1"), refused, "");
        t.expect(deposit("F", "1").window("[2026-12-31,2028)"), refused, "");
        t.expect(
            deposit("F", "1").window("[2026,2027)"),
            "amount 101, deposited 101",
            "deposit a +1",
        );
        t.expect(
            deposit("F", "5").window("[2027,2028)"),
            "new: amount 5, deposited 5",
            "deposit b +5 active 0",
        );
        let longer = |end: &str| SetAllocation {
            id: AllocationId(2),
            start: None,
            end: Some(Some(time(end))),
            credit_limit: None,
        };
        t.expect(
            Command::SetAllocation(longer("2027-01-02")).into(),
            refused,
            "",
        );
        t.expect(
            Command::SetAllocation(longer("2026-12-01")).into(),
            "changed",
            "modify a 0",
        );
    });
}

#[test]
fn a_lien_may_have_to_be_covered_to_its_end() {
    let policy = Policy {
        require_cover: true,
        lien_grace: Seconds(600),
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.given("F{a=500 [2026,T0+700), b=100}");
        t.expect(r("j", 100), "lien 100", "lien a 0/+100");
        t.expect(
            r("k", 101),
            "refused insufficient_funds, exit 3: needed 101, available 100",
            "",
        );
        t.expect(r("k", 100).end("T0+701"), "lien 100", "lien b 0/+100");
        t.expect(
            r("l", 100).end("T0+701"),
            "refused insufficient_funds, exit 3: needed 100, available 0",
            "",
        );
    });
}

/// The account that pays first is the one whose fallback steps in, whatever its number.
#[test]
fn the_fallback_is_that_of_the_account_that_pays_first() {
    let policy = Policy {
        fallback: FallbackMode::Bank,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.project("FBP", None);
        t.given("G{a=5}, F{b=10 [2026,2027)}, FB{c=1000; -p FBP -u ANY}");
        t.admin(Command::SetAccount(SetAccount {
            name: "F".to_owned(),
            fallback: Some(Some("FB".to_owned())),
            ..SetAccount::default()
        }));
        t.expect(quote(100), "cost 100", "");
        t.expect(r("j", 100), "lien 100, fallback", "lien c 0/+100");
    });
}

#[test]
fn defect_d17_a_window_that_ends_before_it_starts_is_refused() {
    on_both(|t| {
        t.given("F{a=0}");
        let refused = "refused bad_window, exit 1";
        t.expect(deposit("F", "5").window("[2031,2030)"), refused, "");
        t.expect(deposit("F", "5").window("[2030,2030)"), refused, "");
        let turned = SetAllocation {
            id: AllocationId(2),
            start: Some(Some(time("2031"))),
            end: Some(Some(time("2030"))),
            credit_limit: None,
        };
        t.expect(Command::SetAllocation(turned).into(), refused, "");
    });
}
