//! A use is billed once, over whichever protocols its scheduler reports it, and for no more than the time that can have passed
//! (decisions.md 38, 43).

use super::{KEY, gateway, gateway_of};
use crate::export::sums;
use crate::harness::{Bank, Dialect, Setup, T0, summary};

/// What chemistry has at first. A job has one processor, so that a credit is a second.
const MONEY: i64 = 100_000;

fn send(bank: &Bank, action: &str, id: &str, more: &str) -> String {
    let body = format!(
        "<Body actor=\"root\"><Request action=\"{action}\" actor=\"root\"><Object>Job</Object><Data>\
         <Job><JobId>{id}</JobId><UserId>amy</UserId><ProjectId>chemistry</ProjectId>\
         <MachineName>colony</MachineName><Processors>1</Processors>{more}</Job></Data></Request>\
         </Body>"
    );
    let message = Dialect::Maui.message(KEY, &body);
    summary(&Dialect::Maui.ask(&bank.gold(), &message).unwrap())
}

fn times(start: i64, end: i64) -> String {
    let (start, end) = (T0 + start, T0 + end);
    format!("<StartTime>{start}</StartTime><EndTime>{end}</EndTime>")
}

/// A charge over Gold's protocol: seconds, start and end after T0; credits that the answer names.
fn charge(bank: &Bank, id: &str, seconds: i64, (start, end): (i64, i64)) -> i64 {
    let times = times(start, end);
    let more = format!("<WallDuration>{seconds}</WallDuration>{times}<Type>job</Type>");
    credits(&send(bank, "Charge", id, &more))
}

/// The whole credits of an answer of success.
fn credits(answer: &str) -> i64 {
    let words: Vec<&str> = answer.split(' ').collect();
    assert_eq!(words[..2], ["Success", "000"], "{answer}");
    let before = words.iter().rposition(|word| *word == "for").unwrap();
    let number = words[before + 1].split('.').next().unwrap();
    number.replace(',', "").parse().unwrap()
}

/// A document of the same job over NAMI.
fn nami(bank: &Bank, event: &str, id: &str, seconds: i64, times: &str) {
    let document = format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>1</Processors><WallDuration>3600</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration>{times}</Job>"
    );
    bank.script(event, document.as_bytes()).expect(0, "");
}

fn billed(bank: &Bank) -> i64 {
    MONEY - bank.figures("chemistry").0
}

#[test]
fn a_use_that_nami_billed_to_its_end_is_not_billed_again() {
    let mut bank = gateway("");
    bank.set_clock(T0 + 600);
    nami(&bank, "end", "55", 600, &times(0, 600));
    assert_eq!(charge(&bank, "55", 600, (0, 600)), 0);
    assert_eq!((billed(&bank), bank.jobs().len()), (600, 1));
    bank.verify();
}

#[test]
fn of_a_use_that_nami_billed_in_part_only_the_rest_is_billed() {
    let mut bank = gateway("");
    bank.set_clock(T0 + 600);
    let start = format!("<StartTime>{T0}</StartTime>");
    nami(&bank, "charge", "57", 300, &start);
    assert_eq!(charge(&bank, "57", 600, (0, 600)), 300);
    assert_eq!((billed(&bank), bank.jobs().len()), (600, 1));
    bank.verify();
}

#[test]
fn a_use_that_gold_billed_is_not_billed_again_by_nami() {
    let mut bank = gateway("");
    bank.set_clock(T0 + 600);
    assert_eq!(charge(&bank, "56", 600, (0, 600)), 600);
    nami(&bank, "end", "56", 600, &times(0, 600));
    assert_eq!((billed(&bank), bank.jobs().len()), (600, 1));
    bank.verify();
}

/// The same job costs the same over both protocols.
#[test]
fn time_beyond_what_can_have_passed_is_left_out_as_over_nami() {
    for (excess, expected) in [("clip", 3610), ("accept", 10_000), ("refuse", 3610)] {
        let mut bank = gateway_of(Setup::new().env("BANKD_NAMI_EXCESS", excess), "");
        bank.set_clock(T0 + 10);
        assert_eq!(charge(&bank, "a", 10_000, (0, 10)), expected, "{excess}");
        assert!(
            bank.bank_ok(&["jobs", "a"]).contains("disputed"),
            "{excess}"
        );
        if excess != "refuse" {
            nami(&bank, "end", "b", 10_000, &times(0, 10));
            assert_eq!(billed(&bank), 2 * expected, "{excess}");
        }
        bank.verify();
    }
}

