//! Moving in from another bank: everything is written, or nothing, and the balances are proved before that.

mod history;
mod together;

use serde_json::{Value, json};

use crate::harness::{Bank, Request, Response};

/// The route, of a request or of a dry run.
fn post(bank: &Bank, target: &str, key: &str, body: &Value) -> Response {
    let request = Request {
        method: "POST",
        target: target.to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    };
    let request = request
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", key);
    bank.over_socket(&request)
}

fn migrate(bank: &Bank, key: &str, body: &Value) -> Response {
    post(bank, "/api/v1/migrations", key, body)
}

/// An answer that is not refused.
#[track_caller]
fn done(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    serde_json::from_slice(&response.body).unwrap()
}

/// The results of the items, in a line.
fn results(migration: &Value) -> String {
    let items = migration["items"].as_array().unwrap().iter();
    let words: Vec<&str> = items.map(|item| item["result"].as_str().unwrap()).collect();
    words.join(" ")
}

/// A refused answer: its code and its detail.
#[track_caller]
fn refused(response: &Response) -> (String, String) {
    let problem: Value = serde_json::from_slice(&response.body).unwrap();
    assert!(response.status >= 400, "{problem}");
    let text = |name: &str| problem[name].as_str().unwrap_or_default().to_owned();
    (text("code"), text("detail"))
}

fn item(id: &str, add: &str, body: &Value) -> Value {
    json!({"id": id, "add": add, "body": body})
}

fn allocation(id: &str, account: &str, amount: &str, more: &[(&str, &str)]) -> Value {
    let mut body = json!({"account": account, "amount": amount});
    for (name, value) in more {
        body[*name] = json!(value);
    }
    item(id, "allocation", &body)
}

fn expect(account: &str, amount: &str, held: &str, limit: &str) -> Value {
    json!({"account": account, "amount": amount, "held": held, "credit_limit": limit})
}

/// A small bank with all kinds of items: two projects, three accounts, a debt, ended and future money, a lien.
fn old_bank() -> Value {
    json!({
        "source": "gold",
        "at": "2025-12-31T22:00:00Z",
        "items": [
            item("user carol", "user", &json!({"name": "carol", "email": "c@x.example"})),
            item("user amy", "user", &json!({"name": "amy"})),
            item("machine big", "machine", &json!({"name": "big"})),
            item("project phys", "project", &json!({"name": "phys", "no_account": true})),
            item("project bio", "project", &json!({"name": "bio", "no_account": true, "active": false})),
            item("phys carol", "member",
                &json!({"project": "phys", "user": "carol", "active": true, "role": "manager"})),
            item("phys amy", "member", &json!({"project": "phys", "user": "amy", "active": true})),
            item("account 4", "account", &json!({"name": "phys",
                "projects": [{"value": "phys", "allow": true}],
                "users": [{"value": "MEMBERS", "allow": true}],
                "machines": [{"value": "ANY", "allow": true}]})),
            item("account 5", "account", &json!({"name": "bio",
                "projects": [{"value": "bio", "allow": true}]})),
            item("rate 1", "rate", &json!({"kind": "VBR", "name": "Processors", "rate": "1"})),
            item("rate 2", "rate", &json!({"kind": "NBM", "name": "QualityOfService", "instance": "high",
                "rate": "2"})),
            allocation("allocation 8", "phys", "242998",
                &[("deposited", "500000"), ("start", "2025-06-01T00:00:00Z"), ("end", "2027-01-01T00:00:00Z")]),
            allocation("allocation 9", "phys", "70000", &[("credit_limit", "1000")]),
            allocation("allocation 10", "bio", "-50", &[("deposited", "200"), ("credit_limit", "20")]),
            allocation("allocation 11", "bio", "1000", &[("end", "2025-06-01T00:00:00Z")]),
            allocation("allocation 12", "bio", "30", &[("start", "2026-06-01T00:00:00Z")]),
            item("reservation 4", "lien", &json!({"job": "r1", "machine": "big", "project": "phys",
                "user": "carol", "amount": "288000", "processors": 8,
                "start": "2025-12-31T20:00:00Z", "end": "2026-01-02T00:00:00Z"})),
        ],
        "expected": [expect("phys", "312998", "288000", "1000"), expect("bio", "-50", "0", "20")],
    })
}
