//! Defects of Gold that only a daemon can show (ledger.md 2.14): who reads what, and that no peer
//! is called.

use crate::harness::{Bank, Request};
use serde_json::{Value, json};

/// The options of a key of a person, over TCP.
fn key_of(bank: &Bank, user: &str) -> Vec<String> {
    let file = bank.folder().join(format!("{user}.key"));
    let path = file.to_str().unwrap().to_owned();
    bank.bank_ok(&["key", "add", user, "--role", "user", "--out", &path]);
    let server = format!("http://{}", bank.tcp());
    ["--server", &server, "--key-id", user, "--key-file", &path]
        .map(str::to_owned)
        .to_vec()
}

fn seen(bank: &Bank, key: &[String], arguments: &[&str]) -> String {
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    let ran = bank.bank(&[&key[..], arguments].concat());
    assert_eq!(ran.exit, 0, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn defect_d20_users_see_their_projects_only() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "dave"]);
    bank.bank_ok(&["user", "add", "erin"]);
    bank.bank_ok(&["project", "members", "add", "astro", "erin"]);
    let (dave, erin) = (key_of(&bank, "dave"), key_of(&bank, "erin"));
    for list in [
        &["account", "ls", "-P", "-n"][..],
        &["project", "ls", "-P", "-n"],
        &["balance", "-P", "-n"],
        &["journal", "-P", "-n"],
    ] {
        let all = bank.bank_ok(list);
        assert!(all.contains("chemistry"), "{list:?}: {all}");
        let of_erin = seen(&bank, &erin, list);
        assert!(!of_erin.contains("chemistry"), "{list:?}: {of_erin}");
        assert_eq!(seen(&bank, &dave, list), "", "{list:?}");
    }
    let own = seen(&bank, &erin, &["account", "ls", "-P", "-n"]);
    assert!(own.contains("astro"), "{own}");
    bank.verify();
}

#[test]
fn defect_d21_no_peer_is_called_and_nobody_can_ask_for_it() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let charge =
        json!({"job": "d21", "project": "chemistry", "machine": "colony", "duration": "10"});
    for option in [
        "back_host",
        "back_port",
        "back_project",
        "back_user",
        "back_machine",
        "BackHost",
        "call_type",
        "forward",
        "organization",
    ] {
        for route in ["quotes", "reserves", "charges"] {
            let mut body = charge.clone();
            body[option] = Value::from("peer.example");
            let answer = bank.over_socket(&post(route, &body));
            assert_eq!(answer.status, 400, "{route} {option}: {}", answer.text());
            assert!(answer.text().contains("bad_request"), "{}", answer.text());
        }
    }
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

fn post(route: &str, body: &Value) -> Request {
    Request {
        method: "POST",
        target: format!("/api/v1/{route}"),
        headers: vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Idempotency-Key".to_owned(), format!("d21-{route}")),
        ],
        body: body.to_string().into_bytes(),
    }
}

/// Usage that nobody pays must always find the bank's own account, and `bankd verify` knows when it began.
#[test]
fn the_allocation_of_the_bank_itself_cannot_be_changed() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let own = bank.query(
        "SELECT l.id FROM allocation l JOIN account a ON a.id = l.account WHERE a.name = '#unbilled'",
    );
    let own = own[0][0].as_str();
    for change in [
        &["allocation", "set", own, "--start", "2026-02-01"][..],
        &["allocation", "set", own, "--end", "now"],
        &["allocation", "set", own, "--limit", "5"],
        &["allocation", "rm", own, "--yes"],
        &["allocation", "rm", own, "--force", "--yes"],
        &["account", "set", "#unbilled", "--priority", "5"],
        &["account", "rm", "#unbilled", "--yes"],
        &["deposit", "#unbilled", "5"],
        &["withdraw", "#unbilled", "5"],
        &["transfer", "5", "--from", "chemistry", "--to", "#unbilled"],
    ] {
        let ran = bank.bank(change);
        assert_ne!(ran.exit, 0, "{change:?}: {}", ran.stdout);
    }
    let ran = bank.bank(&["allocation", "set", own, "--end", "now"]);
    ran.expect_stderr(&["#unbilled", "the bank itself"]);
    assert_eq!(bank.transactions(), before);
    bank.verify();
}
