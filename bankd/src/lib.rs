//! Placeholder.
pub mod emit;
pub mod nami;
