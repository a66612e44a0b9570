//! Signed HTTP against the running daemon (`http-auth.md`): what is accepted, what is refused and
//! how, what is replayed, which answers are signed, and that nobody but the daemon is believed.
//!
//! Requests are signed by the harness's own hand, not by the code that the daemon verifies with.

mod access;
mod answers;
mod batch;
mod example;
mod impostor;
mod names;
mod narrow;
mod parameters;
mod peer;
mod reads;
mod refused;
mod replay;
pub(crate) mod request_sums;
mod requests;
mod roles;
mod scope;
mod table;
pub(crate) mod token;
mod why;

use std::collections::BTreeMap;

use crate::harness::{Address, Bank, Documents, Request, exchange};

/// A charge of case 4 for the scheduler's route.
fn charge(key: &str) -> Request {
    Request::nami("charge", key, &Documents::own().get(4))
}

/// How many requests the daemon could not authenticate, by the reason in its log.
fn failures(bank: &Bank) -> BTreeMap<String, u64> {
    let answer = exchange(&Address::Tcp(bank.tcp()), &Request::get("/readyz")).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let counts = body["auth_failures"].as_object().unwrap().clone();
    let counts = counts
        .into_iter()
        .map(|(reason, count)| (reason, count.as_u64().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// What all charges of the bank came to.
fn billed(bank: &Bank) -> i64 {
    bank.debits().iter().map(|(_, amount)| amount).sum()
}
