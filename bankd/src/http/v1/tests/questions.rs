//! Queries, explanations and the end of the journal, as an administrator and as somebody who sees a
//! part.

use serde_json::{Value, json};

use super::daemon::{Daemon, Reply};
use super::fill;

/// A text as a parameter of a query.
fn asked(text: &str) -> String {
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
    let sums = asked("Allocation Query Amount>0 Show:=Sum(Amount),Average(Amount),Count(*)");
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
    let names = as_bob(&daemon, &secret, &asked("Project Query")).await;
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
        let reply = as_bob(&daemon, &secret, &asked(text)).await;
        let got = (
            reply.status,
            reply.body["code"].as_str().unwrap_or_default(),
        );
        assert_eq!(got, (status, code), "{text}: {}", reply.text);
    }
    daemon.stop().await;
}
