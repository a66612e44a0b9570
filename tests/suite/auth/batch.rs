//! `POST /api/v1/batch`: what a command does in a batch is what it does alone.

use serde_json::{Value, json};

use super::billed;
use super::request_sums::one_amount;
use crate::export::sums::agree_exactly;
use crate::harness::{Address, Bank, Request, Response, Signing, exchange, verify};

/// A JSON request for a route under a key.
fn post(target: &str, key: &str, body: &Value) -> Request {
    Request {
        method: "POST",
        target: target.to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    }
    .header("Content-Type", "application/json")
    .header("Idempotency-Key", key)
}

fn batch(key: &str, commands: &[Value]) -> Request {
    post("/api/v1/batch", key, &json!({"commands": commands}))
}

fn all_or_nothing(key: &str, commands: &[Value]) -> Request {
    let body = json!({"commands": commands, "all_or_nothing": true});
    post("/api/v1/batch", key, &body)
}

fn deposit(key: &str, name: &str, amount: &str) -> Value {
    json!({"path": "/api/v1/deposits", "key": key, "body": {"name": name, "amount": amount}})
}

/// A job of one processor at an event.
fn job(event: &str, id: &str, seconds: i64) -> Value {
    let body = format!(
        "<Job><ObjectID>{id}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Machine>colony</Machine><Processors>1</Processors><WallDuration>{seconds}</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration></Job>"
    );
    json!({"path": format!("/nami/v1/{event}"), "key": format!("{event}-{id}"), "body": body})
}

/// The answers of a batch.
fn answers(answer: &Response) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let done: Value = serde_json::from_slice(&answer.body).unwrap();
    let answers = done["answers"].as_array().unwrap().clone();
    let refused = answers.iter().filter(|one| status(one) >= 400).count();
    assert_eq!(done["refused"], json!(refused));
    answers
}

fn status(answer: &Value) -> u64 {
    answer["status"].as_u64().unwrap()
}

fn statuses(answer: &Response) -> Vec<u64> {
    answers(answer).iter().map(status).collect()
}

