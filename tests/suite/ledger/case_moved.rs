//! Uses that a later record gives to another project, and what was refunded of them before
//! (decision 0141).

use super::ask::{Ask, r};
use super::ask_after::{refund, undo};
use super::bench::{Bench, on_both};
use super::fixture::time;
use bank_core::command::{Command, UsageReport};
use bank_core::decimal::Decimal;
use bank_core::policy::{Ended, Figures};

/// A job of amy that cost 1,000 and ended at T0, for a project.
fn record(project: &str) -> Ask {
    record_until(project, "T0")
}

fn record_until(project: &str, end: &str) -> Ask {
    let Ok(Command::Reserve(reserve)) = r("j", 100).command else {
        panic!("r() makes reserves");
    };
    let mut request = reserve.request;
    request.whose.project = Some(project.to_owned());
    project.clone_into(&mut request.facts.project);
    request.facts.usage.processors = Some(Decimal::whole(10));
    request.facts.start = Some(time("T0-100"));
    request.facts.end = Some(time(end));
    let report = UsageReport {
        source: "slurm:colony".to_owned(),
        request,
        figures: Figures {
            ended: Ended::Completed,
            ..Figures::default()
        },
        ..UsageReport::default()
    };
    Command::Usage(Box::new(report)).into()
}

/// Project P has account F, project B has account G; P was charged 1,000.
fn charged(t: &mut Bench<'_>, accounts: &str) -> i64 {
    t.project("B", None);
    t.member("B", "amy", true);
    t.given(accounts);
    t.after([record("P")]);
    last(t)
}

/// The number of the newest transaction.
fn last(t: &mut Bench<'_>) -> i64 {
    let journal = t.ground.journal(0);
    let of_use = |op: &str| ["charge", "adjust", "refund", "undo"].contains(&op);
    let newest = journal.iter().rev().find(|tx| of_use(&tx.op));
    newest.unwrap().id
}

const F_ENDS: &str = "F{a=1000 [2026,T0+10)}, G{b=5000; -p B}";

#[test]
fn a_charge_that_was_refunded_on_a_new_allocation_and_moved_is_not_undone() {
    on_both(|t| {
        let first = charged(t, F_ENDS);
        t.at("T0+20");
        t.after([refund("j", 0).reissue_until("2027"), record("B")]);
        let moved = last(t);
        t.expect_allocation("c", "1000 held 0, deposited 0, active");
        t.expect(undo(first), "refused has_refunds, exit 1: 1 of them", "");
        t.expect_job("j", "closed, used 100 s, billed 1000, no lien");
        // Newest first, all of it is taken back.
        t.after([undo(moved)]);
        let refunded = t.tx("refund", 0);
        t.after([undo(refunded), undo(first)]);
        t.expect_job("j", "closed, used 0 s, billed 0, no lien");
        t.expect_allocation("a", "1000 held 0, deposited 1000, expired");
        t.expect_allocation("c", "0 held 0, deposited 0, active");
    });
}

#[test]
fn a_charge_that_was_refunded_in_part_and_moved_is_not_undone() {
    on_both(|t| {
        let first = charged(t, F_ENDS);
        t.at("T0+20");
        t.after([refund("j", 600).reissue_until("2027"), record("B")]);
        t.expect(undo(first), "refused has_refunds, exit 1: 1 of them", "");
    });
}

#[test]
fn a_use_that_was_refunded_in_part_is_moved_again() {
    on_both(|t| {
        charged(t, "F{a=1000}, G{b=5000; -p B}");
        t.after([refund("j", 600), record("B")]);
        let moved = last(t);
        t.after([undo(moved)]);
        t.expect_allocation("a", "600 held 0, deposited 1000, active");
        let undone = last(t);
        t.after([undo(undone)]);
        t.expect_allocation("a", "1000 held 0, deposited 1000, active");
        t.expect_allocation("b", "4000 held 0, deposited 5000, active");
        t.expect_job("j", "closed, used 100 s, billed 1000, no lien");
    });
}

#[test]
fn a_use_whose_refund_was_reissued_is_moved_again() {
    on_both(|t| {
        charged(t, F_ENDS);
        t.at("T0+20");
        t.after([refund("j", 700).reissue_until("2027"), record("B")]);
        let moved = last(t);
        t.after([undo(moved)]);
        let undone = last(t);
        t.after([undo(undone)]);
        t.expect_allocation("a", "300 held 0, deposited 1000, expired");
        t.expect_allocation("b", "4000 held 0, deposited 5000, active");
        t.expect_allocation("c", "700 held 0, deposited 0, active");
        t.expect_job("j", "closed, used 100 s, billed 1000, no lien");
    });
}

/// What was refunded after the move was taken back is not given back twice.
#[test]
fn a_use_that_was_refunded_since_is_not_moved_again() {
    on_both(|t| {
        charged(t, "F{a=1000}, G{b=5000; -p B}");
        t.after([refund("j", 600), record("B")]);
        let moved = last(t);
        t.after([undo(moved)]);
        let undone = last(t);
        t.after([refund("j", 100)]);
        t.expect(undo(undone), "refused has_refunds, exit 1: 2 of them", "");
        let later = t.tx("refund", 0);
        t.after([undo(later), undo(undone)]);
        t.expect_allocation("a", "1000 held 0, deposited 1000, active");
    });
}

/// Each record bills the whole use, less what was billed before: also the first one.
#[test]
fn a_record_is_not_charged_again_after_a_later_one() {
    on_both(|t| {
        let first = charged(t, "F{a=9000}");
        t.at("T0+200");
        t.after([record_until("P", "T0+50")]);
        let amended = last(t);
        t.after([undo(amended)]);
        let undone = last(t);
        t.after([record_until("P", "T0+100")]);
        t.expect(undo(undone), "refused not_reversible, exit 1", "");
        t.expect_job("j", "closed, used 200 s, billed 2000, no lien");
        let later = last(t);
        t.after([undo(later), undo(first)]);
        let undone = last(t);
        t.after([record_until("P", "T0+110")]);
        t.expect(undo(undone), "refused not_reversible, exit 1", "");
        t.expect_job("j", "closed, used 210 s, billed 2100, no lien");
    });
}

/// The former project of a use would be billed again.
#[test]
fn what_came_before_a_move_is_not_undone_after_it() {
    on_both(|t| {
        charged(t, "F{a=1000}, G{b=5000; -p B}");
        t.at("T0+200");
        t.after([record_until("P", "T0-50")]);
        let amended = last(t);
        t.after([record_until("B", "T0-50")]);
        let moved = last(t);
        t.expect(undo(amended), "refused not_reversible, exit 1", "");
        t.expect_allocation("a", "1000 held 0, deposited 1000, active");
        t.after([undo(moved), undo(amended)]);
        t.expect_allocation("a", "0 held 0, deposited 1000, active");
        t.expect_allocation("b", "5000 held 0, deposited 5000, active");
    });
}
