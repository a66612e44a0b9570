//! Output of `bank` about local files: documents in the spool of the scripts, and findings in a scheduler's
//! configuration. No route answers with these.

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
    /// Time of the event, RFC 3339 UTC.
    pub time: Option<String>,
    /// The `Idempotency-Key` under which it is sent.
    pub key: Option<String>,
    /// Query parameters that the settings of the scripts add to the request.
    pub query: Option<String>,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// Reason of the permanent refusal, or why the file cannot be read; `null` of others in the spool.
    pub reason: Option<String>,
    /// The document, if a single one is shown; bytes that are not UTF-8 are replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// Result of sending all spooled documents (`bank nami spool retry`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Drained {
    /// Documents that the bank took.
    pub delivered: usize,
    /// Documents that can never be accepted, now in the quarantine.
    pub quarantined: usize,
    /// Documents that stay.
    pub left: usize,
    /// Reason for the documents that remain; `null` if none remains, or if the limit of one run was
    /// reached.
    pub why: Option<String>,
    /// Whether the bank was unreachable, so that a later retry may succeed.
    pub outage: bool,
}

/// Result of one document on the copy of a bank (`bankd replay`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Replayed {
    /// Its file.
    pub file: String,
    /// Its event, such as `charge`.
    pub event: String,
    /// Time of the event, RFC 3339 UTC.
    pub time: String,
    /// The script's exit code, before the site's map.
    pub exit: u8,
    /// Result for each object.
    pub objects: Vec<ReplayedObject>,
}

/// One object of such a document; the figures are those after it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayedObject {
    /// The scheduler's id; `null` for a quote without one, and for an unusable document.
    pub object: Option<String>,
    /// The bank's answer line.
    pub answer: String,
    /// Amount still held for it.
    pub lien: Option<String>,
    /// Charges so far.
    pub charged: Option<String>,
    /// `open` or `closed`.
    pub state: Option<String>,
    /// The account that pays.
    pub account: Option<String>,
    /// Balance of the account.
    pub balance: Option<String>,
    /// Available amount of the account.
    pub available: Option<String>,
}

/// One thing in a scheduler's configuration that defeats the bank (`bank moab check`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Finding {
    /// The rule, such as `no_failure_action`; stable.
    pub code: String,
    /// The file name as given; empty if the finding belongs to no line.
    pub file: String,
    /// The line, counted from 1; 0 if the finding belongs to no line.
    pub line: u64,
    /// Description of the fault and its effect.
    pub what: String,
    /// The corrected line, or the action to take.
    pub change: String,
}

/// All findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Findings {
    /// In the order of files and lines.
    pub findings: Vec<Finding>,
    /// Remarks that are not faults, and checks that were not possible.
    pub notes: Vec<String>,
}
