//! A repeat is answered as the first was, byte for byte (http-auth.md 3).

use serde_json::{Value, json};

use super::daemon::{Daemon, bytes};
use super::fill;

/// Method, target below `/api/v1/`, body, and another body.
type Case = (&'static str, &'static str, Value, Value);

/// Every route that writes, once each: create, change, remove. When the test repeats them, most of the
/// objects no longer exist.
fn every_route() -> Vec<Case> {
    let secret = format!("hex:{}", "5a".repeat(32));
    let key =
        |client: &str| json!({"id": "k1", "client": client, "roles": ["user"], "secret": secret});
    let rotated = |id: &str| json!({"id": id, "secret": secret});
    let grant = |project: &str| json!({"name": "amy", "role": "pi", "project": project});
    let limit = |amount: &str| json!({"role": "operator", "per_day": amount});
    let close = |year: &str| json!({"until": format!("{year}-01-01T00:00:00Z")});
    let quote = |wall_s: i64| json!({"project": "chem", "user": "amy", "processors": 1, "wall_s": wall_s, "guarantee": true});
    let job = |wall_s: i64| {
        json!({"job": "j", "machine": "ia64", "project": "chem", "user": "amy",
            "processors": 1, "wall_s": wall_s})
    };
    let charge = |duration_s: i64| json!({"job": "j", "machine": "ia64", "processors": 1, "duration_s": duration_s});
    let end = |year: &str| json!({"end": format!("{year}-01-01T00:00:00Z")});
    let rate = |rate: &str| json!({"kind": "VBF", "name": "Nodes", "rate": rate});
    let text = |text: &str| json!({"description": text});
    let pool = |amount: &str| json!({"name": "pool", "amount": amount});
    let name = |name: &str| json!({"name": name});
    let cycle =
        |amount: &str| json!({"name": "m", "account": "pool", "every": "month", "amount": amount});
    let used = |id: &str| {
        json!({"records": [{"source": "s", "id": id, "machine": "new", "project": "chem",
            "start": "2020-01-01T00:00:00Z", "end": "2020-01-01T00:00:01Z"}]})
    };
    let nodes = |n: i64| json!({"name": "xeon", "processors": 8, "nodes": n});
    let lab = |name: &str| json!({"name": name, "fields": ["room:text"]});
    let down = |year: &str| json!({"hardware": 1, "from": format!("{year}-01-01T00:00:00Z"), "reason": "power"});
    let gift = |n: i64| json!({"contributor": "amy", "processors": n});
    let mapping = |project: &str| json!({"when": ["account=grp"], "project": project});
    let person = |email: &str| json!({"entries": [{"user": "amy", "email": email}]});
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
        ("POST", "cycles", cycle("5"), cycle("6")),
        (
            "PATCH",
            "cycles/m",
            json!({"amount": "7"}),
            json!({"amount": "8"}),
        ),
        ("DELETE", "cycles/m", none.clone(), some.clone()),
        ("DELETE", "accounts/5", none.clone(), some.clone()),
        ("POST", "quotes", quote(10), quote(11)),
        ("POST", "reserves", job(10), job(11)),
        ("PATCH", "liens/1", end("2099"), end("2098")),
        ("DELETE", "liens/1", none.clone(), some.clone()),
        ("POST", "charges", charge(10), charge(11)),
        ("POST", "usage", used("77"), used("78")),
        ("DELETE", "quotes/1", none.clone(), some.clone()),
        ("POST", "mappings", mapping("bio"), mapping("chem")),
        ("PATCH", "mappings/1", text("a"), text("b")),
        ("DELETE", "mappings/1", none.clone(), some.clone()),
        ("POST", "kinds", lab("lab"), lab("office")),
        ("PATCH", "kinds/lab", text("a"), text("b")),
        (
            "POST",
            "records/lab",
            json!({"room": "a"}),
            json!({"room": "b"}),
        ),
        (
            "PATCH",
            "records/lab/1",
            json!({"room": "c"}),
            json!({"room": "d"}),
        ),
        ("DELETE", "records/lab/1", none.clone(), some.clone()),
        ("DELETE", "kinds/lab", none.clone(), some.clone()),
        ("POST", "hardware", nodes(1), nodes(2)),
        ("PATCH", "hardware/1", text("a"), text("b")),
        ("POST", "downtimes", down("2020"), down("2021")),
        (
            "PATCH",
            "downtimes/1",
            json!({"reason": "a"}),
            json!({"reason": "b"}),
        ),
        ("DELETE", "downtimes/1", none.clone(), some.clone()),
        ("DELETE", "hardware/1", none.clone(), some.clone()),
        ("POST", "partners", name("b.example"), name("c.example")),
        ("PATCH", "partners/b.example", text("a"), text("b")),
        ("DELETE", "partners/b.example", none.clone(), some.clone()),
        ("POST", "contributors", name("amy"), name("bob")),
        ("POST", "contributions", gift(1), gift(2)),
        ("PATCH", "contributions/1", text("a"), text("b")),
        ("DELETE", "contributions/1", none.clone(), some.clone()),
        ("PATCH", "contributors/amy", text("a"), text("b")),
        ("DELETE", "contributors/amy", none.clone(), some.clone()),
        ("POST", "user-directory", person("a@x"), person("b@x")),
        ("POST", "attributes", name("heat"), name("cold")),
        ("PATCH", "attributes/heat", text("a"), text("b")),
        ("DELETE", "attributes/heat", none.clone(), some.clone()),
        ("POST", "rates", rate("2"), rate("3")),
        ("DELETE", "rates/2", none.clone(), some.clone()),
        ("POST", "keys", key("k1"), key("k2")),
        ("POST", "keys/k1/rotate", rotated("k3"), rotated("k4")),
        ("POST", "roles", grant("chem"), grant("bio")),
        (
            "DELETE",
            "roles/amy/pi?project=chem",
            none.clone(),
            some.clone(),
        ),
        ("POST", "limits", limit("5"), limit("6")),
        ("DELETE", "limits/role/operator", none.clone(), some.clone()),
        (
            "PATCH",
            "attention/projects/chem",
            json!({"on": false}),
            json!({"on": true}),
        ),
        ("POST", "closes", close("2019"), close("2018")),
        (
            "POST",
            "closes/undo",
            json!({"note": "a"}),
            json!({"note": "b"}),
        ),
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

/// The routes after the fact: about the account that was removed, two jobs that were charged, and a
/// transaction.
fn after_the_fact(transaction: i64) -> Vec<Case> {
    let transfer = |amount: &str| json!({"from": "chem", "to": "pool", "amount": amount});
    let adjust = |amount: &str| json!({"account": "pool", "amount": amount, "note": "x"});
    let refund = |amount: &str| json!({"job": "7", "amount": amount});
    let settle = |project: &str| json!({"job": "9", "project": project});
    let undo = |note: &str| json!({"transaction": transaction, "note": note});
    let (none, some) = (Value::Null, json!({}));
    vec![
        ("POST", "accounts/pool/undelete", none.clone(), some.clone()),
        ("POST", "transfers", transfer("3"), transfer("4")),
        ("POST", "adjustments", adjust("2"), adjust("-2")),
        ("POST", "refunds", refund("20"), refund("30")),
        ("POST", "settlements", settle("chem"), settle("bio")),
        ("POST", "reversals", undo("a"), undo("b")),
        ("DELETE", "allocations/5?force=true", none, some),
    ]
}

/// Charges a job of a project, and one of a project that is not there.
async fn charge_two_jobs(daemon: &Daemon) {
    for (job, project) in [("7", "chem"), ("9", "gone")] {
        let document = format!(
            "<Job><ObjectID>{job}</ObjectID><User>amy</User><Account>{project}</Account>\
             <Machine>ia64</Machine><Processors>2</Processors><ChargeDuration>60</ChargeDuration>\
             </Job>"
        );
        let reply = daemon
            .send("POST", "/nami/v1/charge", document.as_bytes(), project)
            .await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
}

/// Refusals by a rule are stored like other answers, including hints.
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
        ("POST", "cycles/m/run", Value::Null, json!({})),
        ("POST", "clock", json!({}), json!({"note": "now"})),
        ("POST", "attention/1/ack", json!({}), json!({"note": "x"})),
    ]
}

