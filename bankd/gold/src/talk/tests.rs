//! What messages are answered, and what they do to the ledger.

mod bench;
mod captures;
mod life;
mod queries;
mod refusals;
