//! Late usage is paid by credits that were there at its time and have not left since
//! (decision 0139).

use super::ask::{c, deposit, withdraw};
use super::ask_after::{allocation_rm, transfer, undo};
use super::bench::{Bench, on_both};

const BOTH: &str = "F{a=1000}, G{b=1; -p B}";

fn given(t: &mut Bench<'_>) {
    t.project("B", None);
    t.given(BOTH);
}

/// Takes the last transaction of this kind back.
fn take_back(t: &mut Bench<'_>, op: &str) {
    let tx = t.tx(op, 0);
    t.after([undo(tx)]);
}

/// A job of T0+50 that becomes known at T0+300, and what it cost without cover.
#[track_caller]
fn is_short_by(t: &mut Bench<'_>, cost: i64, debt: i64) {
    t.at("T0+300");
    let reply = t.run(c("j", cost).at("T0+50"));
    let short = if debt > 0 {
        format!(", debt {debt}, ")
    } else {
        ", balance ".to_owned()
    };
    let wanted = format!("charged {cost}{short}");
    assert!(reply.starts_with(&wanted), "{reply}, not {wanted}");
    let journal = t.journal();
    assert_eq!(journal.contains("charge_debt"), debt > 0, "{journal}");
}

#[test]
fn credits_that_an_undo_brought_back_were_there_all_the_time() {
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([transfer("F", "G", 1000)]);
        t.at("T0+200");
        take_back(t, "transfer");
        is_short_by(t, 1000, 0);
    });
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([allocation_rm(2, true)]);
        t.at("T0+200");
        take_back(t, "allocation_rm");
        is_short_by(t, 1000, 0);
    });
}

#[test]
fn credits_that_came_later_and_left_again_take_nothing_from_earlier_ones() {
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([deposit("F", "5000")]);
        t.at("T0+200");
        t.after([withdraw("F", 5000)]);
        is_short_by(t, 1000, 0);
    });
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([deposit("F", "5000")]);
        t.at("T0+200");
        t.after([transfer("F", "G", 3000)]);
        is_short_by(t, 1200, 200);
    });
}

#[test]
fn credits_that_left_and_were_replaced_later_do_not_pay() {
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([withdraw("F", 1000)]);
        t.at("T0+200");
        t.after([deposit("F", "1000")]);
        is_short_by(t, 300, 300);
    });
    // They were away at the time of the usage.
    on_both(|t| {
        given(t);
        t.at("T0+30");
        t.after([transfer("F", "G", 1000)]);
        t.at("T0+200");
        take_back(t, "transfer");
        is_short_by(t, 300, 300);
    });
}

#[test]
fn credits_that_were_deposited_once_more_are_later_ones() {
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([deposit("F", "5000")]);
        t.at("T0+200");
        take_back(t, "deposit");
        is_short_by(t, 1000, 0);
    });
    on_both(|t| {
        given(t);
        t.at("T0+100");
        t.after([deposit("F", "5000")]);
        t.at("T0+200");
        take_back(t, "deposit");
        take_back(t, "undo");
        is_short_by(t, 1200, 200);
    });
}