/// The rows of the table that write. A guaranteed quote writes.
fn routes_that_write() -> usize {
    let rows = crate::v1::rows().into_iter();
    rows.filter(|row| row.writes || (row.method == "POST" && row.path == "/api/v1/quotes"))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_is_answered_again_byte_for_byte() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    charge_two_jobs(&daemon).await;
    let deposits = daemon.get("/api/v1/journal?kind=deposit").await;
    let last = deposits.body["items"][1]["transaction"].as_i64();
    let mut cases = every_route();
    cases.extend(after_the_fact(last.unwrap()));
    // Nothing is due to be run by hand here, no clock has jumped, and there is nothing to decide.
    let refused_only = ["cycles/m/run", "clock", "attention/1/ack"].len();
    // Tested by `auth::token`, `auth::roles`, `auth::requests`, `reports::scheduled`, `gold::clients` and `partner`:
    // this test has no token, proposal, person, definition, message of Gold or partner bank.
    let answered_elsewhere = [
        "POST gold",
        "POST partner/reserves",
        "POST partner/releases",
        "POST partner/charges",
        "POST report/scheduled/{name}/run",
        "POST tokens",
        "DELETE tokens/{id}",
        "POST proposals/{id}/approve",
        "POST proposals/{id}/reject",
        "POST requests/deposits",
        "POST requests/extensions",
        "POST requests/members",
        "POST requests/projects",
        "POST requests/{id}/withdraw",
    ]
    .len();
    // These answers are not stored. A repeat finds the work done, and changes nothing.
    let resent = [
        "POST migrations",
        "POST imports",
        "DELETE imports/{id}",
        "POST imports/{id}/data",
        "POST imports/{id}/end",
        "DELETE quarantine",
        "DELETE quarantine/{id}",
        "POST quarantine/{id}/replay",
        "PATCH sources/{name}",
        "DELETE sources/{name}",
        "POST unmapped/assign",
        "POST attention/outbox/{id}/retry",
    ];
    let written = cases.len() + refused_only + answered_elsewhere + resent.len();
    assert_eq!(written, routes_that_write(), "a route is missing here");
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
        let transaction = &reply.body["transaction"];
        assert!(
            n >= accepted || transaction.is_i64(),
            "{method} {target}: {}",
            reply.text
        );
        first.push(reply);
    }
    // The object of the refusals exists now, and a new refusal would name it.
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

