//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Usage attributes of this site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Type of its values: text, number.
    pub r#type: String,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAttribute {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Type of its values: text, number. Default: text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a attribute. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchAttribute {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
