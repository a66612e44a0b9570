//! API tokens against the running daemon: what they open, when they end, where they are taken.

use super::failures;
use crate::harness::{Bank, Request, Response, Signing, until};

/// A token of the bank, with its text.
pub(crate) fn token(bank: &Bank, id: &str, options: &[&str]) -> String {
    let output =
        bank.bank_ok(&[&["token", "add", id, "--until", "2090-01-01"][..], options].concat());
    let text = output.lines().find(|line| line.starts_with("bk_"));
    text.unwrap_or_else(|| panic!("no token in {output}"))
        .to_owned()
}

fn shown(request: Request, token: &str) -> Request {
    request.header("Authorization", &format!("Bearer {token}"))
}

fn deposit(key: &str) -> Request {
    let body = br#"{"name": "chemistry", "amount": "1"}"#;
    Request {
        target: "/api/v1/deposits".to_owned(),
        ..Request::nami("x", key, body)
    }
}

fn status(bank: &Bank, token: &str) -> u16 {
    status_of(bank, &shown(Request::get("/api/v1/status"), token))
}

fn status_of(bank: &Bank, request: &Request) -> u16 {
    let answer = bank.over_tcp(request);
    if answer.status == 401 {
        stranger(&answer);
    }
    answer.status
}

/// A 401 to a token has the same text for every cause, and names no key.
fn stranger(answer: &Response) {
    assert_eq!(answer.header("www-authenticate"), Some("Signature"));
    let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(problem["code"], "unauthorized");
    let detail = "the request carries no valid API token of this bank";
    assert_eq!(problem["detail"], detail);
}

#[test]
fn a_token_opens_what_its_roles_open() {
    let mut bank = Bank::new();
    let auditor = token(&bank, "reports", &["--role", "auditor"]);
    let admin = token(&bank, "deploy", &["--role", "admin"]);
    let get = || Request::get("/api/v1/projects/chemistry");
    assert_eq!(bank.over_tcp(&shown(get(), &auditor)).status, 200);
    assert_eq!(bank.over_socket(&shown(get(), &auditor)).status, 200);
    let refused = bank.over_tcp(&shown(deposit("k1"), &auditor));
    assert_eq!(refused.status, 403, "{}", refused.text());
    // On the socket it stands for its client, not for the person behind the socket.
    assert_eq!(
        bank.over_socket(&shown(deposit("k1"), &auditor)).status,
        403
    );
    let done = bank.over_tcp(&shown(deposit("k1"), &admin));
    assert_eq!(done.status, 201, "{}", done.text());
    assert!(
        done.header("signature").is_none(),
        "answers to tokens are not signed"
    );
    let again = bank.over_tcp(&shown(deposit("k1"), &admin));
    assert_eq!(again.header("idempotent-replay"), Some("true"));
    assert_eq!(bank.figures("chemistry"), (100_001, 0, 100_001));
    let keyless = Request {
        headers: Vec::new(),
        ..deposit("k2")
    };
    assert_eq!(bank.over_tcp(&shown(keyless, &admin)).status, 400);
    let journal = bank.bank_ok(&["journal", "--json"]);
    assert!(journal.contains("\"deploy\""), "{journal}");
    bank.verify();
}

#[test]
fn a_token_ends_at_once_when_it_is_removed_and_by_itself() {
    let mut bank = Bank::new();
    let text = token(&bank, "ci", &["--role", "auditor"]);
    assert_eq!(status(&bank, &text), 200);
    let used = bank.bank_ok(&["token", "show", "ci", "--json"]);
    let used: serde_json::Value = serde_json::from_str(&used).unwrap();
    assert!(used["last_used"].is_string(), "{used}");
    assert_eq!(used["state"], "active");
    // Its hash is in the bank, its text is not.
    bank.stop();
    let database = std::fs::read(bank.data().join("bank.db")).unwrap();
    let secret = text.as_bytes();
    assert!(!database.windows(secret.len()).any(|part| part == secret));
    assert!(!bank.log().contains(&text));
    bank.start();
    assert_eq!(status(&bank, &text), 200);
    bank.bank_ok(&["token", "rm", "ci", "--yes"]);
    assert_eq!(status(&bank, &text), 401);
    // An id is not used again, and a token is no signing key.
    assert_eq!(bank.bank(&["token", "add", "ci", "--role", "user"]).exit, 7);
    let other = token(&bank, "other", &["--role", "auditor"]);
    assert_eq!(bank.bank(&["key", "show", "other"]).exit, 4);
    assert_eq!(bank.bank(&["key", "rm", "other", "--yes"]).exit, 4);
    assert_eq!(bank.bank(&["token", "rm", "moab", "--yes"]).exit, 4);
    assert_eq!(status(&bank, &other), 200);
    let past = bank.bank(&[
        "token",
        "add",
        "old",
        "--role",
        "user",
        "--until",
        "2020-01-01",
    ]);
    assert_eq!(past.exit, 1, "{}", past.stderr);
    // A role over projects without one could do nothing.
    for role in ["operator", "manager,pi"] {
        let useless = bank.bank(&["token", "add", "idle", "--role", role]);
        assert_eq!(useless.exit, 2, "{}", useless.stderr);
        assert!(useless.stderr.contains("-A PROJECT"), "{}", useless.stderr);
    }
    token(&bank, "both", &["--role", "operator,auditor"]);
    bank.verify();
}

