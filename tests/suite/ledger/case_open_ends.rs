//! Rules that hold after the fact as they do before it: who may pay, blocks, allocations that stand
//! apart, removed names, and prices with a minimum or maximum (decision note 0022).

use super::ask::{Ask, c, ci, deposit, extend, r, rate};
use super::ask_after::{account_rm, adjust, allocation_rm, refund, settle, undo};
use super::bench::{on_both, on_both_with};
use super::fixture::time;
use bank_core::amount::Amount;
use bank_core::command::{AddCycle, Command, SetAccount, SetAllocation};
use bank_core::directory::Policy;
use bank_core::ids::AllocationId;
use bank_core::model::{Every, Mode};

fn account(name: &str) -> Ask {
    Command::AddAccount(SetAccount {
        name: name.to_owned(),
        ..SetAccount::default()
    })
    .into()
}

fn fast() -> Ask {
    Command::set_record("project", "P", &[("mode", Mode::Fast.word().into())]).into()
}

fn monthly(account: &str) -> Ask {
    Command::AddCycle(AddCycle {
        name: "monthly".to_owned(),
        account: account.to_owned(),
        every: Every::Month,
        amount: Amount(10),
        rollover: 0,
        start: None,
        note: String::new(),
    })
    .into()
}

fn apart() -> Policy {
    Policy {
        discrete: true,
        ..Policy::default()
    }
}

#[test]
fn a_settlement_looks_at_class_qos_and_group() {
    on_both(|t| {
        t.given("F{a=100; --class batch}, G{b=100; --class debug --group staff}");
        t.after([c("j", 30).project("nosuch").class("debug").group("staff")]);
        t.expect(
            settle("j", "P"),
            "settled 30, debt 0",
            "reverse #unbilled +30, charge b -30",
        );
    });
}

#[test]
fn a_removal_moves_liens_to_accounts_that_their_lists_let_pay() {
    on_both(|t| {
        t.given("E{a=100; --class debug}, F{b=100; --class batch}, G{c=100; --class debug}");
        t.after([r("j", 30).class("debug")]);
        t.expect(
            account_rm("E", true),
            "removed",
            "lien_release a 0/-30, lien c 0/+30, delete a -100",
        );
    });
}

#[test]
fn a_lien_is_not_held_again_on_a_blocked_account() {
    on_both(|t| {
        t.given("F{a=100 L=500}");
        t.after([r("j", 50)]);
        t.at("T0+1000");
        t.after([fast(), c("k", 150)]);
        t.expect(extend(1, "T0+3000"), "refused account_blocked, exit 3", "");
        t.after([deposit("F", "50").limit(500)]);
        t.expect(
            extend(1, "T0+3000"),
            "lien 50 until T0+3000, revived",
            "lien a 0/+50",
        );
    });
}

#[test]
fn money_that_comes_back_clears_a_block_as_a_deposit_does() {
    on_both(|t| {
        t.given("F{a=100, b=0 [2026,2027)}");
        t.after([fast(), c("j", 150), c("k", 30)]);
        let blocked =
            |t: &super::bench::Bench<'_>| t.ground.directory().account_named("F").unwrap().blocked;
        assert!(blocked(t));
        t.after([refund("j", 79)]);
        assert!(blocked(t), "one is missing");
        t.after([refund("j", 1)]);
        assert!(!blocked(t));
        t.after([c("l", 5)]);
        assert!(blocked(t));
        let last = t.tx("charge", 0);
        t.after([undo(last)]);
        assert!(!blocked(t));
    });
}

#[test]
fn the_suspense_account_takes_no_money() {
    on_both(|t| {
        t.given("F{a=100}");
        t.after([c("j", 30).project("nosuch")]);
        let refused = "refused in_use, exit 1";
        t.expect(adjust("#unbilled", 30, "x"), refused, "");
        t.expect(adjust("#unbilled", -30, "x"), refused, "");
        t.expect(deposit("#unbilled", "30"), refused, "");
        t.expect(monthly("#unbilled"), refused, "");
    });
}

