//! Parameters of queries: an unknown one is refused everywhere, because a mistyped `dry_run` would write.

use serde_json::{Value, json};

use super::charge;
use crate::harness::{Bank, Request};

/// Routes without a caller, for programs that may add parameters of their own.
const PUBLIC: [&str; 4] = [
    "/healthz",
    "/readyz",
    "/api/v1/openapi.json",
    "/api/v1/docs",
];

#[test]
fn a_mistyped_dry_run_charges_nothing() {
    let mut bank = Bank::new();
    let known = "there are machine, print_tid, latin1_fallback, dry_run";
    for (query, detail) in [
        (
            "machine=colony&dry-run=true",
            format!("query: dry-run: no such parameter; {known}"),
        ),
        (
            "DRY_RUN=true",
            format!("query: DRY_RUN: no such parameter; {known}"),
        ),
        (
            "dry_run=yes",
            "query: dry_run: true or false is expected".to_owned(),
        ),
        (
            "dry_run=true&dry_run=false",
            "query: dry_run: is given twice".to_owned(),
        ),
    ] {
        let mut request = charge("k1");
        request.target = format!("/nami/v1/charge?{query}");
        let answer = bank.over_socket(&request);
        let expected = format!("error bad_request: {detail}\n");
        assert_eq!((answer.status, answer.text()), (400, expected), "{query}");
    }
    assert_eq!(bank.debits(), []);
    bank.verify();
}

#[test]
fn every_question_refuses_an_unknown_parameter() {
    let bank = Bank::new();
    let answer = bank.over_socket(&Request::get("/api/v1/openapi.json"));
    let document: Value = serde_json::from_slice(&answer.body).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let mut asked = 0;
    for (path, methods) in paths {
        let has_parameters = methods["get"]["parameters"].as_array();
        let has_query = has_parameters.is_some_and(|all| {
            all.iter()
                .any(|parameter| parameter["in"] == json!("query"))
        });
        if methods.get("get").is_none() || PUBLIC.contains(&path.as_str()) || has_query {
            continue;
        }
        let target: String = path
            .split('{')
            .map(|part| match part.split_once('}') {
                Some((_, rest)) => format!("1{rest}"),
                None => part.to_owned(),
            })
            .collect();
        let answer = bank.over_socket(&Request::get(&format!("{target}?nonsense=1")));
        let text = answer.text();
        assert_eq!(answer.status, 400, "{target}: {text}");
        assert!(
            text.contains("nonsense: no such parameter; there are none"),
            "{target}: {text}"
        );
        asked += 1;
    }
    assert!(asked > 5, "{asked} routes");
}

#[test]
fn a_fragment_is_no_part_of_a_command() {
    let bank = Bank::new();
    let deposit = json!({"name": "chemistry", "amount": "1"});
    let commands = json!({"commands": [{"path": "/api/v1/deposits#x", "body": deposit}]});
    let request = Request {
        method: "POST",
        target: "/api/v1/batch".to_owned(),
        headers: Vec::new(),
        body: commands.to_string().into_bytes(),
    };
    let answer = bank.over_socket(&request.header("Idempotency-Key", "b1"));
    let done: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(done["answers"][0]["status"], json!(400), "{done}");
    assert_eq!(done["answers"][0]["body"]["field"], json!("path"), "{done}");
}
