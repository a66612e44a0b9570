//! The rules of the ledger against both of its grounds: the book in memory and the store.
//!
//! `case_*` are the conformance cases of ledger.md 11, one test each; `model` compares random
//! command sequences with a naive reference; `race` lets many clients want the last credit.

mod ask;
mod bench;
mod case_charge;
mod case_closing;
mod case_deposit;
mod case_lien;
mod case_mode;
mod case_price;
mod case_quote;
mod case_rate;
mod case_store;
mod case_who;
mod fixture;
mod ground;
mod memory;
mod model;
mod naive;
mod naive_work;
mod property;
mod race;
mod reply;
mod script;
mod sqlite;
mod writer;
