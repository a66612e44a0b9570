//! What random scripts have found: each is the shortest script, and what the specification says of
//! it.

use super::ask::{c, ci, r};
use super::ask_after::{account_rm, allocation_rm, refund, settle, undo};
use super::bench::{Bench, on_both, on_both_with};
use bank_core::command::{Command, SetAccount};
use bank_core::directory::Policy;
use bank_core::model::Mode;
use bank_core::terms::Shortfall;

const REFUSED: &str = "exit 1";

fn fallback(t: &mut Bench<'_>, account: &str, name: &str) {
    t.admin(Command::SetAccount(SetAccount {
        name: account.to_owned(),
        fallback: Some(Some(name.to_owned())),
        ..SetAccount::default()
    }));
}

/// A flag that no deposit can clear would stay for ever (decisions.md 18).
#[test]
fn found_unbilled_usage_in_mode_fast_blocks_nothing() {
    on_both(|t| {
        t.admin(Command::set_record(
            "project",
            "P",
            &[("mode", Mode::Fast.word().into())],
        ));
        t.expect(
            c("j", 20),
            "charged 20, unbilled, balance -20",
            "charge_debt #unbilled -20",
        );
        let directory = t.ground.directory();
        assert!(!directory.suspense().unwrap().blocked);
    });
}

/// Only a reported total gives money back (decisions.md 7): a bound that comes under a running job does
/// not, and leaves its exact sum alone.
#[test]
fn found_a_bound_that_comes_later_bills_nothing_more() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([ci("j", 60)]);
        t.rate("MAX Charge 40");
        t.at("T0+5");
        t.expect(ci("j", 5), "charged 0, balance 940", "charge a 0");
        t.expect_job("j", "open, used 65 s, billed 60, no lien");
        t.rate("MAX Charge 70");
        t.at("T0+10");
        t.expect(ci("j", 5), "charged 10, balance 930", "charge a -10");
    });
}

/// Work that was undone and done again is still the work that was refunded or settled: taking it
/// back a second way would make money (ledger.md 2.13).
#[test]
fn found_work_that_was_done_again_keeps_its_refunds() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 100)]);
        let charge = t.tx("charge", 0);
        t.after([undo(charge)]);
        let undone = t.tx("undo", 0);
        t.after([undo(undone)]);
        let again = t.tx("undo", 0);
        t.after([refund("j", 100)]);
        let refused = format!("refused has_refunds, {REFUSED}: 1 of them");
        t.expect(undo(again), &refused, "");
        t.expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
    });
    on_both(|t| {
        t.after([c("j", 20)]);
        let charge = t.tx("charge", 0);
        t.after([undo(charge)]);
        let undone = t.tx("undo", 0);
        t.after([undo(undone)]);
        let again = t.tx("undo", 0);
        t.given("F{a=1000}");
        t.after([settle("j", "P")]);
        t.expect(
            undo(again),
            &format!("refused already_reversed, {REFUSED}"),
            "",
        );
        t.expect_balance("F", "amount 980 held 0 balance 980 available 980");
    });
}

/// The liens of an allocation that goes hold on the project's other accounts, as those of an account
/// do (ledger.md 2.11); on whichever the job's project has, not on those that the account's own
/// lists name.
#[test]
fn found_liens_of_a_removed_allocation_go_to_other_accounts() {
    on_both(|t| {
        t.given("F{a=100 [2026,2027)}, G{b=100}");
        t.after([r("j", 50)]);
        t.expect(
            allocation_rm(2, true),
            "removed",
            "lien_release a 0/-50, lien b 0/+50, delete a -100",
        );
    });
    on_both_with(
        Policy {
            fallback: bank_core::directory::FallbackMode::Bank,
            ..Policy::default()
        },
        |t| {
            t.project("FBP", None);
            t.given("F{a=10}, FB{b=100; -p FBP}");
            fallback(t, "F", "FB");
            t.after([r("j", 50)]);
            t.admin(Command::SetAccount(SetAccount {
                name: "F".to_owned(),
                fallback: Some(None),
                ..SetAccount::default()
            }));
            t.expect(
                account_rm("FB", true),
                "removed",
                "lien_release b 0/-50, lien a 0/+10, lien #unbilled 0/+40, delete b -100",
            );
        },
    );
}

