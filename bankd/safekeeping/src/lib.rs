//! New banks, backups, signed checkpoints, verification.

pub mod backup;
pub mod checkpoint;
pub mod init;
pub mod proof;
