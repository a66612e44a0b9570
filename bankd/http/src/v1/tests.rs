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
async fn a_write_is_done_once_and_its_answer_is_repeated() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let body = json!({"name": "chem", "amount": "0.5"});
    let target = "/api/v1/deposits";
    let dry = daemon
        .call("POST", &format!("{target}?dry_run=true"), &body, "d")
        .await;
    assert_eq!((dry.status, &dry.body["dry_run"]), (201, &json!(true)));
    assert_eq!(dry.body["transaction"], Value::Null);
    let first = daemon.call("POST", target, &body, "d").await;
    assert_eq!(first.status, 201);
    assert_eq!(first.body["amount_after"], "1000.500");
    assert_eq!(first.body["available_after"], "1000.500");
    assert!(!first.head.contains("idempotent-replay"));
    let again = daemon.call("POST", target, &body, "d").await;
    assert!(
        again.head.contains("idempotent-replay: true"),
        "{}",
        again.head
    );
    assert_eq!(again.body["transaction"], first.body["transaction"]);
    let other = json!({"name": "chem", "amount": "7"});
    let reused = daemon.call("POST", target, &other, "d").await;
    assert_eq!(
        (reused.status, &reused.body["code"]),
        (409, &json!("key_reused"))
    );
    let balance = daemon.get("/api/v1/balances?project=chem").await;
    assert_eq!(balance.body["items"][0]["available"], "1000.500");
    daemon.stop().await;
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
async fn a_quote_is_explained_and_may_be_guaranteed() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let mut body = json!({"project": "chem", "user": "amy", "processors": 4, "wall_s": 100});
    let plain = daemon.call("POST", "/api/v1/quotes", &body, "p").await;
    assert_eq!(plain.status, 200, "{}", plain.body);
    for (field, value) in [
        ("cost", json!("400.000")),
        ("available", json!("1000.000")),
        ("remaining", json!("600.000")),
        ("project", json!("chem")),
        ("account", json!("chem")),
        ("id", Value::Null),
        ("transaction", Value::Null),
    ] {
        assert_eq!(plain.body[field], value, "{field}");
    }
    let line = json!({"text": "4 procs × 00:01:40", "amount": "400.000", "unit": "SU"});
    assert_eq!(plain.body["lines"], json!([line]));
    body["guarantee"] = json!(true);
    let row = daemon.call("POST", "/api/v1/quotes", &body, "g").await;
    assert_eq!(row.status, 201, "{}", row.body);
    assert!(row.body["id"].is_i64() && row.body["tid"].is_string());
    assert!(row.body["transaction"].is_i64());
    assert_eq!(row.body["lines"], json!([line]));
    let again = daemon.call("POST", "/api/v1/quotes", &body, "g").await;
    assert_eq!(again.body["tid"], row.body["tid"]);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_shown_once() {
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
    let again = daemon.call("POST", target, &body, "k").await;
    assert_eq!(again.body["secret"], Value::Null);
    assert_eq!(again.body["key"], made.body["key"]);
    let taken = daemon.call("POST", target, &body, "k2").await;
    assert_eq!(
        (taken.status, &taken.body["code"]),
        (409, &json!("already_exists"))
    );
    let show = daemon.get("/api/v1/keys/amy").await;
    assert_eq!(show.body, made.body["key"]);
    let fingerprint = made.body["key"]["fingerprint"].as_str().unwrap();
    assert_eq!(fingerprint.len(), 19);
    let off = daemon
        .call(
            "PATCH",
            "/api/v1/keys/amy",
            &json!({"state": "disabled"}),
            "k3",
        )
        .await;
    assert_eq!((off.status, &off.body["state"]), (200, &json!("disabled")));
    let gone = daemon
        .call("DELETE", "/api/v1/keys/amy", &Value::Null, "k4")
        .await;
    assert_eq!((gone.status, &gone.body["name"]), (200, &json!("amy")));
    assert_eq!(daemon.get("/api/v1/keys/amy").await.status, 404);
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

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_changed_shown_and_removed() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    for (key, method, target, body, field, expected) in [
        (
            "a",
            "PATCH",
            "projects/chem%2Fgpu",
            json!({"parent": ""}),
            "parent",
            Value::Null,
        ),
        (
            "b",
            "PATCH",
            "projects/chem",
            json!({"mode": "track"}),
            "mode",
            json!("track"),
        ),
        (
            "c",
            "PATCH",
            "users/amy",
            json!({"email": "a@b"}),
            "email",
            json!("a@b"),
        ),
        (
            "d",
            "PATCH",
            "machines/ia64",
            json!({"flush_interval_s": 60}),
            "flush_interval_s",
            json!(60),
        ),
        (
            "e",
            "PATCH",
            "accounts/chem",
            json!({"priority": 3}),
            "amount",
            json!("1000.000"),
        ),
        (
            "f",
            "PATCH",
            "allocations/2",
            json!({"credit_limit": "9"}),
            "credit_limit",
            json!("9.000"),
        ),
        (
            "g",
            "POST",
            "projects/bio/members",
            json!({"user": "amy"}),
            "user",
            json!("amy"),
        ),
        (
            "h",
            "DELETE",
            "projects/bio/members/amy",
            Value::Null,
            "name",
            json!("amy"),
        ),
        (
            "i",
            "POST",
            "withdrawals",
            json!({"name": "bio", "amount": "1"}),
            "available_after",
            json!("4.000"),
        ),
        (
            "j",
            "DELETE",
            "users/amy",
            Value::Null,
            "name",
            json!("amy"),
        ),
    ] {
        let reply = daemon
            .call(method, &format!("/api/v1/{target}"), &body, key)
            .await;
        assert!(reply.status < 300, "{target}: {}", reply.body);
        assert_eq!(reply.body[field], expected, "{target}: {}", reply.body);
        assert!(
            reply.body["transaction"].is_i64(),
            "{target}: {}",
            reply.body
        );
    }
    let project = daemon.get("/api/v1/projects/chem%2Fgpu").await;
    assert_eq!(project.body["accounts"], json!(["chem/gpu"]));
    assert_eq!(project.body["members"], json!([]));
    let status = daemon.get("/api/v1/status").await;
    assert_eq!(status.body["healthy"], true, "{}", status.body);
    assert_eq!(status.body["machines"][0]["name"], "ia64");
    let journal = daemon.get("/api/v1/journal?kind=deposit&limit=1").await;
    assert_eq!(journal.body["items"][0]["reason"], "award");
    let next = journal.body["next"].as_str().unwrap();
    let rest = daemon
        .get(&format!("/api/v1/journal?kind=deposit&after={next}"))
        .await;
    assert_eq!(rest.body["items"].as_array().unwrap().len(), 1);
    assert_eq!(rest.body["next"], Value::Null);
    daemon.stop().await;
}
