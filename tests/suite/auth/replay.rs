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
