//! Requests that must be refused (`http-auth.md` 6.5, those without state), with the word in the log.

use super::tests::{DIGEST, INPUT, LIST, NOW, PARAMETERS, SIGNATURE, Sample};
use super::*;

/// `http-auth.md` 6.5 and the causes of section 1; each is the log's word.
#[test]
fn refusals() {
    use Failure::{BadSignature, Component, Digest, DisabledKey, Malformed, Stale, UnknownKey};
    let bent = |bend: fn(&mut Sample)| {
        let mut sample = Sample::vector();
        bend(&mut sample);
        sample
    };
    let resigned =
        |list: &[(&str, &str)], parameters: &str| Sample::vector().signed(list, parameters);
    let with_key = |key: &str| format!(";created=1767225600;keyid=\"{key}\";nonce=\"b3k2pp5k7z\"");
    let no_query = LIST.map(|pair| {
        if pair.0 == "@query" {
            ("host", "127.0.0.1:7113")
        } else {
            pair
        }
    });
    let no_digest = LIST.map(|pair| {
        if pair.0 == "content-digest" {
            ("@scheme", "http")
        } else {
            pair
        }
    });
    let no_key = LIST.map(|pair| {
        if pair.0 == "idempotency-key" {
            ("@scheme", "http")
        } else {
            pair
        }
    });
    let no_method = LIST.map(|pair| {
        if pair.0 == "@method" {
            ("@scheme", "http")
        } else {
            pair
        }
    });
    let absent = LIST.map(|pair| {
        if pair.0 == "@query" {
            ("x-absent", "")
        } else {
            pair
        }
    });
    let unknown = LIST.map(|pair| {
        if pair.0 == "@query" {
            ("@status", "200")
        } else {
            pair
        }
    });
    let twice = [LIST[0], LIST[1], LIST[2], LIST[3], LIST[4], LIST[0]];
    let rows: Vec<(&str, Sample, Failure)> = vec![
        ("body", bent(|s| s.body[0] = b'{'), Digest),
        (
            "digest",
            bent(|s| s.set("content-digest", &DIGEST.replace("aGrM", "aGrN"))),
            BadSignature,
        ),
        (
            "path",
            bent(|s| s.target = "/nami/v1/delete?x=1".into()),
            BadSignature,
        ),
        (
            "query",
            bent(|s| s.target = "/nami/v1/charge?x=2".into()),
            BadSignature,
        ),
        (
            "key",
            bent(|s| s.set("idempotency-key", "other")),
            BadSignature,
        ),
        (
            "nonce",
            bent(|s| s.set("signature-input", &INPUT.replace("b3k2", "b3k3"))),
            BadSignature,
        ),
        (
            "query uncovered",
            resigned(&no_query, PARAMETERS),
            Component,
        ),
        (
            "body uncovered",
            resigned(&no_digest, PARAMETERS),
            Component,
        ),
        ("key uncovered", resigned(&no_key, PARAMETERS), Component),
        (
            "method uncovered",
            resigned(&no_method, PARAMETERS),
            Component,
        ),
        (
            "event time added",
            Sample::vector().add("bank-event-time", "2025-12-31T22:00:00Z"),
            Component,
        ),
        (
            "absent field covered",
            resigned(&absent, PARAMETERS),
            Component,
        ),
        (
            "unknown component",
            resigned(&unknown, PARAMETERS),
            Component,
        ),
        ("component twice", resigned(&twice, PARAMETERS), Component),
        (
            "component with parameter",
            bent(|s| {
                s.set(
                    "signature-input",
                    &INPUT.replace("@query\"", "@query\";req"),
                );
            }),
            Component,
        ),
        (
            "unknown key",
            resigned(&LIST, &with_key("nobody")),
            UnknownKey,
        ),
        (
            "key id not of the form",
            resigned(&LIST, &with_key("no body")),
            UnknownKey,
        ),
        (
            "key switched off",
            resigned(&LIST, &with_key("old")),
            DisabledKey,
        ),
        (
            "another algorithm",
            resigned(&LIST, &format!("{PARAMETERS};alg=\"hmac-sha512\"")),
            Malformed,
        ),
        (
            "expired",
            resigned(&LIST, &format!("{PARAMETERS};expires=1767225599")),
            Stale,
        ),
        (
            "no created",
            resigned(&LIST, ";keyid=\"moab\";nonce=\"b3k2pp5k7z\""),
            Malformed,
        ),
        (
            "no nonce",
            resigned(&LIST, ";created=1767225600;keyid=\"moab\""),
            Malformed,
        ),
        (
            "short nonce",
            resigned(
                &LIST,
                ";created=1767225600;keyid=\"moab\";nonce=\"1234567\"",
            ),
            Malformed,
        ),
        (
            "created twice",
            resigned(&LIST, &format!("{PARAMETERS};created=1767225600")),
            Malformed,
        ),
        ("unsigned", Sample::vector().without("signature"), Malformed),
        (
            "no input",
            Sample::vector().without("signature-input"),
            Malformed,
        ),
        (
            "two signatures",
            Sample::vector().add("signature", SIGNATURE),
            Malformed,
        ),
        (
            "short signature",
            bent(|s| s.set("signature", "sig1=:AAAA:")),
            Malformed,
        ),
        (
            "garbage",
            bent(|s| s.set("signature-input", "sig1=(\"@method\" ")),
            Malformed,
        ),
    ];
    for (what, sample, failure) in rows {
        assert_eq!(sample.judge().map(|_| ()), Err(failure), "{what}");
    }
}

