//! Signed HTTP: the bank's profile of RFC 9421 and RFC 9530 (`http-auth.md`), in both directions.
//!
//! Pure: bytes in, bytes or a verdict out. The caller provides the key look-up and the authentication time.
//! This module must keep no state (the daemon detects replays). It must report only "refused" to a caller:
//! the reasons are for the log.
//!
//! | who | calls |
//! |---|---|
//! | client, before sending | [`sign_request`] |
//! | daemon, on arrival | [`verify_request`], or [`command_headers`] on the Unix socket |
//! | daemon, before answering | [`sign_answer`] |
//! | client, on the answer | [`verify_answer`] |

mod answer;
mod base;
mod command;
mod digest;
mod field;
mod key;
mod outgoing;
mod request;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_answer;
#[cfg(test)]
mod tests_refused;

pub use answer::{
    AnswerError, AnswerSignature, ReceivedAnswer, VerifiedAnswer, sign_answer, verify_answer,
};
pub use command::{CommandHeaders, Condition, command_headers};
pub use digest::content_digest;
pub use key::{Secret, SecretError, SigningKey};
pub use outgoing::{OutgoingRequest, RequestSignature, sign_request};
pub use request::{Failure, KeyLookup, ReceivedRequest, VerifiedRequest, verify_request};

/// Default of the window in seconds within which `created` may differ from the authentication
/// clock (`http-auth.md` 1).
pub const DEFAULT_WINDOW_S: i64 = 300;

/// The `Accept-Signature` header of a 401 (`http-auth.md` 5).
pub const ACCEPT_SIGNATURE: &str = "sig1=(\"@method\" \"@path\" \"@query\" \"content-digest\" \
     \"idempotency-key\");created;keyid;nonce;alg=\"hmac-sha256\"";

/// The `WWW-Authenticate` header of a 401 (`http-auth.md` 5).
pub const WWW_AUTHENTICATE: &str = "Signature";

/// The label that our own clients use.
pub const LABEL: &str = "sig1";
