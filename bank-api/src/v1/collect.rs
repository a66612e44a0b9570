//! What a collector keeps beside its queue, and what `bank collect` says of it. No route answers with
//! these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The head of a batch in a collector's queue: how its bytes are to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectBatch {
    /// Which stream of the collector it belongs to, such as a cluster.
    pub stream: String,
    /// The source of its records, such as `slurm:colony`.
    pub source: String,
    /// The reader, such as `sacct`.
    pub format: String,
    /// The machine of records that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What the reader knows the bytes as; of snapshots the name is their time.
    pub file: String,
    /// What stands between two columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Start of what was asked for, RFC 3339 UTC.
    pub from: String,
    /// Its end: what comes later is the next batch's.
    pub until: String,
}

/// What a collector remembers between two rounds (`state.json` beside its queue).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectState {
    /// Its streams by name.
    pub streams: BTreeMap<String, CollectStream>,
    /// The last round.
    pub round: Option<CollectRound>,
}

/// One stream of a collector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectStream {
    /// All before this moment is with the bank, RFC 3339 UTC.
    pub until: Option<String>,
    /// When the bank last took a batch, RFC 3339 UTC.
    pub sent: Option<String>,
    /// Batches that the bank took.
    pub batches: u64,
    /// Records in them, as its reader counted.
    pub records: u64,
    /// Batches that it refused; they lie in the folder `refused`.
    pub refused: u64,
}

/// One round: what was fetched and what was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectRound {
    /// `slurm`, `prometheus`, `nomad` or `kubernetes`.
    pub collector: String,
    /// When it began, RFC 3339 UTC.
    pub at: String,
    /// Batches fetched.
    pub fetched: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Batches that the bank took.
    pub sent: u64,
    /// Records in them.
    pub records: u64,
    /// What became of these, by the bank's words.
    pub outcomes: BTreeMap<String, u64>,
    /// Batches that the bank refused for good.
    pub refused: u64,
    /// Batches that wait in the queue after it.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// What went wrong, one sentence each.
    pub trouble: Vec<String>,
}

/// A stream as `bank collect status` lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectStatus {
    /// The collector.
    pub collector: String,
    /// Its settings file.
    pub file: String,
    /// The stream.
    pub stream: String,
    /// All before this moment is with the bank, RFC 3339 UTC; `null` before the first batch.
    pub until: Option<String>,
    /// Seconds from there to now.
    pub lag_s: Option<i64>,
    /// When the bank last took a batch, RFC 3339 UTC.
    pub sent: Option<String>,
    /// Batches in the queue.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Batches that the bank took.
    pub batches: u64,
    /// Records in them.
    pub records: u64,
    /// Batches that the bank refused.
    pub refused: u64,
    /// When the last round began, RFC 3339 UTC.
    pub round: Option<String>,
    /// What went wrong in it.
    pub trouble: Vec<String>,
}