#[test]
fn a_charge_far_above_the_time_since_the_reserve_is_clipped() {
    let mut bank = gateway("");
    let wall = "<WallDuration>600</WallDuration>";
    send(&bank, "Reserve", "j", wall);
    bank.set_clock(T0 + 300);
    // The scheduler states no start: the reserve does.
    let end = T0 + 300;
    let more = format!("<WallDuration>9000</WallDuration><EndTime>{end}</EndTime>");
    assert_eq!(credits(&send(&bank, "Charge", "j", &more)), 3900);
    assert_eq!(bank.figures("chemistry"), (96_100, 0, 96_100));
    // The time used is not the time that the reserve requested.
    let job = bank.bank_ok(&["jobs", "j"]);
    assert!(job.contains("requested 00:10:00"), "{job}");
    bank.verify();
}

#[test]
fn a_charge_that_comes_late_after_a_restart_is_billed_once() {
    let mut bank = gateway("");
    send(&bank, "Reserve", "j", "<WallDuration>600</WallDuration>");
    // Its lien expires, and the bank is away at its end.
    bank.set_clock(T0 + 5000);
    bank.kill();
    bank.set_clock(T0 + 9000);
    bank.start();
    assert_eq!(charge(&bank, "j", 7900, (100, 8000)), 7900);
    assert_eq!(bank.entries("late_charge").len(), 1);
    bank.kill();
    bank.start();
    // Other bytes about the same time.
    assert_eq!(charge(&bank, "j", 7899, (101, 8000)), 0);
    assert_eq!((billed(&bank), bank.jobs().len()), (7900, 1));
    bank.verify();
}

#[test]
fn a_second_use_of_an_id_is_billed_beside_the_first() {
    let mut bank = gateway("");
    bank.set_clock(T0 + 2000);
    assert_eq!(charge(&bank, "j", 600, (0, 600)), 600);
    // No reserve came between.
    assert_eq!(charge(&bank, "j", 700, (1000, 1700)), 700);
    assert_eq!(charge(&bank, "j", 699, (1000, 1700)), 0);
    assert_eq!((billed(&bank), bank.jobs().len()), (1300, 2));
    // With a reserve, it is the newest one.
    send(&bank, "Reserve", "j", "<WallDuration>600</WallDuration>");
    bank.set_clock(T0 + 2500);
    assert_eq!(charge(&bank, "j", 500, (2000, 2500)), 500);
    assert_eq!((billed(&bank), bank.jobs().len()), (1800, 3));
    bank.verify();
}

/// The clock of the scheduler is ahead of the bank's: the end in its message is after the time of the bank.
#[test]
fn the_whole_use_is_billed_if_the_clock_is_ahead() {
    for ahead in [0, 1, 200, 290] {
        for (reserves, rest) in [(false, 1200), (true, 1200), (true, 3000)] {
            let mut bank = gateway("");
            if reserves {
                let lien = "<WallDuration>6000</WallDuration><Type>job</Type>";
                send(&bank, "Reserve", "60", lien);
            }
            bank.set_clock(T0 + 1800);
            let start = T0 + ahead;
            let part = format!("<WallDuration>1800</WallDuration><StartTime>{start}</StartTime>");
            assert_eq!(credits(&send(&bank, "Charge", "60", &part)), 1800);
            bank.set_clock(T0 + 3000);
            charge(&bank, "60", rest, (ahead, ahead + 3000));
            sums::agree(&bank);
            assert_eq!(
                billed(&bank),
                3000,
                "{ahead} s ahead, reserve {reserves}, {rest}"
            );
            bank.verify();
        }
    }
}

/// A charge of the first run that comes again, in other bytes, while the second one runs.
#[test]
fn the_first_run_again_leaves_the_second_one_alone() {
    let mut bank = gateway("");
    let lien = "<WallDuration>4000</WallDuration><Type>job</Type>";
    send(&bank, "Reserve", "61", lien);
    bank.set_clock(T0 + 1000);
    assert_eq!(charge(&bank, "61", 1000, (0, 1000)), 1000);
    bank.set_clock(T0 + 1300);
    send(&bank, "Reserve", "61", lien);
    bank.set_clock(T0 + 1800);
    let before = bank.figures("chemistry");
    assert_eq!(before.1, 4000);
    let again = format!(
        "<WallDuration>1000</WallDuration>{} <Type>job</Type>",
        times(0, 1000)
    );
    assert_eq!(credits(&send(&bank, "Charge", "61", &again)), 0);
    assert_eq!(bank.figures("chemistry"), before);
    bank.set_clock(T0 + 2300);
    assert_eq!(charge(&bank, "61", 1000, (1300, 2300)), 1000);
    assert_eq!((billed(&bank), bank.jobs().len()), (2000, 2));
    sums::agree(&bank);
    bank.verify();
}
