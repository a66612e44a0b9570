//! A repeat is answered as the first was, byte for byte (http-auth.md 3).

use serde_json::{Value, json};

use super::daemon::{Daemon, bytes};
use super::fill;

/// Method, target below `/api/v1/`, body, and another body.
type Case = (&'static str, &'static str, Value, Value);

/// Every route that writes, once each. Made, changed and removed in turn: when all are sent again,
/// what most of them are about is gone.
fn every_route() -> Vec<Case> {
    let secret = format!("hex:{}", "5a".repeat(32));
    let key =
        |client: &str| json!({"id": "k1", "client": client, "roles": ["user"], "secret": secret});
    let quote = |wall_s: i64| json!({"project": "chem", "user": "amy", "processors": 1, "wall_s": wall_s, "guarantee": true});
    let rate = |rate: &str| json!({"kind": "VBF", "name": "Nodes", "rate": rate});
    let text = |text: &str| json!({"description": text});
    let pool = |amount: &str| json!({"name": "pool", "amount": amount});
    let name = |name: &str| json!({"name": name});
    let (none, some) = (Value::Null, json!({}));
    vec![
        ("POST", "users", name("eve"), name("mal")),
        (
            "PATCH",
            "users/eve",
            json!({"email": "e@x"}),
            json!({"email": "f@x"}),
        ),
        ("POST", "machines", name("new"), name("newer")),
        ("PATCH", "machines/new", text("a"), text("b")),
        (
            "POST",
            "projects",
            json!({"name": "tmp", "no_account": true}),
            name("tmp"),
        ),
        ("PATCH", "projects/tmp", text("a"), text("b")),
        (
            "POST",
            "projects/tmp/members",
            json!({"user": "eve"}),
            json!({"user": "amy"}),
        ),
        (
            "DELETE",
            "projects/tmp/members/eve",
            none.clone(),
            some.clone(),
        ),
        ("POST", "accounts", name("pool"), name("pond")),
        ("POST", "deposits", pool("10"), pool("11")),
        (
            "PATCH",
            "allocations/4",
            json!({"credit_limit": "1"}),
            json!({"credit_limit": "2"}),
        ),
        (
            "PATCH",
            "accounts/5",
            json!({"priority": 2}),
            json!({"priority": 3}),
        ),
        ("POST", "withdrawals", pool("10"), pool("9")),
        ("DELETE", "accounts/5", none.clone(), some.clone()),
        ("POST", "quotes", quote(10), quote(11)),
        ("DELETE", "quotes/1", none.clone(), some.clone()),
        ("POST", "attributes", name("heat"), name("cold")),
        ("DELETE", "attributes/heat", none.clone(), some.clone()),
        ("POST", "rates", rate("2"), rate("3")),
        ("DELETE", "rates/2", none.clone(), some.clone()),
        ("POST", "keys", key("k1"), key("k2")),
        (
            "PATCH",
            "keys/k1",
            json!({"state": "disabled"}),
            json!({"state": "active"}),
        ),
        ("DELETE", "keys/k1", none.clone(), some.clone()),
        ("DELETE", "projects/tmp", none.clone(), some.clone()),
        ("DELETE", "users/eve", none.clone(), some.clone()),
        ("DELETE", "machines/new", none, some),
    ]
}

/// Refusals by a rule are stored like what was done, hints and all.
fn refused() -> Vec<Case> {
    let bio = |amount: &str| json!({"name": "bio", "amount": amount});
    let email = |email: &str| json!({"email": email});
    vec![
        (
            "POST",
            "users",
            json!({"name": "amy"}),
            json!({"name": "zoe"}),
        ),
        ("PATCH", "users/zo", email("z@x"), email("y@x")),
        ("POST", "withdrawals", bio("6"), bio("1")),
        ("DELETE", "projects/bio", Value::Null, json!({})),
        ("DELETE", "machines/ia65", Value::Null, json!({})),
    ]
}

