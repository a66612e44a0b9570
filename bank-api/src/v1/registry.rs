//! Projects, their members, users and machines.

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
    #[serde(default)]
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

/// `POST /api/v1/projects`. Answer: `Written<Project>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    /// Unique name.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub name: String,
    /// Parent project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Create no account of the same name.
    #[serde(default)]
    pub no_account: bool,
    /// Users to make members; each must be there.
    #[serde(default)]
    pub members: Vec<String>,
    /// `strict`, `fast`, `notional`, `track` or `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Machines to make its member machines; each must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<String>,
}

/// `PATCH /api/v1/projects/{name}`. Answer: `Written<Project>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchProject {
    /// Switch on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// New parent; the empty string makes it a project at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// `strict`, `fast`, `notional`, `track` or `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Free text; the empty string clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its organisation; the empty string clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Replaces the list of member machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<Vec<String>>,
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

/// A user (`GET /api/v1/users/{name}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct User {
    /// Unique login name.
    pub name: String,
    /// False refuses quotes and liens.
    pub active: bool,
    /// Name for people.
    pub common_name: Option<String>,
    /// Address for notices.
    pub email: Option<String>,
    /// Project for requests without one.
    pub default_project: Option<String>,
    /// Projects the user is a member of.
    #[serde(default)]
    pub projects: Vec<String>,
    /// Their organisation, `null` for none.
    #[serde(default)]
    pub organization: Option<String>,
    /// Telephone number, `null` for none.
    #[serde(default)]
    pub phone: Option<String>,
    /// Free text, `null` for none.
    #[serde(default)]
    pub description: Option<String>,
    /// Other names that sources of usage have for them.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// `POST /api/v1/users`. Answer: `Written<User>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// Unique login name.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub name: String,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_name: Option<String>,
    /// Address for notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Project for requests without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_project: Option<String>,
    /// Their organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Replaces the list of aliases: names in usage sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
}

/// `PATCH /api/v1/users/{name}`. Answer: `Written<User>`. An empty string clears a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchUser {
    /// Switch on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_name: Option<String>,
    /// Address for notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Project for requests without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_project: Option<String>,
    /// Their organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Replaces the list of aliases: names in usage sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
}
