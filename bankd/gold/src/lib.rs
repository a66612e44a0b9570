//! The Gold gateway, for schedulers with `SERVER=gold://HOST` (`gold-wire.md`). It has a separate listener
//! and framing, because no HTTP library accepts its clients. It always answers: a closed connection without
//! an answer stalls a whole scheduler.
//!
//! From the outside in: `socket` accepts connections and `seats` counts them, `connection` has the
//! deadlines and the limits, `frame` finds the message in the bytes, `envelope` finds its parts, `gate`
//! identifies the sender, [`talk`] executes the request, and `answer` writes the answer. No byte of a
//! message is trusted before its signature is verified. The signature covers the received bytes.

mod answer;
mod connection;
mod envelope;
mod frame;
mod gate;
mod lines;
mod passed;
mod reason;
mod seats;
mod socket;
mod taken;
pub mod talk;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bank_core::command::Scope;
use bankd_config::NoFundsWord;
use bankd_ledger::access::Roles;
use bankd_ledger::writer::{IdempotencyKey, Origin};

pub use answer::response;
pub use gate::check_keys;
pub use socket::serve;
pub use taken::passed;

/// A client of the gateway: its settings, and its key in the bank.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name in the settings (`gold.peer.NAME`).
    pub name: String,
    /// The id of its key: who did it, in the journal.
    pub key_id: String,
    /// The client that the key belongs to: the scope of idempotency keys.
    pub client: String,
    /// The scope of the key. That of a scheduler contains its machines.
    pub scope: Scope,
    /// The roles of the key.
    pub roles: Roles,
    /// The user that the key is for, if it is that of a user.
    pub user: Option<String>,
    /// The form of a refusal for insufficient funds.
    pub no_funds: NoFundsWord,
    /// Whether only the project of a message pays (`gold.strict_project`).
    pub strict_project: bool,
}

/// A request with a verified signature.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The interface that took it in.
    pub origin: Origin,
    /// Whether commands are decided and not written.
    pub dry_run: bool,
    /// The idempotency key, if the interface has one. Gold's protocol has none.
    pub key: Option<IdempotencyKey>,
    /// The sender.
    pub peer: Arc<Peer>,
    /// Whether the envelope contains `name="maui"`.
    pub is_maui: bool,
    /// The bytes from `<Body` to `</Body>` as received. The signature covers them, and the idempotency key
    /// is computed from them.
    pub body: Vec<u8>,
}

/// The three values of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Done.
    Success,
    /// Success with a warning; always with `Data` (`gold-wire.md` 4).
    Warning,
    /// Not done.
    Failure,
}

/// The content of an answer, before it is wrapped and signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Whether the request succeeded.
    pub value: Value,
    /// Three digits: `000`, or one without a leading zero.
    pub code: &'static str,
    /// A sentence for people, without names that could not be sent.
    pub message: Option<String>,
    /// The number of rows, or the amount.
    pub count: Option<String>,
    /// Inner XML of `Data`, already escaped; empty means `<Data></Data>`.
    pub data: Option<String>,
}

impl Content {
    /// A failure with only a reason.
    pub fn failure(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            value: Value::Failure,
            code,
            message: Some(message.into()),
            count: None,
            data: None,
        }
    }
}
