//! Each refusal of access is in the log with what was said to whom it met, also where a rule said it.

use super::charge;
use super::token::token;
use crate::harness::{Bank, Request, Setup, Signing};

/// The lines of the log about refusals of a code.
fn lines(bank: &Bank, code: &str) -> Vec<String> {
    let wanted = format!("code=\"{code}\"");
    let log = bank.log();
    let lines = log.lines().filter(|line| line.contains("access refused"));
    let lines = lines.filter(|line| line.contains(&wanted));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_log_contains_the_rule_of_a_refusal() {
    let setup = Setup::new().env("BANKD_APPROVAL_DEPOSIT", "1000");
    let mut bank = setup.chemistry(900).start();
    let held = ["--role", "operator", "-A", "chemistry"];
    let one = token(&bank, "one", &held);
    let two = token(&bank, "two", &held);
    let pi = token(&bank, "head", &["--role", "pi", "-A", "chemistry"]);
    bank.bank_ok(&["limit", "set", "one", "--per-operation", "500"]);
    let with = |token: &str, arguments: &[&str]| bank.bank_as(&[("BANK_TOKEN", token)], arguments);
    let proposed = with(
        &two,
        &["deposit", "chemistry", "5000", "--propose", "--json"],
    );
    assert_eq!(proposed.exit, 0, "{}", proposed.stderr);
    let proposed: serde_json::Value = serde_json::from_str(&proposed.stdout).unwrap();
    let id = proposed["id"].to_string();
    // The limit, the four eyes, the role.
    for (token, arguments, exit, code, message) in [
        (
            &one,
            &["deposit", "chemistry", "501"][..],
            1,
            "over_limit",
            "per operation",
        ),
        (&two, &["approve", &id], 6, "own_proposal", "your own"),
        (
            &pi,
            &["deposit", "chemistry", "1"],
            6,
            "not_allowed",
            "operator",
        ),
    ] {
        let before = lines(&bank, code).len();
        let ran = with(token, arguments);
        assert_eq!(
            ran.exit, exit,
            "{arguments:?}: {}{}",
            ran.stdout, ran.stderr
        );
        let found = lines(&bank, code);
        assert_eq!(found.len(), before + 1, "{found:?}");
        let line = found.last().unwrap();
        assert!(
            line.contains(message) && !line.contains("why=\"\""),
            "{line}"
        );
    }
    // A scheduler whose key is for another machine.
    bank.bank_ok(&["machine", "add", "other"]);
    let file = bank.folder().join("other.key");
    let path = file.to_str().unwrap();
    let role = ["--role", "scheduler", "--machine", "other"];
    bank.bank_ok(&[&["key", "add", "other", "--out", path][..], &role].concat());
    let secret = bank_api::sign::Secret::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let signing = Signing {
        keyid: "other".to_owned(),
        secret: secret.bytes().to_vec(),
        ..Signing::new()
    };
    let mut foreign = charge("foreign");
    foreign.target.push_str("?machine=colony");
    let answer = bank.over_tcp(&signing.sign_all(foreign));
    assert_eq!(answer.status, 403, "{}", answer.text());
    let line = lines(&bank, "not_allowed").pop().unwrap();
    assert!(line.contains("/nami/v1/charge"), "{line}");
    assert!(
        line.contains("colony") && !line.contains("why=\"\""),
        "{line}"
    );
    bank.verify();
}

/// Of several commands in one request each is answered for itself; that one was refused is told all the
/// same.
#[test]
fn a_record_of_a_foreign_machine_is_reported() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "add", "other"]);
    let role = ["--role", "collector", "--machine", "other"];
    let collector = token(&bank, "collector", &role);
    let body = br#"{"records": [{"id": "1", "source": "s", "machine": "colony", "project": "chemistry",
        "user": "amy", "start": "2025-12-31T01:00:00Z", "end": "2025-12-31T02:00:00Z", "processors": "1"}]}"#;
    let request = Request {
        target: "/api/v1/usage".to_owned(),
        ..Request::nami("x", "foreign", body)
    };
    let request = request.header("Authorization", &format!("Bearer {collector}"));
    let answer = bank.over_tcp(&request);
    assert!(answer.text().contains("not_allowed"), "{}", answer.text());
    let line = lines(&bank, "not_allowed").pop().unwrap();
    assert!(
        line.contains("colony") && !line.contains("why=\"\""),
        "{line}"
    );
    let counted = bank.json(&["status"])["refused_access"].clone();
    assert_eq!(counted[0]["roles"], "collector", "{counted}");
    bank.verify();
}

/// Usage is given away record by record: each that is refused to whoever asks counts, and a reason has
/// one line however many it met.
#[test]
fn usage_that_may_not_be_given_away_is_reported() {
    let mut bank = Bank::new();
    let line = |id: &str| {
        format!(
            r#"{{"source":"s","id":"{id}","machine":"colony","project":"nobodys","user":"amy","processors":1,"start":"2025-12-31T00:00:00Z","end":"2025-12-31T01:00:00Z","state":"COMPLETED"}}"#
        )
    };
    let file = bank.folder().join("usage.jsonl");
    std::fs::write(&file, [line("1"), line("2"), line("3")].join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    let body = br#"{"when": ["account=nobodys"], "project": "chemistry"}"#;
    let given = |token: &str, query: &str| -> serde_json::Value {
        let request = Request {
            target: format!("/api/v1/unmapped/assign{query}"),
            ..Request::nami("x", "given", body)
        };
        let request = request.header("Authorization", &format!("Bearer {token}"));
        let answer = bank.over_tcp(&request);
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };
    // What waits is nobody's yet, and out of view of a key for one project or another machine.
    bank.bank_ok(&["machine", "add", "blue"]);
    let elsewhere = token(&bank, "elsewhere", &["--role", "admin", "-m", "blue"]);
    let narrow = token(&bank, "narrow", &["--role", "admin", "-A", "chemistry"]);
    for token in [&elsewhere, &narrow] {
        for query in ["?dry_run=true", ""] {
            let response = given(token, query);
            assert_eq!(response["records"], 0, "{response}");
            assert_eq!(response["refused"], serde_json::json!([]));
        }
    }
    // A key for its machine sees it, and may not give it away.
    let narrow = token(&bank, "colony", &["--role", "admin", "-m", "colony"]);
    let response = given(&narrow, "");
    assert_eq!(response["changed"], 0, "{response}");
    assert_eq!(response["reasons"][0]["code"], "not_allowed", "{response}");
    assert_eq!(response["reasons"][0]["records"], 3, "{response}");
    let found = lines(&bank, "not_allowed");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("times=3"), "{found:?}");
    assert!(found[0].contains("single projects"), "{found:?}");
    let counted = bank.json(&["status"])["refused_access"].clone();
    assert_eq!(counted[0]["count"], 3, "{counted}");
    bank.verify();
}
