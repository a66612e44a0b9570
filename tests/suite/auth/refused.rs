//! The table of `http-auth.md` 6.5: what was changed, added or left out is refused, and the reason
//! is in the daemon's counters alone.

use super::{billed, charge, failures};
use crate::harness::{Bank, Request, Response, Signing, digest, verify};

/// A request that is wrong in one way, and the reason that the daemon counts.
type Wrong = (&'static str, Request, &'static str);

const COVERED: [&str; 4] = ["@method", "@path", "content-digest", "idempotency-key"];

fn without(name: &str) -> Vec<&'static str> {
    COVERED.into_iter().filter(|known| *known != name).collect()
}

fn replaced(mut request: Request, name: &str, change: impl Fn(&str) -> String) -> Request {
    for (known, value) in &mut request.headers {
        if known.eq_ignore_ascii_case(name) {
            *value = change(value);
        }
    }
    request
}

/// A request without a query need not cover one, and may: in either case none can be added.
#[test]
fn only_a_query_that_is_there_must_be_covered() {
    let bank = Bank::new();
    let get = || Request::get("/api/v1/balances");
    for components in [&["@method", "@path"][..], &["@method", "@path", "@query"]] {
        let signing = || Signing::new().covering(components);
        let signed = signing().sign(get());
        assert_eq!(bank.over_tcp(&signed).status, 200, "{components:?}");
        for added in ["?", "?machine=colony"] {
            let mut added_to = signing().sign(get());
            added_to.target.push_str(added);
            // An empty query is none: the value of the component is the same.
            let is_same = added == "?" && components.contains(&"@query");
            let status = bank.over_tcp(&added_to).status;
            assert_eq!(
                status,
                if is_same { 200 } else { 401 },
                "{components:?} {added}"
            );
        }
    }
}

/// Changed after it was signed.
fn changed() -> Vec<Wrong> {
    let signed = || Signing::new().sign(charge("key-1"));
    let mut body = signed();
    body.body[3] ^= 1;
    let mut path = signed();
    path.target = path.target.replace("charge", "delete");
    let mut query = signed();
    query.target.push_str("?machine=colony");
    let mut method = signed();
    method.method = "PUT";
    let other = digest(b"another body");
    let digest = replaced(signed(), "content-digest", |_| other.clone());
    let key = replaced(signed(), "idempotency-key", |_| "key-2".to_owned());
    let nonce = replaced(signed(), "signature-input", |value| {
        value.replace("nonce=\"", "nonce=\"0")
    });
    vec![
        ("body", body, "digest"),
        ("digest", digest, "bad_signature"),
        ("path", path, "bad_signature"),
        ("query", query, "bad_signature"),
        ("method", method, "bad_signature"),
        ("key", key, "bad_signature"),
        ("nonce", nonce, "bad_signature"),
    ]
}

/// Signed, but not all of it.
fn uncovered() -> Vec<Wrong> {
    let signing = |components: &[&str]| Signing::new().covering(components);
    let with_query = |mut request: Request| {
        request.target.push_str("?machine=colony");
        request
    };
    let bare = signing(&["@method", "@path", "idempotency-key"]).sign(charge("key-1"));
    let digest = digest(&bare.body);
    let late = charge("key-1").header("Bank-Event-Time", "2026-01-01T00:00:00Z");
    vec![
        (
            "no method",
            signing(&without("@method")).sign(charge("key-1")),
            "component",
        ),
        (
            "no path",
            signing(&without("@path")).sign(charge("key-1")),
            "component",
        ),
        (
            "no digest",
            signing(&without("content-digest")).sign(charge("key-1")),
            "component",
        ),
        (
            "digest sent, not covered",
            bare.header("Content-Digest", &digest),
            "component",
        ),
        (
            "no key",
            signing(&without("idempotency-key")).sign(charge("key-1")),
            "component",
        ),
        (
            "no query",
            signing(&COVERED).sign(with_query(charge("key-1"))),
            "component",
        ),
        ("no event time", signing(&COVERED).sign(late), "component"),
        (
            "unknown component",
            signing(&[&COVERED[..], &["@nonsense"]].concat()).sign(charge("key-1")),
            "component",
        ),
        (
            "component twice",
            signing(&[&COVERED[..], &["@path"]].concat()).sign(charge("key-1")),
            "component",
        ),
    ]
}

