//! The daemon of the allocation bank.

pub mod answer;
pub mod clock;
pub mod emit;
pub mod hooks;
pub mod nami;
pub mod store;
pub mod writer;
