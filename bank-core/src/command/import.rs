//! Finished usage of one source that goes into the ledger together.

use super::UsageReport;
use std::sync::Arc;

/// A chunk of a source's records (decision 20). What of it moves no money is one transaction; what
/// must be a command of its own is told back and left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The collector's name, 1 to 256 bytes: that of each report.
    pub source: String,
    /// SHA-256 over the lines that they came from, in order and each behind its length, in hex; empty
    /// where there are no lines.
    pub digest: String,
    /// How many lines that are.
    pub lines: u64,
    /// The uses, in the order in which they came.
    pub reports: Vec<Arc<UsageReport>>,
    /// The shell's digests of what the reports say, in their order, where it has them already.
    pub said: Vec<[u8; 16]>,
    /// Which of the lines each is from, counted from 0; empty where no lines are kept.
    pub places: Vec<u32>,
}
