//! Sent twice, sent again, sent after a restart (`http-auth.md` 2, 3).

use super::{billed, charge, failures};
use crate::harness::{Bank, Documents, Request, Signing, verify};

#[test]
fn a_request_sent_twice_counts_once_even_after_a_restart() {
    let mut bank = Bank::new();
    let signed = Signing::new().sign(charge("key-1"));
    assert_eq!(bank.over_tcp(&signed).status, 200);
    assert_eq!(bank.over_tcp(&signed).status, 401);
    assert_eq!(failures(&bank)["replay"], 1);
    bank.kill();
    bank.start();
    // The memory of nonces is gone; the stored answer knows the nonce that made it.
    assert_eq!(bank.over_tcp(&signed).status, 401);
    assert_eq!(billed(&bank), 28_800);
    bank.verify();
}

#[test]
fn a_key_sent_again_gets_the_stored_answer() {
    let mut bank = Bank::new();
    let signing = Signing::new();
    let first = bank.over_tcp(&signing.sign(charge("key-1")));
    for restart in [false, true] {
        if restart {
            bank.kill();
            bank.start();
        }
        let again = Signing::new().sign(charge("key-1"));
        let answer = bank.over_tcp(&again);
        assert_eq!((answer.status, answer.text()), (first.status, first.text()));
        assert_eq!(answer.header("idempotent-replay"), Some("true"));
        verify(&again, &answer, &signing.secret).unwrap();
    }
    assert_eq!(billed(&bank), 28_800);
    bank.verify();
}

#[test]
fn a_key_for_another_request_is_a_conflict() {
    let mut bank = Bank::new();
    assert_eq!(
        bank.over_tcp(&Signing::new().sign(charge("key-1"))).status,
        200
    );
    let documents = Documents::own();
    let mut elsewhere = charge("key-1");
    elsewhere.target.push_str("?latin1_fallback=true");
    for other in [
        Request::nami("charge", "key-1", &documents.get(5)),
        Request::nami("delete", "key-1", &documents.get(4)),
        elsewhere,
    ] {
        let signed = Signing::new().sign_all(other);
        let answer = bank.over_tcp(&signed);
        assert_eq!(answer.status, 409, "{}", answer.text());
        assert!(answer.text().contains("key_reused"), "{}", answer.text());
    }
    assert_eq!(billed(&bank), 28_800);
    bank.verify();
}

#[test]
fn refusals_by_a_rule_are_stored_and_refusals_of_access_are_not() {
    let mut bank = Bank::new();
    let documents = Documents::own();
    let dear = documents.with(3, &[(">16<", ">1600<")]);
    let reserve = |key: &str, body: &[u8]| Request::nami("reserve", key, body);
    let short = bank.over_tcp(&Signing::new().sign(reserve("dear", &dear)));
    assert_eq!(short.status, 402, "{}", short.text());
    bank.bank_ok(&["deposit", "chemistry", "100000000"]);
    let still = bank.over_tcp(&Signing::new().sign(reserve("dear", &dear)));
    assert_eq!((still.status, still.text()), (402, short.text()));

    let foreign = documents.with(3, &[("<Account>", "<Machine>other</Machine><Account>")]);
    let denied = bank.over_tcp(&Signing::new().sign(reserve("foreign", &foreign)));
    assert_eq!(denied.status, 403, "{}", denied.text());
    assert!(denied.text().contains("not_allowed"), "{}", denied.text());
    bank.bank_ok(&["machine", "add", "other"]);
    bank.bank_ok(&["key", "set", "moab", "--machine", "colony,other"]);
    let allowed = bank.over_tcp(&Signing::new().sign(reserve("foreign", &foreign)));
    assert_eq!(allowed.status, 200, "{}", allowed.text());
    bank.verify();
}

/// Batches, and refusals of access, have no stored answer under their own key: their nonces have rows of their own.
#[test]
fn signed_bytes_without_a_stored_answer_have_no_effect_after_a_restart() {
    let mut bank = Bank::new();
    let documents = Documents::own();
    let batch = |key: &str, seconds: [i64; 2], all_or_nothing: bool| {
        let commands = [1, 2].map(|n| {
            let seconds = seconds[n - 1];
            let body = format!(
                "<Job><ObjectID>{key}.{n}</ObjectID><User>amy</User><Account>chemistry</Account>\
                 <Machine>colony</Machine><Processors>1</Processors><WallDuration>{seconds}</WallDuration></Job>"
            );
            serde_json::json!({"path": "/nami/v1/reserve", "body": body})
        });
        let body = serde_json::json!({"commands": commands, "all_or_nothing": all_or_nothing});
        let mut request = Request::nami("reserve", key, body.to_string().as_bytes());
        request.target = "/api/v1/batch".to_owned();
        for (name, value) in &mut request.headers {
            if name.eq_ignore_ascii_case("content-type") {
                "application/json".clone_into(value);
            }
        }
        Signing::new().sign(request)
    };
    let undone = batch("undone", [60, 10_000_000], true);
    let partly = batch("partly", [60, 10_000_000], false);
    let done = batch("done", [60, 70], true);
    let machine = [("<Account>", "<Machine>other</Machine><Account>")];
    let foreign = documents.with(3, &machine);
    let foreign = Signing::new().sign(Request::nami("reserve", "foreign", &foreign));
    let expected = [
        (&undone, 200, "\"refused\":2"),
        (&partly, 200, "\"refused\":1"),
        (&done, 200, "\"refused\":0"),
        (&foreign, 403, "not_allowed"),
    ];
    for (signed, status, text) in expected {
        let answer = bank.over_tcp(signed);
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.text().contains(text), "{}", answer.text());
    }
    // Now all of them could be done.
    bank.bank_ok(&["deposit", "chemistry", "100000000"]);
    bank.bank_ok(&["machine", "add", "other"]);
    bank.bank_ok(&["key", "set", "moab", "--machine", "colony,other"]);
    let before = bank.transactions();
    for restart in [false, true, true] {
        if restart {
            bank.kill();
            bank.start();
        }
        for (signed, ..) in expected {
            let answer = bank.over_tcp(signed);
            assert_eq!(answer.status, 401, "{restart}: {}", answer.text());
        }
        assert_eq!(bank.transactions(), before, "{restart}");
    }
    // A repeat has a new nonce: it is the same request, and what was refused is decided anew.
    let again = bank.over_tcp(&batch("done", [60, 70], true));
    assert_eq!(again.status, 200, "{}", again.text());
    assert!(
        again.text().contains("\"replayed\":true"),
        "{}",
        again.text()
    );
    assert_eq!(bank.transactions(), before);
    let allowed = documents.with(3, &machine);
    let allowed = Signing::new().sign(Request::nami("reserve", "foreign", &allowed));
    assert_eq!(bank.over_tcp(&allowed).status, 200);
    bank.verify();
}
