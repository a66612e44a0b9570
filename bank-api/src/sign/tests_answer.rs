//! Answers: vectors 6.3 and 6.4 of `http-auth.md`, and answers that a client must reject.

use proptest::prelude::*;

use super::tests::{BODY, NOW, SIGNATURE, key};
use super::*;

const ANSWER: &str = "charged 3571.2 credits, balance 6428.8\n";
const DIGEST: &str = "sha-256=:GmRoA9zkyQTxH36Su/ktthgIVY0e8M+SPn/nK8hWYWo=:";
const INPUT: &str = "sig1=(\"@status\" \"content-digest\" \"signature\";req);created=1767225601;\
     keyid=\"moab\";alg=\"hmac-sha256\"";
const ANSWER_SIGNATURE: &str = "sig1=:rxM7Jm5doG0NnaBUGu0FECG4lnpDsxHrD40LKowTYsk=:";

fn judge(
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
    sent: &str,
) -> Result<VerifiedAnswer, AnswerError> {
    let answer = ReceivedAnswer {
        status,
        headers: headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes())),
        body,
        sent_signature: sent,
        label: LABEL,
        keyid: "moab",
    };
    verify_answer(&key(), &answer, NOW, DEFAULT_WINDOW_S)
}

const SIGNED: [(&str, &str); 3] = [
    ("Content-Digest", DIGEST),
    ("Signature-Input", INPUT),
    ("Signature", ANSWER_SIGNATURE),
];

#[test]
fn vector_6_3_is_made_and_believed() {
    let signed = sign_answer(
        &key(),
        "moab",
        "sig1",
        SIGNATURE.as_bytes(),
        NOW + 1,
        200,
        ANSWER.as_bytes(),
    );
    assert_eq!(signed.content_digest.as_deref(), Some(DIGEST));
    assert_eq!(signed.signature_input, INPUT);
    assert_eq!(signed.signature, ANSWER_SIGNATURE);
    assert_eq!(
        judge(200, &SIGNED, ANSWER.as_bytes(), SIGNATURE),
        Ok(VerifiedAnswer {
            created: NOW + 1,
            created_in_window: true
        })
    );
}

#[test]
fn vector_6_4_is_made_and_believed() {
    let signed = sign_answer(
        &key(),
        "moab",
        "sig1",
        SIGNATURE.as_bytes(),
        NOW + 1,
        204,
        b"",
    );
    assert_eq!(signed.content_digest, None);
    assert_eq!(
        signed.signature_input,
        "sig1=(\"@status\" \"signature\";req);created=1767225601;keyid=\"moab\";alg=\"hmac-sha256\""
    );
    assert_eq!(
        signed.signature,
        "sig1=:94ChQ3ykuQyLCysvCqV+vhDj4m0j1eWgUqpQNNLNWVs=:"
    );
    let headers = [
        ("signature-input", signed.signature_input.as_str()),
        ("signature", &signed.signature),
    ];
    assert!(judge(204, &headers, b"", SIGNATURE).is_ok());
    assert_eq!(
        judge(204, &headers, b"x", SIGNATURE),
        Err(AnswerError::Component)
    );
}

#[test]
fn an_old_date_is_a_warning_only() {
    let signed = sign_answer(
        &key(),
        "moab",
        "sig1",
        SIGNATURE.as_bytes(),
        NOW - 301,
        204,
        b"",
    );
    let headers = [
        ("signature-input", signed.signature_input.as_str()),
        ("signature", &signed.signature),
    ];
    assert_eq!(
        judge(204, &headers, b"", SIGNATURE),
        Ok(VerifiedAnswer {
            created: NOW - 301,
            created_in_window: false
        })
    );
}

#[test]
fn what_a_client_must_not_believe() {
    let other_key = INPUT.replace("moab", "moob");
    let other_label = INPUT.replace("sig1=", "sig2=");
    let algorithm = INPUT.replace("sha256", "sha512");
    let uncovered = INPUT.replace(" \"content-digest\"", "");
    let unbound = INPUT.replace(";req)", ")");
    let unknown = INPUT.replace("\"@status\"", "\"@status\" \"@path\"");
    let body = ANSWER.as_bytes();
    let with = |input: &str| {
        judge(
            200,
            &[SIGNED[0], ("signature-input", input), SIGNED[2]],
            body,
            SIGNATURE,
        )
    };
    let rows = [
        (
            "another status",
            judge(402, &SIGNED, body, SIGNATURE),
            AnswerError::BadSignature,
        ),
        (
            "another body",
            judge(200, &SIGNED, BODY.as_bytes(), SIGNATURE),
            AnswerError::Digest,
        ),
        (
            "the answer to another request",
            judge(
                200,
                &SIGNED,
                body,
                "sig1=:UQ3Kii/eooR3C1XNHh8Ry67e0QSdXNQzDJ5GKYoaZ9E=:",
            ),
            AnswerError::BadSignature,
        ),
        (
            "no signature",
            judge(200, &SIGNED[..1], body, SIGNATURE),
            AnswerError::Unsigned,
        ),
        (
            "two signatures",
            judge(
                200,
                &[SIGNED[0], SIGNED[1], SIGNED[2], SIGNED[2]],
                body,
                SIGNATURE,
            ),
            AnswerError::Malformed,
        ),
        (
            "two digests",
            judge(
                200,
                &[SIGNED[0], SIGNED[0], SIGNED[1], SIGNED[2]],
                body,
                SIGNATURE,
            ),
            AnswerError::Digest,
        ),
        (
            "no digest",
            judge(200, &SIGNED[1..], body, SIGNATURE),
            AnswerError::Component,
        ),
        ("another key", with(&other_key), AnswerError::Malformed),
        ("another label", with(&other_label), AnswerError::Malformed),
        (
            "another algorithm",
            with(&algorithm),
            AnswerError::Malformed,
        ),
        ("body uncovered", with(&uncovered), AnswerError::Component),
        (
            "not bound to the request",
            with(&unbound),
            AnswerError::Component,
        ),
        ("unknown component", with(&unknown), AnswerError::Component),
        ("garbage", with("<html>"), AnswerError::Malformed),
    ];
    for (what, found, expected) in rows {
        assert_eq!(found, Err(expected), "{what}");
    }
}

proptest! {
    #[test]
    fn what_is_signed_is_believed_and_nothing_else(
        status in 200_u16..600,
        body in proptest::collection::vec(any::<u8>(), 1..200),
        at: prop::sample::Index,
        bit in 0_u8..8,
    ) {
        let signed = sign_answer(&key(), "moab", "sig1", SIGNATURE.as_bytes(), NOW, status, &body);
        let digest = signed.content_digest.unwrap();
        let headers = [
            ("content-digest", digest.as_str()),
            ("signature-input", &signed.signature_input),
            ("signature", &signed.signature),
        ];
        prop_assert!(judge(status, &headers, &body, SIGNATURE).is_ok());
        let mut bent = body;
        let index = at.index(bent.len());
        bent[index] ^= 1 << bit;
        prop_assert_eq!(judge(status, &headers, &bent, SIGNATURE), Err(AnswerError::Digest));
    }
}
