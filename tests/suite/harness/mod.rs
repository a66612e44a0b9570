//! What every test of the whole stands on: the real programs, a bank of its own for each test, the
//! scheduler's scripts, raw HTTP, and the ledger as `bank --json` tells it.
//!
//! Start at [`Bank`]. Nothing here asserts a rule of the bank, and nothing reaches into the
//! programs: what a test sees is what a site would see. Each bank has its own folder, ports and
//! clock, so tests run side by side.

mod bank;
mod browser;
mod client;
mod daemon;
mod documents;
mod gold;
mod gold_peer;
mod ledger;
mod link;
mod numbers;
mod patroni;
mod patroni_node;
mod peers;
mod ports;
mod programs;
mod script;
mod signer;
mod site;
mod wait;

pub(crate) use bank::{Bank, KEY_ID, SECRET, Setup, T0};
pub(crate) use browser::{Browser, Page, View};
pub(crate) use client::{Address, Connection, Request, Response, exchange};
pub(crate) use documents::{Documents, reading};
pub(crate) use gold::{Dialect, carries, proof, summary};
pub(crate) use gold_peer::GOLD_T0;
pub(crate) use ledger::{amount, text};
pub(crate) use link::Link;
pub(crate) use numbers::Numbers;
pub(crate) use patroni::Patroni;
pub(crate) use peers::{postgresql, python, shared_folder, skip, tool};
pub(crate) use ports::free_port;
pub(crate) use programs::{programs, workspace};
pub(crate) use script::Ran;
pub(crate) use signer::{Signing, digest, verify};
pub(crate) use wait::{pause, until};
