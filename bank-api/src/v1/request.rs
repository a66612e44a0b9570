//! Requests: what people ask for who may not do it themselves.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/requests/deposits`. Answer: `Written<Proposal>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DepositRequest {
    /// An account, else a project with one account.
    pub name: String,
    /// Amount in the bank's unit.
    pub amount: String,
    /// First moment at which it can be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// First moment at which it can no longer be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Why, at most 1000 bytes, kept in the journal.
    pub reason: String,
}

/// `POST /api/v1/requests/extensions`. Answer: `Written<Proposal>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExtensionRequest {
    /// Number of the allocation.
    pub allocation: i64,
    /// Its new end: first moment at which it can no longer be spent.
    pub until: String,
    /// Why, at most 1000 bytes, kept in the journal.
    pub reason: String,
}

/// `POST /api/v1/requests/members`. Answer: `Written<Proposal>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MemberRequest {
    /// The project.
    pub project: String,
    /// The user.
    pub user: String,
    /// Remove the member in place of adding one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Why, at most 1000 bytes, kept in the journal.
    pub reason: String,
}

/// `POST /api/v1/requests/projects`. Answer: `Written<Proposal>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectRequest {
    /// Name of the project.
    pub name: String,
    /// The project above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Principal investigator; absent: the asker, if registered as a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// Amount of the first deposit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// First moment at which the first deposit can be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// First moment at which the first deposit can no longer be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Why, at most 1000 bytes, kept in the journal.
    pub reason: String,
}

/// What a requested project starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectStart {
    /// Its principal investigator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// The first deposit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<super::NewDeposit>,
}

/// The states of a request.
pub const REQUEST_STATES: [&str; 6] = [
    "open",
    "approved",
    "proposed",
    "rejected",
    "withdrawn",
    "expired",
];

/// Query of `GET /api/v1/requests`. Answer: `List<Proposal>`, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestQuery {
    /// Only those of the caller.
    #[serde(default)]
    pub mine: bool,
    /// Only those of this state: `open`, `approved`, `proposed`, `rejected`, `withdrawn` or `expired`.
    pub state: Option<String>,
    /// Cursor: `next` of the page before.
    pub after: Option<String>,
    /// Rows, 1 to 1000; absent: 100.
    pub limit: Option<u32>,
}
