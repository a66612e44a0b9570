//! What `bank` says of files on the machine where it runs: documents in the scripts' spool, and what
//! is amiss in a scheduler's configuration. No route answers with these.

use serde::{Deserialize, Serialize};

/// A document in the spool or the quarantine of the scripts (`bank nami spool ls`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Waiting {
    /// Its number: the time of its event in µs since 1970 UTC, made unique.
    pub id: String,
    /// The event, such as `charge`; `null` if the file is not a whole document.
    pub event: Option<String>,
    /// The ids of its objects.
    pub objects: Vec<String>,
    /// When the event happened, RFC 3339 UTC.
    pub time: Option<String>,
    /// The `Idempotency-Key` under which it is sent.
    pub key: Option<String>,
    /// What the scripts' settings add to the request.
    pub query: Option<String>,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// Why it can never be accepted; `null` in the spool.
    pub reason: Option<String>,
    /// The document itself, where one is shown; bytes that are not UTF-8 are replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// What came of sending everything that waits (`bank nami spool retry`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Drained {
    /// Documents that the bank took.
    pub delivered: usize,
    /// Documents that can never be accepted, now in the quarantine.
    pub quarantined: usize,
    /// Documents that stay.
    pub left: usize,
    /// Why they stay; `null` where none does, or where one run does not send so many.
    pub why: Option<String>,
    /// Whether the bank could not be asked, so that trying later helps.
    pub outage: bool,
}

/// What one document came to on the copy of a bank (`bankd replay`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Replayed {
    /// Its file.
    pub file: String,
    /// Its event, such as `charge`.
    pub event: String,
    /// When it happened, RFC 3339 UTC.
    pub time: String,
    /// The script's exit code, before the site's map.
    pub exit: u8,
    /// What became of each object.
    pub objects: Vec<ReplayedObject>,
}

/// One object of such a document; the figures are those after it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayedObject {
    /// The scheduler's id; `null` for a quote without one and where the document is unusable.
    pub object: Option<String>,
    /// The bank's answer line.
    pub answer: String,
    /// What is still held for it.
    pub lien: Option<String>,
    /// What it was charged so far.
    pub charged: Option<String>,
    /// `open` or `closed`.
    pub state: Option<String>,
    /// The account that pays.
    pub account: Option<String>,
    /// What that holds.
    pub balance: Option<String>,
    /// What of it is free.
    pub available: Option<String>,
}

/// One thing in a scheduler's configuration that defeats the bank (`bank moab check`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Finding {
    /// Which rule, such as `no_failure_action`; stable.
    pub code: String,
    /// The file as it was named; empty where the finding belongs to no line.
    pub file: String,
    /// The line, counted from 1; 0 where the finding belongs to no line.
    pub line: u64,
    /// What is wrong, and what it does.
    pub what: String,
    /// The line as it should be, or what to do.
    pub change: String,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Findings {
    /// In the order of files and lines.
    pub findings: Vec<Finding>,
    /// What is worth knowing and no fault, and what could not be checked.
    pub notes: Vec<String>,
}
