//! Shared interface of the programs: JSON shapes, signed HTTP, refusal codes with their exits, texts of
//! amounts and times, the answer lines of the NAMI routes, and the reader of usage records.
//!
//! It must never read a clock, open a file or a socket, or decide anything about money: it is the
//! vocabulary that `bankd`, `bank` and `nami-scripts` share, and nothing else.
#![warn(missing_docs)]

pub mod auditor;
pub mod cluster;
pub mod error;
pub mod exit;
pub mod gold;
pub mod nami;
pub mod query;
pub mod reason;
#[cfg(feature = "records")]
pub mod records;
pub mod sign;
pub mod text;
pub mod v1;
