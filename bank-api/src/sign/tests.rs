//! The vectors of `http-auth.md` 6 for requests, the refusals of 6.5 that need no memory, and
//! mutations of a signed request.

use proptest::prelude::*;

use super::*;

pub(super) const SECRET: &str = "correct horse battery staple 0123";
pub(super) const NOW: i64 = 1_767_225_600;
pub(super) const BODY: &str = "<Job><ObjectID>Moab.1024</ObjectID></Job>\n";
pub(super) const SIGNATURE: &str = "sig1=:OE6FN6ND7LY7QUATXtKprG0sAqyrgIgV0yGQIFG2i60=:";
const TARGET: &str = "/nami/v1/charge?x=1";
pub(super) const IDEMPOTENCY: &str = "018f6b0e-7c1a-7c3e-9f00-000000000001";
pub(super) const DIGEST: &str = "sha-256=:aGrM9SsOQGmz4ysbwKvCpDcbiz+EnoDXte0ZlCkbJ9o=:";
pub(super) const INPUT: &str = "sig1=(\"@method\" \"@path\" \"@query\" \"content-digest\" \
     \"idempotency-key\");created=1767225600;keyid=\"moab\";alg=\"hmac-sha256\";nonce=\"b3k2pp5k7z\"";

pub(super) fn key() -> SigningKey {
    SigningKey::new(&Secret::parse(SECRET).unwrap())
}

/// A request that a test may bend before it is judged.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Sample {
    /// Vector 6.1.
    pub(super) fn vector() -> Self {
        Self::with(&[
            ("host", "127.0.0.1:7113"),
            ("content-digest", DIGEST),
            ("idempotency-key", IDEMPOTENCY),
            ("signature-input", INPUT),
            ("signature", SIGNATURE),
        ])
    }

    pub(super) fn with(headers: &[(&str, &str)]) -> Self {
        Self {
            method: "POST".into(),
            target: TARGET.into(),
            headers: headers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
            body: BODY.into(),
        }
    }

    /// Signs whatever list of components and parameters a test asks for, by hand.
    pub(super) fn signed(mut self, list: &[(&str, &str)], parameters: &str) -> Self {
        let names: Vec<String> = list.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let parameters = format!("({}){parameters}", names.join(" "));
        let lines: Vec<String> = list
            .iter()
            .map(|(name, value)| format!("\"{name}\": {value}\n"))
            .collect();
        let base = format!("{}\"@signature-params\": {parameters}", lines.concat());
        let mac = key().mac(base.as_bytes());
        self.set("signature-input", &format!("sig1={parameters}"));
        self.set("signature", &answer::signature_field("sig1", &mac));
        self
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(header, _)| header != name);
        self.headers.push((name.into(), value.into()));
    }

    pub(super) fn add(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self
    }

    pub(super) fn judge_at(&self, now: i64) -> Result<VerifiedRequest<'_>, Failure> {
        let request = ReceivedRequest {
            method: &self.method,
            target: &self.target,
            scheme: "http",
            headers: self
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_bytes())),
            body: &self.body,
            mutating: true,
        };
        verify_request(&request, now, DEFAULT_WINDOW_S, |id| match id {
            "moab" => KeyLookup::Found(key()),
            "old" => KeyLookup::Disabled(key()),
            _ => KeyLookup::Unknown,
        })
    }

    pub(super) fn judge(&self) -> Result<VerifiedRequest<'_>, Failure> {
        self.judge_at(NOW)
    }
}

/// The components of 6.1 with their values.
pub(super) const LIST: [(&str, &str); 5] = [
    ("@method", "POST"),
    ("@path", "/nami/v1/charge"),
    ("@query", "?x=1"),
    ("content-digest", DIGEST),
    ("idempotency-key", IDEMPOTENCY),
];
pub(super) const PARAMETERS: &str = ";created=1767225600;keyid=\"moab\";nonce=\"b3k2pp5k7z\"";