/// The posts, patches and deletes in the table of routes, but for questions that are too long for a
/// query.
fn routes_that_write() -> usize {
    let table = include_str!("../mod.rs").replace("post(rate_test::test)", "");
    ["post(", "patch(", "delete("]
        .map(|word| table.matches(word).count())
        .iter()
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_told_again_byte_for_byte() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let mut cases = every_route();
    assert_eq!(cases.len(), routes_that_write(), "a route is missing here");
    let accepted = cases.len();
    cases.extend(refused());
    let mut first = Vec::new();
    for (n, (method, target, body, _)) in cases.iter().enumerate() {
        let target = format!("/api/v1/{target}");
        let reply = daemon.call(method, &target, body, &format!("r{n}")).await;
        assert_eq!(
            reply.status < 300,
            n < accepted,
            "{method} {target}: {}",
            reply.text
        );
        assert!(!reply.head.contains("idempotent-replay"), "{}", reply.head);
        let told = &reply.body["transaction"];
        assert!(
            n >= accepted || told.is_i64(),
            "{method} {target}: {}",
            reply.text
        );
        first.push(reply);
    }
    // What the refusals were about is there now, and would be named otherwise.
    let zoe = daemon
        .call("POST", "/api/v1/users", &json!({"name": "zo"}), "zo")
        .await;
    assert_eq!(zoe.status, 201, "{}", zoe.text);
    for (n, ((method, target, body, other), first)) in cases.iter().zip(&first).enumerate() {
        let (key, target) = (format!("r{n}"), format!("/api/v1/{target}"));
        let again = daemon.call(method, &target, body, &key).await;
        assert_eq!(again.text, first.text, "{method} {target}");
        assert_eq!(again.status, first.status, "{method} {target}");
        assert!(
            again.head.contains("idempotent-replay: true"),
            "{}",
            again.head
        );
        let reused = daemon.call(method, &target, other, &key).await;
        let code = reused.body["code"].as_str().unwrap_or_default();
        assert_eq!(
            (reused.status, code),
            (409, "key_reused"),
            "{method} {target}"
        );
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_document_is_told_again_byte_for_byte() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let job = |id: &str| {
        format!(
            "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chem</Account>\
             <Machine>ia64</Machine><Processors>2</Processors><WallDuration>60</WallDuration>\
             <ChargeDuration>60</ChargeDuration></Job>"
        )
    };
    let two = format!("<Data>{}{}</Data>", job("8"), job("9"));
    let poor = job("5").replace("chem", "bio");
    let cases = [
        ("quote?print_tid=true", job("1"), 200),
        ("create", job("1"), 200),
        ("reserve", job("1"), 200),
        ("charge", job("1"), 200),
        ("delete", job("1"), 200),
        ("charge", two, 200),
        ("reserve", poor, 403),
    ];
    let mut first = Vec::new();
    for (n, (event, document, status)) in cases.iter().enumerate() {
        let target = format!("/nami/v1/{event}");
        let reply = daemon
            .send("POST", &target, document.as_bytes(), &format!("n{n}"))
            .await;
        assert_eq!(reply.status, *status, "{event}: {}", reply.text);
        assert!(!reply.head.contains("idempotent-replay"), "{}", reply.head);
        first.push(reply);
    }
    for (n, ((event, document, _), first)) in cases.iter().zip(&first).enumerate() {
        let (key, target) = (format!("n{n}"), format!("/nami/v1/{event}"));
        let again = daemon
            .send("POST", &target, document.as_bytes(), &key)
            .await;
        assert_eq!(
            (again.status, &again.text),
            (first.status, &first.text),
            "{event}"
        );
        assert!(
            again.head.contains("idempotent-replay: true"),
            "{}",
            again.head
        );
        let other = document.replace("<Processors>2<", "<Processors>3<");
        let reused = daemon.send("POST", &target, other.as_bytes(), &key).await;
        assert_eq!(reused.status, 409, "{event}: {}", reused.text);
        assert!(
            reused.text.starts_with("refused key_reused"),
            "{}",
            reused.text
        );
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_the_one_thing_that_a_repeat_does_not_tell() {
    let daemon = Daemon::start().await;
    let body = json!({"id": "k1", "roles": ["user"]});
    let first = daemon.call("POST", "/api/v1/keys", &body, "k").await;
    let secret = first.body["secret"].to_string();
    assert!(secret.starts_with("\"base64:"), "{secret}");
    let again = daemon
        .send("POST", "/api/v1/keys", &bytes(&body), "k")
        .await;
    assert_eq!(again.text, first.text.replace(&secret, "null"));
    daemon.stop().await;
}
