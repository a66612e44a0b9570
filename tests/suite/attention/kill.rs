//! The daemon dies while it tells: every event is told, in order, and one that comes twice has the
//! same number.

use super::*;

/// What is charged and then deposited in each round: everything is raised, and clears.
const ROUNDS: [(i64, &str); 3] = [
    (120_000, "1000000"),
    (1_100_000, "10000000"),
    (11_000_000, "100000000"),
];

fn all_are_sent(bank: &Bank) {
    until("all are told", || {
        let waiting = bank.query("SELECT count(*) FROM notice WHERE state <> 'sent'");
        (waiting == [["0"]]).then_some(())
    });
}

fn killed_at(point: &str) {
    let mut bank = watching(&[], KEEPER);
    for (round, (much, back)) in ROUNDS.into_iter().enumerate() {
        bank.stop();
        let trap = format!("{point}:2");
        assert!(bank.start_with(&[("BANKD_KILL_AT", &trap)]));
        charge(&bank, &format!("job{round}"), much);
        until("the daemon is gone", || bank.is_gone().then_some(()));
        bank.stop_or_kill();
        bank.start();
        bank.bank_ok(&["deposit", "chemistry", back]);
        until_raised(&bank, &[]);
        all_are_sent(&bank);
    }
    let made = bank.query("SELECT id, event FROM notice ORDER BY id");
    let mut first: Vec<Vec<String>> = Vec::new();
    for notification in notifications(&bank) {
        let own = vec![
            notification["notice"].to_string(),
            notification["event"]["id"].to_string(),
        ];
        if first.iter().any(|known| known[0] == own[0]) {
            // At least once: only the last one before a crash may come again.
            assert_eq!(
                first.last(),
                Some(&own),
                "one number, two events: {notification}"
            );
            continue;
        }
        first.push(own);
    }
    assert_eq!(first, made, "in order, and all of them");
    assert!(made.len() >= 12, "{made:?}");
    bank.verify();
}

#[test]
fn killed_between_sending_and_recording() {
    killed_at("notice_tried");
}

#[test]
fn killed_after_recording() {
    killed_at("notice_kept");
}

#[test]
fn killed_from_outside_at_any_time() {
    let mut bank = watching(&[], KEEPER);
    for (round, (much, back)) in ROUNDS.into_iter().enumerate() {
        charge(&bank, &format!("job{round}"), much);
        bank.kill();
        bank.start();
        bank.bank_ok(&["deposit", "chemistry", back]);
        bank.kill();
        bank.start();
        until_raised(&bank, &[]);
    }
    all_are_sent(&bank);
    let made = bank.query("SELECT DISTINCT event FROM notice");
    let mut heard: Vec<String> = notifications(&bank)
        .iter()
        .map(|notification| notification["event"]["id"].to_string())
        .collect();
    heard.sort();
    heard.dedup();
    assert_eq!(heard.len(), made.len());
    bank.verify();
}
