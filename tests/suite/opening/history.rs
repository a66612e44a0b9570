//! Usage of the time before the opening: it counts in reports, and nobody pays for it again.

use serde_json::{Value, json};

use super::{done, post, refused};
use crate::harness::{Bank, Request, Signing};

/// A job of the old bank.
fn record(id: &str, charged: &str) -> Value {
    json!({"source": "gold", "id": id, "machine": "colony", "project": "chemistry", "user": "amy",
        "start": "2025-12-30T10:00:00Z", "end": "2025-12-30T11:00:00Z", "processors": 4,
        "charged_before": charged})
}

fn outcomes(bank: &Bank, key: &str, records: &[Value]) -> String {
    let taken = done(&post(
        bank,
        "/api/v1/usage",
        key,
        &json!({"records": records}),
    ));
    let items = taken["items"].as_array().unwrap().iter();
    let words: Vec<&str> = items
        .map(|item| item["outcome"].as_str().unwrap())
        .collect();
    words.join(" ")
}

/// Core-seconds and the cost of chemistry in the year of the old bank.
fn usage(bank: &Bank) -> (String, String, String) {
    let words = ["usage", "chemistry", "--year", "2025", "--by", "project"];
    let usage = bank.json(&words);
    let text = |name: &str| usage["rows"][0][name].as_str().unwrap().to_owned();
    (
        text("core_seconds"),
        text("charged"),
        text("shadow_charged"),
    )
}

#[test]
fn history_counts_with_its_charge_and_moves_no_money() {
    let mut bank = Bank::new();
    let records = [record("g1", "14400"), record("g2", "99")];
    assert_eq!(outcomes(&bank, "h1", &records), "charged charged");
    assert_eq!(bank.figures("chemistry").0, 100_000);
    let expected = |shadow: &str| ("28800.000000".to_owned(), "0".to_owned(), shadow.to_owned());
    assert_eq!(usage(&bank), expected("14499"));
    // The same again changes nothing; other figures replace the first.
    assert_eq!(outcomes(&bank, "h2", &records), "duplicate duplicate");
    assert_eq!(outcomes(&bank, "h3", &[record("g2", "100")]), "adjusted");
    assert_eq!(usage(&bank), expected("14500"));
    assert_eq!(bank.figures("chemistry").0, 100_000);
    bank.verify();
}

#[test]
fn history_takes_no_machine_and_hides_no_charge() {
    let mut bank = Bank::new();
    // The old bank charged a part of a job that goes on under the new one.
    assert_eq!(
        outcomes(&bank, "h1", &[record("job.1", "14400")]),
        "charged"
    );
    let body = b"<Job><ObjectID>job.1</ObjectID><User>amy</User><Account>chemistry</Account>\
        <Machine>colony</Machine><Processors>4</Processors><ChargeDuration>3600</ChargeDuration>\
        <WallDuration>3600</WallDuration></Job>";
    assert_eq!(
        bank.over_socket(&Request::nami("charge", "c1", body))
            .status,
        200
    );
    assert_eq!(bank.figures("chemistry").0, 100_000 - 4 * 3600);
    let machine = bank.json(&["machine", "show", "colony"]);
    assert_eq!(machine["source"], Value::Null, "{machine}");
    // Nor does the scheduler's source hide history that comes later.
    assert_eq!(outcomes(&bank, "h2", &[record("old.2", "5")]), "charged");
    bank.verify();
}

#[test]
fn history_of_an_unknown_project_does_not_wait_for_one() {
    let mut bank = Bank::new();
    let mut gone = record("g9", "7");
    gone["project"] = json!("gone");
    assert_eq!(outcomes(&bank, "h1", &[gone]), "charged");
    assert_eq!(bank.items(&["unmapped"]).len(), 0);
    bank.verify();
}

#[test]
fn only_an_administrator_sends_history() {
    let mut bank = Bank::new();
    bank.bank_ok(&["key", "set", "moab", "--role", "collector"]);
    let request = Request {
        method: "POST",
        target: "/api/v1/usage".to_owned(),
        headers: Vec::new(),
        body: record("g1", "1").to_string().into_bytes(),
    };
    let request = request
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", "h1");
    let answer = bank.over_tcp(&Signing::new().sign_all(request));
    assert_eq!(refused(&answer).0, "not_allowed");
    bank.verify();
}
