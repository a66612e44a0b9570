//! Repeated documents: the billed time of one use stays within the time that can have passed.

use crate::export::sums::agree;
use crate::harness::{Bank, Setup, T0};

/// A document of one processor, so that a credit is a second.
pub(super) fn document(id: &str, seconds: i64, times: &str) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>1</Processors><WallDuration>3600</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration>{times}</Job>"
    )
    .into_bytes()
}

pub(super) fn times(start: i64, end: i64) -> String {
    format!("<StartTime>{start}</StartTime><EndTime>{end}</EndTime>")
}

fn debited(bank: &Bank) -> i64 {
    let late = bank.entries("late_charge").into_iter();
    let late = late.map(|(_, change)| -change).sum::<i64>();
    let charged = bank.debits().into_iter().map(|(_, amount)| amount);
    charged.sum::<i64>() + late
}

pub(super) fn rich() -> Bank {
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

/// The scheduler's `end` bills a use again whose charges are all undone, and once.
#[test]
fn an_end_after_an_undo_bills_the_use_again() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    let end = document("r.1", 900, &times(T0, T0 + 900));
    bank.script("end", &end).expect(0, "");
    let [row] = bank.journal("charge").try_into().unwrap();
    bank.bank_ok(&["undo", &row["transaction"].to_string(), "--note", "wrong"]);
    assert_eq!(bank.figures("chemistry").0, 1_000_000);
    for (after, wall) in [(901, 3601), (902, 3602)] {
        bank.set_clock(T0 + after);
        // Another document: the script repeats the key of an equal one, and the bank its answer.
        let end = String::from_utf8_lossy(&end).replace(">3600<", &format!(">{wall}<"));
        bank.script("end", end.as_bytes()).expect(0, "");
        assert_eq!(bank.figures("chemistry").0, 1_000_000 - 900, "{after}");
    }
    bank.verify();
}

