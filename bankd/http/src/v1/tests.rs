//! The API as its callers meet it: over the socket as an administrator, and signed as a user.

mod daemon;
mod fixture;
mod form;
mod questions;
mod replay;

use serde_json::{Value, json};

use daemon::{Daemon, Reply};
pub(super) use fixture::{directory, rate};

/// Sends all that a small bank needs; every call must be accepted.
async fn fill(daemon: &Daemon) {
    for (key, target, body) in [
        ("1", "users", json!({"name": "amy"})),
        ("2", "users", json!({"name": "bob"})),
        ("3", "machines", json!({"name": "ia64"})),
        ("4", "projects", json!({"name": "chem", "members": ["amy"]})),
        (
            "5",
            "projects",
            json!({"name": "chem/gpu", "parent": "chem", "members": ["amy"]}),
        ),
        ("6", "projects", json!({"name": "bio", "members": ["bob"]})),
        (
            "7",
            "deposits",
            json!({"name": "chem", "amount": "1000", "note": "award"}),
        ),
        ("8", "deposits", json!({"name": "bio", "amount": "5"})),
    ] {
        let reply = daemon
            .call("POST", &format!("/api/v1/{target}"), &body, key)
            .await;
        assert_eq!(reply.status, 201, "{target} {body}: {}", reply.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_a_problem_with_its_code() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    for (key, method, target, body, status, code) in [
        (
            "a",
            "POST",
            "users",
            json!({"name": "amy"}),
            409,
            "already_exists",
        ),
        (
            "b",
            "POST",
            "users",
            json!({"nam": "x"}),
            400,
            "bad_request",
        ),
        (
            "c",
            "POST",
            "deposits",
            json!({"name": "chem", "amount": "1.2345"}),
            422,
            "too_many_decimals",
        ),
        (
            "d",
            "POST",
            "deposits",
            json!({"name": "chem", "amount": "x"}),
            400,
            "bad_amount_syntax",
        ),
        (
            "e",
            "POST",
            "withdrawals",
            json!({"name": "bio", "amount": "6"}),
            402,
            "insufficient_funds",
        ),
        (
            "f",
            "POST",
            "quotes",
            json!({"project": "chem", "user": "bob", "wall_s": 1}),
            403,
            "not_a_member",
        ),
        (
            "g",
            "PATCH",
            "accounts/chem",
            json!({"name": "other"}),
            400,
            "bad_request",
        ),
        ("h", "DELETE", "projects/chem", Value::Null, 409, "in_use"),
        ("i", "GET", "projects/chme", Value::Null, 404, "not_found"),
        ("j", "GET", "jobs/1", Value::Null, 404, "not_found"),
        (
            "k",
            "GET",
            "journal?nonsense=1",
            Value::Null,
            400,
            "bad_request",
        ),
        ("l", "GET", "journal?limit=0", Value::Null, 422, "bad_value"),
        (
            "m",
            "PUT",
            "projects",
            Value::Null,
            405,
            "method_not_allowed",
        ),
    ] {
        let reply = daemon
            .call(method, &format!("/api/v1/{target}"), &body, key)
            .await;
        let got = (
            reply.status,
            reply.body["code"].as_str().unwrap_or_default(),
        );
        assert_eq!(got, (status, code), "{method} {target}: {}", reply.body);
        assert!(
            reply.head.contains("application/problem+json"),
            "{}",
            reply.head
        );
        assert!(reply.body["request_id"].is_string(), "{}", reply.body);
    }
    let near = daemon.get("/api/v1/projects/chme").await;
    let hint = near.body["hint"].as_str().unwrap();
    assert!(hint.starts_with("did you mean \"chem\"?"), "{hint}");
    let short = json!({"project": "bio", "user": "bob", "processors": 4, "wall_s": 10});
    let short = daemon.call("POST", "/api/v1/quotes", &short, "q").await;
    assert_eq!(
        (short.status, &short.body["needed"]),
        (402, &json!("40.000"))
    );
    assert_eq!(short.body["available"], "5.000");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_told_with_what_is_done() {
    let daemon = Daemon::start().await;
    let body = json!({"id": "amy", "roles": ["user"]});
    let target = "/api/v1/keys";
    let dry = daemon
        .call("POST", &format!("{target}?dry_run=true"), &body, "k")
        .await;
    assert_eq!((dry.status, &dry.body["secret"]), (201, &Value::Null));
    let made = daemon.call("POST", target, &body, "k").await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(made.body["secret"].as_str().unwrap().starts_with("base64:"));
    let show = daemon.get("/api/v1/keys/amy").await;
    assert_eq!(show.body, made.body["key"]);
    let fingerprint = made.body["key"]["fingerprint"].as_str().unwrap();
    assert_eq!(fingerprint.len(), 19);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_sees_their_own_and_nothing_else() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let body = json!({"id": "bob", "roles": ["user"]});
    let made = daemon.call("POST", "/api/v1/keys", &body, "k").await;
    let secret = made.body["secret"].as_str().unwrap().to_owned();
    let names = |reply: &Reply, field: &str| -> Vec<String> {
        let items = reply.body["items"].as_array().unwrap();
        let name = |item: &Value| item[field].as_str().unwrap_or_default().to_owned();
        items.iter().map(name).collect()
    };
    for (target, field, expected) in [
        ("projects", "name", vec!["bio"]),
        ("users", "name", vec!["bob"]),
        ("accounts", "name", vec!["bio"]),
        ("balances", "account", vec!["bio"]),
        ("allocations", "account", vec!["bio"]),
        ("journal", "kind", vec!["deposit"]),
        ("liens", "job", vec![]),
        ("jobs", "job", vec![]),
        ("machines", "name", vec!["ia64"]),
        ("rates", "kind", vec!["VBR"]),
    ] {
        let target = format!("/api/v1/{target}");
        let reply = daemon
            .signed("bob", &secret, ("GET", &target, &Value::Null))
            .await;
        assert_eq!(reply.status, 200, "{target}: {}", reply.body);
        assert_eq!(names(&reply, field), expected, "{target}");
    }
    let none = Value::Null;
    let quote = json!({"project": "chem", "user": "bob", "wall_s": 1});
    let unknown = json!({"project": "chemo", "user": "bob", "wall_s": 1});
    for (method, target, body, status) in [
        ("GET", "projects/chem", &none, 404),
        ("GET", "projects/nochem", &none, 404),
        ("GET", "balances?project=chem", &none, 404),
        ("GET", "keys", &none, 403),
        ("POST", "quotes", &quote, 404),
        ("POST", "quotes", &unknown, 404),
    ] {
        let target = format!("/api/v1/{target}");
        let reply = daemon.signed("bob", &secret, (method, &target, body)).await;
        assert_eq!(reply.status, status, "{target}: {}", reply.body);
        assert!(
            !reply.body["hint"].to_string().contains("chem"),
            "{}",
            reply.body
        );
    }
    let own = json!({"wall_s": 2, "project": "bio", "processors": 1});
    let own = daemon
        .signed("bob", &secret, ("POST", "/api/v1/quotes", &own))
        .await;
    assert_eq!(
        (own.status, &own.body["cost"]),
        (200, &json!("2.000")),
        "{}",
        own.body
    );
    daemon.stop().await;
}
