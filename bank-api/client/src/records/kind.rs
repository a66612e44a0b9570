//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Kinds of records and fields that this site adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// Who may change records: administrators, operators.
    pub change: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Field, as NAME:TYPE: at most 61 texts of at most 256 bytes each. Without a value: none.
    pub fields: Vec<String>,
    /// Keys of its records: number, name.
    pub keys: String,
    /// Name of the record.
    pub name: String,
    /// Who may see records: everyone, auditors, administrators.
    pub see: String,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKind {
    /// Who may change records: administrators, operators. Default: administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Field, as NAME:TYPE: at most 61 texts of at most 256 bytes each. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    /// Keys of its records: number, name. Default: number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Who may see records: everyone, auditors, administrators. Default: everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a kind. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchKind {
    /// Who may change records: administrators, operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Field, as NAME:TYPE: at most 61 texts of at most 256 bytes each. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    /// Keys of its records: number, name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// Who may see records: everyone, auditors, administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
