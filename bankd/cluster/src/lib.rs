//! The replicated log of a bank on several machines: the port [`Log`], and its engines.
//!
//! One node of the bank is the writer. It appends one [`Entry`] for each group commit, and the other nodes
//! apply the entries in order. The log decides which node came first: an entry has a position, and each
//! position is filled once. This crate contains no rule of the ledger: the body of an entry is opaque.
//!
//! Start at [`log`] for the contract, then [`settle()`] for unknown outcomes. [`postgresql`] keeps the log in
//! `PostgreSQL`; with the feature `simulation`, `memory` keeps it in memory, with faults, for tests.

mod alive;
mod boxed;
pub mod log;
#[cfg(any(test, feature = "simulation"))]
pub mod memory;
pub mod node;
pub mod postgresql;
pub mod settle;
pub mod trust;

pub use alive::is_running;
pub use log::{Appended, BODY_MAX, Entry, KeySecret, Lease, Log, LogError, NodeRow};
pub use node::{Committed, Fault, Followed, Machine, Node, Position};
pub use postgresql::{PostgresLog, Settings};
pub use settle::{Settled, secure_last, settle};
