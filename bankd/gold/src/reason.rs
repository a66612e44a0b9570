//! Reasons for rejected connections: one table of words, codes and sentences (`gold-wire.md` 4). The log
//! contains the words, the answer the sentences.

use super::Content;
use super::frame::Fault;

/// Reasons to reject a message before its request is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// No peer of the settings calls from there, or its key cannot be used.
    UnknownPeer,
    /// No signature.
    Unsigned,
    /// The digest is not that of the body.
    Digest,
    /// The digest is right, and no key of a peer at that address made the signature.
    Signature,
    /// Signed with a password or another token than a shared key.
    Token,
    /// The key has not the role of a scheduler.
    Role,
    /// The body is encrypted.
    Encrypted,
    /// No envelope with a body, or a document type.
    Malformed,
    /// No message at all.
    Framing(Fault),
    /// The sender closed before the message was whole.
    BrokenOff,
    /// The message did not arrive in time.
    SlowMessage,
    /// The answer was not there in time.
    SlowAnswer,
    /// All seats are taken. No standing place was free, or the message was late.
    Crowded,
    /// The buffers of all connections together are full.
    Memory,
    /// The daemon stops.
    Stopping,
    /// A bug of ours; the log has it.
    Internal,
}

impl Reason {
    /// Word in the log, code, and text of the answer.
    fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::UnknownPeer => ("unknown peer", "422", "not authenticated"),
            Self::Unsigned => ("unsigned", "422", "not authenticated: no signature"),
            Self::Digest => (
                "digest",
                "422",
                "not authenticated: digest does not match body",
            ),
            Self::Signature => (
                "signature",
                "422",
                "not authenticated: signature does not match",
            ),
            Self::Token => ("token", "422", "security token not supported"),
            Self::Role => ("role", "444", "not allowed: no role of the key allows this"),
            Self::Encrypted => ("encrypted", "432", "encryption not supported"),
            Self::Malformed => ("malformed", "313", "not a well-formed message"),
            Self::Framing(Fault::LongPayload) => {
                ("too large", "720", "the message is longer than 64 KiB")
            }
            Self::Framing(Fault::LongHead) => ("framing", "242", "the head is longer than 8 KiB"),
            Self::Framing(Fault::NotOurs) => ("framing", "242", "not a POST of /SSSRMAP3"),
            Self::Framing(Fault::NoLength) => {
                ("framing", "242", "neither chunked nor Content-Length")
            }
            Self::Framing(Fault::TwoLengths) => (
                "framing",
                "242",
                "both Transfer-Encoding and Content-Length",
            ),
            Self::Framing(Fault::BadLength) => ("framing", "242", "a length that is not a number"),
            Self::BrokenOff => ("framing", "242", "the message broke off"),
            Self::SlowMessage => ("deadline", "242", "the message took too long to arrive"),
            Self::SlowAnswer => ("deadline", "242", "no answer in time"),
            Self::Crowded => ("busy", "720", "too many connections"),
            Self::Memory => ("busy", "720", "too much at once"),
            Self::Stopping => ("busy", "720", "the bank is stopping"),
            Self::Internal => ("internal", "720", "an internal error; the log has more"),
        }
    }

    /// Its word in the log.
    pub(super) fn word(self) -> &'static str {
        self.row().0
    }

    /// The answer.
    pub(super) fn content(self) -> Content {
        let (_, code, message) = self.row();
        Content::failure(code, message)
    }

    /// Whether the reason concerns the identity or the rights of the sender.
    pub(super) fn is_about_who(self) -> bool {
        let (_, code, _) = self.row();
        code.starts_with('4')
    }
}