/// A requeued job whose documents come together: each run is billed, and each is billed once.
#[test]
fn two_runs_that_arrive_together_are_billed() {
    let mut bank = rich();
    let runs = [(5000, 5300), (6000, 6200)];
    let run = |id: &str, (start, end): (i64, i64)| {
        document(id, end - start, &times(T0 + start, T0 + end))
    };
    for (at, _) in runs {
        bank.set_clock(T0 + at);
        let start = format!("<StartTime>{}</StartTime>", T0 + at);
        bank.script("start", &document("e.1", 0, &start))
            .expect(0, "");
    }
    bank.set_clock(T0 + 7200);
    for (id, events) in [
        ("e.1", &["end"][..]),
        ("e.2", &["end"]),
        ("e.3", &["charge"]),
        ("e.4", &["charge", "delete"]),
    ] {
        let before = debited(&bank);
        for _ in 0..2 {
            for own in runs {
                for event in events {
                    bank.script(event, &run(id, own)).expect(0, "");
                }
            }
        }
        assert_eq!(debited(&bank) - before, 500, "{id} {events:?}");
    }
    // Exports have a job when it is closed.
    let open = document("e.3", 0, "");
    bank.script("delete", &open).expect(0, "");
    agree(&bank);
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

/// What chemistry lost: with one processor, the seconds billed.
pub(super) fn billed(bank: &Bank, before: i64) -> i64 {
    before - bank.figures("chemistry").0
}

/// Sends the same charge of 600 s every minute for ten minutes.
fn ten_charges_in_ten_minutes(bank: &Bank, id: &str) {
    for minute in 1..=10 {
        bank.set_clock(T0 + 60 * minute);
        bank.script("charge", &document(id, 600, "")).expect(0, "");
    }
}

#[test]
fn equal_interim_charges_end_at_the_life_and_one_flush_interval() {
    let mut bank = rich();
    let plain = document("r.6", 600, "");
    bank.script("reserve", &plain).expect(0, "");
    for number in 1..=9 {
        bank.set_clock(T0 + 569 * number / 9);
        bank.script("charge", &plain).expect(0, "");
    }
    assert_eq!(billed(&bank, 1_000_000), 569 + 3600);
    assert!(bank.bank_ok(&["jobs", "r.6"]).contains("disputed"));
    bank.verify();
}

#[test]
fn without_a_reserve_the_first_charge_states_the_start() {
    let mut bank = rich();
    ten_charges_in_ten_minutes(&bank, "r.7");
    // The first one reports the 600 s before T0 + 60.
    assert_eq!(billed(&bank, 1_000_000), 540 + 600 + 3600);
    bank.verify();
}

#[test]
fn a_job_did_not_run_before_its_start_was_refused() {
    let mut bank = Setup::new().chemistry(0).start();
    let plain = document("r.8", 600, "");
    bank.script("reserve", &plain).expect(78, "");
    ten_charges_in_ten_minutes(&bank, "r.8");
    assert_eq!(billed(&bank, 0), 600 + 3600);
    bank.verify();
}

#[test]
fn a_job_did_not_run_before_it_was_created() {
    let mut bank = rich();
    bank.script("create", &document("r.9", 600, ""))
        .expect(0, "");
    bank.set_clock(T0 + 600);
    let all = document("r.9", 6000, "");
    bank.script("charge", &all)
        .expect(0, "")
        .expect_stderr(&["1800 s"]);
    assert_eq!(billed(&bank, 1_000_000), 600 + 3600);
    bank.verify();
}

/// The scheduler charges the double after an outage, and charges from the spool come after newer ones.
#[test]
fn without_a_reserve_an_outage_loses_no_time() {
    for first_waits in [true, false] {
        let mut bank = rich();
        let elsewhere = bank.folder().join("elsewhere");
        let charge = |bank: &Bank, seconds| bank.script("charge", &document("r.10", seconds, ""));
        bank.set_clock(T0 + 3600);
        if first_waits {
            bank.stop();
        }
        charge(&bank, 3600).expect(0, "");
        bank.set_clock(T0 + 7200);
        if !first_waits {
            bank.stop();
        }
        charge(&bank, 3600).expect(0, "");
        bank.set_clock(T0 + 21_600);
        bank.start();
        let newest = document("r.10", 14_400, "");
        let call = bank
            .call("charge")
            .set(format!("spool_dir={}", elsewhere.display()));
        call.body(&newest).run().expect(0, "");
        bank.call("drain").run().expect(0, "");
        assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
        assert_eq!(billed(&bank, 1_000_000), 21_600);
        assert_eq!((bank.journal("disputed").len(), bank.jobs().len()), (0, 1));
        bank.verify();
    }
}

/// Documents that name their ends, sent by two hosts: the first waits in the spool of one of them.
#[test]
fn an_end_from_a_spool_is_no_repeat_of_a_later_one() {
    let mut bank = rich();
    let part = |end| document("r.17", 3600, &times(T0, T0 + end));
    bank.stop();
    bank.set_clock(T0 + 3600);
    bank.script("charge", &part(3600)).expect(0, "");
    bank.set_clock(T0 + 7200);
    bank.start();
    let elsewhere = bank.folder().join("elsewhere");
    let call = bank
        .call("charge")
        .set(format!("spool_dir={}", elsewhere.display()));
    call.body(&part(7200)).run().expect(0, "");
    bank.call("drain").run().expect(0, "");
    assert_eq!(billed(&bank, 1_000_000), 7200);
    bank.verify();
}

/// Documents with the times of their interval: together at one flush, and with one that waited in the spool of another host.
#[test]
fn each_interval_with_times_of_its_own_is_billed() {
    for is_late in [false, true] {
        let mut bank = rich();
        let part = |from, to| document("r.18", to - from, &times(T0 + from, T0 + to));
        let elsewhere = bank.folder().join("elsewhere");
        let send = |event: &str, from, to| {
            let call = bank.call(event);
            let call = call.set(format!("spool_dir={}", elsewhere.display()));
            call.body(&part(from, to)).run().expect(0, "");
        };
        bank.set_clock(T0 + if is_late { 3600 } else { 9000 });
        send("charge", 0, 3600);
        if is_late {
            bank.set_clock(T0 + 7200);
            bank.stop();
            bank.script("charge", &part(3600, 7200)).expect(0, "");
            bank.set_clock(T0 + 7800);
            bank.start();
        } else {
            send("charge", 3600, 7200);
        }
        let end = bank.call("end");
        let end = end.set(format!("spool_dir={}", elsewhere.display()));
        end.body(&part(7200, 7800)).run().expect(0, "");
        bank.call("drain").run().expect(0, "");
        assert_eq!(billed(&bank, 1_000_000), 7800, "{is_late}");
        // Each of them again adds nothing.
        for (from, to) in [(0, 3600), (3600, 7200), (7200, 7800)] {
            let again = bank.call("charge").set("flush_interval_s=0");
            again.body(&part(from, to)).run().expect(0, "");
        }
        assert_eq!(billed(&bank, 1_000_000), 7800, "{is_late}");
        agree(&bank);
        bank.verify();
    }
}

#[test]
fn the_same_total_after_a_rate_change_adds_nothing() {
    let mut bank = rich();
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--charge-duration",
        "cumulative",
    ]);
    let total = document("r.11", 600, "");
    bank.script("reserve", &total).expect(0, "");
    bank.set_clock(T0 + 600);
    bank.script("charge", &total).expect(0, "");
    bank.bank_ok(&["rate", "set", "VBR", "Processors", "5"]);
    for after in [900, 1800, 5000] {
        bank.set_clock(T0 + after);
        bank.script("charge", &total).expect(0, "");
    }
    assert_eq!(billed(&bank, 1_000_000), 600);
    bank.verify();
}

