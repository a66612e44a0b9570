//! ledger.md 11, cases 76 and 78: quotes that are kept, and what binds them to an instance.

use super::ask::{Ask, c, ci, quote, r};
use super::bench::{Bench, on_both};
use bank_core::command::Promise;

/// 16 processors for an hour, guaranteed.
fn guaranteed() -> Ask {
    quote(3600)
        .processors(16)
        .promised(Promise::Guarantee, "q1")
}

/// The quote at T0, and the rate doubled a second later.
fn then_the_rate_doubles(t: &mut Bench<'_>) {
    t.given("F{a=1000000}");
    t.expect(
        guaranteed(),
        "cost 57600, valid [T0,2026-06-08T01:00:00Z)",
        "",
    );
    t.at("T0+1");
    t.rate("VBR Processors 2");
}

#[test]
fn ledger_case_076_a_guarantee_holds_for_seven_days_more_and_a_tid_for_one() {
    on_both(|t| {
        t.given("F{a=1000000}");
        // T0 + 608400 s.
        t.expect(
            guaranteed(),
            "cost 57600, valid [T0,2026-06-08T01:00:00Z)",
            "",
        );
        let with_tid = quote(3600).promised(Promise::Tid, "t1");
        t.expect(with_tid, "cost 3600, valid [T0,T0+86400)", "");
    });
}

#[test]
fn ledger_case_078_a_quote_that_is_over_has_the_current_price() {
    on_both(|t| {
        then_the_rate_doubles(t);
        t.at("T0+608400");
        t.expect(
            c("j", 1000).processors(16).tid("q1"),
            "charged 32000, quote_invalid, balance 968000",
            "charge a -32000",
        );
    });
}

/// decisions.md 15: bound on first use, one instance, all of its charges.
#[test]
fn a_bound_quote_prices_every_charge_of_its_instance_and_no_other() {
    on_both(|t| {
        then_the_rate_doubles(t);
        t.expect(
            r("j", 3600).processors(16).tid("q1"),
            "lien 57600",
            "quote_use a 0, lien a 0/+57600",
        );
        let flush = || ci("j", 1000).processors(16);
        t.expect(
            flush(),
            "charged 16000, balance 942400",
            "charge a -16000/-16000",
        );
        t.at("T0+2000");
        t.expect(
            flush(),
            "charged 16000, balance 942400",
            "charge a -16000/-16000",
        );
        t.expect(
            r("k", 1000).processors(16).tid("q1"),
            "lien 32000, quote_invalid",
            "lien a 0/+32000",
        );
    });
}