/// The account that pays is kept on the instance, and with it its fallback (decisions.md 11).
#[test]
fn found_the_fallback_of_the_account_that_is_kept_pays() {
    let policy = Policy {
        shortfall: Shortfall::Fallback,
        ..Policy::default()
    };
    on_both_with(policy, |t| {
        t.project("W", None);
        t.project("FBP", None);
        t.given("F{a=100}, FB{b=100; -p FBP}");
        fallback(t, "F", "FB");
        t.after([ci("j", 30).project("W"), settle("j", "P")]);
        t.expect(
            ci("j", 90).project("W"),
            "charged 90, by fallback 20, balance 0",
            "charge a -70, charge_fallback b -20",
        );
    });
}

/// Lists of classes and the like are looked at wherever somebody pays (ledger.md 4).
#[test]
fn found_lists_of_classes_hold_for_settlements_and_moved_liens() {
    on_both(|t| {
        t.project("W", None);
        t.given("F{a=100}, G{b=100 [2026,2027); --class batch}");
        let job = |id: &str| c(id, 30).project("W").class("batch");
        t.after([job("j")]);
        t.expect(
            settle("j", "P"),
            "settled 30, debt 0",
            "reverse #unbilled +30, charge b -30",
        );
    });
    on_both(|t| {
        t.given("F{a=100 [2026,2026-12-01)}, H{b=100}, G{d=100 [2026,2027); --class batch}");
        t.after([r("j", 30).class("batch")]);
        t.expect(
            account_rm("F", true),
            "removed",
            "lien_release a 0/-30, lien d 0/+30, delete a -100",
        );
    });
}

/// The sum of what is given back stays within the charge (ledger.md 2.4), also where a settlement or
/// a refund that was undone is done again after something else gave it back.
#[test]
fn found_what_was_given_back_meanwhile_is_not_given_back_again() {
    on_both(|t| {
        t.project("W", None);
        t.given("F{a=1000}");
        t.after([c("j", 7).project("W"), settle("j", "P")]);
        let settled = t.tx("settle", 0);
        t.after([undo(settled)]);
        let undone = t.tx("undo", 0);
        t.after([refund("j", 7)]);
        let refused = format!("refused has_refunds, {REFUSED}: 1 of them");
        t.expect(undo(undone), &refused, "");
    });
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([c("j", 100), refund("j", 80)]);
        let refunded = t.tx("refund", 0);
        t.after([undo(refunded)]);
        let undone = t.tx("undo", 0);
        t.after([refund("j", 30)]);
        let refused = format!("refused has_refunds, {REFUSED}: 1 of them");
        t.expect(undo(undone), &refused, "");
        t.expect_balance("F", "amount 930 held 0 balance 930 available 930");
    });
}

/// An allocation that was over and without credit loses neither window nor limit when it is removed;
/// its money comes back all the same.
#[test]
fn found_the_removal_of_an_expired_allocation_is_undone() {
    on_both(|t| {
        t.given("F{a=100 [2026,T0+10), b=5}");
        t.at("T0+20");
        t.after([allocation_rm(2, true)]);
        let removed = t.tx("allocation_rm", 0);
        t.expect(
            undo(removed),
            "undid allocation_rm",
            "modify a 0, reverse a +100, expire a 0 active -100",
        );
    });
}

/// What another source charges is kept for comparison: a total of it gives nothing back
/// (decisions.md 19).
#[test]
fn found_a_total_of_another_source_gives_nothing_back() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.admin(Command::set_record(
            "machine",
            "colony",
            &[("source", "slurm".into())],
        ));
        t.after([ci("j", 60)]);
        let total = ci("j", 10).charge(|charge| {
            charge.terms.total = true;
            charge.terms.source = Some("nami".to_owned());
        });
        t.expect(total, "charged 0, balance 940", "modify 0");
        t.expect_balance("F", "amount 940 held 0 balance 940 available 940");
    });
}

/// A charge that was overtaken is measured with those that came before it (nami.md 1.4, note 0023):
/// the latest event and what was disputed stay with the instance.
#[test]
fn found_the_latest_event_of_a_job_is_kept() {
    on_both(|t| {
        t.given("F{a=100000}");
        t.after([r("j", 9000)]);
        let checked = |seconds| ci("j", seconds).charge(|charge| charge.is_checked = true);
        t.at("T0+3600");
        t.expect(
            checked(3600),
            "charged 3600, balance 91000",
            "charge a -3600/-3600",
        );
        t.expect(
            checked(4000).at("T0+100"),
            "charged 3600, balance 91000",
            "charge a -3600/-3600, disputed 0 (T0+100)",
        );
        let object = super::ask::job("colony", "j");
        let instance = t.ground.instances(&object).pop().unwrap();
        assert_eq!(instance.disputed.0, 400);
    });
}
