//! The response to a command, stored with its idempotency key.

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
