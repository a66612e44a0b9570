//! The response to a command, stored with its idempotency key.

use super::seal;
use bank_core::time::Seconds;
use rusqlite::types::ValueRef;

/// How long an answer is kept that is no charge's (decisions.md 22).
pub(crate) const KEPT: Seconds = Seconds(7 * 86_400);

/// Expired rows that one go removes.
pub const PRUNE_MAX: usize = 500;

/// Bits of the checksum of a nonce.
const NONCE_BITS: i64 = (1 << 48) - 1;

/// The media type of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`
    Json,
    /// `application/problem+json` (RFC 9457)
    Problem,
    /// `text/plain; charset=utf-8`
    Text,
}

impl Media {
    /// The value of the `Content-Type` field.
    pub fn content_type(self) -> &'static str {
        match self {
            Media::Json => "application/json",
            Media::Problem => "application/problem+json",
            Media::Text => "text/plain; charset=utf-8",
        }
    }

    /// The word that is stored with an answer; short, because every command stores one.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Media::Json => "j",
            Media::Problem => "p",
            Media::Text => "t",
        }
    }

    /// The same for an answer whose body is packed.
    pub(crate) fn packed_word(self) -> &'static str {
        match self {
            Media::Json => "+j",
            Media::Problem => "+p",
            Media::Text => "+t",
        }
    }

    /// From the stored word, or from the value of the `Content-Type` field, which earlier versions stored.
    pub(crate) fn parse(stored: &str) -> Option<Media> {
        let all = [Media::Json, Media::Problem, Media::Text];
        all.into_iter()
            .find(|m| m.word() == stored || m.content_type() == stored)
    }
}

/// A whole answer without the parts of a single request: its id and its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Media type.
    pub media: Media,
    /// The bytes.
    pub body: Vec<u8>,
}

/// The request of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The answer.
    pub answer: Answer,
    /// SHA-256 over method, path, query and body.
    pub fingerprint: Vec<u8>,
    /// The nonce of the request that made the row; empty on the socket. As it is read, the stored part of it.
    pub nonce: String,
}

/// The stored state of a key.
#[derive(Clone, Debug)]
pub enum Known {
    /// Nothing: the command is new.
    New,
    /// The same request was answered.
    Answered(Answer),
    /// Another request used the key.
    Reused,
    /// The same signed bytes again (http-auth.md 2).
    Replay,
}

/// 48 bits of a checksum of a nonce.
pub(crate) fn nonce_checksum(nonce: &str) -> i64 {
    seal::of_refs(std::iter::once(ValueRef::Text(nonce.as_bytes()))) & NONCE_BITS
}
