//! The body of a request: its limits, and how it is read.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest as _, Request};
use axum::http::{HeaderMap, StatusCode, header};
use bank_api::v1::MIGRATION_BYTES_MAX;
use bankd_services::Services;

/// Maximum time for the arrival of a body.
pub(super) const BODY_TIME: Duration = Duration::from_secs(10);
/// Bytes of a signed body that are read, whatever the settings: the greatest limit that they can have.
const SIGNED_MAX: usize = 1 << 20;
/// The refusal of a larger body.
pub(super) const TOO_LARGE: (&str, &str) = ("too_large", "the body is larger than http.body_limit");

/// The bytes that a body may have on a route.
pub(super) fn limit_of(services: &Services, path: &str) -> usize {
    let usual = services.http.body_limit;
    match path {
        "/api/v1/migrations" => MIGRATION_BYTES_MAX.max(usual),
        _ => usual,
    }
}

/// The whole body within its limits, or a refusal code and why.
pub(super) async fn whole(
    body: Body,
    headers: &HeaderMap,
    limit: usize,
) -> Result<Bytes, (&'static str, &'static str)> {
    // Only a whole body proves its signature: one that is too large by the settings gets a signed refusal.
    let is_signed = headers.contains_key("signature");
    let limit = if is_signed {
        limit.max(SIGNED_MAX)
    } else {
        limit
    };
    if announced(headers).is_some_and(|length| length > limit) {
        return Err(TOO_LARGE);
    }
    let mut bare = Request::new(body);
    DefaultBodyLimit::max(limit).apply(&mut bare);
    match tokio::time::timeout(BODY_TIME, Bytes::from_request(bare, &())).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(e)) if e.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(TOO_LARGE),
        Ok(Err(_)) => Err(("body_incomplete", "the body broke off")),
        Err(_) => Err(("body_incomplete", "the body took too long to arrive")),
    }
}

/// Whether a body is compressed or otherwise coded: the daemon decodes none.
pub(super) fn is_coded(headers: &HeaderMap) -> bool {
    let is_other = |name: header::HeaderName, plain: &str| {
        let values = headers.get_all(name).iter();
        let mut words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        words.any(|word| !word.trim_ascii().eq_ignore_ascii_case(plain.as_bytes()))
    };
    is_other(header::CONTENT_ENCODING, "identity") || is_other(header::TRANSFER_ENCODING, "chunked")
}

/// The length of a body that its head states.
pub(super) fn announced(headers: &HeaderMap) -> Option<usize> {
    let length = headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}
