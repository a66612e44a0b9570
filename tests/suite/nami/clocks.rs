//! Schedulers whose clock is ahead of the bank's: the ends in their documents are after the time at which these come.

use super::repeats::{document, rich, times};
use crate::export::sums;
use crate::harness::{Bank, Request, T0};

/// Sends a document as another request than the ones before it.
fn send(bank: &Bank, event: &str, (key, body): (&str, &[u8])) -> String {
    let mut request = Request::nami(event, &format!("{event}-{key}"), body);
    request.target.push_str("?machine=colony");
    let answer = bank.over_socket(&request);
    assert_eq!(answer.status, 200, "{event} {key}: {}", answer.text());
    answer.text()
}

/// Events that end a job: those of Moab 7 and of Moab 6.
const ENDS: [&[&str]; 2] = [&["end"], &["charge", "delete"]];

#[test]
fn the_repeated_end_of_a_clock_that_is_ahead_adds_nothing() {
    for (ahead, events) in [0, 1, 2, 120, 299].into_iter().zip(ENDS.iter().cycle()) {
        let mut bank = rich();
        let start = format!("<StartTime>{T0}</StartTime>");
        send(&bank, "start", ("0", &document("c.1", 0, &start)));
        let end = document("c.1", 3000, &times(T0, T0 + 3000));
        let mut now = T0;
        for later in [0, 0, 60, 601, 4200, 90_000] {
            now = now.max(T0 + 3000 - ahead + later);
            for event in *events {
                bank.set_clock(now);
                send(&bank, event, (&now.to_string(), &end));
                now += 1;
            }
            let used = 1_000_000 - bank.figures("chemistry").0;
            assert_eq!(used, 3000, "{ahead} s ahead, {later} s later");
        }
        sums::agree(&bank);
        bank.verify();
    }
}

/// The repeated end of the first run leaves the second one and its lien as they are.
#[test]
fn the_repeated_end_leaves_a_later_run_alone() {
    for ahead in [0, 1, 60] {
        let mut bank = rich();
        let start = |from: i64| {
            let document = document("c.2", 0, &format!("<StartTime>{from}</StartTime>"));
            let document = String::from_utf8(document).unwrap();
            document.replace("<ChargeDuration>0</ChargeDuration>", "")
        };
        send(&bank, "start", ("1", start(T0).as_bytes()));
        let end = document("c.2", 3000, &times(T0, T0 + 3000));
        bank.set_clock(T0 + 3000 - ahead);
        send(&bank, "end", ("1", &end));
        bank.set_clock(T0 + 3005 - ahead);
        let held = send(&bank, "start", ("2", start(T0 + 3005).as_bytes()));
        assert_eq!(held, "ok lien 3600 credits\n", "{ahead} s ahead");
        let before = bank.figures("chemistry");
        for later in [30, 700, 3000] {
            bank.set_clock(T0 + 3000 + later);
            send(&bank, "end", (&format!("again-{later}"), &end));
            assert_eq!(
                bank.figures("chemistry"),
                before,
                "{ahead} s ahead, {later} s later"
            );
        }
        bank.set_clock(T0 + 3605);
        send(
            &bank,
            "end",
            ("2", &document("c.2", 600, &times(T0 + 3005, T0 + 3605))),
        );
        assert_eq!(1_000_000 - bank.figures("chemistry").0, 3600, "{ahead}");
        sums::agree(&bank);
        bank.verify();
    }
}

/// An `end` without an end, or with a planned one, is known by its start, however late it comes again.
#[test]
fn a_repeated_end_is_known_by_its_start() {
    let planned = format!("<EndTime>{}</EndTime>", T0 + 7200);
    for (end, runs_again) in [("", false), (&planned, false), ("", true), (&planned, true)] {
        let mut bank = rich();
        let times = format!("<StartTime>{T0}</StartTime>{end}");
        send(&bank, "start", ("1", &document("c.3", 0, &times)));
        bank.set_clock(T0 + 1000);
        send(&bank, "end", ("1", &document("c.3", 1000, &times)));
        if runs_again {
            bank.set_clock(T0 + 1100);
            let start = format!("<StartTime>{}</StartTime>", T0 + 1100);
            send(&bank, "start", ("2", &document("c.3", 0, &start)));
        }
        let before = bank.figures("chemistry");
        for later in [1, 300, 1200, 3000, 9000] {
            bank.set_clock(T0 + 1100 + later);
            send(
                &bank,
                "end",
                (&later.to_string(), &document("c.3", 1000, &times)),
            );
            let now = bank.figures("chemistry");
            assert_eq!(now.0, before.0, "{times} {later} s later");
            // The lien of the second run is over in the end.
            assert!(now.1 == before.1 || later == 9000, "{times} {now:?}");
        }
        sums::agree(&bank);
        bank.verify();
    }
}