/// The script gives the same charge the same key, so that the bank sees a repeat of one request.
#[test]
fn a_charge_that_names_its_times_has_one_key() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    let end = document("r.12", 900, &times(T0, T0 + 900));
    bank.script("end", &end).expect(0, "");
    let before = bank.transactions();
    for after in [900, 2000, 4499] {
        bank.set_clock(T0 + after);
        bank.script("end", &end).expect(0, "");
    }
    assert_eq!(bank.transactions(), before);
    // Later the script no longer remembers it, and the bank recognises the end.
    bank.set_clock(T0 + 4500);
    bank.script("end", &end).expect(0, "");
    assert!(bank.transactions() > before);
    assert_eq!(billed(&bank, 1_000_000), 900);
    bank.verify();
}

#[test]
fn interim_charges_with_a_start_are_repeats_only_in_their_own_time() {
    let mut bank = rich();
    let start = format!("<StartTime>{T0}</StartTime>");
    let charge = document("r.13", 600, &start);
    // Each interval is sent twice, and the calls are some seconds early or late.
    for after in [600, 630, 1195, 1250, 1802, 1810] {
        bank.set_clock(T0 + after);
        bank.script("charge", &charge).expect(0, "");
    }
    assert_eq!(billed(&bank, 1_000_000), 1800);
    let off = || bank.call("charge").set("flush_interval_s=0").body(&charge);
    off().run().expect(0, "");
    off().run().expect(0, "");
    assert_eq!(billed(&bank, 1_000_000), 3000);
    bank.verify();
}

/// A script that died before the answer came: the next call with the same document repeats its request.
#[test]
fn a_repeat_after_an_outage_is_charged_once() {
    let mut bank = rich();
    bank.stop();
    bank.set_clock(T0 + 900);
    let end = document("r.14", 900, &times(T0, T0 + 900));
    bank.script("end", &end).expect(0, "");
    bank.set_clock(T0 + 1000);
    bank.script("end", &end).expect(0, "");
    bank.start();
    bank.script("end", &end).expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    assert_eq!(billed(&bank, 1_000_000), 900);
    assert_eq!(bank.journal("charge").len(), 1);
    bank.verify();
}

#[test]
fn a_reserve_without_a_start_that_comes_after_its_end_holds_nothing() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    bank.script("end", &document("r.15", 900, "")).expect(0, "");
    bank.set_clock(T0 + 10_000);
    let start = document("r.15", 900, "");
    bank.script("reserve", &start).expect(0, "");
    assert_eq!((bank.held().len(), bank.jobs().len()), (0, 1));
    // The next one is a new use.
    bank.script("reserve", &start).expect(0, "");
    assert_eq!((bank.held().len(), bank.jobs().len()), (1, 2));
    bank.verify();
}

#[test]
fn after_a_refused_start_a_later_reserve_is_a_new_use() {
    let mut bank = Setup::new().chemistry(100).start();
    let start = document("r.16", 900, "");
    bank.script("reserve", &start).expect(78, "");
    bank.set_clock(T0 + 900);
    bank.script("end", &start).expect(0, "");
    bank.bank_ok(&["deposit", "chemistry", "100000"]);
    bank.set_clock(T0 + 10_000);
    bank.script("reserve", &start).expect(0, "");
    assert_eq!((bank.held().len(), bank.jobs().len()), (1, 2));
    bank.verify();
}

/// The reservation that a job names is no second object, and 0 is no time.
#[test]
fn a_job_in_a_reservation_has_one_key() {
    let mut bank = rich();
    bank.set_clock(T0 + 600);
    let names = ["Reservation", "ReqRsv", "ReservationID", "RsvID"];
    for (number, name) in names.iter().enumerate() {
        let more = format!("<StartTime>{T0}</StartTime><{name}>class.1</{name}>");
        let charge = document(&format!("r.2{number}"), 600, &more);
        bank.script("charge", &charge).expect(0, "");
        bank.script("charge", &charge).expect(0, "");
    }
    assert_eq!(billed(&bank, 1_000_000), 4 * 600);
    for after in [600, 1200] {
        bank.set_clock(T0 + after);
        let more = "<StartTime>0</StartTime><EndTime>0</EndTime>";
        bank.script("charge", &document("r.30", 600, more))
            .expect(0, "");
    }
    assert_eq!(billed(&bank, 1_000_000), 4 * 600 + 2 * 600);
    bank.verify();
}

/// The first job names a machine out of the scope of the key: the second one does not wait for it.
#[test]
fn jobs_of_one_reservation_do_not_wait_for_each_other() {
    let mut bank = rich();
    let tcp = bank.tcp();
    let charge = |id, more: &str| {
        let more = format!("<RsvID>class.2</RsvID><Name>sim</Name>{more}");
        let call = bank.call("charge").over_tcp(&tcp);
        call.body(&document(id, 7, &more)).run()
    };
    charge("r.31", "<Machine>mars</Machine>")
        .expect(0, "")
        .expect_stderr(&["stored in the spool"]);
    charge("r.32", "")
        .expect(0, "")
        .expect_stderr(&["1 wait in the spool"]);
    assert_eq!((bank.spooled(), billed(&bank, 1_000_000)), (1, 7));
    bank.verify();
}
