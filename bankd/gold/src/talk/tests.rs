//! Answers to messages, and their effects on the ledger.

mod bench;
mod captures;
mod changes;
mod life;
mod queries;
mod refusals;
