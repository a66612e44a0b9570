//! State files of a collector and its queue, and answers of `bank collect`. No route answers with these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The head of a batch in a collector's queue: how its bytes are to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectBatch {
    /// The stream of the collector, such as a cluster.
    pub stream: String,
    /// The source of its records, such as `slurm:colony`.
    pub source: String,
    /// The reader, such as `sacct`.
    pub format: String,
    /// The machine of records that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Name of the data for the reader; for snapshots, their time.
    pub file: String,
    /// Column delimiter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Start of the requested period, RFC 3339 UTC.
    pub from: String,
    /// End of the requested period. Later data belongs to the next batch.
    pub until: String,
}

/// State of a collector between two rounds (`state.json` beside its queue).
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
    /// Time of the last batch that the bank accepted, RFC 3339 UTC.
    pub sent: Option<String>,
    /// Batches that the bank took.
    pub batches: u64,
    /// Records in them, as its reader counted.
    pub records: u64,
    /// Number of refused batches, which are in the folder `refused`.
    pub refused: u64,
}

/// Result of one round: fetched and sent data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollectRound {
    /// `slurm`, `prometheus`, `nomad` or `kubernetes`.
    pub collector: String,
    /// Start of the round, RFC 3339 UTC.
    pub at: String,
    /// Batches fetched.
    pub fetched: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Batches that the bank took.
    pub sent: u64,
    /// Records in them.
    pub records: u64,
    /// Number of records by outcome, as the bank reported it.
    pub outcomes: BTreeMap<String, u64>,
    /// Batches that the bank refused for good.
    pub refused: u64,
    /// Batches that wait in the queue after it.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Errors of the round, one sentence each.
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
    /// Time of the last batch that the bank accepted, RFC 3339 UTC.
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
    /// Start of the last round, RFC 3339 UTC.
    pub round: Option<String>,
    /// Errors of the last round.
    pub trouble: Vec<String>,
}