/// Signed by the wrong one, or at the wrong time.
fn misplaced() -> Vec<Wrong> {
    let now = bankd_ledger::clock::auth_now_s();
    let with = |signing: Signing| signing.sign(charge("key-1"));
    let new = Signing::new;
    let unsigned = charge("key-1");
    let garbage = charge("key-1")
        .header("Signature-Input", "sig1=(;;;")
        .header("Signature", "sig1=:AAAA:");
    vec![
        ("unsigned", unsigned, "malformed"),
        ("garbage", garbage, "malformed"),
        (
            "old",
            with(Signing {
                created: now - 301,
                ..new()
            }),
            "stale",
        ),
        (
            "ahead",
            with(Signing {
                created: now + 302,
                ..new()
            }),
            "stale",
        ),
        (
            "expired",
            with(Signing {
                more: format!(";expires={}", now - 1),
                ..new()
            }),
            "stale",
        ),
        (
            "unknown key",
            with(Signing {
                keyid: "nobody".to_owned(),
                ..new()
            }),
            "unknown_key",
        ),
        (
            "another secret",
            with(Signing {
                secret: b"guess".to_vec(),
                ..new()
            }),
            "bad_signature",
        ),
        (
            "another algorithm",
            with(Signing {
                more: ";alg=\"hmac-sha512\"".to_owned(),
                ..new()
            }),
            "malformed",
        ),
    ]
}

/// One and the same answer for every cause, and it is not signed.
fn assert_unauthorized(what: &str, answer: &Response, first: &mut Option<String>) {
    assert_eq!(answer.status, 401, "{what}");
    assert_eq!(
        answer.header("www-authenticate"),
        Some("Signature"),
        "{what}"
    );
    assert!(answer.header("accept-signature").is_some(), "{what}");
    assert_eq!(answer.header("signature"), None, "{what}");
    let mut problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    problem.as_object_mut().unwrap().remove("request_id");
    let problem = problem.to_string();
    assert_eq!(
        first.get_or_insert_with(|| problem.clone()),
        &problem,
        "{what}"
    );
}

#[test]
fn what_is_not_signed_as_it_must_be_is_refused() {
    let mut bank = Bank::new();
    let mut first = None;
    for (what, request, reason) in [changed(), uncovered(), misplaced()].concat() {
        let before = failures(&bank);
        assert_unauthorized(what, &bank.over_tcp(&request), &mut first);
        let mut after = failures(&bank);
        let count = after
            .get_mut(reason)
            .unwrap_or_else(|| panic!("{what}: {before:?}"));
        *count -= 1;
        after.retain(|_, count| *count > 0);
        assert_eq!(after, before, "{what} counts as {reason}");
    }
    assert_eq!(billed(&bank), 0);
    bank.verify();
}

#[test]
fn a_disabled_key_is_refused_and_a_new_one_counts_at_once() {
    let mut bank = Bank::new();
    bank.bank_ok(&["key", "set", "moab", "--active", "no"]);
    assert_eq!(
        bank.over_tcp(&Signing::new().sign(charge("key-1"))).status,
        401
    );
    assert_eq!(failures(&bank)["disabled_key"], 1);
    let file = bank.folder().join("second.key");
    std::fs::write(&file, "the second secret").unwrap();
    let private = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
    std::fs::set_permissions(&file, private).unwrap();
    let file = file.to_str().unwrap();
    bank.bank_ok(&[
        "key",
        "add",
        "moab2",
        "--client",
        "moab",
        "--secret-file",
        file,
    ]);
    let second = Signing {
        keyid: "moab2".to_owned(),
        secret: b"the second secret".to_vec(),
        ..Signing::new()
    };
    assert_eq!(bank.over_tcp(&second.sign(charge("key-1"))).status, 200);
    assert_eq!(billed(&bank), 28_800);
    bank.verify();
}

#[test]
fn faults_of_the_key_are_reported_to_signed_requests() {
    let mut bank = Bank::new();
    let document = charge("x").body;
    let keyless = Request {
        headers: Vec::new(),
        ..charge("x")
    };
    let twice = charge("key-1").header("Idempotency-Key", "key-2");
    let event_times = charge("key-1")
        .header("Bank-Event-Time", "2026-01-01T00:00:00Z")
        .header("Bank-Event-Time", "2026-01-02T00:00:00Z");
    let early = charge("key-1").header("Bank-Event-Time", "2999-01-01T00:00:00Z");
    let with_time = [&COVERED[..], &["bank-event-time"]].concat();
    for (request, covered, code) in [
        (
            keyless,
            without("idempotency-key"),
            "idempotency_key_required",
        ),
        (twice, COVERED.to_vec(), "duplicate_header"),
        (event_times, with_time.clone(), "duplicate_header"),
        (early, with_time, "bad_event_time"),
        (
            Request::nami("charge", "a#1", &document),
            COVERED.to_vec(),
            "bad_request",
        ),
    ] {
        let signing = Signing::new().covering(&covered);
        let signed = signing.sign(request.clone());
        let answer = bank.over_tcp(&signed);
        assert_eq!(answer.status, 400, "{code}: {}", answer.text());
        assert!(answer.text().contains(code), "{code}: {}", answer.text());
        verify(&signed, &answer, &signing.secret).unwrap();
        // Whoever cannot sign is not told.
        let stranger = Signing {
            secret: b"guess".to_vec(),
            ..Signing::new().covering(&covered)
        };
        assert_eq!(bank.over_tcp(&stranger.sign(request)).status, 401, "{code}");
    }
    assert_eq!(billed(&bank), 0);
    bank.verify();
}