/// A key of one request differs from a key of several records. A record keeps its number regardless of the
/// records before it.
#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_records_is_the_key_of_their_request() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let record = |id: &str, machine: Value| {
        json!({"source": "s", "id": id, "machine": machine, "project": "chem",
            "start": "2020-01-01T00:00:00Z", "end": "2020-01-01T01:00:00Z"})
    };
    let known = json!({"records": [record("1", json!("ia64"))]});
    let deposit = json!({"name": "chem", "amount": "10"});
    for (first, second) in [("usage", "deposits"), ("deposits", "usage")] {
        let body = |target: &str| if target == "usage" { &known } else { &deposit };
        let post = |target: &'static str| {
            let path = format!("/api/v1/{target}");
            let daemon = &daemon;
            async move { daemon.call("POST", &path, body(target), first).await }
        };
        let (taken, again) = (post(first).await, post(second).await);
        assert!(taken.status < 300, "{first}: {}", taken.text);
        assert_eq!(again.status, 409, "{second} after {first}: {}", again.text);
        assert_eq!(again.body["code"], "key_reused");
    }
    // Without a machine it means the only one there is.
    let other = json!({"name": "other"});
    let made = daemon.call("POST", "/api/v1/machines", &other, "m1").await;
    assert_eq!(made.status, 201, "{}", made.text);
    let two = json!({"records": [record("8", Value::Null), record("9", json!("ia64"))]});
    let outcomes = async || {
        let reply = daemon.call("POST", "/api/v1/usage", &two, "two").await;
        let items = reply.body["items"].as_array().cloned().unwrap_or_default();
        let text_of = |item: &Value| format!("{} {}", item["id"], item["outcome"]).replace('"', "");
        items.iter().map(text_of).collect::<Vec<_>>()
    };
    assert_eq!(outcomes().await, ["8 refused", "9 charged"]);
    let gone = daemon
        .call("DELETE", "/api/v1/machines/other", &Value::Null, "m2")
        .await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(outcomes().await, ["8 charged", "9 charged"]);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_document_is_answered_again_byte_for_byte() {
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
