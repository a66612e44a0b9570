//! The Gold gateway: what a scheduler reaches that is configured with `SERVER=gold://HOST`
//! (`gold-wire.md`). It has a listener and a framing of its own, since no HTTP library receives
//! its clients, and it always answers: whoever hangs up on them stalls a whole scheduler.
//!
//! From the outside in: `socket` lets connections in and `seats` counts them, `connection` has the
//! deadlines and the limits, `frame` finds the message among the bytes, `envelope` its parts, `gate`
//! says whose it is, [`talk`] what it asks for, `answer` writes what is said. No byte of a message is
//! believed before its signature holds, and the signature is that of the bytes as they came.

mod answer;
mod connection;
mod envelope;
mod frame;
mod gate;
mod lines;
mod reason;
mod seats;
mod socket;
pub mod talk;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bank_core::command::Scope;
use bankd_config::NoFundsWord;

pub use gate::check_keys;
pub use socket::serve;

/// A client of the gateway: what the settings say of it, and what the bank says of its key.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name in the settings (`gold.peer.NAME`).
    pub name: String,
    /// The id of its key: who did it, in the journal.
    pub key_id: String,
    /// The client that the key belongs to: the scope of idempotency keys.
    pub client: String,
    /// What the key may touch; a scheduler's names its machines.
    pub scope: Scope,
    /// How a refusal for want of credits is told.
    pub no_funds: NoFundsWord,
    /// Whether only the project of a message pays (`gold.strict_project`).
    pub strict_project: bool,
}

/// A request whose signature was verified.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Who sent it.
    pub peer: Arc<Peer>,
    /// Whether the envelope says `name="maui"`.
    pub is_maui: bool,
    /// The bytes from `<Body` to `</Body>` as received: what the signature covers and what the
    /// idempotency key is made from.
    pub body: Vec<u8>,
}

/// The three values of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Done.
    Success,
    /// Done, with something to tell; never without `Data` (`gold-wire.md` 4).
    Warning,
    /// Not done.
    Failure,
}

/// What the answer says, before it is wrapped and signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether it was done.
    pub value: Value,
    /// Three digits: `000`, or one without a leading zero.
    pub code: &'static str,
    /// A sentence for people, without names that could not be sent.
    pub message: Option<String>,
    /// The number of rows.
    pub count: Option<usize>,
    /// Inner XML of `Data`, already escaped; empty stands for `<Data></Data>`.
    pub data: Option<String>,
}

impl Said {
    /// A failure of which there is nothing to say but why.
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
