//! Finished usage that came where nobody is known (decisions.md 30): priced, and no money moves.

use super::ask::{Ask, r};
use super::bench::{Bench, on_both};
use super::fixture::time;
use bank_core::command::{Command, UsageReport};
use bank_core::decimal::Decimal;
use bank_core::policy::{Ended, Figures};

/// A job of amy on 16 processors that ended at T0, after so many seconds.
fn finished(id: &str, seconds: i64, track: bool) -> Ask {
    let Ok(Command::Reserve(reserve)) = r(id, 5400).command else {
        panic!("r() makes reserves");
    };
    let mut request = reserve.request;
    request.facts.usage.processors = Some(Decimal::whole(16));
    request.facts.start = Some(time("T0-3600"));
    request.facts.end = Some(time(&format!("T0-{}", 3600 - seconds)));
    let report = UsageReport {
        source: "auditor".to_owned(),
        request,
        figures: Figures {
            ended: Ended::Completed,
            ..Figures::default()
        },
        track,
        ..UsageReport::default()
    };
    Command::Usage(Box::new(report)).into()
}

fn source(t: &mut Bench<'_>) {
    t.admin(Command::set_record(
        "machine",
        "colony",
        &[("source", "auditor".into())],
    ));
}

#[test]
fn it_is_priced_and_no_money_moves() {
    on_both(|t| {
        t.given("F{a=1000000}");
        t.expect(
            finished("j", 3600, true),
            "charged wc 57600: charged 0, shadow, balance 1000000",
            "charge_notional a 0 shadow -57600/0",
        );
        // Nor does it say who charges the machine.
        let last = t.ground.journal(0).pop().unwrap();
        assert_eq!(last.op, "charge");
        t.expect(
            finished("j", 1800, true),
            "adjusted wc 28800: charged 0, shadow, late, balance 1000000",
            "charge_notional a 0 shadow +28800/0 (T0-1800)",
        );
        t.expect(finished("j", 1800, false), "duplicate wc 28800", "");
        t.expect_balance(
            "F",
            "amount 1000000 held 0 balance 1000000 available 1000000, shadow charged 28800",
        );
    });
}

#[test]
fn what_was_charged_stays_charged() {
    on_both(|t| {
        t.given("F{a=1000000}");
        source(t);
        t.expect(
            finished("j", 3600, false),
            "charged wc 57600: charged 57600, balance 942400",
            "charge a -57600",
        );
        t.expect(finished("j", 60, true), "kept", "");
        t.expect_balance("F", "amount 942400 held 0 balance 942400 available 942400");
    });
}

#[test]
fn what_is_held_stays_held() {
    on_both(|t| {
        t.given("F{a=1000000}");
        source(t);
        t.after([r("j", 5400)]);
        t.expect(finished("j", 3600, true), "kept", "");
        t.expect_job("j", "open, used 0 s, billed 0, lien 5400 [T0,T0+6000)");
    });
}
