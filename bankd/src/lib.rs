//! The daemon of the allocation bank, as a library with a small `main`.
//!
//! Start at [`app`], which puts everything together; a request goes through [`http`], its command
//! through [`writer`] to [`store`], what it leaves for other programs through [`records`]. The rules
//! are not here: they are in `bank_core`.

#[macro_use]
mod say;

pub mod app;
pub mod cli;
pub mod demo;
pub mod doctor;
pub mod import;
mod reload;
pub mod replay;
pub mod serve;
