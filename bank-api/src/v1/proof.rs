//! Results and progress of verifications.

use serde::{Deserialize, Serialize};

/// A verification: the one that runs, else the last one. Answer of `POST` and `GET
/// /api/v1/verifications`, and of `bankd verify --json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Verification {
    /// `running`, `done`, `failed` (it could not be ended), `stopped` (the daemon was, before it was
    /// done), or `none` since the daemon started.
    pub state: String,
    /// Start time; `null` if none has run.
    pub started: Option<String>,
    /// End time; `null` while it runs.
    pub ended: Option<String>,
    /// The check in progress.
    pub doing: String,
    /// Transactions read so far.
    pub transactions: i64,
    /// Transactions that there are.
    pub of_transactions: i64,
    /// Checks done, of those that follow the journal.
    pub checks: i64,
    /// Number of checks.
    pub of_checks: i64,
    /// Whether all checks passed; `null` while it runs.
    pub sound: Option<bool>,
    /// Entries read.
    pub entries: i64,
    /// Allocations compared.
    pub allocations: i64,
    /// Number of rows with a recomputed seal.
    pub sealed: i64,
    /// Errors that were found.
    pub findings: Vec<ProofFinding>,
    /// Findings beyond those that are listed.
    pub more: i64,
    /// Remarks that are not errors.
    pub notes: Vec<String>,
    /// Actions to take on the errors.
    pub advice: Vec<String>,
    /// Error that stopped the verification; `null` for none.
    pub error: Option<String>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProofFinding {
    /// The table; empty for the file as a whole.
    pub table: String,
    /// The row by its key.
    pub row: String,
    /// Description of the error.
    pub text: String,
    /// Expected value, if it can be determined.
    pub expected: Option<String>,
    /// Stored value.
    pub found: Option<String>,
}

/// Query of `GET /api/v1/verifications`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct VerificationQuery {
    /// Wait so many seconds for its end at most, 0 to 20; 0 by default.
    pub wait_s: Option<u32>,
}

/// A signed checkpoint. Answer of `GET /api/v1/checkpoint`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedCheckpoint {
    /// The last transaction that it covers.
    pub transactions: i64,
    /// The checkpoint as a file for `bankd verify --checkpoint`.
    pub text: String,
}

/// A checkpoint in the folder of the daemon (`GET /api/v1/checkpoints`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeptCheckpoint {
    /// The name of its file.
    pub name: String,
    /// When it was made; `null` if the file cannot be read.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub made: Option<String>,
    /// The last transaction that it covers, likewise.
    pub transactions: Option<i64>,
    /// The last entry that it covers, likewise.
    pub entries: Option<i64>,
    /// Whether its signature is valid and its last transaction has the same hash in the bank.
    pub holds: bool,
    /// What is wrong; `null` if it holds.
    pub error: Option<String>,
}
