//! What the programs of the allocation bank say to each other: JSON shapes, signed HTTP, refusal
//! codes with their exits, texts of amounts and times, and the answer lines of the NAMI routes.
//!
//! It must never read a clock, open a file or a socket, or decide anything about money: it is the
//! vocabulary that `bankd`, `bank` and `nami-scripts` share, and nothing else.
#![warn(missing_docs)]

pub mod error;
pub mod exit;
pub mod nami;
pub mod sign;
pub mod text;
pub mod v1;
