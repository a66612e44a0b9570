//! A client of the HTTP API of `bankd`, for programs of a site.
//!
//! It reaches the daemon over its Unix socket, where the kernel identifies the caller, or over TCP, where requests
//! are signed and answers must be. Calls block. Amounts are exact decimals as text, as in the API.
//!
//! ```no_run
//! use bank_client::{Client, new_key};
//! use bank_client::v1::{BalanceQuery, NewDeposit};
//!
//! # fn main() -> Result<(), bank_client::Error> {
//! let client = Client::builder()
//!     .servers(["http://bank1:7113", "http://bank2:7113"])
//!     .key("portal", "/etc/portal/bank.key")
//!     .build()?;
//! let deposit = NewDeposit {
//!     name: "chem".into(),
//!     amount: "1000".into(),
//!     ..NewDeposit::default()
//! };
//! let receipt = client.deposit(&deposit, &new_key()?)?;
//! println!("transaction {:?}", receipt.transaction);
//! # Ok(())
//! # }
//! ```
//!
//! A call that failed because no server answered, or because a server was busy, is repeated within the limits of
//! [`Retry`], always with the same idempotency key: the bank executes a command at most once. A refused
//! command is never repeated.
//!
//! It must never believe an answer over TCP that does not verify, and never send one command under two keys.
#![warn(missing_docs)]

mod address;
mod call;
mod client;
pub mod clock;
mod error;
mod node;
mod path;
pub mod queue;
mod record;
pub mod records;
mod retry;
mod routes;
mod secret;
pub mod tls;
mod unix;
mod write;

pub use bank_api::{error::Problem, nami, text, v1};
pub use bank_files as durable;
pub use ureq::http::Method;

pub use self::{
    address::list,
    call::{Call, new_key},
    client::{Builder, Client, DEFAULT_SERVER},
    error::{Error, Identity, Refused},
    path::{path, query},
    record::Record,
    retry::{Retry, jitter, wait},
    routes::{Document, routes},
    secret::read_secret,
    write::Write,
};
