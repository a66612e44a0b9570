//! ledger.md 11, cases 109, 110 and 112: prices on their way through the ledger.

use super::ask::{ci, quote};
use super::ask_after::undo;
use super::bench::on_both;

#[test]
fn ledger_case_109_the_empty_instance_is_the_default() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.rate("NBM QualityOfService=Premium 2");
        t.expect(quote(10).qos("Unknown"), "cost 10, undefined_instance", "");
        t.rate("NBM QualityOfService 3");
        t.expect(quote(10).qos("Unknown"), "cost 30", "");
        t.expect(quote(10).qos("Premium"), "cost 20", "");
    });
}

#[test]
fn ledger_case_110_a_job_costs_the_same_whatever_its_number_of_flushes() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.rate("VBR Processors 0.5");
        t.at("T0+10");
        for (seconds, cost) in [(1, 0), (3, 2), (5, 2), (7, 4)] {
            t.expect(quote(seconds), &format!("cost {cost}"), "");
        }
        for (charged, left) in [(0, 1000), (1, 999), (1, 998), (0, 998)] {
            let reply = format!("charged {charged}, balance {left}");
            let entry = match charged {
                0 => "charge a 0".to_owned(),
                some => format!("charge a -{some}"),
            };
            t.expect(ci("j", 1), &reply, &entry);
        }
        t.expect_job("j", "open, used 4 s, billed 2, no lien");
    });
    on_both(|t| {
        t.given("F{a=1000}");
        t.rate("NBF Zone=Asia 200");
        t.at("T0+10");
        let flush = || ci("k", 10).attribute("Zone", "Asia");
        t.expect(flush(), "charged 210, balance 790", "charge a -210");
        t.expect(flush(), "charged 10, balance 780", "charge a -10");
    });
}

#[test]
fn ledger_case_112_usage_without_processors_costs_nothing() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.expect(quote(100).no_processors(), "cost 0", "");
    });
}

#[test]
fn a_fee_counts_once_whatever_was_undone() {
    let flush = || ci("k", 10).attribute("Zone", "Asia");
    let fee = |t: &mut super::bench::Bench<'_>| {
        t.given("F{a=1000}");
        t.rate("NBF Zone=Asia 200");
        t.at("T0+10");
        t.expect(flush(), "charged 210, balance 790", "charge a -210");
        t.tx("charge", 0)
    };
    // The undone charge had the fee: the next one of the job bills it.
    on_both(|t| {
        let first = fee(t);
        t.expect(flush(), "charged 10, balance 780", "charge a -10");
        t.expect(undo(first), "undid charge", "reverse a +210");
        t.expect(flush(), "charged 210, balance 780", "charge a -210");
        t.expect_job("k", "open, used 20 s, billed 220, no lien");
    });
    // Nothing is left: the next charge is the first.
    on_both(|t| {
        let first = fee(t);
        t.expect(undo(first), "undid charge", "reverse a +210");
        let undone = t.tx("undo", 0);
        t.expect(flush(), "charged 210, balance 790", "charge a -210");
        // To do the first one again would bill the fee twice.
        t.expect(undo(undone), "refused not_reversible, exit 1", "");
        let second = t.tx("charge", 0);
        t.expect(undo(second), "undid charge", "reverse a +210");
        t.expect(undo(undone), "undid undo", "reverse a -210");
        t.expect(flush(), "charged 10, balance 780", "charge a -10");
    });
}
