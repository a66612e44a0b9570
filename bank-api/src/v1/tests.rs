//! The shapes as JSON text.

use super::*;

#[test]
fn an_answer_of_a_write_is_a_bare_object() {
    let written = Written {
        object: Member {
            user: "amy".into(),
            active: true,
            role: "pi".into(),
        },
        transaction: Some(7),
        dry_run: false,
        warnings: Vec::new(),
    };
    let text = serde_json::to_string(&written).unwrap();
    let want =
        r#"{"user":"amy","active":true,"role":"pi","transaction":7,"dry_run":false,"warnings":[]}"#;
    assert_eq!(text, want);
    assert_eq!(
        serde_json::from_str::<Written<Member>>(&text).unwrap(),
        written
    );
}

#[test]
fn requests_refuse_unknown_fields_and_leave_out_what_is_absent() {
    let deposit = NewDeposit {
        effective: None,
        name: "chem".into(),
        amount: "5".into(),
        ..NewDeposit::default()
    };
    let text = serde_json::to_string(&deposit).unwrap();
    assert_eq!(
        text,
        r#"{"name":"chem","amount":"5","new":false,"allow_past":false}"#
    );
    for bad in [
        r#"{"name":"chem","amount":"5","limt":"1"}"#,
        r#"{"name":"chem","amount":5}"#,
        r#"{"amount":"5"}"#,
    ] {
        assert!(serde_json::from_str::<NewDeposit>(bad).is_err(), "{bad}");
    }
}

#[test]
fn answers_may_gain_fields() {
    let text = r#"{"items":[{"user":"amy","active":true,"since":"2026"}],"next":null}"#;
    let list: List<Member> = serde_json::from_str(text).unwrap();
    assert_eq!(list.items[0].user, "amy");
}

#[test]
fn a_secret_is_not_in_the_debug_form() {
    let key = NewKey {
        id: "moab".into(),
        secret: Some("hush".into()),
        ..NewKey::default()
    };
    assert!(!format!("{key:?}").contains("hush"));
    let answer = NewKeyAnswer {
        secret: Some("hush".into()),
        ..NewKeyAnswer::default()
    };
    assert!(!format!("{answer:?}").contains("hush"));
}

#[test]
fn a_lien_calls_its_kind_type() {
    let text = serde_json::to_string(&Lien {
        kind: "job".into(),
        ..Lien::default()
    })
    .unwrap();
    assert!(text.contains(r#""type":"job""#), "{text}");
}
