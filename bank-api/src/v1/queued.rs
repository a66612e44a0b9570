//! Commands that wait on the disk of a client.

use serde::{Deserialize, Serialize};

/// The first line of a file of a client's queue. The body of the command follows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuedCall {
    /// `POST`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path and query, percent-encoded.
    pub target: String,
    /// Media type of the body.
    pub media: String,
    /// The idempotency key.
    pub key: String,
    /// Time of the event of a document (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<String>,
    /// Size of the body, in bytes.
    pub length: u64,
}
