//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Hardware inventory: hosts, capacity, conversion factors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Count as capacity.
    pub counts: bool,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight of a processor-hour: a decimal number from 0.000000001 to 1000 with at most 9 decimals.
    pub factor: String,
    /// Start of use, inclusive. Without a value: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Hosts: * any text, ? one letter, \[0-9] one of these: at most 64 texts of at most 256 bytes each. Without a
    /// value: all hosts.
    pub hosts: Vec<String>,
    /// Number of the record.
    pub id: i64,
    /// Machine of the nodes. Without a value: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Name of the processor type.
    pub name: String,
    /// Number of nodes: a whole number from 1 to 1000000.
    pub nodes: i64,
    /// Priority; lower is tried first: a whole number from 0 to 1000000.
    pub priority: i64,
    /// Processors per node: a whole number from 1 to 1000000.
    pub processors: i64,
    /// End of use, exclusive. Without a value: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewHardware {
    /// Count as capacity. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<bool>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight of a processor-hour: a decimal number from 0.000000001 to 1000 with at most 9 decimals. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Start of use, inclusive. Without a value: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Hosts: * any text, ? one letter, \[0-9] one of these: at most 64 texts of at most 256 bytes each. Without a
    /// value: all hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Machine of the nodes. Without a value: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Name of the processor type.
    pub name: String,
    /// Number of nodes: a whole number from 1 to 1000000.
    pub nodes: i64,
    /// Priority; lower is tried first: a whole number from 0 to 1000000. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Processors per node: a whole number from 1 to 1000000.
    pub processors: i64,
    /// End of use, exclusive. Without a value: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a hardware. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchHardware {
    /// Count as capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<bool>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight of a processor-hour: a decimal number from 0.000000001 to 1000 with at most 9 decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Start of use, inclusive. Without a value: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Hosts: * any text, ? one letter, \[0-9] one of these: at most 64 texts of at most 256 bytes each. Without a
    /// value: all hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Machine of the nodes. Without a value: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Name of the processor type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of nodes: a whole number from 1 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Priority; lower is tried first: a whole number from 0 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Processors per node: a whole number from 1 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// End of use, exclusive. Without a value: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
