//! ledger.md 11, cases 74, 75, 77, 100 and 111: quotes that freeze the whole rate set, declared
//! attributes, and the worked examples as quotes.

use super::ask::{Ask, c, ci, deposit, quote, r};
use super::bench::{Bench, on_both};
use crate::rates::example::RATES;
use bank_core::attribute::AttributeKind;
use bank_core::command::{Command, Promise};
use bank_core::ids::QuoteId;

/// 16 processors for an hour, guaranteed; then the rate is set to 2 at the same instant.
fn case_74(t: &mut Bench<'_>) {
    t.given("F{a=1000000}");
    let guaranteed = quote(3600).processors(16);
    t.expect(
        guaranteed.promised(Promise::Guarantee, "q1"),
        "cost 57600, valid [T0,2026-06-08T01:00:00Z)",
        "",
    );
    t.rate("VBR Processors 2");
}

fn reserve_and_charge(t: &mut Bench<'_>) {
    t.expect(
        r("j", 3600).processors(16).tid("q1"),
        "lien 57600",
        "quote_use a 0, lien a 0/+57600",
    );
    t.expect(
        ci("j", 1000).processors(16),
        "charged 16000, balance 942400",
        "charge a -16000/-16000",
    );
}

#[test]
fn ledger_case_074_a_guaranteed_price_outlives_a_change_of_rates() {
    on_both(|t| {
        case_74(t);
        reserve_and_charge(t);
        t.expect_job(
            "j",
            "open, used 1000 s, billed 16000, lien 41600 [T0,T0+4200)",
        );
        // No use is left.
        t.at("T0+100");
        t.expect(
            c("k", 10).processors(16).tid("q1"),
            "charged 320, quote_invalid, balance 942080",
            "charge a -320",
        );
    });
}

