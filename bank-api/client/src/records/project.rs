//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use bank_api::v1::Member;
use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Projects, their members and their place in the hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Accounts whose project list names the project.
    pub accounts: Vec<String>,
    /// Enable the project; an inactive project gets no quotes and no liens.
    pub active: bool,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Member machine: MEMBERS in the machine list of an account: at most 10000 names of existing machines.
    /// Without a value: none.
    pub machines: Vec<String>,
    /// Members with their roles.
    pub members: Vec<Member>,
    /// Mode; it takes precedence over that of the machine: strict, fast, notional, track, default.
    pub mode: String,
    /// Name of the record.
    pub name: String,
    /// Organization of the project. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Parent project. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewProject {
    /// Enable the project; an inactive project gets no quotes and no liens. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Member machine: MEMBERS in the machine list of an account: at most 10000 names of existing machines.
    /// Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<Vec<String>>,
    /// Member; the user must exist: at most 10000 names of existing users. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<String>>,
    /// Mode; it takes precedence over that of the machine: strict, fast, notional, track, default. Default:
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Create no account of the same name. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_account: Option<bool>,
    /// Organization of the project. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Parent project. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a project. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchProject {
    /// Enable the project; an inactive project gets no quotes and no liens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Member machine: MEMBERS in the machine list of an account: at most 10000 names of existing machines.
    /// Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<Vec<String>>,
    /// Mode; it takes precedence over that of the machine: strict, fast, notional, track, default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Organization of the project. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Parent project. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
