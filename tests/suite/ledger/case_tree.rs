//! ledger.md 11, cases 16 to 21, 37, 108 and 118: accounts below accounts, their shares and their
//! overflow; defects D2 and D14.

use super::ask::{Ask, c, deposit, r};
use super::bench::{Bench, on_both, on_both_in, on_both_with};
use bank_core::amount::{Amount, Precision};
use bank_core::command::{Command, Deposit, SetAccount};
use bank_core::directory::{Policy, SelectionOrder};
use bank_core::model::Overflow;

/// Puts an account below another one.
pub(super) fn below(name: &str, parent: &str, share: i64, overflow: Overflow) -> Command {
    Command::SetAccount(SetAccount {
        name: name.to_owned(),
        parent: Some(Some(parent.to_owned())),
        share: Some(share),
        overflow: Some(overflow),
        ..SetAccount::default()
    })
}

fn share(name: &str, share: i64) -> Ask {
    Command::SetAccount(SetAccount {
        name: name.to_owned(),
        share: Some(share),
        ..SetAccount::default()
    })
    .into()
}

/// The parent Q with the children F1 and F2.
fn tree(t: &mut Bench<'_>, first: i64, second: i64) {
    t.given("Q{}, F1{}, F2{}");
    t.admin(below("F1", "Q", first, Overflow::No));
    t.admin(below("F2", "Q", second, Overflow::No));
}

fn expect_amounts(t: &mut Bench<'_>, amounts: &[(&str, i64)]) {
    for (account, amount) in amounts {
        let figures = format!("amount {amount} held 0 balance {amount} available {amount}");
        t.expect_balance(account, &figures);
    }
}

#[test]
fn ledger_case_016_a_deposit_goes_down_a_tree_by_shares() {
    on_both(|t| {
        tree(t, 33, 33);
        t.expect(
            deposit("Q", "101"),
            "new: amount 35, deposited 35",
            "deposit a +33, deposit b +33, deposit c +35",
        );
        expect_amounts(t, &[("F1", 33), ("F2", 33), ("Q", 35)]);
        // The second time each finds its allocation of equal window.
        t.expect(
            deposit("Q", "101"),
            "amount 70, deposited 70",
            "deposit a +33, deposit b +33, deposit c +35",
        );
    });
}

#[test]
fn ledger_case_017_shares_are_of_the_smallest_unit() {
    on_both_in(2, |t| {
        tree(t, 33, 33);
        let ten = Command::Deposit(Deposit {
            name: "Q".to_owned(),
            amount: Amount::parse("10.00", Precision::new(2).unwrap()).unwrap(),
            ..Deposit::default()
        });
        t.expect(
            ten.into(),
            "new: amount 340, deposited 340",
            "deposit a +330, deposit b +330, deposit c +340",
        );
    });
}

#[test]
fn ledger_case_018_where_shares_make_a_hundred_the_last_child_takes_the_rest() {
    on_both(|t| {
        tree(t, 50, 50);
        t.expect(
            deposit("Q", "101"),
            "new: amount 51, deposited 51",
            "deposit a +50, deposit b +51",
        );
        expect_amounts(t, &[("F1", 50), ("F2", 51), ("Q", 0)]);
    });
}

#[test]
fn ledger_case_019_shares_make_no_more_than_a_hundred() {
    on_both(|t| {
        tree(t, 33, 33);
        t.expect(share("F2", 70), "refused shares_over_100, exit 1", "");
        t.expect(share("F2", 101), "refused shares_over_100, exit 1", "");
        t.expect(share("F2", -1), "refused bad_value, exit 1", "");
        t.expect(share("F2", 67), "done", "");
        t.expect(share("Q", 5), "refused bad_value, exit 1", "");
    });
}

#[test]
fn ledger_case_020_a_circle_is_refused_when_the_link_is_made() {
    on_both(|t| {
        t.given("Q{}, F{}, G{}");
        t.admin(below("F", "Q", 33, Overflow::No));
        t.admin(below("G", "F", 0, Overflow::No));
        let refused = "refused cycle, exit 1";
        t.expect(below("Q", "F", 10, Overflow::No).into(), refused, "");
        t.expect(below("Q", "G", 10, Overflow::No).into(), refused, "");
        t.expect(below("Q", "Q", 10, Overflow::No).into(), refused, "");
        t.expect(
            below("Q", "nosuch", 10, Overflow::No).into(),
            "refused not_found, exit 4",
            "",
        );
        t.expect(
            below("Q", "#unbilled", 10, Overflow::No).into(),
            "refused not_found, exit 4",
            "",
        );
    });
}

#[test]
fn ledger_case_021_a_deposit_into_a_tree_is_all_or_nothing() {
    on_both(|t| {
        t.given("Q{}, F1{a=9223372036854775807}, F2{}");
        t.admin(below("F1", "Q", 50, Overflow::No));
        t.admin(below("F2", "Q", 50, Overflow::No));
        t.expect(deposit("Q", "2"), "refused amount_overflow, exit 1", "");
        t.expect_allocation(
            "a",
            "9223372036854775807 held 0, deposited 9223372036854775807, active",
        );
        expect_amounts(t, &[("F2", 0), ("Q", 0)]);
    });
}

#[test]
fn ledger_case_037_a_parent_pays_after_its_child() {
    on_both(|t| {
        t.given("F{a=33}, Q{b=35}");
        t.admin(below("F", "Q", 0, Overflow::Listed));
        t.expect(r("j", 60), "lien 60", "lien a 0/+33, lien b 0/+27");
        t.expect(
            c("j", 50),
            "charged 50, balance 0",
            "charge a -33/-33, charge b -17/-17, lien_release b 0/-10",
        );
        expect_amounts(t, &[("F", 0), ("Q", 18)]);
    });
}

