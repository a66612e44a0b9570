//! Nonces of answered requests that no stored answer keeps, kept over a restart: batches, refusals of access, and what is
//! refused before it is a command (`http-auth.md` 2).
//!
//! A request that is charged, held or quoted and accepted has its row already and costs nothing here. After a start only
//! requests that were signed before the last row of an earlier process are looked up.

use std::future::Future;

use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use bankd_services::Services;
use bankd_store::read::ReadError;
use bankd_store::{self as store, Known};

use super::{Authenticated, unauthorized};

/// Routes whose accepted commands always have a row with their nonce.
const WITH_ROWS: [&str; 4] = [
    "/nami/",
    "/api/v1/charges",
    "/api/v1/quotes",
    "/api/v1/liens",
];

/// The nonce of a signed request that writes.
pub(crate) struct Nonce {
    client: String,
    signer: String,
    value: String,
    created_s: i64,
    key: String,
    fingerprint: [u8; 32],
    is_batch: bool,
    has_row: bool,
}

impl Nonce {
    /// None for a request without a signature, and for one that writes nothing.
    pub(crate) fn of(caller: &Authenticated, parts: &Parts) -> Option<Nonce> {
        let path = parts.uri.path();
        let query = parts.uri.query().unwrap_or_default();
        let key = caller.key.as_ref().filter(|key| !key.nonce.is_empty())?;
        let tries = query.split('&').any(|part| part == "dry_run=true");
        if tries || !super::is_mutating(&parts.method, path) {
            return None;
        }
        Some(Nonce {
            client: caller.caller.client.clone(),
            signer: caller.caller.actor.clone(),
            value: key.nonce.clone(),
            created_s: caller.signed_at_s,
            key: key.key.clone(),
            fingerprint: key.fingerprint,
            is_batch: path == "/api/v1/batch",
            has_row: WITH_ROWS.iter().any(|route| path.starts_with(route)),
        })
    }

    /// Whether an earlier process, or another node, answered the request.
    async fn was_answered(&self, services: &Services) -> Result<bool, ReadError> {
        if self.created_s > services.spent_until_s {
            return Ok(false);
        }
        let (client, signer) = (self.client.clone(), self.signer.clone());
        let nonce = self.value.clone();
        let question = services
            .readers
            .run(move |connection| store::is_spent(connection, (&client, &signer), &nonce));
        question.await
    }

    /// Whether the stored answer of the request has the nonce.
    async fn is_stored(&self, services: &Services) -> bool {
        let (client, key) = (self.client.clone(), self.key.clone());
        let (nonce, fingerprint) = (self.value.clone(), self.fingerprint);
        let question = services
            .readers
            .run(move |connection| store::known(connection, &client, &key, &fingerprint, &nonce));
        matches!(question.await, Ok(Known::Replay))
    }

    async fn keep(&self, services: &Services) {
        let who = (self.client.clone(), self.signer.clone());
        let nonce = (self.value.clone(), self.created_s);
        if let Err(error) = services.writer.spend(who, nonce).await {
            tracing::warn!(%error, client = self.client, "a nonce is not kept over a restart");
        }
    }

    /// Whether the answer may have left no row.
    fn is_at_risk(&self, status: StatusCode) -> bool {
        match status {
            // Refused before anything was decided, at no cost; the memory of this process has the nonce.
            StatusCode::UNAUTHORIZED
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::TOO_MANY_REQUESTS => false,
            status if status.is_server_error() => false,
            status if status.is_success() => !self.has_row,
            _ => true,
        }
    }
}

/// Answers a request, unless the same bytes were answered before; then keeps its nonce.
pub(crate) async fn once<F>(
    services: &Services,
    nonce: Option<Nonce>,
    answer: F,
) -> Result<Response, ReadError>
where
    F: Future<Output = Response>,
{
    let Some(nonce) = nonce else {
        return Ok(answer.await);
    };
    if nonce.was_answered(services).await? {
        return Ok(unauthorized());
    }
    if nonce.is_batch {
        // In the queue before its commands, so that it is in their commit or an earlier one.
        let ((), response) = tokio::join!(nonce.keep(services), answer);
        return Ok(response);
    }
    let response = answer.await;
    if nonce.is_at_risk(response.status()) && !nonce.is_stored(services).await {
        nonce.keep(services).await;
    }
    Ok(response)
}
