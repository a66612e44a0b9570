//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Hardware contributions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// Contributor that receives the credit.
    pub contributor: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight of a processor: a decimal number from 0.000000001 to 1000 with at most 9 decimals.
    pub factor: String,
    /// Start of use, inclusive. Without a value: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Number of the record.
    pub id: i64,
    /// Person or group that paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<String>,
    /// Number of processors: a whole number from 0 to 10000000.
    pub processors: i64,
    /// Percent of processors credited: a decimal number from 0.00 to 100.00 with at most 2 decimals.
    pub split: String,
    /// End of use, exclusive. Without a value: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Hardware, such as a host or a processor type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new contribution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewContribution {
    /// Contributor that receives the credit.
    pub contributor: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight of a processor: a decimal number from 0.000000001 to 1000 with at most 9 decimals. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Start of use, inclusive. Without a value: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Person or group that paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<String>,
    /// Number of processors: a whole number from 0 to 10000000.
    pub processors: i64,
    /// Percent of processors credited: a decimal number from 0.00 to 100.00 with at most 2 decimals. Default:
    /// 100.00.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// End of use, exclusive. Without a value: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Hardware, such as a host or a processor type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a contribution. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchContribution {
    /// Contributor that receives the credit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contributor: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight of a processor: a decimal number from 0.000000001 to 1000 with at most 9 decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Start of use, inclusive. Without a value: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Person or group that paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_by: Option<String>,
    /// Number of processors: a whole number from 0 to 10000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// Percent of processors credited: a decimal number from 0.00 to 100.00 with at most 2 decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// End of use, exclusive. Without a value: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Hardware, such as a host or a processor type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
