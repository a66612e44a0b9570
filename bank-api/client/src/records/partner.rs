//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Partner banks: their projects run here, or ours run there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partner {
    /// Account that has what the partner owes for jobs of its projects here. Without a value: none of its projects
    /// may run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Let the partner and its projects start jobs and deliver charges.
    pub active: bool,
    /// Answer to a reserve while the partner cannot be reached: refuse, accept.
    pub away: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Project that the partner may charge, with those below it: at most 1000 names of existing projects. Without
    /// a value: all.
    pub projects: Vec<String>,
    /// Id of the key that the partner gave to this bank; its secret is in `keys/partner-NAME`. Without a value: it
    /// cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
    /// Longest wait for an answer, in milliseconds: a whole number from 100 to 6000.
    pub timeout_ms: i64,
    /// Address of the partner's daemon: HTTP or HTTPS with host and port. Without a value: it cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPartner {
    /// Account that has what the partner owes for jobs of its projects here. Without a value: none of its projects
    /// may run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Let the partner and its projects start jobs and deliver charges. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Answer to a reserve while the partner cannot be reached: refuse, accept. Default: refuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Project that the partner may charge, with those below it: at most 1000 names of existing projects. Without
    /// a value: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Id of the key that the partner gave to this bank; its secret is in `keys/partner-NAME`. Without a value: it
    /// cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
    /// Longest wait for an answer, in milliseconds: a whole number from 100 to 6000. Default: 3000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
    /// Address of the partner's daemon: HTTP or HTTPS with host and port. Without a value: it cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a partner. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchPartner {
    /// Account that has what the partner owes for jobs of its projects here. Without a value: none of its projects
    /// may run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Let the partner and its projects start jobs and deliver charges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Answer to a reserve while the partner cannot be reached: refuse, accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Project that the partner may charge, with those below it: at most 1000 names of existing projects. Without
    /// a value: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Id of the key that the partner gave to this bank; its secret is in `keys/partner-NAME`. Without a value: it
    /// cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
    /// Longest wait for an answer, in milliseconds: a whole number from 100 to 6000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
    /// Address of the partner's daemon: HTTP or HTTPS with host and port. Without a value: it cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
