//! Records that change after their month is over (`auditor-api.md` 9.1): the difference with whoever paid;
//! what goes back is booked when it becomes known, what is charged at the time of then.

use super::wire::{ask, plain};
use super::{Site, site};
use crate::harness::T0;

const DAY: i64 = 86_400;

/// 16 cores from the first second of 2026 on, until so many minutes later.
fn stop(minutes: u32) -> String {
    format!("2026-01-01T00:{minutes:02}:00Z")
}

#[test]
fn a_record_of_a_month_that_is_over_gives_back_now_and_charges_as_of_then() {
    let Site { mut bank, address } = site();
    bank.bank_ok(&["project", "add", "lab", "--members", "amy"]);
    bank.bank_ok(&["deposit", "lab", "50000", "--end", "2026-02-01T00:00:00Z"]);
    bank.bank_ok(&["machine", "set", "colony", "--source", "auditor"]);
    bank.set_clock(T0 + 3600);
    let send = |method: &str, body: &str| {
        let response = ask(plain(&address), method, "/record", &[], body).unwrap();
        assert_eq!(response.status, 200, "{method} {body}");
    };
    let paid = |bank: &crate::harness::Bank| {
        let sql = "SELECT l.amount FROM allocation l JOIN account a ON a.id = l.account
                   WHERE a.name = 'lab' ORDER BY l.id";
        bank.query(sql).concat()
    };
    send(
        "POST",
        &format!(
            r#"{{"record_id":"a","meta":{{"site_id":["colony"],"group_id":["lab"],"user_id":["amy"]}},
            "components":[{{"name":"Cores","amount":16,"scores":[]}}],
            "start_time":"2026-01-01T00:00:00Z","stop_time":"{}"}}"#,
            stop(10)
        ),
    );
    assert_eq!(paid(&bank), ["40400"]);
    // Two months later the allocation is over as well, and new money is there.
    bank.set_clock(T0 + 60 * DAY);
    bank.bank_ok(&["deposit", "lab", "1000", "--start", "2026-02-20T00:00:00Z"]);
    for (minutes, left) in [(5, "45200"), (20, "30800"), (20, "30800")] {
        let end = stop(minutes);
        send(
            "PUT",
            &format!(r#"{{"record_id":"a","components":[],"stop_time":"{end}"}}"#),
        );
        assert_eq!(paid(&bank), [left, "1000"], "{minutes}");
    }
    bank.verify();
    let sql = "SELECT at_effective / 1000000, at_recorded / 1000000 FROM tx WHERE op = 'adjust'
               ORDER BY id";
    let then = |minutes: i64| (T0 + 60 * minutes).to_string();
    let now = (T0 + 60 * DAY).to_string();
    // What goes back is booked when that became known, for the time of the usage.
    assert_eq!(
        bank.query(sql),
        [[now.clone(), now.clone()], [then(20), now.clone()]]
    );
    let sql = "SELECT reason FROM tx WHERE op = 'adjust' ORDER BY id LIMIT 1";
    let reason = bank.query(sql).concat().concat();
    assert!(
        reason.contains("effective=2026-01-01T00:05:00Z"),
        "{reason}"
    );
}

#[test]
fn the_last_stop_counts_also_if_an_earlier_record_had_it() {
    let Site { mut bank, address } = site();
    bank.bank_ok(&["project", "add", "lab", "--members", "amy"]);
    bank.bank_ok(&["deposit", "lab", "50000"]);
    bank.bank_ok(&["machine", "set", "colony", "--source", "auditor"]);
    bank.set_clock(T0 + 3600);
    let send = |method: &str, body: &str| {
        let response = ask(plain(&address), method, "/record", &[], body).unwrap();
        assert_eq!(response.status, 200, "{method} {body}");
    };
    send(
        "POST",
        r#"{"record_id":"b","meta":{"site_id":["colony"],"group_id":["lab"],"user_id":["amy"]},
            "components":[{"name":"Cores","amount":16,"scores":[]}],
            "start_time":"2026-01-01T00:00:00Z","stop_time":"2026-01-01T00:10:00Z"}"#,
    );
    for (minutes, charged) in [
        (5, 4_800),
        (10, 9_600),
        (10, 9_600),
        (5, 4_800),
        (10, 9_600),
    ] {
        let body =
            serde_json::json!({"record_id": "b", "components": [], "stop_time": stop(minutes)});
        send("PUT", &body.to_string());
        assert_eq!(bank.figures("lab").0, 50_000 - charged, "{minutes}");
        assert_eq!(
            crate::export::sums::agree(&bank).1,
            1_000 * i128::from(charged),
            "{minutes}"
        );
    }
    bank.verify();
}
