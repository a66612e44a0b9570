//! ledger.md 11, cases 104 and 105: the modes that refuse nothing, and mode `fast`.

use super::ask::{c, ci, deposit, quote, r};
use super::bench::{Bench, on_both};
use bank_core::command::Command;
use bank_core::model::Mode;

fn mode(t: &mut Bench<'_>, mode: Mode) {
    t.admin(Command::set_record(
        "project",
        "P",
        &[("mode", mode.word().into())],
    ));
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

/// decisions.md 18: a charge that leaves the account below zero blocks it until a deposit.
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

/// A switch with open liens: what a real lien holds is given back by the first charge that moves no
/// money, and the other way round.
#[test]
fn a_switch_of_modes_gives_the_other_money_back() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300), r("k", 200)]);
        mode(t, Mode::Track);
        t.expect(
            ci("j", 100),
            "charged 0, shadow, balance 800",
            "lien_release a 0/-300, charge_notional a 0 shadow -100/0",
        );
        t.expect_job("j", "open, used 100 s, billed 100, no lien");
        t.expect(r("l", 50), "lien 0, shadow 50", "lien a 0 shadow 0/+50");
        mode(t, Mode::Strict);
        t.expect(
            ci("l", 20),
            "charged 20, balance 780",
            "lien_release a 0 shadow 0/-50, charge a -20",
        );
        // Nobody charged this one in between: its lien pays.
        t.expect(
            c("k", 150),
            "charged 150, balance 830",
            "charge a -150/-150, lien_release a 0/-50",
        );
        t.expect_balance(
            "F",
            "amount 830 held 0 balance 830 available 830, shadow charged 100",
        );
    });
}

/// A use stays in the mode of its first charge (decision 0137), and so do its later liens.
#[test]
fn a_lien_that_is_renewed_stays_in_the_mode_of_its_use() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300), ci("j", 100)]);
        mode(t, Mode::Track);
        t.expect(
            r("j", 250),
            "lien 250",
            "lien_replace a 0/-200, lien a 0/+250",
        );
        mode(t, Mode::Strict);
        t.expect(
            c("j", 50),
            "charged 50, balance 850",
            "charge a -50/-50, lien_release a 0/-200",
        );
    });
    on_both(|t| {
        t.given("F{a=1000}");
        mode(t, Mode::Track);
        t.after([r("j", 300), ci("j", 100)]);
        mode(t, Mode::Strict);
        t.expect(
            r("j", 250),
            "lien 0, shadow 250",
            "lien_replace a 0 shadow 0/-200, lien a 0 shadow 0/+250",
        );
    });
}

/// What liens hold of the other kind goes with their end too, charged or not.
#[test]
fn liens_of_another_mode_end_as_all_do() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([r("j", 300)]);
        mode(t, Mode::Notional);
        t.expect(
            r("j", 400),
            "lien 0, shadow 400",
            "lien_replace a 0/-300, lien a 0 shadow 0/+400",
        );
        mode(t, Mode::Strict);
        t.at("T0+1000");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
        t.expect_journal("lien_expire a 0 shadow 0/-400");
    });
}

/// ledger.md 5: a switch is journalled with what was and what is.
#[test]
fn a_switch_of_modes_is_journalled() {
    on_both(|t| {
        mode(t, Mode::Track);
        mode(t, Mode::Strict);
        t.admin(Command::set_record(
            "machine",
            "colony",
            &[("mode", Mode::Fast.word().into())],
        ));
        let reasons: Vec<String> = t
            .ground
            .journal(0)
            .into_iter()
            .map(|tx| tx.reason)
            .collect();
        let last = &reasons[reasons.len() - 3..];
        let expected = [
            "project=P mode=default>track",
            "project=P mode=track>strict",
            "machine=colony mode=default>fast",
        ];
        assert_eq!(last, expected);
    });
}
