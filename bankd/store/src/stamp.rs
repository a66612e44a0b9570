//! The actor of a change, and its recording time.

use bank_core::time::Timestamp;

/// The actor of a change, for the journal.
#[derive(Clone, Debug, Default)]
pub struct Stamp {
    /// When it is recorded.
    pub now: Timestamp,
    /// The request.
    pub request_id: String,
    /// The key or the person.
    pub actor: String,
    /// The client.
    pub client: String,
    /// `cli`, `nami` or `system`.
    pub origin: &'static str,
    /// The idempotency key.
    pub key: Option<String>,
}
