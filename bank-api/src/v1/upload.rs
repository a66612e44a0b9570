//! Upload of usage files in pieces, and records that the daemon could not read.
//!
//! A client opens an import, sends the bytes of its files in order, and ends it. The daemon acknowledges
//! each piece with its position. A piece that is sent twice therefore counts once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The formats of usage files: name and one-line description (`data/LAYOUT.md`).
pub const IMPORT_FORMATS: [(&str, &str); 20] = [
    (
        "sacct",
        "Slurm: sacct --parsable2, by its header line or by --layout",
    ),
    (
        "sacct-keyvalue",
        "Slurm: Name=\"value\" pairs, a job in a line",
    ),
    ("slurm-scontrol", "Slurm: scontrol show job"),
    ("slurm-jobcomp", "Slurm: the file of jobcomp/filetxt"),
    ("slurm-json", "Slurm: sacct --json"),
    (
        "sge",
        "Grid Engine: SGE, Son of Grid Engine, Univa, accounting and reporting files",
    ),
    (
        "gridware-json",
        "Open Cluster Scheduler, Gridware: JSON lines",
    ),
    ("pbs", "PBS, OpenPBS and TORQUE accounting logs"),
    ("lsf", "LSF's lsb.acct"),
    (
        "htcondor",
        "HTCondor history: condor_history -l, or the spool's file",
    ),
    ("htcondor-apel", "HTCondor jobs in the pipe form of APEL"),
    ("maui", "Maui's workload trace"),
    ("moab-events", "Moab's event log"),
    ("nomad", "snapshots of Nomad's deployments: a folder"),
    ("openshift", "OpenShift metrics every 15 minutes: a folder"),
    ("prometheus", "answers of Prometheus to query_range"),
    ("kubernetes", "a list of Kubernetes pods"),
    ("auditor", "AUDITOR records"),
    ("csv", "separated values of any kind, by a mapping file"),
    ("swf", "Standard Workload Format"),
];

/// Options to read a quarantined record, as in [`NewImport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadOptions {
    /// The columns of a file without a header line, by name: `xdmod26`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// The columns of a file without a header line, one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Column delimiter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Zone of times that name none, such as `Europe/Berlin`; UTC without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// The text of a mapping file, for `csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
    /// Grid Engine's complex `gpu` counts for each slot, not for the job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gpus_per_slot: bool,
}

/// `POST /api/v1/imports`: opens an import with the options of `bankd import`. A format ignores options
/// that do not apply to it. Answer: [`ImportOpened`], 201.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the caller's"
)]
pub struct NewImport {
    /// The collector, such as `slurm:colony`: with id and start the identity of a record.
    pub source: String,
    /// A name of [`IMPORT_FORMATS`].
    pub format: String,
    /// The machine that the records are of; without it their cluster, else the only machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The columns of a file without a header line, by name: `xdmod26`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// The columns of a file without a header line, one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Column delimiter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Zone of times that name none, such as `Europe/Berlin`; UTC without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// The text of a mapping file, for `csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
    /// Grid Engine's complex `gpu` counts for each slot, not for the job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gpus_per_slot: bool,
    /// Skip usage that ended before this time, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Sum up by UTC day too.
    #[serde(default)]
    pub days: bool,
    /// Read and decide, write nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Report failure at the end if any record could not be read.
    #[serde(default)]
    pub strict: bool,
    /// Keep the raw lines, compressed. Default: true.
    #[serde(default = "yes")]
    pub raw: bool,
}

fn yes() -> bool {
    true
}

/// An import that takes pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportOpened {
    /// Its id.
    pub id: String,
    /// Bytes taken so far: 0.
    pub at: u64,
    /// Largest piece, in bytes.
    pub piece: u64,
}

/// Query of `POST /api/v1/imports/{id}/data`. The request body is the piece. Answer: [`ImportTaken`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PieceQuery {
    /// File name for messages. The reader uses only its last part.
    pub file: String,
    /// Offset of the piece in the file, in bytes.
    pub at: u64,
    /// Number of the file in the import, from 1. Without it, a different name starts a new file.
    pub number: Option<u64>,
}