#[test]
fn the_primitive_agrees_with_rfc_9421_appendix_b_2_5() {
    let secret = "base64:uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6p\
                  cl8jsasjlTMtDQ==";
    let key = SigningKey::new(&Secret::parse(secret).unwrap());
    let base = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@authority\": example.com\n\
                \"content-type\": application/json\n\"@signature-params\": (\"date\" \
                \"@authority\" \"content-type\");created=1618884473;keyid=\"test-shared-secret\"";
    assert_eq!(
        answer::signature_field("sig-b25", &key.mac(base.as_bytes())),
        "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:"
    );
}

#[test]
fn long_keys_are_hashed_as_in_rfc_4231_case_6() {
    let key = SigningKey::from_bytes(&[0xaa; 131]);
    let mac = key.mac(b"Test Using Larger Than Block-Size Key - Hash Key First");
    assert_eq!(mac[..8], [0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f]);
}

#[test]
fn secrets_and_fingerprint() {
    assert_eq!(key().fingerprint(), "911f 523a 28a7 b02e");
    for text in [
        "correct horse battery staple 0123\n",
        "hex:636f727265637420686f727365206261747465727920737461706c652030313233",
        "base64:Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZSAwMTIz",
    ] {
        let secret = Secret::parse(text).unwrap();
        assert_eq!(secret.bytes(), SECRET.as_bytes());
        assert_eq!(
            secret.to_text().as_str(),
            "base64:Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZSAwMTIz"
        );
        assert_eq!(
            format!("{secret:?} {:?}", key()),
            "Secret(redacted) SigningKey(redacted)"
        );
    }
    for (text, error) in [
        ("", SecretError::Empty),
        ("hex:", SecretError::Empty),
        ("hex:0", SecretError::BadEncoding),
        ("hex:0g", SecretError::BadEncoding),
        ("base64:***", SecretError::BadEncoding),
    ] {
        assert_eq!(Secret::parse(text).unwrap_err(), error, "{text}");
    }
    assert_eq!(
        Secret::from_bytes(vec![1; 1025]).unwrap_err(),
        SecretError::TooLong
    );
}

#[test]
fn vector_6_1_is_made_and_accepted() {
    let request = OutgoingRequest {
        method: "POST",
        target: TARGET,
        body: BODY.as_bytes(),
        idempotency_key: Some(IDEMPOTENCY),
        event_time: None,
    };
    let signed = sign_request(&key(), "moab", &request, NOW, "b3k2pp5k7z");
    assert_eq!(signed.content_digest.as_deref(), Some(DIGEST));
    assert_eq!(signed.signature_input, INPUT);
    assert_eq!(signed.signature, SIGNATURE);

    let sample = Sample::vector();
    let verified = sample.judge().unwrap();
    assert_eq!(
        (verified.label, verified.keyid, verified.created),
        ("sig1", "moab", NOW)
    );
    assert_eq!(verified.nonce, Some("b3k2pp5k7z"));
    assert_eq!(verified.signature, SIGNATURE.as_bytes());
    assert_eq!(
        verified.command,
        Ok(CommandHeaders {
            idempotency_key: Some(IDEMPOTENCY),
            event_time_us: None
        })
    );
}

#[test]
fn vector_6_2_is_made_and_accepted() {
    let request = OutgoingRequest {
        method: "POST",
        target: TARGET,
        body: BODY.as_bytes(),
        idempotency_key: Some(IDEMPOTENCY),
        event_time: Some("2025-12-31T22:00:00Z"),
    };
    let signed = sign_request(&key(), "moab", &request, NOW, "d41k3vq8xw");
    assert_eq!(
        signed.signature,
        "sig1=:UQ3Kii/eooR3C1XNHh8Ry67e0QSdXNQzDJ5GKYoaZ9E=:"
    );
    let mut sample = Sample::vector().add("bank-event-time", "2025-12-31T22:00:00Z");
    sample.set("signature-input", &signed.signature_input);
    sample.set("signature", &signed.signature);
    let command = sample.judge().unwrap().command.unwrap();
    assert_eq!(command.event_time_us, Some((NOW - 7200) * 1_000_000));
}

