//! Data for the operator of the bank: backups, health of the daemon, and limits.

use serde::{Deserialize, Serialize};

/// Content of a backup: `manifest.json` in its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// Format of this file: 1.
    pub format: u8,
    /// UUID of the bank.
    pub bank: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// Decimals of an amount, 0 to 6.
    pub precision: u8,
    /// Schema version of the database.
    pub schema: i64,
    /// Program and version that made it.
    pub made_by: String,
    /// When, by the machine's clock.
    pub made_at: String,
    /// `asked`, `timer`, or `migration`: the state before a change of the schema.
    pub reason: String,
    /// Transactions in its journal.
    pub transactions: i64,
    /// Entries in its journal.
    pub entries: i64,
    /// Hash of its last transaction, in hexadecimal digits; empty without one.
    pub head: String,
    /// `journal`: every hash and balance was proven from the journal; `pages`: it is of an older
    /// schema, and only the database's own structure was checked.
    pub proof: String,
    /// Its files.
    pub files: Vec<BackupFile>,
}

/// A file of a [`Backup`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// Its path in the folder: `bank.db`, `bankd.toml`, `keys/ID`.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// The backup made last (`backup.json` in the data directory, and in the state of the daemon).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LastBackup {
    /// Its folder.
    pub path: String,
    /// When, by the machine's clock.
    pub made_at: String,
    /// As [`Backup::proof`].
    pub proof: String,
    /// Transactions in its journal.
    pub transactions: i64,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// Requests that were refused since the start because their client asked for too much.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limited {
    /// Too many in too short a time.
    pub rate: i64,
    /// Too many at once.
    pub concurrent: i64,
    /// With too large a body.
    pub body: i64,
}

/// Output of `bankd doctor --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkup {
    /// The worst state of a check: `ok`, `warn` or `fail`.
    pub state: String,
    /// Every check, in a fixed order.
    pub checks: Vec<Check>,
}

/// One line of a [`Checkup`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Name of the check: `settings`, `keys`, `disk`, …
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub state: String,
    /// Result of the check.
    pub found: String,
    /// The action to take; empty for none.
    pub todo: String,
}
