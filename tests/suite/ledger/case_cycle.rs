//! Cycles (ledger.md 10, idea 9): each boundary once, in order, whatever the clock does.

use super::ask::{Ask, c, r};
use super::bench::on_both;
use super::fixture::time;
use bank_core::amount::Amount;
use bank_core::command::{AddCycle, Command, SetAllocation, SetCycle};
use bank_core::ids::AllocationId;
use bank_core::model::Every;

fn monthly(amount: i64, rollover: i64) -> Ask {
    Command::AddCycle(AddCycle {
        name: "monthly".to_owned(),
        account: "F".to_owned(),
        every: Every::Month,
        amount: Amount(amount),
        rollover,
        start: None,
        note: String::new(),
    })
    .into()
}

fn run(preview: bool) -> Ask {
    Command::RunCycle("monthly".to_owned(), preview).into()
}

fn set(change: impl FnOnce(&mut SetCycle)) -> Ask {
    let mut set = SetCycle {
        name: "monthly".to_owned(),
        ..SetCycle::default()
    };
    change(&mut set);
    Command::SetCycle(set).into()
}

#[test]
fn a_cycle_brings_money_and_carries_a_share_over() {
    on_both(|t| {
        t.given("F{}");
        t.expect(monthly(1000, 20), "done", "");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
        t.at("2026-07-01");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
        t.expect_journal("deposit a +1000");
        t.at("2026-07-20");
        t.after([c("k", 300)]);
        // 700 are left at the end, 100 of them held: 20 per cent of the rest go over.
        t.at("2026-07-31T23:59:00Z");
        t.after([r("l", 100)]);
        t.at("2026-08-01T06:00:00Z");
        t.expect_balance("F", "amount 1120 held 0 balance 1120 available 1120");
        t.expect_journal(
            "deposit b +1000, cycle_reset a -120, cycle_reset b +120 (2026-08-01); \
             expire a 0 active -580 (2026-08-01); \
             lien_expire a 0/-100 (2026-08-01T00:10:40Z)",
        );
        t.expect_allocation("b", "1120 held 0, deposited 1120, active");
    });
}

/// The end of an allocation was moved to an earlier time: its credits are gone before the boundary.
#[test]
fn nothing_is_carried_over_from_an_allocation_that_ended() {
    on_both(|t| {
        t.given("F{}");
        t.expect(monthly(100, 50), "done", "");
        t.at("2026-07-01");
        t.expect_balance("F", "amount 100 held 0 balance 100 available 100");
        t.expect_journal("deposit a +100");
        let cut = SetAllocation {
            id: AllocationId(2),
            start: None,
            end: Some(Some(time("2026-07-20"))),
            credit_limit: None,
        };
        t.expect(Command::SetAllocation(cut).into(), "changed", "modify a 0");
        t.at("2026-08-01");
        t.expect_balance("F", "amount 100 held 0 balance 100 available 100");
        t.expect_journal("expire a 0 active -100 (2026-07-20); deposit b +100");
    });
}

#[test]
fn missed_periods_are_caught_up_in_order_and_once() {
    on_both(|t| {
        t.given("F{}");
        t.expect(monthly(100, 50), "done", "");
        t.at("2026-09-15");
        t.ground.settle(t.clock);
        t.expect_journal(
            "deposit a +100 (2026-07-01); \
             deposit b +100, cycle_reset a -50, cycle_reset b +50 (2026-08-01); \
             expire a 0 active -50 (2026-08-01); \
             deposit c +100, cycle_reset b -75, cycle_reset c +75 (2026-09-01); \
             expire b 0 active -75 (2026-09-01)",
        );
        t.expect_balance("F", "amount 175 held 0 balance 175 available 175");
        t.expect_journal("");
        // A clock that steps back runs nothing again.
        t.at("2026-08-20");
        t.ground.settle(t.clock);
        t.expect_journal("clock_back 0");
        t.ground.reopen();
        t.at("2026-09-16");
        t.ground.settle(t.clock);
        t.expect_journal("");
    });
}

#[test]
fn what_is_owed_stays_where_it_was_made() {
    on_both(|t| {
        t.given("F{}");
        t.expect(monthly(100, 100), "done", "");
        t.at("2026-07-10");
        t.after([c("j", 150)]);
        t.expect(
            run(true),
            "run [2026-08-01,2026-09-01), rollover 0",
            "deposit b +100 (2026-08-01)",
        );
    });
}

#[test]
fn a_cycle_runs_by_itself_only() {
    on_both(|t| {
        t.given("F{}");
        t.expect(monthly(100, 0), "done", "");
        t.expect(run(false), "refused cycle_not_due, exit 1", "");
        t.expect(monthly(100, 0), "refused already_exists, exit 7", "");
        t.expect(monthly(0, 0), "refused already_exists, exit 7", "");
        t.expect(
            set(|s| s.amount = Some(Amount(0))),
            "refused bad_amount, exit 1",
            "",
        );
        t.expect(
            set(|s| s.rollover = Some(101)),
            "refused bad_value, exit 1",
            "",
        );
        let rm = Command::RemoveAccount("F".to_owned());
        t.expect(rm.into(), "refused in_use, exit 1", "");
        let rm = Command::RemoveCycle("monthly".to_owned());
        t.expect(rm.into(), "removed", "");
        t.at("2026-07-02");
        t.ground.settle(t.clock);
        t.expect_journal("");
    });
}

#[test]
fn a_cycle_that_is_off_leaves_out_what_passes() {
    on_both(|t| {
        t.given("F{}");
        t.expect(monthly(100, 100), "done", "");
        t.at("2026-07-01");
        t.ground.settle(t.clock);
        t.expect_journal("deposit a +100");
        t.after([set(|s| s.active = Some(false))]);
        t.at("2026-10-10");
        t.ground.settle(t.clock);
        t.expect_journal("expire a 0 active -100 (2026-08-01)");
        t.after([set(|s| s.active = Some(true))]);
        t.at("2026-11-01");
        t.ground.settle(t.clock);
        t.expect_journal("deposit b +100");
        // Another period counts from the next boundary.
        t.after([set(|s| s.every = Some(Every::Quarter))]);
        t.at("2027-03-31");
        t.ground.settle(t.clock);
        t.expect_journal(
            "deposit c +100, cycle_reset b -100, cycle_reset c +100 (2026-12-01); \
             expire b 0 (2026-12-01); \
             deposit d +100, cycle_reset c -200, cycle_reset d +200 (2027-03-01); \
             expire c 0 (2027-03-01)",
        );
    });
}
