//! The ledger while the daemon runs: the queue and the thread that change it, callers and their rights, and
//! measurements.
//!
//! Start at [`writer`]. Nothing here depends on protocols, usage files or listeners.

pub mod access;
pub mod clock;
pub mod exposition;
pub mod hooks;
pub mod keys;
pub mod meter;
pub mod obs;
pub mod refused;
pub mod survey;
pub mod timed;
pub mod trust;
pub mod usable;
pub mod view;
pub mod writer;