#[test]
fn ledger_case_075_all_charges_of_the_bound_job_have_its_price() {
    on_both(|t| {
        case_74(t);
        reserve_and_charge(t);
        t.at("T0+2000");
        t.expect(
            ci("j", 1000).processors(16),
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

#[test]
fn ledger_case_077_a_rate_that_came_after_the_quote_is_not_applied() {
    on_both(|t| {
        t.given("F{a=1000000}");
        let asia = |ask: Ask| ask.processors(16).attribute("Zone", "Asia");
        t.expect(
            asia(quote(3600)).promised(Promise::Guarantee, "q1"),
            "cost 57600, valid [T0,2026-06-08T01:00:00Z)",
            "",
        );
        t.rate("NBF Zone=Asia 200");
        t.expect(
            asia(c("j", 1000)).tid("q1"),
            "charged 16000, balance 984000",
            "quote_use a 0, charge a -16000",
        );
    });
}

/// Gold's quotes only overrode rates that were there: a `Cores` rate that came later made a job of
/// 200 cost 1700.
#[test]
fn defect_d12_a_quote_holds_the_complete_rate_set() {
    on_both(|t| {
        t.given("F{a=10000}");
        let cores = |ask: Ask| ask.processors(2).attribute("Cores", "15");
        t.expect(
            cores(quote(100)).promised(Promise::Guarantee, "q1"),
            "cost 200, valid [T0,2026-06-08T00:01:40Z)",
            "",
        );
        t.rate("VBR Cores 1");
        t.rate("MIN Charge 5000");
        t.expect(
            cores(c("j", 100)).tid("q1"),
            "charged 200, balance 9800",
            "quote_use a 0, charge a -200",
        );
        t.expect(
            cores(c("k", 100)),
            "charged 200, balance 9600",
            "charge a -200",
        );
        t.at("T0+1000");
        t.expect(
            cores(c("l", 100)),
            "charged 5000, balance 4600",
            "charge a -5000",
        );
    });
}

#[test]
fn a_quote_for_two_jobs_and_no_third_and_one_that_was_ended() {
    on_both(|t| {
        t.given("F{a=100000}");
        let Ok(Command::Quote(mut request)) = quote(100).promised(Promise::Guarantee, "q1").command
        else {
            panic!("no quote");
        };
        request.uses = 2;
        t.after([Command::Quote(request.clone()).into()]);
        t.at("T0+1");
        t.rate("VBR Processors 2");
        for (job, reply, journal) in [
            (
                "j",
                "charged 100, balance 99900",
                "quote_use a 0, charge a -100",
            ),
            (
                "k",
                "charged 100, balance 99800",
                "quote_use a 0, charge a -100",
            ),
        ] {
            t.expect(c(job, 100).tid("q1"), reply, journal);
        }
        t.at("T0+200");
        t.expect(
            c("l", 100).tid("q1"),
            "charged 200, quote_invalid, balance 99600",
            "charge a -200",
        );
        request.tid = "q2".to_owned();
        t.after([Command::Quote(request).into()]);
        t.after([Command::RemoveQuote(QuoteId(2)).into()]);
        t.expect(
            c("m", 100).tid("q2"),
            "charged 200, quote_invalid, balance 99400",
            "charge a -200",
        );
        t.expect(
            Command::RemoveQuote(QuoteId(2)).into(),
            "refused not_found, exit 4",
            "",
        );
    });
}

#[test]
fn ledger_case_100_a_rate_counts_a_declared_attribute() {
    on_both(|t| {
        t.given("F{a=1000}");
        let red = |ask: Ask| ask.attribute("colour", "red");
        t.expect(red(c("j", 10)), "charged 10, balance 990", "charge a -10");
        let stored = t.instance("colony", "j").unwrap().facts.usage.attributes;
        assert_eq!(stored, [("colour".to_owned(), "red".to_owned())]);
        t.after([declare("colour", AttributeKind::Text)]);
        t.rate("NBF colour=red 5");
        t.at("T0+100");
        t.expect(red(c("k", 10)), "charged 15, balance 975", "charge a -15");
    });
}

fn declare(name: &str, kind: AttributeKind) -> Ask {
    Command::add_record("attribute", name, &[("type", kind.word().into())]).into()
}

#[test]
fn attributes_are_declared_once_and_bounded() {
    on_both(|t| {
        t.given("F{a=1000}");
        t.after([declare("heat", AttributeKind::Number)]);
        for (name, reply) in [
            ("HEAT", "refused already_exists, exit 7"),
            ("Processors", "refused already_exists, exit 7"),
            ("5x", "refused bad_name, exit 1"),
            ("a b", "refused bad_name, exit 1"),
            ("", "refused bad_name, exit 1"),
        ] {
            t.expect(declare(name, AttributeKind::Text), reply, "");
        }
        // A declared number is one, where a request may be refused.
        t.expect(
            quote(10).attribute("heat", "warm"),
            "refused bad_value, exit 1",
            "",
        );
        t.expect(
            c("j", 10).attribute("heat", "warm"),
            "charged 10, balance 990",
            "charge a -10",
        );
        t.rate("VBU heat 2");
        t.expect(quote(10).attribute("heat", "1.5"), "cost 13", "");
        let remove = |name: &str| Command::remove_record("attribute", name).into();
        t.expect(remove("heat"), "refused in_use, exit 1", "");
        t.expect(remove("cold"), "refused not_found, exit 4", "");
        t.after([declare("cold", AttributeKind::Text), remove("cold")]);
        t.after([declare("cold", AttributeKind::Number)]);
        t.ground.reopen();
        assert!(t.ground.directory().attribute("Cold").is_some());
        let many: Vec<Ask> = (0..62)
            .map(|n| declare(&format!("a{n}"), AttributeKind::Text))
            .collect();
        t.after(many);
        t.expect(
            declare("last", AttributeKind::Text),
            "refused bad_value, exit 1",
            "",
        );
        let long = "x".repeat(2000);
        t.expect(
            quote(10).attribute("note", &long),
            "refused bad_value, exit 1",
            "",
        );
    });
}

#[test]
fn ledger_case_111_the_worked_examples_are_quotes_too() {
    on_both(|t| {
        t.given("F{a=1000000}");
        for rate in RATES {
            t.rate(rate);
        }
        let quote = |seconds, processors| quote(seconds).processors(processors).cost_only();
        let with = |ask: Ask, pairs: &str| {
            let mut pairs = pairs.split_whitespace();
            pairs.try_fold(ask, |ask, pair| {
                let (name, value) = pair.split_once('=')?;
                Some(match name {
                    "QualityOfService" => ask.qos(value),
                    _ => ask.attribute(name, value),
                })
            })
        };
        for (seconds, processors, pairs, cost) in [
            (1234, 16, "", "19744"),
            (3600, 16, "QualityOfService=Premium Memory=0", "115200"),
            (
                3600,
                16,
                "QualityOfService=Unknown",
                "57600, undefined_instance",
            ),
            (100, 4, "License=Matlab", "900"),
            (100, 4, "Power=40000", "440"),
            (100, 4, "Feature=GPU QualityOfService=BottomFeeder", "300"),
            (100, 4, "Discount=0.8 QualityOfService=Premium", "640"),
            (
                100,
                4,
                "Shipping=4 Zone=Asia QualityOfService=Premium",
                "1100",
            ),
            (3600, 4, "GPUs=2", "72000"),
            (100, 4, "ConsumptionRate=0.25", "100"),
        ] {
            let ask = with(quote(seconds, processors), pairs).unwrap();
            t.expect(ask, &format!("cost {cost}"), "");
        }
        let second = quote(3600, 16).memory(2048).qos("Premium");
        t.expect(second, "cost 129946", "");
        let pairs =
            "GPUs=1 License=Matlab Power=40000 Feature=GPU Discount=0.9 Shipping=1 Zone=Asia";
        let tenth = with(quote(600, 4).memory(512).qos("Premium"), pairs).unwrap();
        t.expect(tenth, "cost 19570", "");
    });
}

/// Money is whole minor units: Gold stored 7.005 and showed 7.00.
#[test]
fn defect_d14_no_part_of_a_minor_unit_is_stored() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(
            deposit("F", "7.005"),
            "refused too_many_decimals, exit 1",
            "",
        );
        t.rate("VBR Processors 0.1");
        t.at("T0+10");
        for balance in [0, 0, 0, 0, 0, -1] {
            let reply = t.ground.submit(&ci("j", 1).command.unwrap(), None, t.clock);
            let debt = if balance == -1 {
                "charged 1, debt 1, "
            } else {
                "charged 0, "
            };
            assert_eq!(reply, format!("{debt}balance {balance}"));
        }
        // 0.6 of a credit rounds to one, once.
        t.look();
    });
}

/// Gold stored a deposit of 1.5 at precision 0 and showed 2.
#[test]
fn defect_d15_a_deposit_has_no_more_places_than_the_bank() {
    on_both(|t| {
        t.given("F{a=0}");
        t.expect(deposit("F", "1.5"), "refused too_many_decimals, exit 1", "");
        t.expect_balance("F", "amount 0 held 0 balance 0 available 0");
    });
}

/// Gold's client deposited 0 for `abc`.
#[test]
fn defect_d16_what_is_no_number_is_no_amount() {
    on_both(|t| {
        t.given("F{a=0}");
        for text in ["abc", "", "1e3", "0x10", "NaN"] {
            t.expect(deposit("F", text), "refused bad_amount_syntax, exit 2", "");
        }
    });
}

/// Rates that cannot be read are refused, and nothing is journalled.
#[test]
fn a_rate_that_is_none_is_refused() {
    on_both(|t| {
        t.given("F{a=0}");
        for line in [
            "VBR Processors=x 1",
            "VBR Processors=5-1 1",
            "MVBR Disk=amy 1",
            "MVBR Disk 1",
            "MIN Charge=5 1",
        ] {
            t.expect(super::ask::rate(line), "refused bad_value, exit 1", "");
        }
    });
}