/// Whoever is asked why a token stopped working finds it in the log; who shows it learns nothing.
#[test]
fn an_expired_token_is_distinguished_in_the_log() {
    let bank = Bank::new();
    let output = bank.bank_ok(&["token", "add", "short", "--role", "auditor", "--for", "2s"]);
    let text = output.lines().find(|line| line.starts_with("bk_")).unwrap();
    // Tokens are judged by the machine's own clock.
    until("the token is over", || {
        (status(&bank, text) == 401).then_some(())
    });
    let counted = failures(&bank);
    assert_eq!(counted.get("expired_token"), Some(&1), "{counted:?}");
    assert_eq!(counted.get("disabled_token"), None, "{counted:?}");
    let log = bank.log();
    let line = log.lines().find(|line| line.contains("not authenticated"));
    assert!(line.unwrap().contains("expired_token"), "{log}");
}

#[test]
fn what_is_no_token_is_a_stranger() {
    let bank = Bank::new();
    let text = token(&bank, "ci", &["--role", "auditor"]);
    let other = format!("bk_{}", "A".repeat(43));
    for wrong in [
        "",
        "bk_",
        &text[..45],
        &format!("{text}x"),
        &other,
        &text[3..],
    ] {
        assert_eq!(status(&bank, wrong), 401, "{wrong}");
    }
    assert!(failures(&bank)["unknown_token"] >= 5);
    let get = || Request::get("/api/v1/status");
    let before = failures(&bank).get("malformed").copied().unwrap_or(0);
    // Two of them, or one beside a signature: who asks is not clear.
    let twice = shown(shown(get(), &text), &text);
    assert_eq!(status_of(&bank, &twice), 401);
    let both = Signing::new().sign_all(shown(get(), &text));
    assert_eq!(status_of(&bank, &both), 401);
    assert_eq!(failures(&bank)["malformed"], before + 2);
    // Another scheme, or a token that is empty, identifies nobody, also on the socket.
    for (value, detail) in [
        (
            "Basic YTpi",
            "the request is not signed by a key of this bank",
        ),
        ("", "the request is not signed by a key of this bank"),
        ("Bearer", "the request carries no valid API token"),
        ("Bearer ", "the request carries no valid API token"),
        ("Bearer  x", "the request carries no valid API token"),
    ] {
        let request = get().header("Authorization", value);
        for answer in [bank.over_tcp(&request), bank.over_socket(&request)] {
            assert_eq!(answer.status, 401, "{value:?}");
            assert!(answer.text().contains(detail), "{}", answer.text());
        }
    }
    // Beside a signature another scheme is not for the bank.
    let signed = get().header("Authorization", "Basic YTpi");
    let signed = Signing::new().sign_all(signed);
    assert_eq!(bank.over_tcp(&signed).status, 200);
    // The scheme is not case-sensitive.
    let lower = get().header("authorization", &format!("bearer {text}"));
    assert_eq!(bank.over_tcp(&lower).status, 200);
}

#[test]
fn the_command_line_shows_the_token_of_the_environment() {
    let bank = Bank::new();
    let text = token(&bank, "amys-laptop", &["--role", "user", "--client", "amy"]);
    let server = format!("http://{}", bank.tcp());
    let ran = bank.bank_as(
        &[("BANK_TOKEN", &text)],
        &["--server", &server, "balance", "-P", "-n"],
    );
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("chemistry|"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("physics"), "{}", ran.stdout);
    let ran = bank.bank_as(&[("BANK_TOKEN", "bk_no")], &["status"]);
    assert_eq!(ran.exit, 6, "{}", ran.stderr);
    assert!(ran.stderr.contains("BANK_TOKEN"), "{}", ran.stderr);
    // Never in the clear to another host.
    let elsewhere = ["--server", "http://bank.example.org:7113", "status"];
    let ran = bank.bank_as(&[("BANK_TOKEN", &text)], &elsewhere);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(!ran.stderr.contains(&text));
}
