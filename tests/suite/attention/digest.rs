//! A program that is told once a day, and at once what is urgent.

use super::*;

const DAILY: &str = "\n[[deliver]]\nname = \"keeper\"\nby = \"command\"\ndigest = true\n\
    command = [\"/bin/sh\", \"-c\", \"(cat; echo) >> FOLDER/told\"]\nretry_s = 1\n";

/// How far the digests are, once they are made for a day.
fn until_digested(bank: &Bank, six: i64) {
    until("the digests of that day were looked after", || {
        let at = bank.query("SELECT digest_at FROM target");
        (at == [[(six * 1_000_000).to_string()]]).then_some(())
    });
}

#[test]
fn a_program_gets_what_is_not_urgent_once_a_day() {
    let mut bank = watching(&[], DAILY);
    charge(&bank, "1", 55_000);
    until_raised(&bank, &["used 50"]);
    charge(&bank, "2", 30_000);
    until_raised(&bank, &["used 50", "used 80"]);
    charge(&bank, "3", 35_000);
    // 120 % used, and below zero: both urgent, and the others wait.
    assert_eq!(words(&bank, 2), ["raised used 100", "raised negative"]);
    bank.set_clock(T0 + 7 * 3600);
    until_digested(&bank, T0 + 6 * 3600);
    let all = until("the digest", || {
        let notifications = notifications(&bank);
        (notifications.len() >= 3).then_some(notifications)
    });
    let digest = &all[2];
    assert_eq!(digest["event"], Value::Null, "{digest}");
    assert_eq!(digest["more"], 0, "{digest}");
    assert_eq!(digest["made_at"], "2026-01-01T07:00:00Z", "{digest}");
    assert!(digest["notice"].as_i64() > all[1]["notice"].as_i64());
    let events = digest["events"].as_array().unwrap().iter();
    let levels: Vec<(i64, bool)> = events
        .map(|event| {
            assert_eq!(event["project"], "chemistry", "{event}");
            let threshold = event["threshold"].as_i64().unwrap();
            (threshold, event["open"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(levels, [(50, true), (80, true)], "{digest}");
    let outbox = bank.json(&["attention", "outbox", "--all"]);
    let newest = &outbox["items"][0];
    assert_eq!(newest["recipient"], "keeper", "{outbox}");
    // The next day nothing is new.
    bank.set_clock(T0 + DAY + 7 * 3600);
    until_digested(&bank, T0 + DAY + 6 * 3600);
    assert_eq!(bank.query("SELECT count(*) FROM notice"), [["3"]]);
    bank.verify();
}

/// Who was told everything at once does not hear it again when that changes.
#[test]
fn digests_begin_with_events_after_their_activation() {
    let mut bank = watching(&[], KEEPER);
    charge(&bank, "1", 55_000);
    assert_eq!(words(&bank, 1), ["raised used 50"]);
    bank.stop();
    // It is the last table of the settings.
    bank.settings("digest = true\n");
    bank.start();
    charge(&bank, "2", 30_000);
    until_raised(&bank, &["used 50", "used 80"]);
    bank.set_clock(T0 + 7 * 3600);
    until_digested(&bank, T0 + 6 * 3600);
    let all = until("the digest", || {
        let notifications = notifications(&bank);
        (notifications.len() >= 2).then_some(notifications)
    });
    let events = all[1]["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{all:?}");
    assert_eq!(events[0]["threshold"], 80, "{all:?}");
    bank.verify();
}
