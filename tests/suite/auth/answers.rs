//! Signed answers (`http-auth.md` 5): every answer to a signed request is, refusals included.

use super::charge;
use crate::harness::{Bank, Documents, Request, Setup, Signing, verify};

#[test]
fn every_answer_to_a_signed_request_is_signed() {
    let mut bank = Bank::new();
    let body = Documents::own().get(3);
    let dear = Documents::own().with(3, &[(">16<", ">1600<")]);
    let put = Request {
        method: "PUT",
        ..charge("put")
    };
    for (request, status) in [
        (Request::get("/api/v1/status"), 200),
        (Request::get("/api/v1/nothing"), 404),
        (Request::nami("reserve", "good", &body), 200),
        (Request::nami("reserve", "dear", &dear), 402),
        (Request::nami("reserve", "none", b"<Job"), 400),
        (Request::nami("nothing", "lost", &body), 404),
        (put, 405),
    ] {
        let what = format!("{} {}", request.method, request.target);
        let signing = Signing::new();
        let signed = signing.sign_all(request);
        let answer = bank.over_tcp(&signed);
        assert_eq!(answer.status, status, "{what}: {}", answer.text());
        verify(&signed, &answer, &signing.secret).unwrap_or_else(|why| panic!("{what}: {why}"));
    }
    bank.verify();
}

#[test]
fn a_document_above_the_limit_is_413() {
    let mut bank = Bank::new();
    let large = vec![b'x'; (1 << 20) + 1];
    let signed = Signing::new().sign(Request::nami("charge", "large", &large));
    let answer = bank.over_tcp(&signed);
    assert_eq!(answer.status, 413);
    let output = answer.text();
    assert!(output.starts_with("error too_large: "), "{output}");
    let answer = bank.over_socket(&Request::nami("charge", "large", &large));
    assert_eq!(answer.status, 413);
    bank.verify();
}

/// The scripts believe a signed refusal only: others leave the document in the spool, before all later ones.
#[test]
fn a_document_above_a_lower_limit_is_refused_with_a_signature() {
    let mut bank = Setup::new().env("BANKD_HTTP_BODY_LIMIT", "2048").start();
    let large = vec![b'x'; 2049];
    let signing = Signing::new();
    let signed = signing.sign_all(Request::nami("charge", "large", &large));
    let answer = bank.over_tcp(&signed);
    assert_eq!(answer.status, 413);
    let output = answer.text();
    assert!(output.starts_with("error too_large: "), "{output}");
    verify(&signed, &answer, &signing.secret).unwrap();
    // Another body proves nothing, and neither does none at all.
    let other = Request {
        body: vec![b'y'; 2049],
        ..signing.sign_all(Request::nami("charge", "other", &large))
    };
    let answer = bank.over_tcp(&other);
    assert_eq!((answer.status, answer.header("signature")), (401, None));
    let answer = bank.over_tcp(&Request::nami("charge", "large", &large));
    assert_eq!((answer.status, answer.header("signature")), (413, None));
    bank.verify();
}

#[test]
fn on_the_socket_and_on_public_routes_nothing_is_signed() {
    let mut bank = Bank::new();
    let answer = bank.over_socket(&Request::get("/api/v1/status"));
    assert_eq!((answer.status, answer.header("signature")), (200, None));
    for target in ["/healthz", "/readyz"] {
        let answer = bank.over_tcp(&Request::get(target));
        assert_eq!(
            (answer.status, answer.header("signature")),
            (200, None),
            "{target}"
        );
    }
    assert_eq!(bank.over_tcp(&Request::get("/api/v1/status")).status, 401);
    bank.verify();
}
