//! Every route and every role: who may, who may not, and what those learn who may not.
//!
//! Who has which right stands here a second time, written down by hand from `ledger.md` 8, so that the
//! daemon is not measured with its own ruler.

use super::token::token;
use crate::harness::{Bank, Request, Response};
use std::collections::BTreeMap;

use bankd_http::route::Route;
use bankd_http::router::table;

/// The roles of the table, in the order of its letters.
const ROLES: [(&str, &[&str]); 9] = [
    ("admin", &["--role", "admin"]),
    ("operator", &["--role", "operator", "-A", "chemistry"]),
    ("manager", &["--role", "manager", "-A", "chemistry"]),
    ("pi", &["--role", "pi", "-A", "chemistry"]),
    ("auditor", &["--role", "auditor"]),
    ("scheduler", &["--role", "scheduler", "-m", "colony"]),
    ("collector", &["--role", "collector"]),
    ("user", &["--role", "user", "--client", "amy"]),
    ("partner", &["--role", "partner"]),
];

/// Who has a right beside admin, by the first letters of the roles' names: Operator, Manager, Pi,
/// Auditor, Scheduler, Collector, User; B for a partner Bank.
fn holders(right: &str) -> &'static str {
    match right {
        "see_status" => "OMPASCU",
        "see_registry" | "see_ledger" | "see_settings" | "quote" => "OMPASU",
        "see_sources" => "AS",
        "see_imports" => "ASC",
        "see_intake" | "see_records" | "see_shares" | "see_access" | "see_outbox" | "verify"
        | "price_the_past" | "see_partners" => "A",
        "see_own_messages" | "deliver" => "B",
        "see_proposals" => "OMA",
        "ask" => "OMPU",
        "nami" | "hold" | "charge" => "S",
        "report_usage" | "import" => "SC",
        "deposit" | "withdraw" | "change_open_reference" => "O",
        "transfer" | "change_members" | "change_accounts" | "decide_proposals" => "OM",
        "anybody" | "see_keys" | "refund" | "adjust" | "reverse" | "settle" | "change_projects"
        | "change_users" | "change_allocations" | "end_quotes" | "change_sources"
        | "change_quarantine" | "assign_usage" | "change_rates" | "change_reference"
        | "change_keys" | "change_access" | "change_cycles" | "close_periods"
        | "change_attention" | "confirm_clock" | "migrate" => "",
        other => panic!("who has the right {other}? Say it here, by hand"),
    }
}

fn may(role: &str, right: &str) -> bool {
    let letter = match role {
        "partner" => "B".to_owned(),
        other => other[..1].to_uppercase(),
    };
    role == "admin" || holders(right).contains(&letter)
}

/// A request of a route with ids that nobody has, and nothing sensible in it.
fn request(route: &Route, number: usize) -> Request {
    let mut target = String::new();
    for part in route.path.split('/').skip(1) {
        target.push('/');
        let given = match part {
            "{id}" | "{object_id}" => "987654321",
            named if named.starts_with('{') => "nosuch",
            fixed => fixed,
        };
        target.push_str(given);
    }
    let method: &'static str = match route.method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        other => panic!("{other}"),
    };
    let request = Request {
        method,
        body: if method == "GET" || method == "DELETE" {
            Vec::new()
        } else {
            b"{}".to_vec()
        },
        ..Request::get(&target)
    };
    if method == "GET" {
        return request;
    }
    request
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", &format!("table-{number}"))
}

fn shown(request: Request, token: &str) -> Request {
    request.header("Authorization", &format!("Bearer {token}"))
}

/// Whether the answer is that of the one check of rights.
fn lacks_the_right(answer: &Response) -> bool {
    let output = answer.text();
    answer.status == 403 && output.contains("this needs the role")
}

#[test]
fn every_route_asks_every_role_for_its_right() {
    let mut bank = Bank::new();
    let tokens = ROLES.map(|(role, options)| token(&bank, &format!("a-{role}"), options));
    let before = bank.transactions();
    let mut findings = Vec::new();
    let mut number = 0;
    for route in table() {
        let right = route.right.word();
        let name = format!("{} {} ({right})", route.method, route.path);
        let stranger = bank.over_tcp(&request(&route, 0));
        if stranger.status != 401 {
            findings.push(format!("{name}: a stranger gets {}", stranger.status));
        }
        let reads = right.starts_with("see_") || ["quote", "verify", "anybody"].contains(&right);
        if (route.method == "GET") && !reads {
            findings.push(format!("{name}: a question needs a right to see"));
        }
        // Gold's requests and batches: each action in one asks for the right of its own route (`bankd_gold` and
        // `batch` test that).
        let is_of_many = ["/api/v1/gold", "/api/v1/batch"].contains(&&*route.path);
        if route.writes && reads && !is_of_many {
            findings.push(format!("{name}: what writes needs a right to do it"));
        }
        for ((role, _), token) in ROLES.iter().zip(&tokens) {
            number += 1;
            let answer = bank.over_tcp(&shown(request(&route, number), token));
            let refused = lacks_the_right(&answer);
            if refused == may(role, right) {
                findings.push(format!("{name}: {role} gets {}", answer.status));
            }
            // A question to the scheduler's own route is answered 501, always.
            let is_fault = answer.status >= 500 && answer.status != 501;
            if answer.status == 401 || is_fault {
                findings.push(format!(
                    "{name}: {role} gets {}: {}",
                    answer.status,
                    answer.text()
                ));
            }
        }
    }
    assert!(number > 8 * 100, "{number} requests");
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert_eq!(bank.transactions(), before, "nonsense wrote something");
    bank.verify();
}

