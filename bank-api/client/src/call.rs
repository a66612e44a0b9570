//! One request as it is sent.

use serde::Serialize;
use ureq::http::Method;

use crate::{clock, error::Error};

const JSON: &str = "application/json";
const XML: &str = "text/xml";

/// One request as it is sent.
#[derive(Debug, Clone)]
pub struct Call {
    /// `GET`, `POST`, `PATCH` or `DELETE`.
    pub method: Method,
    /// Path and query, percent-encoded.
    pub target: String,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// Media type of the body.
    pub media: &'static str,
    /// The idempotency key of a call that writes.
    pub key: Option<String>,
    /// Time of the event of a document that is sent later (RFC 3339).
    pub event_time: Option<String>,
}

impl Call {
    /// A read.
    pub fn get(target: String) -> Self {
        Self {
            method: Method::GET,
            target,
            body: Vec::new(),
            media: JSON,
            key: None,
            event_time: None,
        }
    }

    /// A call with a JSON body and, if it writes, its idempotency key.
    ///
    /// # Errors
    /// [`Error::Internal`] if the body cannot be written as JSON.
    pub fn send(
        method: Method,
        target: String,
        body: &impl Serialize,
        key: Option<String>,
    ) -> Result<Self, Error> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Error::Internal(format!("cannot write JSON: {error}")))?;
        Ok(Self {
            method,
            body,
            key,
            ..Self::get(target)
        })
    }

    /// Bytes as they are, with the key of the call.
    pub fn bytes(target: String, body: Vec<u8>, key: String) -> Self {
        Self {
            body,
            media: "application/octet-stream",
            ..Self::act(Method::POST, target, key)
        }
    }

    /// XML, with the key of the call. The answer is XML or plain text.
    pub fn xml(target: String, body: String, key: String) -> Self {
        Self {
            media: XML,
            ..Self::bytes(target, body.into_bytes(), key)
        }
    }

    /// A removal.
    pub fn delete(target: String, key: String) -> Self {
        Self::act(Method::DELETE, target, key)
    }

    /// A command without a body.
    pub fn act(method: Method, target: String, key: String) -> Self {
        Self {
            method,
            key: Some(key),
            ..Self::get(target)
        }
    }

    /// Media of an answer: that of XML is XML or text, or a problem in JSON.
    pub(crate) fn accepted(&self) -> &'static str {
        match self.media {
            XML => "text/xml, text/plain, application/problem+json",
            _ => JSON,
        }
    }

    /// Whether a second execution has no second effect.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.key.is_some() || self.method == Method::GET
    }
}

/// A new idempotency key: a UUID of version 7.
///
/// # Errors
/// [`Error::Internal`] if the machine has no random numbers.
pub fn new_key() -> Result<String, Error> {
    let mut random = [0; 10];
    getrandom::fill(&mut random)
        .map_err(|error| Error::Internal(format!("no random numbers: {error}")))?;
    let millis = u64::try_from(clock::now_us().div_euclid(1000)).unwrap_or(0);
    let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
    Ok(uuid.to_string())
}
