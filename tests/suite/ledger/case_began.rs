//! Where the window of each form of charge begins: the rates in force there price all of it.

use super::ask::{Ask, ci, r};
use super::bench::{Bench, on_both};

/// The price of a processor-second doubles at T0+1000; now it is T0+1500.
fn doubled(t: &mut Bench<'_>) {
    t.given("F{a=100000}");
    t.at("T0+1000");
    t.rate("VBR Processors 2");
    t.at("T0+1500");
}

/// Charges, and returns the amount.
fn charged(t: &mut Bench<'_>, ask: Ask) -> i64 {
    let reply = t.run(ask);
    let amount = reply
        .strip_prefix("charged ")
        .unwrap_or_else(|| panic!("{reply}"));
    let amount = amount.split(',').next().unwrap().parse().unwrap();
    t.forget();
    amount
}

#[test]
fn a_duration_alone_begins_with_its_time() {
    on_both(|t| {
        doubled(t);
        assert_eq!(charged(t, ci("before", 600)), 600);
        assert_eq!(charged(t, ci("after", 400)), 800);
        // Its next charge begins where its own time does.
        t.at("T0+1900");
        assert_eq!(charged(t, ci("before", 400)), 800);
    });
}

#[test]
fn a_window_begins_with_its_start() {
    on_both(|t| {
        doubled(t);
        assert_eq!(charged(t, ci("j", 0).used("[T0+900,T0+1500)")), 600);
        // The rest of a window that is billed in part begins where that part ended.
        t.at("T0+1600");
        assert_eq!(charged(t, ci("j", 0).used("[T0+900,T0+1600)")), 200);
    });
}

#[test]
fn a_total_begins_with_its_time() {
    on_both(|t| {
        doubled(t);
        assert_eq!(charged(t, ci("j", 600).total()), 600);
        t.at("T0+2000");
        assert_eq!(charged(t, ci("j", 600).total()), 0);
        assert_eq!(charged(t, ci("j", 1100).total()), 500);
    });
}

#[test]
fn a_charge_after_its_reserve_begins_no_earlier() {
    on_both(|t| {
        doubled(t);
        t.after([r("j", 600)]);
        t.at("T0+1600");
        assert_eq!(charged(t, ci("j", 600)), 1200);
    });
}

#[test]
fn interim_charges_of_a_scheduler_begin_with_their_time() {
    let checked = |seconds| ci("j", seconds).charge(|charge| charge.is_checked = true);
    on_both(|t| {
        doubled(t);
        assert_eq!(charged(t, checked(600)), 600);
        t.at("T0+1800");
        assert_eq!(charged(t, checked(300)), 600);
        // From a spool, with the time of its event.
        assert_eq!(charged(t, checked(300).at("T0+900")), 300);
    });
}

#[test]
fn an_amount_as_given_has_no_rate() {
    on_both(|t| {
        doubled(t);
        assert_eq!(charged(t, ci("j", 600).amount(7)), 7);
    });
}