#[test]
fn other_components_are_resolved() {
    let host = [
        ("@method", "POST"),
        ("@target-uri", "http://127.0.0.1:7113/nami/v1/charge?x=1"),
        ("@authority", "127.0.0.1:7113"),
        ("@scheme", "http"),
        ("@request-target", TARGET),
        ("content-digest", DIGEST),
        ("idempotency-key", IDEMPOTENCY),
        ("x-site", "a, b"),
    ];
    let sample = Sample::vector().add("x-site", " a ").add("x-site", "b");
    assert!(sample.signed(&host, PARAMETERS).judge().is_ok());

    let mut plain = Sample::with(&[
        ("host", "Bank.EXAMPLE:80"),
        ("idempotency-key", IDEMPOTENCY),
    ]);
    plain.body = Vec::new();
    plain.target = "/readyz".into();
    let list = [
        ("@query", "?"),
        ("@path", "/readyz"),
        ("@method", "POST"),
        ("@authority", "bank.example"),
        ("idempotency-key", IDEMPOTENCY),
    ];
    assert!(plain.signed(&list, PARAMETERS).judge().is_ok());
}

#[test]
fn the_first_known_label_counts() {
    let input = format!("proxy=();created=1;keyid=\"other\", {INPUT}");
    let signature = format!("proxy=:AAAA:, {SIGNATURE}");
    let mut sample = Sample::vector();
    sample.set("signature-input", &input);
    sample.set("signature", &signature);
    let verified = sample.judge().unwrap();
    assert_eq!(
        (verified.label, verified.signature),
        ("sig1", signature.as_bytes())
    );
}

proptest! {
    #[test]
    fn what_is_signed_is_accepted(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        path in "(/[a-z0-9%.]{0,8}){1,4}",
        query in proptest::option::of("[a-z0-9=&%?/]{0,16}"),
        key_text in proptest::option::of("[!-\"$-~]{1,40}"),
        nonce in "[a-zA-Z0-9]{8,32}",
    ) {
        let target = query.map_or(path.clone(), |query| format!("{path}?{query}"));
        let request = OutgoingRequest {
            method: "PATCH",
            target: &target,
            body: &body,
            idempotency_key: key_text.as_deref(),
            event_time: Some("2026-01-01T00:00:00Z"),
        };
        let signed = sign_request(&key(), "moab", &request, NOW, &nonce);
        let mut sample = Sample::with(&[("bank-event-time", "2026-01-01T00:00:00Z")]);
        sample.method = "PATCH".into();
        sample.target.clone_from(&target);
        sample.body.clone_from(&body);
        for (name, value) in [("content-digest", &signed.content_digest), ("idempotency-key", &key_text)] {
            if let Some(value) = value {
                sample.set(name, value);
            }
        }
        sample.set("signature-input", &signed.signature_input);
        sample.set("signature", &signed.signature);
        let verified = sample.judge().unwrap();
        prop_assert_eq!(verified.nonce, Some(nonce.as_str()));
    }

    /// A changed byte in any covered part causes a refusal. Blanks in `Signature` are excluded, because
    /// they have no meaning.
    #[test]
    fn any_changed_byte_is_refused(place in 0_usize..6, at: prop::sample::Index, to in 33_u8..127) {
        let mut sample = Sample::vector();
        let change = |text: &mut String| {
            let mut bytes = std::mem::take(text).into_bytes();
            let index = at.index(bytes.len());
            let changed = bytes[index] != to;
            bytes[index] = to;
            *text = String::from_utf8(bytes).unwrap();
            changed
        };
        let changed = match place {
            0 => {
                let index = at.index(sample.body.len());
                let changed = sample.body[index] != to;
                sample.body[index] = to;
                changed
            }
            1 => change(&mut sample.method),
            2 => change(&mut sample.target),
            _ => change(&mut sample.headers[place - 2].1),
        };
        prop_assert_eq!(sample.judge().is_ok(), !changed);
    }

    #[test]
    fn no_field_value_makes_it_panic(input in "[ -~]{0,120}", signature in "[ -~]{0,80}") {
        let mut sample = Sample::vector();
        sample.set("signature-input", &input);
        sample.set("signature", &signature);
        prop_assert!(sample.judge().is_err());
    }
}
