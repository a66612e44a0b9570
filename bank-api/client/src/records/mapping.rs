//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Map names from usage sources to projects, users and `PIs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Number of the record.
    pub id: i64,
    /// Principal investigator of the usage. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// Priority; lower is tried first: a whole number from 0 to 1000000.
    pub priority: i64,
    /// Project for the usage; {account} and {account.1} are filled in. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User for the usage. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Conditions, all required: FIELD=PATTERN or FIELD!=PATTERN; * any text: at most 16 texts of at most 519
    /// bytes each.
    pub when: Vec<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMapping {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Principal investigator of the usage. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// Priority; lower is tried first: a whole number from 0 to 1000000. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Project for the usage; {account} and {account.1} are filled in. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User for the usage. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Conditions, all required: FIELD=PATTERN or FIELD!=PATTERN; * any text: at most 16 texts of at most 519
    /// bytes each.
    pub when: Vec<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a mapping. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchMapping {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Principal investigator of the usage. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// Priority; lower is tried first: a whole number from 0 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Project for the usage; {account} and {account.1} are filled in. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User for the usage. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Conditions, all required: FIELD=PATTERN or FIELD!=PATTERN; * any text: at most 16 texts of at most 519
    /// bytes each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Vec<String>>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