/// What somebody learns of an object: all of the answer but the name that they gave, and the id of the
/// request.
fn learned(answer: &Response, name: &str) -> String {
    let mut body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    body["request_id"] = serde_json::Value::Null;
    // A hint names what is in view.
    body["hint"] = serde_json::Value::Null;
    let detail = body["detail"].as_str().unwrap_or_default();
    body["detail"] = detail.replace(name, "NAME").into();
    format!("{} {body}", answer.status)
}

#[test]
fn what_is_others_looks_like_what_is_not_there() {
    let mut bank = Bank::new();
    bank.bank_ok(&["account", "add", "phys-secret", "--projects", "physics"]);
    bank.bank_ok(&["project", "add", "chem-sub", "--parent", "chemistry"]);
    let account = bank.account("physics")["account_id"].to_string();
    let proposal = {
        let output = bank.bank_ok(&["deposit", "physics", "5", "--propose", "--json"]);
        let output: serde_json::Value = serde_json::from_str(&output).unwrap();
        output["id"].to_string()
    };
    let guessed = "987654321";
    let json = |method: &'static str, target: &str, body: &str| {
        let request = Request {
            method,
            body: body.as_bytes().to_vec(),
            ..Request::get(target)
        };
        request
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", &uuid::Uuid::new_v4().to_string())
    };
    let requested = |what: usize, name: &str| match what {
        0 => Request::get(&format!("/api/v1/projects/{name}")),
        1 => Request::get(&format!("/api/v1/accounts/{name}")),
        2 => Request::get(&format!("/api/v1/projects/{name}/members")),
        3 => Request::get(&format!("/api/v1/journal?project={name}")),
        4 => json(
            "POST",
            "/api/v1/deposits",
            &format!(r#"{{"name":"{name}","amount":"1"}}"#),
        ),
        5 => json(
            "POST",
            "/api/v1/withdrawals",
            &format!(r#"{{"name":"{name}","amount":"1"}}"#),
        ),
        6 => json(
            "POST",
            "/api/v1/transfers",
            &format!(r#"{{"from":"{name}","to":"chemistry","amount":"1"}}"#),
        ),
        7 => json(
            "POST",
            &format!("/api/v1/projects/{name}/members"),
            r#"{"user":"amy"}"#,
        ),
        8 => json(
            "DELETE",
            &format!("/api/v1/projects/{name}/members/ops"),
            "",
        ),
        9 => json(
            "PATCH",
            &format!("/api/v1/accounts/{name}"),
            r#"{"priority":1}"#,
        ),
        10 => json("DELETE", &format!("/api/v1/accounts/{name}"), ""),
        11 => json("POST", &format!("/api/v1/proposals/{name}/approve"), "{}"),
        12 => json("POST", &format!("/api/v1/proposals/{name}/reject"), "{}"),
        13 => Request::get(&format!("/api/v1/proposals/{name}")),
        14 => Request::get(&format!("/api/v1/allocations/{name}")),
        _ => json(
            "POST",
            "/api/v1/accounts",
            &format!(r#"{{"name":"mine","projects":[{{"value":"{name}","allow":true}}]}}"#),
        ),
    };
    let before = bank.transactions();
    let mut seen: BTreeMap<u16, usize> = BTreeMap::new();
    // Commands about what their caller may not know of.
    let mut hidden = 0;
    for (role, options) in [ROLES[1], ROLES[2], ROLES[3], ROLES[7]] {
        let token = token(&bank, &format!("{role}-2"), options);
        for what in 0..=15 {
            let (theirs, nobodys) = match what {
                1 | 9 | 10 | 14 => (account.as_str(), guessed),
                11..=13 => (proposal.as_str(), guessed),
                _ => ("physics", "nosuch"),
            };
            let mut pairs = vec![(theirs, nobodys)];
            if (4..=6).contains(&what) {
                pairs.push(("phys-secret", "nosuch-secret"));
            }
            if what == 1 {
                pairs.push(("physics", "nosuch"));
            }
            for (theirs, nobodys) in pairs {
                let [one, other] = [theirs, nobodys].map(|name| {
                    let answer = bank.over_tcp(&shown(requested(what, name), &token));
                    *seen.entry(answer.status).or_default() += 1;
                    let commands = (4..=8).contains(&what) || what == 15;
                    hidden += usize::from(commands && answer.status == 404);
                    learned(&answer, name)
                });
                assert_eq!(one, other, "{role}, request {what}");
                assert!(
                    one.starts_with("403") || one.starts_with("404"),
                    "{role} {what}: {one}"
                );
            }
        }
    }
    assert!(seen[&403] > 20 && seen[&404] > 5, "{seen:?}");
    assert!(hidden > 10, "a name in a command is hidden too: {hidden}");
    // What is theirs is there, and what lies below it.
    let operator = token(&bank, "operator-3", ROLES[1].1);
    for name in ["chemistry", "chem-sub"] {
        let answer = bank.over_tcp(&shown(requested(4, name), &operator));
        assert_eq!(answer.status, 201, "{}", answer.text());
        assert_eq!(
            bank.over_tcp(&shown(requested(0, name), &operator)).status,
            200
        );
    }
    let tokens_made = 5;
    assert_eq!(bank.transactions(), before + tokens_made + 2);
    // Each refusal is counted and in the log, with who and what.
    let status = bank.bank_ok(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    let counted = status["refused_access"].as_array().unwrap();
    let total: i64 = counted
        .iter()
        .map(|row| row["count"].as_i64().unwrap())
        .sum();
    let refused = i64::try_from(seen[&403] + hidden).unwrap();
    assert_eq!(total, refused, "{status}");
    assert!(
        counted.iter().any(|row| row["roles"] == "operator"),
        "{status}"
    );
    assert!(bank.bank_ok(&["status"]).contains("operator not_allowed"));
    let log = bank.log();
    let line = log.lines().find(|line| line.contains("access refused"));
    let line = line.expect("no line about a refusal of access");
    for part in [
        "caller=",
        "roles=",
        "route=",
        "object=",
        "code=\"not_allowed\"",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
    bank.verify();
}

/// Liens and jobs are told by numbers and names that anybody can guess: what lies outside is as what is
/// not there, and whose it is stands nowhere.
#[test]
fn liens_and_jobs_of_others_look_like_what_is_not_there() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "add", "tower"]);
    bank.bank_ok(&["deposit", "physics", "1000"]);
    bank.bank_ok(&["project", "members", "add", "physics", "amy"]);
    let work = ["-A", "physics", "-u", "amy", "-m", "tower", "--procs", "1"];
    bank.bank_ok(&[&["reserve", "hidden.1", "--wall", "100"][..], &work].concat());
    bank.bank_ok(&[&["charge", "hidden.2", "--duration", "10"][..], &work].concat());
    let liens = bank.json(&["lien", "ls"]);
    let lien = liens["items"][0]["id"].to_string();
    let before = bank.transactions();
    let ask = |method: &'static str, target: &str, body: &str, token: &str| {
        let request = Request {
            method,
            body: body.as_bytes().to_vec(),
            ..Request::get(target)
        };
        let request = request.header("Content-Type", "application/json");
        let key = uuid::Uuid::new_v4().to_string();
        bank.over_tcp(&shown(request.header("Idempotency-Key", &key), token))
    };
    let narrow = [
        ["--role", "scheduler", "-A", "chemistry", "-m", "colony"],
        ["--role", "scheduler,pi", "-A", "chemistry", "-m", "tower"],
    ];
    for (n, options) in narrow.iter().enumerate() {
        let token = token(&bank, &format!("narrow-{n}"), options);
        for (method, body) in [
            ("DELETE", ""),
            ("PATCH", r#"{"end":"2030-01-01T00:00:00Z"}"#),
        ] {
            let [one, other] = [lien.as_str(), "987654321"].map(|id| {
                let answer = ask(method, &format!("/api/v1/liens/{id}"), body, &token);
                assert!(!answer.text().contains("physics"), "{}", answer.text());
                learned(&answer, id)
            });
            assert_eq!(one, other, "{method}");
            assert!(one.starts_with("403"), "{one}");
        }
        // A document that meets somebody else's job is refused, and does not say whose.
        let document = r#"{"job":"hidden.1","machine":"tower","project":"chemistry","user":"amy","processors":1,"wall_s":10}"#;
        let answer = ask("POST", "/api/v1/reserves", document, &token);
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert!(!answer.text().contains("physics"), "{}", answer.text());
    }
    let admin = token(
        &bank,
        "narrow-admin",
        &["--role", "admin", "-A", "chemistry"],
    );
    let [one, other] = ["hidden.2", "nosuch.2"].map(|job| {
        let body = format!(r#"{{"job":"{job}"}}"#);
        let answer = ask("POST", "/api/v1/refunds", &body, &admin);
        assert!(!answer.text().contains("physics"), "{}", answer.text());
        learned(&answer, job)
    });
    assert_eq!(one, other);
    assert!(one.starts_with("404"), "{one}");
    // To whom nothing is hidden a number that is not there is unknown.
    assert_eq!(bank.bank(&["lien", "rm", "987654321", "--yes"]).exit, 4);
    let tokens_made = 3;
    assert_eq!(bank.transactions(), before + tokens_made);
    bank.verify();
}
