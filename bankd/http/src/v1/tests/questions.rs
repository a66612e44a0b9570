//! Queries, explanations and the end of the journal, as an administrator and as a restricted caller.

use serde_json::{Value, json};

use super::daemon::{Daemon, Reply};
use super::fill;

/// A text as a parameter of a query.
fn encoded(text: &str) -> String {
    let mut target = String::from("/api/v1/query?text=");
    bank_api::text::percent_encode(text, &mut target);
    target
}

async fn bob(daemon: &Daemon) -> String {
    let body = json!({"id": "bob", "roles": ["user"]});
    let made = daemon.call("POST", "/api/v1/keys", &body, "kb").await;
    made.body["secret"].as_str().unwrap().to_owned()
}

async fn as_bob(daemon: &Daemon, secret: &str, target: &str) -> Reply {
    daemon
        .signed("bob", secret, ("GET", target, &Value::Null))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_answers_each_with_what_they_see() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let secret = bob(&daemon).await;
    let sums = encoded("Allocation Query Amount>0 Show:=Sum(Amount),Average(Amount),Count(*)");
    let all = daemon.get(&sums).await;
    assert_eq!(all.status, 200, "{}", all.text);
    let row = json!({"Sum(Amount)": "1005.000", "Average(Amount)": "502.500", "Count(*)": "2"});
    assert_eq!(all.body["items"], json!([row]));
    assert_eq!(
        (&all.body["unit"], &all.body["next"]),
        (&json!("SU"), &Value::Null)
    );
    let own = as_bob(&daemon, &secret, &sums).await;
    assert_eq!(own.body["items"][0]["Sum(Amount)"], "5.000", "{}", own.text);
    let names = as_bob(&daemon, &secret, &encoded("Project Query")).await;
    assert_eq!(
        names.body["items"].as_array().unwrap().len(),
        1,
        "{}",
        names.text
    );
    assert_eq!(names.body["items"][0]["Active"], json!(true));
    for (text, status, code) in [
        ("Project Query Nmae==x", 400, "bad_request"),
        ("Project Delete", 400, "bad_request"),
        ("Transaction Query", 403, "not_allowed"),
    ] {
        let reply = as_bob(&daemon, &secret, &encoded(text)).await;
        let got = (
            reply.status,
            reply.body["code"].as_str().unwrap_or_default(),
        );
        assert_eq!(got, (status, code), "{text}: {}", reply.text);
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explanation_contains_what_is_in_view_and_nothing_else() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let secret = bob(&daemon).await;
    let body = json!({"job": "77", "project": "chem", "user": "amy", "machine": "ia64",
        "duration_s": 60, "processors": 2});
    let charged = daemon.call("POST", "/api/v1/charges", &body, "c").await;
    assert_eq!(charged.status, 201, "{}", charged.text);
    let explanation = daemon.get("/api/v1/explanations/77").await;
    assert_eq!(explanation.status, 200, "{}", explanation.text);
    let one = &explanation.body["items"][0];
    assert_eq!(
        (&explanation.body["job"], &one["op"]),
        (&json!("77"), &json!("charge"))
    );
    assert_eq!(
        one["considered"][0]["account"], "chem",
        "{}",
        explanation.text
    );
    assert_eq!(
        one["considered"][0]["verdict"], "turn",
        "{}",
        explanation.text
    );
    assert_eq!(one["charge"]["transaction"], one["transaction"]);
    let number = &one["transaction"];
    let deposit = daemon.get("/api/v1/journal?kind=deposit&project=bio").await;
    let own = &deposit.body["items"][0]["transaction"];
    for (target, status) in [
        ("77".to_owned(), 403),
        (format!("{number}?transaction=true"), 403),
        ("99999".to_owned(), 403),
        (format!("{own}?transaction=true"), 200),
        ("nothing".to_owned(), 404),
    ] {
        let reply = as_bob(&daemon, &secret, &format!("/api/v1/explanations/{target}")).await;
        assert_eq!(reply.status, status, "{target}: {}", reply.text);
        assert!(!reply.text.contains("chem"), "{target}: {}", reply.text);
    }
    let none = daemon.get("/api/v1/explanations/99999").await;
    assert_eq!(none.status, 404, "{}", none.text);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_reports_how_far_it_was_read() {
    let daemon = Daemon::start().await;
    fill(&daemon).await;
    let of = |query: &str| format!("/api/v1/journal?{query}");
    let kinds = |reply: &Reply| reply.body["items"].as_array().unwrap().len();
    let none = daemon.get(&of("actor=nobody")).await;
    assert_eq!((none.status, kinds(&none)), (200, 0));
    let upto = none.body["upto"].as_str().unwrap().to_owned();
    let all = daemon.get(&of("kind=deposit")).await;
    assert_eq!(
        (kinds(&all), all.body["upto"].as_str()),
        (2, Some(upto.as_str()))
    );
    let body = json!({"name": "chem/gpu", "amount": "1"});
    daemon.call("POST", "/api/v1/deposits", &body, "d").await;
    let next = daemon.get(&format!("/api/v1/journal?after={upto}")).await;
    assert_eq!(kinds(&next), 1, "{}", next.text);
    for (query, rows) in [
        ("kind=deposit&project=chem", 1),
        ("kind=deposit&project=chem&tree=true", 2),
    ] {
        let reply = daemon.get(&of(query)).await;
        assert_eq!(kinds(&reply), rows, "{query}: {}", reply.text);
    }
    let actor = all.body["items"][0]["actor"].as_str().unwrap();
    let own = daemon
        .get(&of(&format!("kind=deposit&actor={actor}")))
        .await;
    assert_eq!(kinds(&own), 3, "{}", own.text);
    assert_eq!(daemon.get(&of("tree=true")).await.status, 400);
    daemon.stop().await;
}
