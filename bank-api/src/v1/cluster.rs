//! A bank on several machines.

use serde::{Deserialize, Serialize};

/// The cluster as this node sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClusterStatus {
    /// The name of this node.
    pub node: String,
    /// `writer`, `follower`, or `stopped`: it applies nothing until an operator has looked.
    pub role: String,
    /// The last entry of the log that this node contains.
    pub position: i64,
    /// Milliseconds since this node read the log; `null` for the writer.
    pub age_ms: Option<i64>,
    /// The node that writes; `null` if none does.
    pub writer: Option<String>,
    /// The address of that node.
    pub writer_address: Option<String>,
    /// How many times a node became the writer.
    pub epoch: i64,
    /// Why the role of this node changed last; empty if it did not.
    #[serde(default)]
    pub why: String,
    /// Why the log cannot be read or written; `null` if it can.
    pub error: Option<String>,
    /// All nodes, as they reported to the log.
    #[serde(default)]
    pub nodes: Vec<ClusterNode>,
}

/// A node of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClusterNode {
    /// Its name.
    pub node: String,
    /// Where the other nodes reach it.
    pub address: String,
    /// The last entry that it contained at its last report.
    pub position: i64,
    /// The version of its bankd.
    pub version: String,
    /// Milliseconds since its last report.
    pub age_ms: i64,
}
