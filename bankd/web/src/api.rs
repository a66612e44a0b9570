//! The port to the API: a page asks its routes as the person of the session.
//!
//! A request passes the same frame, rights and handlers as one of the command line, inside the process. So
//! views, refusals, hints, idempotency, dry runs and limits have one implementation.

use bank_api::error::Problem;
use bankd_http::auth::SignedIn;
use bankd_http::inside::Inside;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failed::Failed;
use super::target::Target;

/// The routes of the API for one person and one request of a browser.
#[derive(Clone)]
pub(crate) struct Api {
    inside: Inside,
    /// The id of the browser's request, with the number and the way of the session: for the log and the journal.
    request_id: String,
}

impl Api {
    pub(crate) fn new(inside: &Inside, person: SignedIn, request_id: String) -> Self {
        Self {
            inside: inside.of_person(person),
            request_id,
        }
    }

    /// The id of the requests in the log.
    pub(crate) fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Asks a route.
    pub(crate) async fn get<T: DeserializeOwned>(&self, target: &Target) -> Result<T, Failed> {
        let (_, body) = self.bytes("GET", target, &[], Vec::new()).await?;
        read(&body)
    }

    /// The answer of a route as it is.
    pub(crate) async fn raw(&self, target: &Target) -> Result<Vec<u8>, Failed> {
        let (_, body) = self.bytes("GET", target, &[], Vec::new()).await?;
        Ok(body)
    }

    /// Sends a body that changes something, with the idempotency key of the form: the status and the answer.
    pub(crate) async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: &str,
        target: &Target,
        key: &str,
        body: &B,
    ) -> Result<(u16, T), Failed> {
        let body = serde_json::to_vec(body).map_err(|_| Failed::internal())?;
        let fields = [
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let (status, body) = self.bytes(method, target, &fields, body).await?;
        Ok((status, read(&body)?))
    }

    /// Removes an object, with the idempotency key of the form.
    pub(crate) async fn remove(&self, target: &Target, key: &str) -> Result<(), Failed> {
        let fields = [("idempotency-key", key)];
        self.bytes("DELETE", target, &fields, Vec::new()).await?;
        Ok(())
    }

    async fn bytes(
        &self,
        method: &str,
        target: &Target,
        fields: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<(u16, Vec<u8>), Failed> {
        let mut all = vec![("x-request-id", self.request_id.as_str())];
        all.extend(fields);
        let sent = self.inside.send(method, target.as_str(), &all, body).await;
        let (status, body) = sent.map_err(|_| Failed::internal())?;
        if (200..300).contains(&status) {
            return Ok((status, body.to_vec()));
        }
        let problem = Problem::from_json(&body).unwrap_or_else(|| Problem::new("internal", ""));
        Err(Failed::of(problem))
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failed> {
    serde_json::from_slice(body).map_err(|error| {
        tracing::error!(%error, "an answer of the API cannot be read");
        Failed::internal()
    })
}
