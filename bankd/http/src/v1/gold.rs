//! Gold's messages over HTTP: what the gateway answers to Gold's own clients, for `bank` under the names of
//! Gold's commands.

use std::sync::Arc;

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use bankd_config::NoFundsWord;
use bankd_gold::{Peer, Verified, response, talk};

use super::call::{Call, Handled};
use crate::error::Failure;

/// Largest request, in bytes: the limit of the gateway.
const REQUEST_MAX: usize = 64 * 1024;
/// The media type of request and answer.
pub(super) const MEDIA: &str = "text/xml";

/// `POST /api/v1/gold`: a `Request` of Gold, answered with a `Response`.
pub(super) async fn ask(call: Call) -> Handled {
    let dry_run = call.dry_run()?;
    call.check_key(dry_run)?;
    let request = call.body();
    if request.is_empty() {
        return Err(Failure::new(
            "bad_request",
            "the body is empty: a Request of Gold is expected",
        ));
    }
    if request.len() > REQUEST_MAX {
        return Err(Failure::new("too_large", "a request has at most 64 KiB"));
    }
    let body = [b"<Body>", request.as_ref(), b"</Body>"].concat();
    let caller = &call.auth.caller;
    let peer = Peer {
        name: caller.client.clone(),
        key_id: caller.actor.clone(),
        client: caller.client.clone(),
        scope: caller.scope.clone(),
        roles: call.auth.roles,
        user: call.auth.user.clone(),
        no_funds: NoFundsWord::Gold,
        strict_project: call.services.gold.strict_project,
    };
    let request = Verified {
        origin: caller.origin,
        key: call.auth.key.clone().filter(|_| !dry_run),
        dry_run,
        peer: Arc::new(peer),
        is_maui: false,
        body,
    };
    let content = talk::answer(&call.services, &request).await;
    let mut answer = response(&content).into_response();
    let media = HeaderValue::from_static(MEDIA);
    answer.headers_mut().insert(CONTENT_TYPE, media);
    Ok(answer)
}
