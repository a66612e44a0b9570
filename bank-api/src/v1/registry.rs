//! Projects and their members.

use serde::{Deserialize, Serialize};

/// A project (`GET /api/v1/projects/{name}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Project {
    /// Unique name; may contain `/`.
    pub name: String,
    /// Parent project, `null` at the top.
    pub parent: Option<String>,
    /// False refuses quotes and liens; charges are still taken (ledger.md 2.8).
    pub active: bool,
    /// `strict`, `fast`, `notional`, `track`, or `default` for that of the machine or bank.
    pub mode: String,
    /// Free text.
    pub description: Option<String>,
    /// Names of the accounts with a project constraint that allows this project.
    #[serde(default)]
    pub accounts: Vec<String>,
    /// Members, by name.
    #[serde(default)]
    pub members: Vec<Member>,
    /// Its organisation, `null` for none.
    pub organization: Option<String>,
    /// Its member machines: `MEMBERS` in the machine list of an account.
    #[serde(default)]
    pub machines: Vec<String>,
}

/// One member of a project (`GET /api/v1/projects/{name}/members`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Member {
    /// User name.
    pub user: String,
    /// Only active members may spend.
    pub active: bool,
    /// `member`, `pi` or `manager`.
    #[serde(default)]
    pub role: String,
}

/// `POST /api/v1/projects/{name}/members`. Answer: `Written<Member>`. A member that is there
/// already gets the given flags. `DELETE …/members/{user}` answers `Removed`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewMember {
    /// User name; the user must be there.
    pub user: String,
    /// Absent: yes. With a `role`: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// `member`, `pi` or `manager`. Absent: unchanged, or `member` for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}