#[test]
fn a_removed_account_comes_back_by_undelete_only() {
    on_both(|t| {
        t.given("F{a=1000}, E{}");
        t.after([account_rm("F", true), account_rm("E", false)]);
        t.expect(account("F"), "refused was_removed, exit 7", "");
        // One that never had an allocation is as good as new.
        t.expect(account("E"), "done", "");
        let project = |with_account: bool| -> Ask {
            Command::add_record("project", "F", &[("no_account", (!with_account).into())]).into()
        };
        t.expect(project(true), "refused was_removed, exit 7", "");
        t.expect(project(false), "done", "");
    });
}

#[test]
fn returned_and_repeated_amounts_are_separate_too() {
    let overlap = "refused allocation_overlap, exit 1";
    on_both_with(apart(), |t| {
        t.given("F{a=20 [2026,T0+10)}");
        t.after([c("j", 20)]);
        t.at("T0+20");
        t.after([deposit("F", "1").window("[T0+10,2026-12-01)")]);
        t.expect(refund("j", 0).reissue_until("2027-01-01"), overlap, "");
        t.expect(
            refund("j", 0),
            "refunded 20, left 0, expired 20",
            "refund a +20, expire a 0 active -20",
        );
    });
    on_both_with(apart(), |t| {
        t.given("F{a=20 [2026,2027)}, G{b=20 [2026,2027)}");
        t.expect(monthly("F"), overlap, "");
        t.after([allocation_rm(2, true)]);
        t.expect(
            deposit("F", "1").window("[T0,2028)"),
            "new: amount 1, deposited 1",
            "deposit c +1",
        );
        let removal = t.tx("allocation_rm", 0);
        t.expect(undo(removal), overlap, "");
        let shorter = SetAllocation {
            id: AllocationId(3),
            start: None,
            end: Some(Some(time("2026-10-01"))),
            credit_limit: None,
        };
        t.after([Command::SetAllocation(shorter).into()]);
        t.after([deposit("G", "1").window("[2026-10-01,2027)")]);
        let cut = t.tx("allocation_set", 0);
        t.expect(undo(cut), overlap, "");
    });
}

/// One step: what is asked, and what it bills.
enum Step {
    Charge(i64, i64),
    /// The newest charge but so many.
    Undo(usize),
}

#[test]
fn an_undone_charge_leaves_the_rest_to_be_priced() {
    use Step::{Charge, Undo};
    let table: [(&str, Vec<Step>); 5] = [
        (
            "MAX total 100",
            vec![
                Charge(80, 80),
                Charge(80, 20),
                Undo(0),
                Charge(10, 10),
                Charge(50, 10),
            ],
        ),
        (
            "MAX total 100",
            vec![Charge(150, 100), Charge(50, 0), Undo(1), Charge(10, 60)],
        ),
        (
            "MIN total 100",
            vec![
                Charge(10, 100),
                Charge(100, 10),
                Undo(0),
                Charge(50, 0),
                Charge(50, 10),
            ],
        ),
        (
            "MIN total 100",
            vec![Charge(10, 100), Undo(0), Charge(20, 100), Charge(90, 10)],
        ),
        (
            "MIN total 0",
            vec![Charge(10, 10), Charge(20, 20), Undo(0), Charge(5, 5)],
        ),
    ];
    // An asserted cost is in the same reason.
    for ((limit, steps), asserted) in table.iter().flat_map(|row| [(row, ""), (row, "5")]) {
        on_both(|t| {
            t.given("F{a=1000}");
            t.after([rate(limit)]);
            for (n, step) in steps.iter().enumerate() {
                match step {
                    Charge(seconds, billed) => {
                        t.at(&format!("T0+{}", 1000 * (n + 1)));
                        let before = t.ground.allocations()[1].used.0;
                        let set_facts = |charge: &mut bank_core::command::Charge| {
                            asserted.clone_into(&mut charge.request.asserted);
                        };
                        t.after([ci("j", *seconds).charge(set_facts)]);
                        let now = t.ground.allocations()[1].used.0;
                        assert_eq!(now - before, *billed, "{limit}: step {n} {asserted}");
                    }
                    Undo(back) => {
                        let charge = t.tx("charge", *back);
                        t.after([undo(charge)]);
                    }
                }
            }
        });
    }
}
