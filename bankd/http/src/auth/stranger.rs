//! The answer 401 to unknown senders. It never names the cause.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bank_api::error::Problem;
use bank_api::sign::{ACCEPT_SIGNATURE, WWW_AUTHENTICATE};

use super::token_of;

/// The only answer to an unknown sender, whatever the cause (`http-auth.md` 5).
pub(crate) fn unauthorized() -> Response {
    stranger("the request is not signed by a key of this bank")
}

/// The same for a request that may carry a token: the answer names what the sender used, never the cause.
pub(crate) fn unauthorized_with(headers: &HeaderMap) -> Response {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    if values.any(|value| token_of(value.as_bytes()).is_some()) {
        return stranger("the request carries no valid API token of this bank");
    }
    unauthorized()
}

fn stranger(detail: &str) -> Response {
    let problem = Problem::new("unauthorized", detail);
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let fields = [
        (header::CONTENT_TYPE, "application/problem+json"),
        (header::WWW_AUTHENTICATE, WWW_AUTHENTICATE),
        (
            header::HeaderName::from_static("accept-signature"),
            ACCEPT_SIGNATURE,
        ),
    ];
    let status = StatusCode::UNAUTHORIZED;
    let mut response = (status, fields, body).into_response();
    let bearer = HeaderValue::from_static("Bearer");
    response
        .headers_mut()
        .append(header::WWW_AUTHENTICATE, bearer);
    response
}