/// Progress of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportTaken {
    /// Accepted bytes of the file: the offset of the next piece.
    pub at: u64,
    /// Records read so far, of all files.
    pub records: u64,
}

/// Result of an import.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportDone {
    /// The collector.
    pub source: String,
    /// The format.
    pub format: String,
    /// Files read.
    pub files: u64,
    /// Bytes taken, as they were sent.
    pub bytes: u64,
    /// The summary, in the layout of `data/LAYOUT.md`; its numbers may be larger than 64 bits.
    #[cfg_attr(feature = "openapi", schema(value_type = super::ImportSummary))]
    pub summary: Box<RawValue>,
    /// Records in it.
    pub records: u64,
    /// Jobs in it.
    pub jobs: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Number of jobs by outcome, as in [`UsageItem::outcome`](super::UsageItem).
    pub outcomes: BTreeMap<String, u64>,
    /// Records put into the quarantine now.
    pub quarantined: u64,
    /// False if `strict` was requested and a record could not be read.
    pub ok: bool,
    /// True when decided only.
    pub dry_run: bool,
    /// The summary in words, line by line.
    pub said: String,
}

/// A running import, an item of `GET /api/v1/imports`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Import {
    /// Its id.
    pub id: String,
    /// The client that sends it.
    pub client: String,
    /// The collector.
    pub source: String,
    /// The format.
    pub format: String,
    /// `running`; `ended`, `failed`: there for whoever asks again.
    pub state: String,
    /// The file that is being sent.
    pub file: String,
    /// Bytes of it that are taken.
    pub at: u64,
    /// Bytes taken of all files.
    pub bytes: u64,
    /// Records read.
    pub records: u64,
    /// Whether it is a dry run, which writes nothing.
    pub dry_run: bool,
    /// Seconds since the last piece arrived.
    pub idle_s: i64,
}

/// Query of `GET /api/v1/quarantine`. Answer: `List<Quarantined>`, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QuarantineQuery {
    /// Only of this collector.
    pub source: Option<String>,
    /// The `next` of the page before.
    pub after: Option<String>,
    /// Rows of a page, 1 to 1000; 100 by default.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
}

/// Something that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quarantined {
    /// Its number.
    pub id: i64,
    /// Time of the quarantine.
    pub at: String,
    /// The collector.
    pub source: String,
    /// The peer that sent it.
    pub peer: String,
    /// The file, or the route.
    pub place: String,
    /// Line number in the file; `null` for none.
    pub line: Option<u64>,
    /// The read error.
    pub reason: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Content, only in the answer for a single record; bytes that are not UTF-8 appear as U+FFFD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// `POST /api/v1/quarantine/{id}/replay`: read it again. Answer: [`QuarantineReplayed`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayQuarantined {
    /// The format, if it differs from that of its collector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The machine that the records are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Read options. Each one that is absent: that of the last import of its collector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<ReadOptions>,
    /// Corrected content that replaces the stored line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// Result of a replay from the quarantine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuarantineReplayed {
    /// Its number.
    pub id: i64,
    /// Jobs in it.
    pub jobs: u64,
    /// Number of records by outcome, as in [`UsageItem::outcome`](super::UsageItem).
    pub outcomes: BTreeMap<String, u64>,
    /// Reasons for records that the reader skipped without a charge: `step`, `not_ended`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// True when decided only: then it is still there.
    #[serde(default)]
    pub dry_run: bool,
}

/// Query of `DELETE /api/v1/quarantine`: all of a collector. Answer: [`QuarantineRemoved`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QuarantineRemoval {
    /// The collector.
    pub source: String,
    /// Report the number, remove nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Number of records removed from the quarantine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuarantineRemoved {
    /// Rows.
    pub removed: u64,
    /// True when counted only.
    #[serde(default)]
    pub dry_run: bool,
}
