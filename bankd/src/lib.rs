//! The daemon of the allocation bank, as a library with a small `main`.
//!
//! Start at [`app`], which puts everything together; a request goes through [`http`], its command
//! through [`writer`] to [`store`], what it leaves for other programs through [`records`]. The rules
//! are not here: they are in `bank_core`.

#[macro_use]
mod say;

pub mod access;
pub mod app;
pub mod attention;
pub mod auditor;
pub mod backup;
pub mod checkpoint;
pub mod cli;
pub mod clock;
pub mod deliver;
pub mod demo;
pub mod doctor;
mod exposition;
pub mod follow;
pub mod gold;
pub mod hooks;
pub mod http;
pub mod import;
pub mod init;
pub mod intake;
pub mod keys;
mod listen;
mod meter;
pub mod obs;
pub mod proof;
pub mod records;
mod reload;
pub mod replay;
pub mod schedule;
pub mod serve;
pub mod services;
mod survey;
pub mod uploads;
pub mod usable;
pub mod writer;