#[test]
fn the_window_is_closed_on_both_sides() {
    let sample = Sample::vector();
    for (now, expected) in [
        (NOW + 300, Ok(())),
        (NOW - 300, Ok(())),
        (NOW + 301, Err(Failure::Stale)),
        (NOW - 301, Err(Failure::Stale)),
    ] {
        assert_eq!(sample.judge_at(now).map(|_| ()), expected);
    }
}

/// Faults that are reported only to a verified sender.
#[test]
fn conditions_count_once_the_signature_holds() {
    let mut joined = LIST;
    joined[4].1 = "one, two";
    let doubled = Sample::vector()
        .without("idempotency-key")
        .add("idempotency-key", "one")
        .add("idempotency-key", "two");
    let command = |sample: &Sample| sample.judge().map(|verified| verified.command.map(|_| ()));
    assert_eq!(
        command(&doubled.clone().signed(&joined, PARAMETERS)),
        Ok(Err(Condition::DuplicateHeader("Idempotency-Key")))
    );
    assert_eq!(command(&doubled), Err(Failure::BadSignature));

    let keyless = Sample::vector()
        .without("idempotency-key")
        .signed(&LIST[..4], PARAMETERS);
    assert_eq!(
        command(&keyless),
        Ok(Err(Condition::IdempotencyKeyRequired))
    );
    for (value, expected) in [
        ("a#1", Err(Condition::BadIdempotencyKey)),
        ("a b", Err(Condition::BadIdempotencyKey)),
        ("", Err(Condition::BadIdempotencyKey)),
        (&"k".repeat(256), Err(Condition::BadIdempotencyKey)),
        (&"k".repeat(255), Ok(())),
    ] {
        let mut sample = Sample::vector();
        sample.set("idempotency-key", value);
        let mut list = LIST;
        list[4].1 = value;
        assert_eq!(
            command(&sample.signed(&list, PARAMETERS)),
            Ok(expected),
            "{value}"
        );
    }
    for (value, expected) in [
        ("2026-01-01T00:05:00Z", Ok(())),
        ("2026-01-01T00:05:00.000001Z", Err(Condition::BadEventTime)),
        ("yesterday", Err(Condition::BadEventTime)),
    ] {
        let headers = [
            ("Bank-Event-Time", value.as_bytes()),
            ("idempotency-key", b"k".as_slice()),
        ];
        let found = command_headers(headers.into_iter(), true, NOW, 300).map(|_| ());
        assert_eq!(found, expected, "{value}");
    }
    assert_eq!(Condition::BadEventTime.code(), "bad_event_time");
}
