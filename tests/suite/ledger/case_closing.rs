//! ledger.md 11, cases 56, 57, 71, 87, 96, 98, 99 and 117: interim charges, ends and boundaries.

use super::ask::{c, ci, deposit, r};
use super::bench::on_both;
use super::fixture::time;
use bank_core::command::{Command, SetAllocation};
use bank_core::ids::AllocationId;

#[test]
fn ledger_case_056_interim_charges_shrink_the_lien() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("s", 400)]);
        t.expect(
            ci("s", 100),
            "charged 100, balance 600",
            "charge a -100/-100",
        );
        t.expect_balance("F", "amount 900 held 300 balance 600 available 600");
        t.expect(
            ci("s", 500),
            "charged 500, balance 400",
            "charge a -500/-300",
        );
        t.expect_balance("F", "amount 400 held 0 balance 400 available 400");
        t.expect_job("s", "open, used 600 s, billed 600, lien 0 [T0,T0+1000)");
    });
}

#[test]
fn ledger_case_057_the_closing_charge_ends_an_empty_lien() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("s", 400), ci("s", 100), ci("s", 500)]);
        t.expect(
            c("s", 1),
            "charged 1, balance 399",
            "charge a -1, lien_release a 0/0",
        );
        t.expect_balance("F", "amount 399 held 0 balance 399 available 399");
        t.expect_job("s", "closed, used 601 s, billed 601, no lien");
    });
}

#[test]
fn ledger_case_071_a_stale_lien_pays_no_more() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("st1", 600).end("T0+2")]);
        t.at("T0+3");
        t.expect(
            r("st2", 900),
            "lien 900",
            "lien_expire a 0/-600 (T0+2); lien a 0/+900",
        );
        t.expect(
            c("st1", 600),
            "charged 600, debt 500, balance -500",
            "charge a -100, charge_debt a -500",
        );
        t.expect_balance("F", "amount 400 held 900 balance -500 available -500");
    });
}

#[test]
fn ledger_case_087_a_window_is_not_cut_backwards() {
    on_both(|t| {
        t.given("F{a=150}");
        t.after([c("j", 150)]);
        let cut = SetAllocation {
            id: AllocationId(2),
            start: None,
            end: Some(Some(time("T0-1"))),
            credit_limit: None,
        };
        t.expect(
            Command::SetAllocation(cut).into(),
            "changed",
            "modify a 0; expire a 0",
        );
        t.expect_allocation("a", "0 held 0, deposited 150, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

#[test]
fn ledger_case_096_the_ledger_clock_never_steps_back() {
    on_both(|t| {
        t.given("F{a=100 [2026,T0+10)}");
        t.at("T0+20");
        t.after([deposit("F", "1").window("[2026,2027)")]);
        t.at("T0-3580");
        t.expect(
            c("j", 1),
            "charged 1, balance 0",
            "clock_back 0; charge b -1",
        );
        t.expect(c("k", 0), "charged 0, balance 0", "charge b 0");
        t.expect_allocation("b", "0 held 0, deposited 1, active");
        t.expect_allocation("a", "100 held 0, deposited 100, expired");
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.recorded, time("T0+20"), "{}", t.ground.name());
    });
}

#[test]
fn ledger_case_098_a_window_is_half_open() {
    on_both(|t| {
        t.given("F{a=1000 [2026,T0+100)}");
        t.at("T0+99");
        t.expect(c("k", 10), "charged 10, balance 990", "charge a -10");
        t.expect_balance("F", "amount 990 held 0 balance 990 available 990");
        t.at("T0+100");
        t.expect(
            r("j", 10),
            "refused insufficient_funds, exit 3: needed 10, available 0",
            "expire a 0 active -990",
        );
    });
}

#[test]
fn ledger_case_099_a_late_charge_finds_its_account_again() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300)]);
        t.at("T0+1000");
        t.expect(
            c("j", 1100),
            "charged 1100, debt 100, balance -100",
            "lien_expire a 0/-300 (T0+900); charge a -1000, charge_debt a -100",
        );
    });
    on_both(|t| {
        t.given("F{a=1000 [2026,T0+7200)}");
        t.after([r("j", 300)]);
        t.at("T0+86400");
        t.expect(
            c("j", 300).at("T0+300"),
            "charged 300, late, balance 0",
            "lien_expire a 0/-300 (T0+900); expire a 0 active -1000 (T0+7200); \
             late_charge a -300 (T0+300); expire a 0 active +300 (T0+7200)",
        );
        t.expect_allocation("a", "700 held 0, deposited 1000, expired");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
        t.expect_job("j", "closed, used 300 s, billed 300, no lien");
        let closing = t.ground.journal(0).into_iter();
        let closed = closing.filter(|tx| tx.effective == time("T0+1500"));
        assert_eq!(closed.map(|tx| tx.op).collect::<Vec<_>>(), ["boundary"]);
    });
}

#[test]
fn ledger_case_117_equal_job_ids_on_two_machines_are_two_jobs() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("42", 100).machine("blue"), r("42", 200)]);
        t.expect(
            c("42", 50).machine("blue"),
            "charged 50, balance 750",
            "charge a -50/-50, lien_release a 0/-50",
        );
        t.expect_balance("F", "amount 950 held 200 balance 750 available 750");
        t.expect_job("42", "open, used 0 s, billed 0, lien 200 [T0,T0+800)");
    });
}
