//! A machine goes live: its scheduler charges from now on, and the documents of a job that a collector's record has counted
//! come late.

use super::{HEAD, file, lines, summary, watching};
use crate::export::sums;
use crate::harness::{Bank, T0};

/// A document of the job that `lines(0, 1)` has: two processors for an hour, from 2025-12-01T01:00:00Z.
fn send(bank: &Bank, event: &str, seconds: i64, until: Option<i64>) {
    let start = 1_764_550_800;
    let end = until.map_or_else(String::new, |at| {
        format!("<EndTime>{}</EndTime>", start + at)
    });
    let duration = match event {
        "reserve" => "<WallDuration>3600</WallDuration>".to_owned(),
        _ => format!("<ChargeDuration>{seconds}</ChargeDuration>"),
    };
    let document = format!(
        "<Job><ObjectID>0</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Processors>2</Processors>{duration}<StartTime>{start}</StartTime>{end}</Job>"
    );
    bank.script(event, document.as_bytes()).expect(0, "");
}

/// Jobs and core-seconds of the machine, and what is left of the account and held of it.
fn figures(bank: &Bank) -> (String, i64, i64) {
    let words =
        "usage --by machine --from 2025-11-01 --to 2026-03-01 --columns jobs,core_seconds --csv";
    let text = bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    let (amount, held, _) = bank.figures("chemistry");
    (text.lines().last().unwrap().to_owned(), amount, held)
}

#[test]
fn late_documents_of_a_counted_use_count_nothing() {
    for mode in ["track", "notional", "strict"] {
        for documents in [
            &[("end", 3600, Some(3600))][..],
            &[("end", 3600, Some(3600)), ("end", 3600, Some(3600))],
            &[("charge", 1800, Some(1800)), ("end", 1800, Some(3600))],
            &[("reserve", 0, None), ("end", 3600, Some(3600))],
            &[
                ("reserve", 0, None),
                ("charge", 1800, None),
                ("end", 1800, None),
            ],
        ] {
            let mut bank = watching(&[]);
            let day = file(&bank, "day.sacct", format!("{HEAD}{}", lines(0, 1)));
            summary(&bank, &["sacct", &day, "--source", "s"]);
            let before = figures(&bank);
            assert_eq!(before.0, "1,7200.000000", "{before:?}");
            let live = [
                "machine", "set", "colony", "--source", "nami", "--mode", mode,
            ];
            bank.bank_ok(&live);
            for (n, (event, seconds, until)) in (0..).zip(documents) {
                bank.set_clock(T0 + 86_400 + n);
                send(&bank, event, *seconds, *until);
            }
            bank.set_clock(T0 + 30 * 86_400);
            assert_eq!(figures(&bank), before, "{mode} {documents:?}");
            sums::agree(&bank);
            bank.verify();
        }
    }
}
