//! ledger.md 11, cases 104 and 105: the modes that refuse nothing, and mode `fast`.

use super::ask::{c, deposit, quote, r};
use super::bench::{Bench, on_both};
use bank_core::command::{Command, SetProject};
use bank_core::model::Mode;

fn mode(t: &mut Bench<'_>, mode: Mode) {
    t.admin(Command::SetProject(SetProject {
        name: "P".to_owned(),
        mode: Some(Some(mode)),
        ..SetProject::default()
    }));
}

#[test]
fn ledger_case_104_mode_notional_prices_everything_and_refuses_nothing() {
    on_both(|t| {
        t.given("F{a=0}");
        mode(t, Mode::Notional);
        t.expect(
            r("j", 7200),
            "lien 0, shadow 7200, would_refuse insufficient_funds",
            "would_refuse 0, lien a 0 shadow 0/+7200",
        );
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(
            last.reason,
            "would_refuse=insufficient_funds needed=7200 available=0"
        );
        t.expect_balance(
            "F",
            "amount 0 held 0 balance 0 available 0, shadow held 7200",
        );
        t.expect(
            c("j", 7200),
            "charged 7200, shadow, balance 0",
            "charge_notional a 0 shadow -7200/-7200",
        );
        t.expect_usage("7200 s, 7200, shadow");
        t.expect_balance(
            "F",
            "amount 0 held 0 balance 0 available 0, shadow charged 7200",
        );
    });
}

#[test]
fn ledger_case_105_mode_track_reports_no_cost() {
    on_both(|t| {
        t.given("F{a=0}");
        mode(t, Mode::Track);
        t.expect(quote(7200), "cost 0", "");
        t.expect(
            r("j", 7200),
            "lien 0, shadow 7200, would_refuse insufficient_funds",
            "would_refuse 0, lien a 0 shadow 0/+7200",
        );
        t.expect(
            c("j", 7200),
            "charged 0, shadow, balance 0",
            "charge_notional a 0 shadow -7200/-7200",
        );
        t.expect_usage("7200 s, 7200, shadow");
        t.expect_balance(
            "F",
            "amount 0 held 0 balance 0 available 0, shadow charged 7200",
        );
    });
}

/// Decision 18: a charge that leaves the account below zero blocks it until a deposit.
#[test]
fn mode_fast_blocks_an_account_below_zero_until_a_deposit() {
    on_both(|t| {
        t.given("F{a=100}");
        mode(t, Mode::Fast);
        t.expect(r("j", 7200), "lien 0", "");
        t.expect(
            c("j", 150),
            "charged 150, debt 50, balance -50",
            "charge a -100, charge_debt a -50",
        );
        t.expect(r("k", 10), "refused account_blocked, exit 3", "");
        t.expect(quote(10), "refused account_blocked, exit 3", "");
        t.expect(
            deposit("F", "49"),
            "amount -1, deposited 149",
            "deposit a +49",
        );
        t.expect(r("k", 10), "refused account_blocked, exit 3", "");
        t.expect(deposit("F", "1"), "amount 0, deposited 150", "deposit a +1");
        t.expect(r("k", 10), "lien 0", "");
    });
}
