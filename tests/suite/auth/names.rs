//! What a scheduler with single projects learns of others' names in what it sends: nothing.

use super::token::token;
use crate::harness::{Bank, Request, Response};

/// All of an answer but the name that was given and the id of the request.
fn learned(answer: &Response, name: &str) -> String {
    let text = answer.text().replace(name, "NAME");
    let text = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(mut body) => {
            body["request_id"] = serde_json::Value::Null;
            body["transaction"] = serde_json::Value::Null;
            body["lien"] = serde_json::Value::Null;
            body.to_string()
        }
        Err(_) => text,
    };
    format!("{} {text}", answer.status)
}

fn ask(bank: &Bank, target: &str, body: &str, token: &str) -> Response {
    let request = Request {
        method: "POST",
        body: body.as_bytes().to_vec(),
        ..Request::get(target)
    };
    let media = if target.starts_with("/nami") {
        "application/xml"
    } else {
        "application/json"
    };
    let request = request.header("Content-Type", media);
    let request = request.header("Idempotency-Key", &uuid::Uuid::new_v4().to_string());
    bank.over_tcp(&request.header("Authorization", &format!("Bearer {token}")))
}

/// A request about somebody, as each route takes it.
fn requests(
    user: &str,
    project: Option<&str>,
    machine: &str,
    job: &str,
) -> Vec<(&'static str, String)> {
    let named = project.map_or_else(String::new, |p| format!(r#""project":"{p}","#));
    let account = project.map_or_else(String::new, |p| format!("<Account>{p}</Account>"));
    let work = format!(r#"{named}"user":"{user}","machine":"{machine}","processors":1"#);
    let document = |kind: &str| {
        format!(
            "<Job><ObjectID>{job}{kind}</ObjectID>{account}<User>{user}</User>\
             <Machine>{machine}</Machine><Processors>1</Processors>\
             <WallDuration>10</WallDuration></Job>"
        )
    };
    vec![
        ("/api/v1/quotes", format!("{{{work},\"wall_s\":10}}")),
        (
            "/api/v1/reserves",
            format!(r#"{{"job":"{job}r",{work},"wall_s":10}}"#),
        ),
        ("/nami/v1/quote", document("q")),
        ("/nami/v1/create", document("c")),
        ("/nami/v1/reserve", document("n")),
    ]
}

#[test]
fn a_narrow_scheduler_cannot_tell_hidden_names_from_missing_ones() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "carl", "--default-project", "physics"]);
    bank.bank_ok(&["project", "members", "add", "physics", "carl"]);
    bank.bank_ok(&["user", "add", "cora"]);
    bank.bank_ok(&["user", "set", "cora", "--active", "no"]);
    bank.bank_ok(&["account", "add", "phys-secret", "--projects", "physics"]);
    let options = ["--role", "scheduler", "-A", "chemistry"];
    let narrow = token(&bank, "narrow", &options);
    let wide = token(&bank, "wide", &["--role", "scheduler"]);
    let mut compared = 0;
    let mut alike =
        |one: Vec<(&'static str, String)>, other: Vec<(&'static str, String)>, names: [&str; 2]| {
            for ((target, one), (_, other)) in one.iter().zip(&other) {
                let one = learned(&ask(&bank, target, one, &narrow), names[0]);
                let other = learned(&ask(&bank, target, other, &narrow), names[1]);
                assert_eq!(one, other, "{target}");
                assert!(one.starts_with('4'), "{target}: {one}");
                assert!(!one.contains("physics"), "{target}: {one}");
                compared += 1;
            }
        };
    for hidden in ["carl", "cora"] {
        for (project, machine) in [
            (Some("chemistry"), "colony"),
            (Some("chemistry"), "nosuchmachine"),
            (None, "colony"),
        ] {
            alike(
                requests(hidden, project, machine, "one"),
                requests("karl", project, machine, "one"),
                [hidden, "karl"],
            );
        }
        let body = |user: &str| {
            format!(
                r#"{{"job":"x.1","user":"{user}","machine":"colony","processors":1,"duration_s":10}}"#
            )
        };
        let charges = |user: &str| vec![("/api/v1/charges", body(user))];
        alike(charges(hidden), charges("karl"), [hidden, "karl"]);
    }
    for (hidden, missing) in [("phys-secret", "nosuch-secret"), ("physics", "nosuch")] {
        alike(
            requests("amy", Some(hidden), "colony", "two"),
            requests("amy", Some(missing), "colony", "two"),
            [hidden, missing],
        );
    }
    assert_eq!(compared, 2 * (3 * 5 + 1) + 2 * 5);
    // To whom nothing is hidden is told what it is.
    let [_, (target, body), ..] = &requests("carl", Some("chemistry"), "colony", "three")[..]
    else {
        panic!("no reserve");
    };
    let response = ask(&bank, target, body, &wide);
    assert!(
        response
            .text()
            .contains("is not an active member of project"),
        "{}",
        response.text()
    );
    // One's own are served.
    let [_, (target, body), ..] = &requests("amy", Some("chemistry"), "colony", "four")[..] else {
        panic!("no reserve");
    };
    assert_eq!(ask(&bank, target, body, &narrow).status, 201);
    bank.verify();
}