#[test]
fn ledger_case_108_the_parents_own_lists_count() {
    on_both(|t| {
        t.given("F{a=10}, Q{b=100; -u ANY,-amy}");
        t.admin(below("F", "Q", 0, Overflow::Listed));
        t.expect(
            r("j", 50),
            "refused insufficient_funds, exit 3: needed 50, available 10",
            "",
        );
    });
}

#[test]
fn ledger_case_118_the_end_or_the_distance_decides_first() {
    let prepare = |t: &mut Bench<'_>| {
        t.given("F{a=10}, Q{b=100 [2026,2027)}");
        t.admin(below("F", "Q", 0, Overflow::Listed));
    };
    on_both(|t| {
        prepare(t);
        t.expect(c("j", 50), "charged 50, balance 50", "charge b -50");
        t.expect_allocation("a", "10 held 0, deposited 10, active");
    });
    let hierarchy = Policy {
        order: SelectionOrder::HierarchyFirst,
        ..Policy::default()
    };
    on_both_with(hierarchy, |t| {
        prepare(t);
        t.expect(
            c("j", 50),
            "charged 50, balance 0",
            "charge a -10, charge b -40",
        );
        t.expect_allocation("b", "60 held 0, deposited 100, active");
    });
}

/// The parent has the lower number: Gold took from it first.
#[test]
fn defect_d02_an_overflow_parent_never_pays_before_its_child() {
    on_both(|t| {
        t.given("Q{b=35}, F{a=33}");
        t.admin(below("F", "Q", 0, Overflow::Listed));
        t.expect(
            c("j", 50),
            "charged 50, balance 0",
            "charge a -33, charge b -17",
        );
        t.expect(
            c("k", 20),
            "charged 20, debt 2, balance -2",
            "charge b -18, charge_debt b -2",
        );
    });
}

#[test]
fn defect_d14_a_share_is_not_cut_to_whole_credits() {
    on_both_in(3, |t| {
        tree(t, 33, 0);
        let amount = Amount::parse("7.005", Precision::new(3).unwrap()).unwrap();
        let odd = Command::Deposit(Deposit {
            name: "Q".to_owned(),
            amount,
            ..Deposit::default()
        });
        t.expect(
            odd.into(),
            "new: amount 4694, deposited 4694",
            "deposit a +2311, deposit b +4694",
        );
    });
}

#[test]
fn a_share_is_shared_on_and_a_deposit_can_stay_where_it_is() {
    on_both(|t| {
        t.given("Q{}, F{}, G{}, H{}");
        t.admin(below("F", "Q", 50, Overflow::No));
        t.admin(below("G", "F", 100, Overflow::No));
        t.admin(below("H", "G", 10, Overflow::No));
        t.expect(
            deposit("Q", "99"),
            "new: amount 50, deposited 50",
            "deposit a +4, deposit b +45, deposit c +50",
        );
        expect_amounts(t, &[("H", 4), ("G", 45), ("F", 0), ("Q", 50)]);
        t.expect(
            deposit("Q", "10").no_tree(),
            "amount 60, deposited 60",
            "deposit c +10",
        );
        t.expect(
            deposit("Q", "10").limit(5),
            "new: amount 10, deposited 10",
            "deposit d +10",
        );
        t.expect(deposit("Q", "0"), "refused bad_amount, exit 1", "");
    });
}

#[test]
fn overflow_goes_on_generation_by_generation_and_may_pass_over_lists() {
    on_both(|t| {
        t.project("OTHER", None);
        t.given("T{c=100; -p OTHER -u ANY}, Q{b=10}, F{a=10}");
        t.admin(below("F", "Q", 0, Overflow::Listed));
        t.admin(below("Q", "T", 0, Overflow::Listed));
        t.expect(
            r("j", 50),
            "refused insufficient_funds, exit 3: needed 50, available 20",
            "",
        );
        t.admin(below("Q", "T", 0, Overflow::Any));
        t.expect(
            r("j", 50),
            "lien 50",
            "lien a 0/+10, lien b 0/+10, lien c 0/+30",
        );
        t.admin(below("F", "Q", 0, Overflow::No));
        // Q pays as an account of P, and T after it.
        t.expect(
            r("j", 30),
            "lien 30",
            "lien_replace a 0/-10, lien_replace b 0/-10, lien_replace c 0/-30, \
             lien b 0/+10, lien a 0/+10, lien c 0/+10",
        );
    });
}

#[test]
fn an_account_with_accounts_below_it_stays_and_lines_are_bounded() {
    on_both(|t| {
        t.given("Q{}, F{}");
        t.admin(below("F", "Q", 40, Overflow::No));
        t.expect(
            Command::RemoveAccount("Q".to_owned()).into(),
            "refused in_use, exit 1",
            "",
        );
        let unlink = SetAccount {
            name: "F".to_owned(),
            parent: Some(None),
            ..SetAccount::default()
        };
        t.admin(Command::SetAccount(unlink));
        t.admin(Command::RemoveAccount("Q".to_owned()));
        let names: Vec<String> = (0..18).map(|n| format!("L{n}")).collect();
        let given: Vec<String> = names.iter().map(|n| format!("{n}{{}}")).collect();
        t.given(&given.join(", "));
        for pair in names[..17].windows(2) {
            t.admin(below(&pair[1], &pair[0], 0, Overflow::No));
        }
        let refused = "refused bad_value, exit 1";
        t.expect(below("L17", "L16", 0, Overflow::No).into(), refused, "");
        t.expect(below("L0", "L17", 0, Overflow::No).into(), refused, "");
    });
}
