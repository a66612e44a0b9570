//! What clusters are made of, who paid for it, and whose projects use it.

use serde::{Deserialize, Serialize};

use super::BadLine;

/// Nodes of one kind (`GET /api/v1/hardware/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hardware {
    /// Its number.
    pub id: i64,
    /// Lower is asked first for the factor of a host; at equal priority the lower number.
    pub priority: i64,
    /// What its processors are called.
    pub name: String,
    /// The machine; `null` for any.
    pub machine: Option<String>,
    /// Patterns of its hosts; empty for every host of the machine.
    pub hosts: Vec<String>,
    /// What an hour of a processor counts: an exact decimal.
    pub factor: String,
    /// Processors of a node.
    pub processors: i64,
    /// How many nodes.
    pub nodes: i64,
    /// Whether it adds to the capacity.
    pub counts: bool,
    /// From when it is there; `null` for always.
    pub from: Option<String>,
    /// Until when it is there, exclusive; `null` for ever.
    pub until: Option<String>,
    /// Free text.
    pub description: Option<String>,
}

/// `POST /api/v1/hardware`. Answer: `Written<Hardware>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewHardware {
    /// What its processors are called.
    pub name: String,
    /// The machine; any without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Patterns of its hosts such as `node[0-9]*`, at most 64; every host of the machine without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// What an hour of a processor counts: above 0, at most 1000; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Processors of a node, 1 to 1000000.
    pub processors: i64,
    /// How many nodes, 1 to 1000000.
    pub nodes: i64,
    /// Whether it adds to the capacity; yes by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<bool>,
    /// From when it is there; always without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when it is there, exclusive; for ever without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// 0 to 1000000; 100 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `PATCH /api/v1/hardware/{id}`. Answer: `Written<Hardware>`. An empty string clears a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchHardware {
    /// What its processors are called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// All patterns of its hosts anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// What an hour of a processor counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Processors of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// How many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Whether it adds to the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<bool>,
    /// From when it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when it is there, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// 0 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Nodes of a kind that are known not to work for a time (`GET /api/v1/downtimes/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Downtime {
    /// Its number.
    pub id: i64,
    /// The number of the hardware.
    pub hardware: i64,
    /// How many of its nodes; `null` for all.
    pub nodes: Option<i64>,
    /// From when they are down.
    pub from: String,
    /// Until when they are down, exclusive; `null` while nobody knows.
    pub until: Option<String>,
    /// Why.
    pub reason: String,
}

/// `POST /api/v1/downtimes`. Answer: `Written<Downtime>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewDowntime {
    /// The number of the hardware.
    pub hardware: i64,
    /// How many of its nodes, 1 to those that it has; all without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// From when they are down.
    pub from: String,
    /// Until when they are down, exclusive; without while nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why: 1 to 256 bytes.
    pub reason: String,
}

/// `PATCH /api/v1/downtimes/{id}`. Answer: `Written<Downtime>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchDowntime {
    /// How many nodes; 0 for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// From when they are down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when they are down, exclusive; empty while nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Processors that somebody put into a cluster (`GET /api/v1/contributions/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Contribution {
    /// Its number.
    pub id: i64,
    /// The contributor that it is credited to.
    pub contributor: String,
    /// Who paid for it, where that is somebody else.
    pub paid_by: Option<String>,
    /// What it is.
    pub what: Option<String>,
    /// Processors.
    pub processors: i64,
    /// Percent of them that are credited: an exact decimal.
    pub split: String,
    /// What a processor counts: an exact decimal.
    pub factor: String,
    /// From when it is installed; `null` for always.
    pub from: Option<String>,
    /// Until when it is installed, exclusive; `null` for ever.
    pub until: Option<String>,
    /// Free text.
    pub description: Option<String>,
}

/// `POST /api/v1/contributions`. Answer: `Written<Contribution>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewContribution {
    /// The contributor that it is credited to.
    pub contributor: String,
    /// Who paid for it, where that is somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<String>,
    /// What it is: a host, a kind of processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Processors, 0 to 10000000.
    pub processors: i64,
    /// Percent of them that are credited, 0 to 100 with at most two decimals; 100 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// What a processor counts: above 0, at most 1000; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// From when it is installed; always without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when it is installed, exclusive; for ever without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `PATCH /api/v1/contributions/{id}`. Answer: `Written<Contribution>`. An empty string clears a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchContribution {
    /// The contributor that it is credited to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contributor: Option<String>,
    /// Who paid for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// Percent of them that are credited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// What a processor counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// From when it is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when it is installed, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Somebody whom contributions are credited to (`GET /api/v1/contributors/{name}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Contributor {
    /// Their name in reports.
    pub name: String,
    /// Their login name.
    pub user: Option<String>,
    /// Whether subscriptions leave them out.
    pub exempt: bool,
    /// Their projects, with those below them that are nobody else's.
    pub projects: Vec<String>,
    /// Free text.
    pub description: Option<String>,
}

/// `POST /api/v1/contributors`. Answer: `Written<Contributor>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewContributor {
    /// Their name in reports.
    pub name: String,
    /// Their login name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether subscriptions leave them out; no by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<bool>,
    /// Their projects, at most 1000; each is of one contributor only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `PATCH /api/v1/contributors/{name}`. Answer: `Written<Contributor>`. An empty string clears a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchContributor {
    /// Their login name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether subscriptions leave them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<bool>,
    /// All their projects anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What became of the rows of a table of an older program: `bank hardware import`, `bank contribution
/// import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedTable {
    /// Its name there.
    pub table: String,
    /// How many rows are new.
    pub added: u64,
    /// How many were there with something else in them.
    pub changed: u64,
    /// How many were there already.
    pub known: u64,
    /// Those that were not taken in.
    pub bad: Vec<BadLine>,
}
