//! Failures of errors of the client.

use bank_api::{error::Problem, exit::bank as exit};

use super::*;

fn refused(status: u16, body: &str) -> Error {
    Error::from(Refused {
        server: "unix:/s".into(),
        status,
        problem: Problem::from_json(body.as_bytes()),
        text: body.into(),
        key: Some("k-1".into()),
        identity: Identity::Socket,
        retry_after: None,
    })
}

/// Status and body -> exit code and what standard error says.
#[test]
fn refusals_are_printed_in_three_lines() {
    let cases = [
        (
            404,
            r#"{"type":"urn:bank:problem:not_found","title":"not found","status":404,
               "code":"not_found","detail":"no project \"nochem\"",
               "hint":"did you mean \"chem\"?","request_id":"r1"}"#,
            4,
            "bank: no project \"nochem\"\nhint: did you mean \"chem\"?\nrequest r1\n",
        ),
        (
            402,
            r#"{"type":"x","title":"x","status":402,"code":"insufficient_funds",
               "detail":"need 57600, have 42400 credits"}"#,
            3,
            "bank: refused: insufficient funds: need 57600, have 42400 credits\n",
        ),
        (
            409,
            r#"{"type":"x","title":"x","status":409,"code":"key_reused","detail":"another body"}"#,
            7,
            "bank: conflict: key reused: another body\n",
        ),
        (
            503,
            r#"{"type":"x","title":"x","status":503,"code":"busy","detail":"the queue is full"}"#,
            5,
            "bank: the daemon cannot take it now: the queue is full\n\
             hint: try again in a moment: repeat the command with --key k-1, which takes effect at most once\n",
        ),
    ];
    for (status, body, exit, expected_text) in cases {
        let failure = Failure::from(refused(status, body));
        assert_eq!(
            (failure.exit, failure.to_string().as_str()),
            (exit, expected_text)
        );
    }
}

#[test]
fn a_lost_answer_names_the_key() {
    let failure = Failure::from(Error::Unreachable {
        server: "unix:/s".into(),
        why: "connection reset".into(),
        key: Some("k-1".into()),
    });
    assert_eq!(failure.exit, exit::UNAVAILABLE);
    assert!(failure.hint.unwrap().contains("--key k-1"));
}

#[test]
fn callers_that_are_unknown_get_a_hint_of_their_identity() {
    for (identity, hint) in [
        (Identity::Token, "BANK_TOKEN"),
        (Identity::Key, "clock"),
        (Identity::None, "BANK_KEY_ID"),
        (Identity::Socket, "no such user"),
    ] {
        let Error::Refused(mut unknown) = refused(401, "who?") else {
            panic!("not refused")
        };
        unknown.identity = identity;
        let failure = Failure::from(Error::Refused(unknown));
        assert_eq!(failure.exit, exit::DENIED);
        assert_eq!(failure.what, "unix:/s answered 401: who?");
        assert!(failure.hint.unwrap().contains(hint), "{identity:?}");
    }
}

#[test]
fn settings_of_keys_have_exits() {
    let server = Some("http://127.0.0.1:1".to_owned());
    let id = Settings {
        server,
        key_id: Some("ops".into()),
        ..Settings::default()
    };
    assert_eq!(new(&id).unwrap_err().exit, exit::USAGE);
    let both = Settings {
        key_file: Some("/no/such/file".into()),
        ..id
    };
    assert_eq!(new(&both).unwrap_err().exit, exit::DENIED);
    // Nothing is signed on a socket: the file is not read.
    let socket = Settings {
        server: Some("unix:/s".into()),
        ..both
    };
    assert!(new(&socket).is_ok());
}

/// A secret is given once: an answer that this program cannot read is shown as it came.
#[test]
fn an_answer_that_is_given_once_is_not_lost() {
    let unreadable = |answer: Option<&str>| {
        Failure::from(Error::Unreadable {
            server: "unix:/s".into(),
            why: "missing field".into(),
            answer: answer.map(str::to_owned),
        })
    };
    let failure = unreadable(Some("{\"secret\":\"bank_s3cret\"}"));
    assert_eq!(failure.exit, exit::INTERNAL);
    assert_eq!(
        failure.before.as_deref(),
        Some("{\"secret\":\"bank_s3cret\"}\n")
    );
    assert!(failure.hint.unwrap().contains("given once"));
    // A question loses nothing.
    assert_eq!(unreadable(None).before, None);
}
