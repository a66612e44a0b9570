//! What a document leaves out, the instance knows (ledger.md 2.7): a charge without a project is
//! paid as one that names it.

use super::ask::{Ask, c, r};
use super::bench::on_both;
use bank_core::command::Command;
use bank_core::model::Mode;

/// The same charge, without project and user.
fn bare(ask: Ask) -> Ask {
    ask.charge(|charge| {
        charge.request.whose.project = None;
        charge.request.whose.user = None;
    })
}

#[test]
fn a_charge_without_a_project_is_paid_by_all_accounts_of_the_job_s_project() {
    on_both(|t| {
        t.given("X{a=100}, Y{b=700}");
        t.after([r("j", 50)]);
        t.expect(
            bare(c("j", 300)),
            "charged 300, balance 0",
            "charge a -100/-50, charge b -200",
        );
    });
}

#[test]
fn the_project_of_the_job_comes_before_the_user_s_default() {
    on_both(|t| {
        t.given("X{a=100}");
        t.project("Q", None);
        t.admin(Command::set_record(
            "user",
            "amy",
            &[("default_project", "Q".into())],
        ));
        t.after([r("j", 50)]);
        let unnamed = c("j", 60).charge(|charge| charge.request.whose.project = None);
        t.expect(unnamed, "charged 60, balance 40", "charge a -60/-50");
    });
}

#[test]
fn a_bare_charge_in_a_shadow_mode_falls_on_the_job_s_account() {
    on_both(|t| {
        t.given("X{a=100}");
        t.admin(Command::set_record(
            "project",
            "P",
            &[("mode", Mode::Strict.word().into())],
        ));
        t.after([r("j", 50)]);
        t.admin(Command::set_record(
            "project",
            "P",
            &[("mode", "default".into())],
        ));
        t.admin(Command::set_record(
            "machine",
            "colony",
            &[("mode", Mode::Notional.word().into())],
        ));
        t.expect(
            bare(c("j", 500)),
            "charged 500, shadow, balance 100",
            "lien_release a 0/-50, charge_notional a 0 shadow -500/0",
        );
    });
}
