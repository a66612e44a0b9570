//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// People and groups who fund hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contributor {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Exclude the contributor from subscriptions.
    pub exempt: bool,
    /// Name of the record.
    pub name: String,
    /// Project, with those below it: at most 1000 names of existing projects. Without a value: none.
    pub projects: Vec<String>,
    /// Login name. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new contributor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewContributor {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Exclude the contributor from subscriptions. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<bool>,
    /// Name of the record.
    pub name: String,
    /// Project, with those below it: at most 1000 names of existing projects. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Login name. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a contributor. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchContributor {
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Exclude the contributor from subscriptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<bool>,
    /// Project, with those below it: at most 1000 names of existing projects. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Login name. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
