//! ledger.md 2.8, step 3: what a charge does that lien and free money do not cover.

use super::ask::{c, ci, r};
use super::bench::{Bench, on_both, on_both_with};
use super::case_store::store_with;
use super::fixture::T0;
use super::ground::Ground as _;
use super::memory::Memory;
use bank_core::amount::Amount;
use bank_core::command::{Command, Scope, SetAccount};
use bank_core::directory::Policy;
use bank_core::effects::Outcome;
use bank_core::ledger;
use bank_core::terms::Shortfall;
use bank_core::time::Seconds;
use bankd_store::verify;

fn with_fallback(t: &mut Bench<'_>) {
    t.project("OTHER", None);
    t.given("F{a=100}, FB{b=50; -p OTHER -u ANY}");
    t.admin(Command::SetAccount(SetAccount {
        name: "F".to_owned(),
        fallback: Some(Some("FB".to_owned())),
        ..SetAccount::default()
    }));
}

#[test]
fn a_site_may_refuse_what_nothing_covers() {
    on_both(|t| {
        t.given("F{a=100}");
        t.after([r("j", 40)]);
        t.expect(
            c("j", 120).shortfall(Shortfall::Reject),
            "refused insufficient_funds, exit 3: needed 120, available 100",
            "",
        );
        t.expect_job("j", "open, used 0 s, billed 0, lien 40 [T0,T0+640)");
        t.expect(
            c("j", 100).shortfall(Shortfall::Reject),
            "charged 100, balance 0",
            "charge a -100/-40",
        );
    });
    let policy = Policy {
        shortfall: Shortfall::Reject,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.given("F{a=100}");
        t.expect(
            c("j", 101),
            "refused insufficient_funds, exit 3: needed 101, available 100",
            "",
        );
        // The caller's word goes before the site's.
        t.expect(
            c("j", 101).shortfall(Shortfall::Debt),
            "charged 101, debt 1, balance -1",
            "charge a -100, charge_debt a -1",
        );
        // Usage that nobody can be billed for is kept all the same.
        t.expect(
            c("k", 5).project("nosuch"),
            "charged 5, unbilled, balance -5",
            "charge_debt #unbilled -5",
        );
    });
}

#[test]
fn the_fallback_account_pays_what_it_can() {
    let policy = Policy {
        shortfall: Shortfall::Fallback,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        with_fallback(t);
        t.expect(
            ci("j", 120),
            "charged 120, by fallback 20, balance 0",
            "charge a -100, charge_fallback b -20",
        );
        t.expect(
            ci("j", 40),
            "charged 40, debt 10, by fallback 30, balance -10",
            "charge_fallback b -30, charge_debt a -10",
        );
        t.expect_balance("FB", "amount 0 held 0 balance 0 available 0");
    });
    on_both(|t| {
        with_fallback(t);
        t.expect(
            c("j", 120),
            "charged 120, debt 20, balance -20",
            "charge a -100, charge_debt a -20",
        );
    });
}

/// Case 71: the answer says how much of a debt other liens hold.
#[test]
fn a_debt_from_under_liens_is_distinguished() {
    for (seconds, debt, against) in [(600, 500, 500), (100, 0, 0), (1500, 1400, 900)] {
        let mut memory = Memory::new(Policy::default());
        {
            let mut t = Bench::new(&mut memory);
            t.given("F{a=1000}");
            t.after([r("st2", 900)]);
        }
        let command = c("st1", seconds).command.unwrap();
        let scope = Scope::default();
        let now = T0.plus(Seconds(1));
        let decision = ledger::execute(&mut memory.book, &command, &scope, now, false);
        let Ok(Ok(Outcome::Charged(charged))) = decision else {
            panic!("{decision:?}");
        };
        let debts = (charged.debt, charged.against_liens);
        assert_eq!(debts, (Amount(debt), Amount(against)), "{seconds} s");
        assert_eq!(memory.findings(), Vec::<String>::new());
    }
}

/// ledger.md 2.12: it is listed, and it is no error.
#[test]
fn liens_that_hold_more_than_is_there_are_noted() {
    let (store, _) = store_with("F{a=1000}", [r("st2", 900), c("st1", 600)]);
    let report = verify::run(store.path()).unwrap();
    assert_eq!(report.lines(), Vec::<String>::new());
    assert_eq!(
        report.notes,
        ["allocation 2: liens hold 900, 400 are there"]
    );
}
