//! Answers: signing them as the daemon, believing them as a client (`http-auth.md` 5).
//!
//! An answer is bound to its request: its signature covers the `Signature` of the request. A foreign
//! process on the port or an old answer therefore fails the check. The signature covers no header except
//! the digest. A client must not use other headers, except `Retry-After` as a hint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::base::Base;
use super::digest;
use super::field::{ComponentParameter, Cursor, Malformed, SignatureInput, signature_of, trim};
use super::key::SigningKey;

/// The headers that make an answer a signed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSignature {
    /// `Content-Digest`; there if there is a body.
    pub content_digest: Option<String>,
    /// `Signature-Input`.
    pub signature_input: String,
    /// `Signature`.
    pub signature: String,
}

/// Signs an answer with the secret, key id and label of the request. `request_signature` is the request's
/// `Signature` field as received, trimmed. `created` is the authentication clock in seconds since 1970.
pub fn sign_answer(
    key: &SigningKey,
    keyid: &str,
    label: &str,
    request_signature: &[u8],
    created: i64,
    status: u16,
    body: &[u8],
) -> AnswerSignature {
    let content_digest = (!body.is_empty()).then(|| digest::content_digest(body));
    let mut base = Base::new();
    base.line("@status", status_digits(status).as_slice());
    if let Some(value) = &content_digest {
        base.line("content-digest", value.as_bytes());
    }
    signature_line(&mut base, request_signature);
    let list = if content_digest.is_some() {
        "(\"@status\" \"content-digest\" \"signature\";req)"
    } else {
        "(\"@status\" \"signature\";req)"
    };
    let parameters = format!("{list};created={created};keyid=\"{keyid}\";alg=\"hmac-sha256\"");
    let mac = key.mac(&base.finish(parameters.as_bytes()));
    AnswerSignature {
        content_digest,
        signature_input: format!("{label}={parameters}"),
        signature: signature_field(label, &mac),
    }
}

/// A received answer, with data of its request.
#[derive(Debug, Clone)]
pub struct ReceivedAnswer<'a, H> {
    /// The status received.
    pub status: u16,
    /// All header fields in the order received; run through several times.
    pub headers: H,
    /// The whole body.
    pub body: &'a [u8],
    /// The `Signature` value that the client itself sent.
    pub sent_signature: &'a str,
    /// The label that the client itself used.
    pub label: &'a str,
    /// The client's own key id.
    pub keyid: &'a str,
}

/// An answer that may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedAnswer {
    /// Seconds since 1970 at which the daemon signed.
    pub created: i64,
    /// Whether `created` is in the window. If not, warn: one of the two clocks is wrong.
    pub created_in_window: bool,
}

/// Reasons to reject an answer. A client treats all of them as "daemon unreachable".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// No signature at all.
    #[error("the answer is not signed")]
    Unsigned,
    /// Fields absent, twice, or not of the form; or another label, key id or algorithm.
    #[error("the answer's signature fields are not ours")]
    Malformed,
    /// Something that must be covered is not, or something covered cannot be resolved.
    #[error("the answer's signature does not cover the required fields")]
    Component,
    /// The body is not the one that was signed.
    #[error("the answer's body does not match its digest")]
    Digest,
    /// The HMAC differs: another secret, another status, or the answer to another request.
    #[error("the answer's signature is wrong")]
    BadSignature,
}

impl From<Malformed> for AnswerError {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

/// Judges an answer in the order of `http-auth.md` 5.
pub fn verify_answer<'a, H>(
    key: &SigningKey,
    answer: &ReceivedAnswer<'a, H>,
    now_s: i64,
    window_s: i64,
) -> Result<VerifiedAnswer, AnswerError>
where
    H: Iterator<Item = (&'a str, &'a [u8])> + Clone,
{
    let one = |name: &'static str| {
        let mut values = answer
            .headers
            .clone()
            .filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        let first = values.next().map(|(_, value)| trim(value));
        (first, values.next().is_some())
    };
    let (input_field, input_twice) = one("signature-input");
    let (signature_field, signature_twice) = one("signature");
    let (Some(input_field), Some(signature_field)) = (input_field, signature_field) else {
        return Err(AnswerError::Unsigned);
    };
    if input_twice || signature_twice {
        return Err(AnswerError::Malformed);
    }
    let input = labelled(input_field, answer.label)?;
    let created = input.created.ok_or(AnswerError::Malformed)?;
    let ours = input.keyid == Some(answer.keyid)
        && input.alg.is_none_or(|algorithm| algorithm == "hmac-sha256");
    if !ours {
        return Err(AnswerError::Malformed);
    }
    let signature = signature_of(signature_field, answer.label)?;
    let base = base(answer, &input)?;
    if input
        .components
        .iter()
        .any(|component| component.name == "content-digest")
    {
        let (value, twice) = one("content-digest");
        if twice || !value.is_some_and(|value| digest::matches(value, answer.body)) {
            return Err(AnswerError::Digest);
        }
    }
    if !key.verifies(&base, &signature) {
        return Err(AnswerError::BadSignature);
    }
    let created_in_window = created.abs_diff(now_s) <= window_s.unsigned_abs();
    Ok(VerifiedAnswer {
        created,
        created_in_window,
    })
}

fn labelled<'a>(field: &'a [u8], label: &str) -> Result<SignatureInput<'a>, AnswerError> {
    let mut cursor = Cursor::new(field);
    let mut found = None;
    loop {
        let input = cursor.signature_input()?;
        if input.label == label && found.replace(input).is_some() {
            return Err(AnswerError::Malformed);
        }
        if !cursor.next_member()? {
            return found.ok_or(AnswerError::Malformed);
        }
    }
}

fn base<'a, H>(
    answer: &ReceivedAnswer<'a, H>,
    input: &SignatureInput<'_>,
) -> Result<Vec<u8>, AnswerError>
where
    H: Iterator<Item = (&'a str, &'a [u8])> + Clone,
{
    let mut base = Base::new();
    let (mut status, mut request, mut body) = (0, 0, 0);
    for component in &input.components {
        match (component.name, component.parameter) {
            ("@status", ComponentParameter::None) => {
                status += 1;
                base.line("@status", status_digits(answer.status).as_slice());
            }
            ("signature", ComponentParameter::Req) => {
                request += 1;
                signature_line(&mut base, answer.sent_signature.as_bytes());
            }
            (name, ComponentParameter::None)
                if !name.starts_with('@') && base.field(name, answer.headers.clone()) =>
            {
                body += usize::from(name == "content-digest");
            }
            _ => return Err(AnswerError::Component),
        }
    }
    let covered = status == 1 && request == 1 && body <= 1 && (body == 1 || answer.body.is_empty());
    if covered {
        Ok(base.finish(input.raw))
    } else {
        Err(AnswerError::Component)
    }
}

/// `"signature";req` has its parameter outside the quotes, unlike all other lines.
fn signature_line(base: &mut Base, request_signature: &[u8]) {
    base.push(b"\"signature\";req: ");
    base.push(trim(request_signature));
    base.end();
}

/// Three digits without allocating.
fn status_digits(status: u16) -> [u8; 3] {
    let digit = |value: u16| b'0' + u8::try_from(value % 10).unwrap_or(0);
    [digit(status / 100), digit(status / 10), digit(status)]
}

/// `label=:base64:`.
pub(super) fn signature_field(label: &str, mac: &[u8; 32]) -> String {
    let mut text = String::with_capacity(label.len() + 47);
    text.push_str(label);
    text.push_str("=:");
    STANDARD.encode_string(mac, &mut text);
    text.push(':');
    text
}
