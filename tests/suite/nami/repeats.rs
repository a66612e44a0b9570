//! Repeated documents: the billed time of one use stays within the time that can have passed.

use crate::harness::{Bank, Setup, T0};

/// A document of one processor, so that a credit is a second.
fn document(id: &str, seconds: i64, times: &str) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>1</Processors><WallDuration>3600</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration>{times}</Job>"
    )
    .into_bytes()
}

fn times(start: i64, end: i64) -> String {
    format!("<StartTime>{start}</StartTime><EndTime>{end}</EndTime>")
}

fn debited(bank: &Bank) -> i64 {
    let late = bank.entries("late_charge").into_iter();
    let late = late.map(|(_, change)| -change).sum::<i64>();
    let charged = bank.debits().into_iter().map(|(_, amount)| amount);
    charged.sum::<i64>() + late
}

fn rich() -> Bank {
    Setup::new().chemistry(1_000_000).start()
}

#[test]
fn a_second_end_adds_nothing() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    let end = document("r.1", 900, &times(T0, T0 + 900));
    bank.script("end", &end).expect(0, "");
    for after in [901, 902, 90_000] {
        bank.set_clock(T0 + after);
        bank.script("end", &end).expect(0, "");
    }
    assert_eq!((debited(&bank), bank.jobs().len()), (900, 1));
    bank.verify();
}

#[test]
fn an_end_that_is_billed_already_adds_nothing() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    let part = document("r.2", 900, &times(T0, T0 + 900));
    bank.script("charge", &part).expect(0, "");
    bank.script("charge", &part).expect(0, "");
    assert_eq!(debited(&bank), 900);
    bank.set_clock(T0 + 1500);
    let last = document("r.2", 600, &times(T0, T0 + 1500));
    bank.script("end", &last).expect(0, "");
    assert_eq!(debited(&bank), 1500);
    bank.verify();
}

#[test]
fn a_charge_long_after_its_lien_expired_is_late() {
    let mut bank = rich();
    let plain = document("r.4", 600, "");
    bank.script("reserve", &plain).expect(0, "");
    bank.set_clock(T0 + 40_000);
    bank.script("charge", &plain).expect(0, "");
    assert_eq!((debited(&bank), bank.jobs().len()), (600, 1));
    bank.verify();
}

#[test]
fn a_start_that_comes_long_after_its_end_holds_nothing() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    bank.script("end", &document("r.5", 900, &times(T0, T0 + 900)))
        .expect(0, "");
    bank.set_clock(T0 + 3000);
    let start = document("r.5", 900, &format!("<StartTime>{T0}</StartTime>"));
    bank.script("reserve", &start).expect(0, "");
    assert_eq!((bank.held().len(), bank.jobs().len()), (0, 1));
    bank.verify();
}
