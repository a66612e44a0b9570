//! The routes of imports as any client may use them: places, repeats, limits, ends.

use serde_json::{Value, json};

use super::{HEAD, lines, watching};
use crate::harness::{Bank, Request, Response, T0, until};

fn post(bank: &Bank, target: &str, key: &str, body: &[u8]) -> Response {
    let request = Request {
        target: target.to_owned(),
        ..Request::nami("x", key, body)
    };
    bank.over_socket(&request)
}

fn answer(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{}", response.text()))
}

/// Opens an import of sacct lines.
fn open(bank: &Bank, key: &str, more: &str) -> Response {
    let body = format!(r#"{{"source":"s","format":"sacct"{more}}}"#);
    post(bank, "/api/v1/imports", key, body.as_bytes())
}

#[track_caller]
fn opened(bank: &Bank, key: &str) -> String {
    let response = open(bank, key, "");
    assert_eq!(response.status, 201, "{}", response.text());
    let answer = answer(&response);
    assert_eq!(
        (&answer["at"], &answer["piece"]),
        (&json!(0), &json!(1 << 20))
    );
    answer["id"].as_str().unwrap().to_owned()
}

fn data(bank: &Bank, id: &str, place: &str, body: &[u8]) -> Response {
    let key = uuid::Uuid::new_v4().to_string();
    post(
        bank,
        &format!("/api/v1/imports/{id}/data?{place}"),
        &key,
        body,
    )
}

/// Ends an import, however long its reader takes.
fn end(bank: &Bank, id: &str) -> Response {
    until("the import ends", || {
        let key = uuid::Uuid::new_v4().to_string();
        let response = post(bank, &format!("/api/v1/imports/{id}/end"), &key, b"");
        (response.status != 503).then_some(response)
    })
}

fn running(bank: &Bank) -> Vec<Value> {
    let response = bank.over_socket(&Request::get("/api/v1/imports"));
    answer(&response)["items"].as_array().unwrap().clone()
}

#[test]
fn a_piece_that_comes_twice_counts_once() {
    let mut bank = watching(&[]);
    let text = format!("{HEAD}{}", lines(0, 9));
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let id = opened(&bank, "k");
    // The same request again finds the same import; under the same key another is a mistake.
    assert_eq!(opened(&bank, "k"), id);
    let reused = open(&bank, "k", r#","dry_run":true"#);
    assert_eq!(reused.status, 409, "{}", reused.text());
    let taken = |place: &str, body: &[u8]| {
        let response = data(&bank, &id, place, body);
        assert_eq!(response.status, 200, "{place}: {}", response.text());
        answer(&response)["at"].as_u64().unwrap()
    };
    let at = first.len() as u64;
    assert_eq!(taken("file=a&at=0", first), at);
    assert_eq!(taken("file=a&at=0", first), at);
    let gap = data(&bank, &id, &format!("file=a&at={}", at + 1), second);
    assert_eq!(gap.status, 422, "{}", gap.text());
    assert!(
        gap.text().contains(&format!("in a at {at}")),
        "{}",
        gap.text()
    );
    // Half of it is known, half is new.
    let overlapping = &text.as_bytes()[first.len() - 10..];
    let whole = text.len() as u64;
    assert_eq!(taken(&format!("file=a&at={}", at - 10), overlapping), whole);
    assert_eq!(taken(&format!("file=a&at={at}"), second), whole);
    assert_eq!(running(&bank)[0]["state"], json!("running"));
    let done = answer(&end(&bank, &id));
    assert_eq!(done["summary"]["jobs"], json!(9), "{done}");
    assert_eq!(done["bytes"], json!(whole));
    // The answer may have been lost: asked again it is the same.
    assert_eq!(answer(&end(&bank, &id)), done);
    assert_eq!(running(&bank)[0]["state"], json!("ended"));
    let late = data(&bank, &id, &format!("file=a&at={whole}"), b"more");
    assert_eq!(late.status, 422, "{}", late.text());
    bank.verify();
}

#[test]
fn what_cannot_be_is_refused() {
    let bank = watching(&[]);
    for (body, status) in [
        (r#"{"source":"s","format":"shell"}"#, 400),
        (r#"{"source":"s","format":"sacct","colour":"red"}"#, 400),
        (r#"{"source":"s","format":"sacct","layout":"nosuch"}"#, 400),
        (r#"{"source":"s","format":"sacct","tz":"Mars"}"#, 400),
        (r#"{"source":"s","format":"sacct","mapping":""}"#, 400),
        (r#"{"source":"","format":"sacct"}"#, 422),
        (r#"{"source":"s","format":"sacct","since":"noon"}"#, 422),
        (r#"{"source":"s","format":"sacct","machine":"x"}"#, 404),
    ] {
        let response = post(&bank, "/api/v1/imports", "k", body.as_bytes());
        assert_eq!(response.status, status, "{body}: {}", response.text());
    }
    assert_eq!(running(&bank), [Value::Null; 0]);
    let nothing = data(&bank, "nosuch", "file=a&at=0", b"");
    assert_eq!(nothing.status, 404, "{}", nothing.text());
    let id = opened(&bank, "k2");
    for place in [
        "file=&at=0",
        "file=a",
        "at=0",
        "file=a&at=0&x=1",
        "file=a%0a&at=0",
    ] {
        let response = data(&bank, &id, place, b"x");
        assert!(
            [400, 422].contains(&response.status),
            "{place}: {}",
            response.text()
        );
    }
    let request = Request {
        method: "POST",
        ..Request::get("/api/v1/imports")
    };
    assert_eq!(bank.over_socket(&request).status, 400, "without a key");
}

#[test]
fn a_file_of_another_format_ends_the_import() {
    let bank = watching(&[]);
    let body = br#"{"source":"s","format":"slurm-json"}"#;
    let id = answer(&post(&bank, "/api/v1/imports", "k", body));
    let id = id["id"].as_str().unwrap().to_owned();
    let garbage = b"no document at all";
    assert_eq!(data(&bank, &id, "file=a/b&at=0", garbage).status, 200);
    let done = end(&bank, &id);
    assert_eq!(done.status, 422, "{}", done.text());
    assert!(done.text().contains("a/b: "), "{}", done.text());
    assert_eq!(running(&bank)[0]["state"], json!("failed"));
    let more = data(&bank, &id, "file=c&at=0", b"x");
    assert_eq!(more.status, 422, "{}", more.text());
}

#[test]
fn imports_are_bounded_in_number_and_may_be_given_up() {
    let bank = watching(&[("BANKD_IMPORT_SESSIONS_PER_CLIENT", "2")]);
    let first = opened(&bank, "k1");
    opened(&bank, "k2");
    let third = open(&bank, "k3", "");
    assert_eq!(third.status, 503, "{}", third.text());
    assert!(third.header("retry-after").is_some());
    let given_up = bank.over_socket(&Request {
        method: "DELETE",
        target: format!("/api/v1/imports/{first}"),
        ..Request::nami("x", "k4", b"")
    });
    assert_eq!(given_up.status, 200, "{}", given_up.text());
    assert_eq!(data(&bank, &first, "file=a&at=0", b"x").status, 404);
    opened(&bank, "k5");
}

#[test]
fn a_stalled_import_is_given_up() {
    let mut bank = watching(&[("BANKD_IMPORT_IDLE_S", "60"), ("BANKD_IMPORT_CHUNK", "5")]);
    let id = opened(&bank, "k");
    let text = format!("{HEAD}{}", lines(0, 12));
    let half = &text.as_bytes()[..text.len() - 20];
    assert_eq!(data(&bank, &id, "file=a&at=0", half).status, 200);
    until("two chunks are read", || {
        (running(&bank)[0]["records"].as_u64() >= Some(10)).then_some(())
    });
    bank.set_clock(T0 + 86_400 + 59);
    // Whoever asks for it keeps it.
    assert_eq!(data(&bank, &id, "file=a&at=0", half).status, 200);
    bank.set_clock(T0 + 86_400 + 59 + 62);
    until("it is gone", || running(&bank).is_empty().then_some(()));
    assert_eq!(data(&bank, &id, "file=a&at=0", half).status, 404);
    bank.verify();
    // What was committed stays, half a line is none.
    let counted = "SELECT count(*) FROM usage_identity";
    assert_eq!(bank.query(counted), [["10"]]);
}

/// A command that comes while an import runs makes the next chunks short ones; when nobody has had one for 64 of
/// them, they grow again.
#[test]
fn chunks_are_short_while_commands_come() {
    let mut bank = watching(&[("BANKD_IMPORT_CHUNK", "400")]);
    let text = format!("{HEAD}{}", lines(0, 400 + 64 * 100 + 200 + 300));
    let half = text.len() / 40;
    let (first, second) = text.as_bytes().split_at(half);
    let id = opened(&bank, "k");
    assert_eq!(data(&bank, &id, "file=a&at=0", first).status, 200);
    until("the reader is at work", || {
        let read = running(&bank)[0]["records"].as_u64();
        read.is_some_and(|read| read > 0).then_some(())
    });
    bank.bank_ok(&["deposit", "physics", "1"]);
    let rest = data(&bank, &id, &format!("file=a&at={half}"), second);
    assert_eq!(rest.status, 200, "{}", rest.text());
    assert_eq!(end(&bank, &id).status, 200);
    let lines = "SELECT lines FROM raw_block ORDER BY id";
    let mut expected = vec![["400"]];
    expected.extend([["100"]; 64]);
    expected.extend([["200"], ["300"]]);
    assert_eq!(bank.query(lines), expected);
    bank.verify();
}