/// The code of a refusal, of JSON or of a line.
fn code(answer: &Value) -> String {
    match &answer["body"] {
        Value::String(line) => line
            .split_whitespace()
            .nth(1)
            .unwrap_or_default()
            .trim_end_matches(':')
            .to_owned(),
        problem => problem["code"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Commands that depend on each other, refused ones between them.
fn story() -> Vec<Value> {
    let own = |method: &str, path: &str, key: &str, body: Value| json!({"method": method, "path": path, "key": key, "body": body});
    let mut all = vec![
        own("POST", "/api/v1/users", "user", json!({"name": "zoe"})),
        own(
            "POST",
            "/api/v1/projects",
            "project",
            json!({"name": "physics"}),
        ),
        own(
            "POST",
            "/api/v1/projects/physics/members",
            "member",
            json!({"user": "zoe"}),
        ),
        deposit("d1", "physics", "5000"),
        deposit("d2", "nobody", "5000"),
        own(
            "POST",
            "/api/v1/transfers",
            "t1",
            json!({"from": "physics", "to": "chemistry", "amount": "1000"}),
        ),
        own(
            "POST",
            "/api/v1/transfers",
            "t2",
            json!({"from": "physics", "to": "chemistry", "amount": "4000.001"}),
        ),
    ];
    for n in 0..40 {
        all.push(job("reserve", &format!("Job.{n}"), 60 + n));
        all.push(job("end", &format!("Job.{n}"), 30 + n));
    }
    all.extend([
        own(
            "POST",
            "/api/v1/charges",
            "c1",
            json!({"job": "Job.3", "machine": "colony", "amount": "5", "user": "amy", "project": "chemistry"}),
        ),
        own("POST", "/api/v1/refunds", "r1", json!({"job": "Job.7"})),
        own("POST", "/api/v1/refunds", "r2", json!({"job": "Job.nine"})),
        own("PATCH", "/api/v1/projects/physics", "p1", json!({"description": "new"})),
        own("DELETE", "/api/v1/projects/physics", "x1", Value::Null),
    ]);
    if let Some(last) = all.last_mut().and_then(Value::as_object_mut) {
        last.remove("body");
    }
    all
}

/// The same command alone.
fn alone(command: &Value) -> Request {
    let text = |name: &str| command[name].as_str().unwrap_or_default();
    let body = match &command["body"] {
        Value::String(document) => document.clone(),
        Value::Null => String::new(),
        json => json.to_string(),
    };
    let method = match text("method") {
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "POST",
    };
    Request {
        method,
        target: text("path").to_owned(),
        headers: vec![("Idempotency-Key".to_owned(), text("key").to_owned())],
        body: body.into_bytes(),
    }
}

/// Bodies without what is of one request only.
fn comparable(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut() {
        members.remove("request_id");
    }
    body
}

#[test]
fn a_command_does_in_a_batch_what_it_does_alone() {
    let (mut one_by_one, mut together) = (Bank::new(), Bank::new());
    let story = story();
    let begun = one_by_one.transactions();
    let expected: Vec<(u64, Value)> = story
        .iter()
        .map(|command| {
            let answer = one_by_one.over_socket(&alone(command));
            let body =
                serde_json::from_slice(&answer.body).unwrap_or_else(|_| Value::from(answer.text()));
            (u64::from(answer.status), comparable(body))
        })
        .collect();
    let found = answers(&together.over_socket(&batch("b", &story)));
    let found: Vec<(u64, Value)> = found
        .into_iter()
        .map(|answer| (status(&answer), comparable(answer["body"].clone())))
        .collect();
    for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "command {n}: {}", story[n]);
    }
    assert_eq!(found.len(), expected.len());
    let refused = expected.iter().filter(|(status, _)| *status >= 400).count();
    assert!((4..10).contains(&refused), "{refused}: {expected:?}");
    let sql = format!(
        "SELECT t.op, t.idem_key, e.kind, e.delta_amount, e.delta_held, e.amount_after
         FROM tx t LEFT JOIN entry e ON e.tx = t.id WHERE t.id > {begun} ORDER BY t.id, e.n"
    );
    let journals = (together.query(&sql), one_by_one.query(&sql));
    for (found, expected) in journals.0.iter().zip(&journals.1) {
        assert_eq!(found, expected);
    }
    assert_eq!(journals.0.len(), journals.1.len());
    assert_eq!(agree_exactly(&together), agree_exactly(&one_by_one));
    for account in ["chemistry", "physics"] {
        let amounts = [&together, &one_by_one].map(|bank| one_amount(bank, account));
        assert_eq!(amounts[0], amounts[1], "{account}");
    }
    // The same commands share commits.
    let commits = |bank: &Bank| bank.json(&["status"])["commits"].as_u64().unwrap();
    assert!(commits(&together) < commits(&one_by_one));
    together.verify();
    one_by_one.verify();
}

#[test]
fn a_command_counts_once_in_batches_and_alone() {
    let mut bank = Bank::new();
    let commands = [deposit("own", "chemistry", "7"), {
        let mut keyless = deposit("", "chemistry", "5");
        keyless.as_object_mut().unwrap().remove("key");
        keyless
    }];
    let first = bank.over_socket(&batch("whole", &commands));
    assert_eq!(statuses(&first), [201, 201]);
    for restart in [false, true] {
        if restart {
            bank.kill();
            bank.start();
        }
        let again = answers(&bank.over_socket(&batch("whole", &commands)));
        assert!(
            again.iter().all(|answer| answer["replayed"] == true),
            "{again:?}"
        );
        assert_eq!(again[0]["body"], answers(&first)[0]["body"]);
        let single = bank.over_socket(&alone(&commands[0]));
        assert_eq!(
            (single.status, single.header("idempotent-replay")),
            (201, Some("true"))
        );
        // In another batch the own key is the same command; without one it is a new command.
        let other = answers(&bank.over_socket(&batch("other", &commands)));
        assert_eq!(
            [&other[0]["replayed"], &other[1]["replayed"]],
            [true, restart]
        );
    }
    let changed = [
        deposit("own", "chemistry", "8"),
        deposit("new", "chemistry", "1"),
    ];
    let changed = answers(&bank.over_socket(&batch("changed", &changed)));
    assert_eq!([status(&changed[0]), status(&changed[1])], [409, 201]);
    assert_eq!(code(&changed[0]), "key_reused");
    // The parts of a key are those of one batch.
    let reused = answers(&bank.over_socket(&batch("whole", &[commands[1].clone()])));
    assert_eq!(
        (status(&reused[0]), code(&reused[0])),
        (409, "key_reused".to_owned())
    );
    let deposited: i64 = bank
        .entries("deposit")
        .iter()
        .map(|(_, amount)| amount)
        .sum();
    let before: i64 = Bank::new()
        .entries("deposit")
        .iter()
        .map(|(_, amount)| amount)
        .sum();
    assert_eq!(deposited - before, 7 + 5 + 5 + 1);
    bank.verify();
}

#[test]
fn all_or_nothing_writes_all_or_nothing() {
    let mut bank = Bank::new();
    let before = (bank.transactions(), bank.figures("chemistry"));
    let good = [
        deposit("a", "chemistry", "10"),
        job("reserve", "Job.1", 60),
        job("end", "Job.1", 30),
        deposit("b", "chemistry", "20"),
    ];
    let bad = [
        deposit("c", "nobody", "1"),
        job("reserve", "Job.2", 999_999_999),
        json!({"path": "/api/v1/users", "key": "u", "body": {"name": "zoe"}}),
        json!({"path": "/api/v1/deposits", "key": "v", "body": {"name": "chemistry"}}),
        json!({"path": "/nami/v1/end", "key": "w", "body": format!(
            "<Data>{0}{0}</Data>",
            job("end", "Job.3", 60)["body"].as_str().unwrap()
        )}),
    ];
    for (place, bad) in bad.iter().enumerate() {
        for at in 0..=good.len() {
            let mut commands = good.to_vec();
            commands.insert(at, bad.clone());
            let found =
                answers(&bank.over_socket(&all_or_nothing(&format!("k{place}-{at}"), &commands)));
            let undone = found
                .iter()
                .filter(|answer| code(answer) == "undone")
                .count();
            assert_eq!(undone, good.len(), "{bad} at {at}: {found:?}");
            assert!(
                status(&found[at]) >= 400 && code(&found[at]) != "undone",
                "{found:?}"
            );
            assert_eq!((bank.transactions(), bank.figures("chemistry")), before);
        }
    }
    // Nothing of it is kept, so the same keys can be used again.
    let done = answers(&bank.over_socket(&all_or_nothing("good", &good)));
    assert!(
        done.iter()
            .all(|answer| status(answer) < 300 && answer["replayed"] == false),
        "{done:?}"
    );
    // What was done before stays done, whatever comes behind it.
    let mixed = [good[0].clone(), bad[0].clone()];
    let mixed = answers(&bank.over_socket(&all_or_nothing("mixed", &mixed)));
    assert_eq!(
        (&mixed[0]["replayed"], status(&mixed[1])),
        (&json!(true), 404)
    );
    // What only this request did is undone, also for a key that comes twice in it.
    let twice = deposit("twice", "chemistry", "3");
    let twice = [twice.clone(), twice, bad[0].clone()];
    let twice = answers(&bank.over_socket(&all_or_nothing("twice", &twice)));
    assert_eq!([code(&twice[0]), code(&twice[1])], ["undone", "undone"]);
    let again = answers(&bank.over_socket(&all_or_nothing("good", &good)));
    assert!(
        again.iter().all(|answer| answer["replayed"] == true),
        "{again:?}"
    );
    assert_eq!(bank.transactions() - before.0, 4);
    bank.verify();
}

#[test]
fn what_is_no_command_is_refused() {
    let mut bank = Bank::new();
    let command = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for (text, status, code) in [
        (
            r#"{"path": "/api/v1/status", "method": "GET"}"#,
            400,
            "bad_request",
        ),
        (
            r#"{"path": "http://elsewhere/api/v1/deposits"}"#,
            400,
            "bad_request",
        ),
        (r#"{"path": "deposits"}"#, 400, "bad_request"),
        (r#"{"path": ""}"#, 400, "bad_request"),
        (
            r#"{"path": "/api/v1/batch", "body": {"commands": []}}"#,
            404,
            "not_found",
        ),
        (r#"{"path": "/api/v1/nothing"}"#, 404, "not_found"),
        (r#"{"path": "/api/v1/status"}"#, 405, "method_not_allowed"),
        (
            r#"{"path": "/api/v1/deposits", "key": "a b", "body": {}}"#,
            400,
            "bad_request",
        ),
        (
            r#"{"path": "/api/v1/deposits", "event_time": "now", "body": {}}"#,
            400,
            "bad_event_time",
        ),
        (r#"{"path": "/api/v1/deposits"}"#, 400, "bad_request"),
        (
            r#"{"path": "/nami/v1/end", "body": "<Job"}"#,
            400,
            "bad_document",
        ),
    ] {
        let key = format!("k{}", text.len());
        let answers = answers(&bank.over_socket(&batch(&key, &[command(text)])));
        assert_eq!(
            (
                super::batch::status(&answers[0]),
                &*super::batch::code(&answers[0])
            ),
            (status, code),
            "{text}"
        );
    }
    let many = vec![deposit("k", "chemistry", "1"); 1001];
    for body in [
        json!({"commands": []}),
        json!({"commands": many}),
        json!({}),
        json!([]),
        json!({"commands": [{"path": 1}]}),
        json!({"commands": [{"path": "/x", "verb": "POST"}]}),
    ] {
        let answer = bank.over_socket(&post("/api/v1/batch", "whole", &body));
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    for query in ["dry_run=maybe", "dry_run=true&dry_run=true", "verbose=true"] {
        let mut request = batch("q", &[deposit("d", "chemistry", "1")]);
        request.target = format!("{}?{query}", request.target);
        let answer = bank.over_socket(&request);
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
        assert!(answer.text().contains(r#""code":"bad_request""#), "{query}");
    }
    let mut keyless = batch("k", &[deposit("d", "chemistry", "1")]);
    keyless
        .headers
        .retain(|(name, _)| name != "Idempotency-Key");
    assert_eq!(bank.over_socket(&keyless).status, 400);
    bank.verify();
}

#[test]
fn a_command_needs_the_right_of_its_own_route() {
    let mut bank = Bank::new();
    let signing = Signing::new();
    let commands = [
        job("end", "Job.1", 60),
        deposit("d", "chemistry", "1"),
        job("end", "Job.2", 60),
    ];
    let request = signing.sign_all(batch("b", &commands));
    let answer = bank.over_tcp(&request);
    assert_eq!(statuses(&answer), [200, 403, 200]);
    verify(&request, &answer, &signing.secret).unwrap();
    assert_eq!(bank.over_tcp(&request).status, 401, "the same signed bytes");
    assert_eq!(billed(&bank), 120);
    bank.verify();
}

#[test]
fn a_dry_run_of_a_batch_writes_nothing() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let commands = [
        deposit("a", "chemistry", "10"),
        deposit("b", "nobody", "10"),
    ];
    let commands = [&commands[..], &[job("end", "Job.1", 60)]].concat();
    let mut request = batch("k", &commands);
    request.target.push_str("?dry_run=true");
    let found = answers(&bank.over_socket(&request));
    assert_eq!(
        found.iter().map(status).collect::<Vec<_>>(),
        [201, 404, 200]
    );
    assert_eq!(found[0]["body"]["dry_run"], true);
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn a_batch_that_is_sent_until_it_is_answered_counts_once_beside_kills() {
    let mut bank = Bank::new();
    let before = bank.figures("chemistry").0;
    let wholes: Vec<Request> = (0..6_i64)
        .map(|number| {
            let commands: Vec<Value> = (0..150)
                .map(|n| deposit(&format!("d{number}-{n}"), "chemistry", "1"))
                .collect();
            match number % 2 {
                0 => batch(&format!("b{number}"), &commands),
                _ => all_or_nothing(&format!("b{number}"), &commands),
            }
        })
        .collect();
    for (round, request) in wholes.iter().enumerate() {
        let address = Address::Unix(bank.socket());
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| exchange(&address, request));
            let begun = bank.transactions();
            while round % 3 != 2 && bank.transactions() == begun && !sent.is_finished() {
                std::thread::yield_now();
            }
            bank.kill_now();
            let _ = sent.join();
        });
        bank.kill();
        bank.start();
        let written = bank.figures("chemistry").0 - before;
        if round % 2 == 1 {
            assert_eq!(written % 150, 0, "round {round}: a part of all or nothing");
        }
        assert_eq!(statuses(&bank.over_socket(request)), vec![201; 150]);
    }
    assert_eq!(bank.figures("chemistry").0 - before, 6 * 150);
    bank.verify();
}
