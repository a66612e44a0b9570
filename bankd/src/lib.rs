//! The program `bankd` as a library with a small `main`: its commands, and the daemon that `bankd serve` is.
//!
//! Start at [`cli`] for the commands and at [`app`] for the start and stop order of the daemon. The
//! services are in the neighbouring crates: a request passes through `bankd_http`, and its command
//! through the writer of `bankd_ledger` to `bankd_store`. The rules are in `bank_core`.

#[macro_use]
mod say;

pub mod app;
pub mod backup;
pub mod cli;
pub mod demo;
pub mod doctor;
mod handles;
pub mod import;
mod reload;
pub mod replay;
mod scratch;
pub mod serve;
mod settings;
