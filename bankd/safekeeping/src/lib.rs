//! New banks, backups, signed checkpoints, verification.

pub mod backup;
pub mod checkpoint;
mod command;
pub mod copy;
pub mod init;
pub mod proof;
