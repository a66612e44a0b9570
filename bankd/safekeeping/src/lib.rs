//! What a bank is made from, copied to and proven with: new banks, backups, signed checkpoints,
//! verification.

pub mod backup;
pub mod checkpoint;
pub mod init;
pub mod proof;
