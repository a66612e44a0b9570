//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Downtimes, in which nodes do not count as capacity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Downtime {
    /// Start of the downtime, inclusive.
    pub from: String,
    /// Number of the hardware.
    pub hardware: i64,
    /// Number of the record.
    pub id: i64,
    /// Number of nodes that are down: a whole number from 1 to 1000000. Without a value: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Reason for the downtime.
    pub reason: String,
    /// End of the downtime, exclusive. Without a value: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new downtime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewDowntime {
    /// Start of the downtime, inclusive.
    pub from: String,
    /// Number of the hardware.
    pub hardware: i64,
    /// Number of nodes that are down: a whole number from 1 to 1000000. Without a value: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Reason for the downtime.
    pub reason: String,
    /// End of the downtime, exclusive. Without a value: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a downtime. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchDowntime {
    /// Start of the downtime, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Number of the hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<i64>,
    /// Number of nodes that are down: a whole number from 1 to 1000000. Without a value: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Reason for the downtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// End of the downtime, exclusive. Without a value: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
