//! The form of requests, and the pages of lists.

use super::daemon::Daemon;
use super::fill;
use bank_api::text::percent_encode;
use serde_json::{Value, json};

/// A problem document with this status and code, under the id of its request.
fn problem(reply: &super::Reply, status: u16, code: &str) {
    assert_eq!(reply.status, status, "{} {}", reply.head, reply.text);
    assert_eq!(reply.body["code"], code, "{}", reply.text);
    assert!(
        reply.head.contains("application/problem+json"),
        "{}",
        reply.head
    );
    let id = reply.body["request_id"].as_str().unwrap();
    assert!(
        reply.head.contains(&format!("x-request-id: {id}")),
        "{}",
        reply.head
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_a_problem_too() {
    let daemon = Daemon::start().await;
    let long = format!("/api/v1/jobs?user={}", "u".repeat(9000));
    for (method, target, status, code) in [
        ("GET", "/api/v1/projects/%FF", 400, "bad_request"),
        ("GET", "/api/v1/liens/abc", 400, "bad_request"),
        (
            "GET",
            "/api/v1/liens/99999999999999999999",
            400,
            "bad_request",
        ),
        ("GET", "/api/v1/projects?sort=up", 400, "bad_request"),
        ("GET", "/api/v1/users?limit=0", 422, "bad_value"),
        ("GET", "/api/v1/rates?after=x", 422, "bad_value"),
        ("GET", "/api/v1/balances?after=99", 422, "bad_value"),
        ("GET", &long, 413, "too_large"),
        ("GET", "/api/v1/nonsense", 404, "not_found"),
        ("GET", "/", 404, "not_found"),
        ("PUT", "/api/v1/projects", 405, "method_not_allowed"),
        ("POST", "/api/v1/deposits", 400, "bad_request"),
    ] {
        let reply = daemon.send(method, target, b"{\"name\"", "k").await;
        problem(&reply, status, code);
        let other = status == 405;
        assert_eq!(
            reply.head.contains("allow: get,head,post"),
            other,
            "{}",
            reply.head
        );
    }
    daemon.stop().await;
}

/// Names or numbers of all pages of a list.
async fn pages(daemon: &Daemon, list: &str, key: &str, limit: usize) -> Vec<Value> {
    let mut all = Vec::new();
    let mut target = format!("/api/v1/{list}?limit={limit}");
    loop {
        let reply = daemon.get(&target).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let rows = reply.body["items"].as_array().unwrap();
        assert!(rows.len() <= limit, "{}", reply.text);
        all.extend(rows.iter().map(|row| row[key].clone()));
        let Some(next) = reply.body["next"].as_str() else {
            return all;
        };
        assert_eq!(rows.len(), limit, "a page that goes on is full");
        target = format!("/api/v1/{list}?limit={limit}&after=");
        percent_encode(next, &mut target);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_the_same_page_by_page() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    for (key, target, body) in [
        (
            "r1",
            "rates",
            json!({"kind": "VBR", "name": "Processors", "rate": "1"}),
        ),
        (
            "r2",
            "rates",
            json!({"kind": "VBR", "name": "Memory", "rate": "2"}),
        ),
        (
            "a1",
            "attributes",
            json!({"name": "gpus", "type": "number"}),
        ),
        (
            "a2",
            "attributes",
            json!({"name": "licences", "type": "number"}),
        ),
        (
            "m1",
            "mappings",
            json!({"when": ["user=u1"], "project": "chem", "priority": 9}),
        ),
        (
            "m2",
            "mappings",
            json!({"when": ["user=u2"], "project": "bio"}),
        ),
        (
            "h1",
            "hardware",
            json!({"name": "old", "processors": 8, "nodes": 2, "priority": 9}),
        ),
        (
            "h2",
            "hardware",
            json!({"name": "new", "processors": 8, "nodes": 2, "priority": 1}),
        ),
        (
            "d1",
            "downtimes",
            json!({"hardware": 1, "from": "2020-01-01T00:00:00Z", "reason": "cooling"}),
        ),
        (
            "d2",
            "downtimes",
            json!({"hardware": 1, "from": "2019-01-01T00:00:00Z", "reason": "power", "nodes": 1}),
        ),
        (
            "k1",
            "contributors",
            json!({"name": "amy", "projects": ["chem"]}),
        ),
        ("k2", "contributors", json!({"name": "bob"})),
        (
            "k3",
            "contributions",
            json!({"contributor": "amy", "processors": 1}),
        ),
        (
            "k4",
            "contributions",
            json!({"contributor": "bob", "processors": 2}),
        ),
        ("g1", "roles", json!({"name": "u1", "role": "auditor"})),
        ("g2", "roles", json!({"name": "u2", "role": "admin"})),
        ("l1", "limits", json!({"role": "operator", "per_day": "5"})),
        ("l2", "limits", json!({"name": "u1", "per_day": "5"})),
        (
            "t1",
            "tokens",
            json!({"id": "one", "roles": ["auditor"], "valid_until": "2090-01-01T00:00:00Z"}),
        ),
        (
            "t2",
            "tokens",
            json!({"id": "two", "roles": ["auditor"], "valid_until": "2090-01-01T00:00:00Z"}),
        ),
    ] {
        let target = format!("/api/v1/{target}");
        let reply = daemon.call("POST", &target, &body, key).await;
        assert_eq!(reply.status, 201, "{target} {body}: {}", reply.text);
    }
    for (list, key, least) in [
        ("projects", "name", 3),
        ("users", "name", 2),
        ("machines", "name", 1),
        ("accounts", "name", 3),
        ("allocations", "id", 2),
        ("balances", "account", 3),
        ("rates", "id", 2),
        ("attributes", "name", 2),
        ("mappings", "id", 2),
        ("hardware", "id", 2),
        ("downtimes", "id", 2),
        ("contributors", "name", 2),
        ("contributions", "id", 2),
        ("projects/chem/members", "user", 1),
        ("roles", "name", 2),
        ("limits", "per_day", 2),
        ("tokens", "id", 2),
        ("report/forecast", "account", 2),
        ("report/expiring", "allocation", 0),
        ("report/negative", "account", 0),
    ] {
        let whole = daemon.get(&format!("/api/v1/{list}")).await;
        assert_eq!(whole.body["next"], Value::Null, "{list}: {}", whole.text);
        let rows = whole.body["items"].as_array().unwrap();
        let rows: Vec<Value> = rows.iter().map(|row| row[key].clone()).collect();
        assert!(rows.len() >= least, "{list}: {}", whole.text);
        for limit in 1..=rows.len() {
            assert_eq!(
                pages(&daemon, list, key, limit).await,
                rows,
                "{list} by {limit}"
            );
        }
    }
    daemon.stop().await;
}
