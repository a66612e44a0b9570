//! Signing a request, as every client of the bank does (`http-auth.md` 1).

use super::base::Base;
use super::digest;
use super::key::SigningKey;
use super::request::split_target;

/// A request to be signed.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingRequest<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// Path and query, exactly as in the request line.
    pub target: &'a str,
    /// The body; empty for none.
    pub body: &'a [u8],
    /// The value of `Idempotency-Key`, if it is sent.
    pub idempotency_key: Option<&'a str>,
    /// The value of `Bank-Event-Time`, if it is sent.
    pub event_time: Option<&'a str>,
}

/// The three headers that make a request a signed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSignature {
    /// `Content-Digest`; there if there is a body.
    pub content_digest: Option<String>,
    /// `Signature-Input`.
    pub signature_input: String,
    /// `Signature`; keep it, the answer is verified against it.
    pub signature: String,
}

/// Signs a request under the label [`super::LABEL`]. `created` is in seconds since 1970. The nonce has 8 to
/// 128 characters. Each attempt, including a retry, needs a new nonce.
pub fn sign_request(
    key: &SigningKey,
    keyid: &str,
    request: &OutgoingRequest<'_>,
    created: i64,
    nonce: &str,
) -> RequestSignature {
    let (path, query) = split_target(request.target);
    let content_digest = (!request.body.is_empty()).then(|| digest::content_digest(request.body));
    let mut base = Base::new();
    let mut list = String::with_capacity(192);
    let mut cover = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            list.push_str(if list.is_empty() { "(\"" } else { " \"" });
            list.push_str(name);
            list.push('"');
            base.line(name, value.as_bytes());
        }
    };
    cover("@method", Some(request.method));
    cover("@path", Some(path));
    cover("@query", request.target.contains('?').then_some(query));
    cover("content-digest", content_digest.as_deref());
    cover("idempotency-key", request.idempotency_key);
    cover("bank-event-time", request.event_time);
    let parameters = format!(
        "{list});created={created};keyid=\"{keyid}\";alg=\"hmac-sha256\";nonce=\"{nonce}\""
    );
    let mac = key.mac(&base.finish(parameters.as_bytes()));
    RequestSignature {
        content_digest,
        signature_input: format!("{}={parameters}", super::LABEL),
        signature: super::answer::signature_field(super::LABEL, &mac),
    }
}
