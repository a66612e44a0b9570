//! Access: API tokens, roles, transaction limits, proposals.

use super::ProjectStart;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An API token without its text (`GET /api/v1/tokens/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Token {
    /// Token id, `[A-Za-z0-9._-]{1,64}`.
    pub id: String,
    /// The client that it belongs to.
    pub client: String,
    /// The roles of the token.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Project scope; empty: all.
    #[serde(default)]
    pub projects: Vec<String>,
    /// Machine scope; empty: all.
    #[serde(default)]
    pub machines: Vec<String>,
    /// First moment it is accepted.
    pub valid_from: Option<String>,
    /// First moment it is no longer accepted.
    pub valid_until: Option<String>,
    /// `active`, `expired` or `disabled`.
    pub state: String,
    /// Time of the last use, to the minute; `null` for never.
    pub last_used: Option<String>,
}

/// `POST /api/v1/tokens`. Answer: [`NewTokenAnswer`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Token id; absent: one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Client; absent: the token id. For a token of a person with the role `user`, their name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Roles, at least one.
    pub roles: Vec<String>,
    /// Project scope; empty: all.
    #[serde(default)]
    pub projects: Vec<String>,
    /// Machine scope; empty: all.
    #[serde(default)]
    pub machines: Vec<String>,
    /// First moment it is no longer accepted. Every token ends.
    pub valid_until: String,
}

/// The answer to [`NewToken`]. Only this answer contains the token.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewTokenAnswer {
    /// The stored data of the token.
    pub token: Token,
    /// `bk_…`: requests send it as `Authorization: Bearer bk_…`. `null` on a dry run and in the answer to a
    /// repeat.
    pub secret: Option<String>,
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
}

/// Query of `GET /api/v1/tokens`. Answer: `List<Token>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TokenQuery {
    /// Only tokens of this client.
    pub client: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// `POST /api/v1/keys/{id}/rotate`. Answer: `NewKeyAnswer`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RotateKey {
    /// Id of the new key; absent: that of the old one with a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Seconds in which both are accepted; absent: 604800, a week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap_s: Option<i64>,
    /// As `secret` of a new key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// As `gold` of a new key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gold: bool,
}

/// A role of a user (`GET /api/v1/roles`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RoleGrant {
    /// Login name.
    pub name: String,
    /// The role.
    pub role: String,
    /// Over this project and those below it; `null` for the whole bank.
    pub project: Option<String>,
    /// First moment at which it no longer counts; `null` for never.
    pub until: Option<String>,
    /// `grant` for a granted role, `member` for a role from project membership.
    pub by: String,
}

/// Query of `GET /api/v1/roles`. Answer: `List<RoleGrant>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RoleQuery {
    /// Only those of this person.
    pub name: Option<String>,
    /// Those that are over too.
    #[serde(default)]
    pub all: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// `POST /api/v1/roles`. Answer: `Written<RoleGrant>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewRoleGrant {
    /// Login name. The user need not be registered.
    pub name: String,
    /// `admin`, `operator`, `manager`, `pi`, `auditor`, `scheduler` or `collector`.
    pub role: String,
    /// Over this project and those below it; needed for `operator`, `manager` and `pi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// First moment at which it no longer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// Query of `DELETE /api/v1/roles/{name}/{role}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RevokeQuery {
    /// Check and answer, but write nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The project that the role was given for.
    pub project: Option<String>,
}

/// A transaction limit (`GET /api/v1/limits`). Exactly one of `role` and `name` is present.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limit {
    /// Everybody who acts by this role, each on their own.
    pub role: Option<String>,
    /// A person, a client, or one key or token by its id.
    pub name: Option<String>,
    /// The most in one operation.
    pub per_operation: Option<String>,
    /// The most in a UTC day of the ledger clock.
    pub per_day: Option<String>,
    /// The bank's unit.
    pub unit: String,
}

/// `POST /api/v1/limits`. Answer: `Written<Limit>`. Requires exactly one of `role` and `name`. Absent
/// bounds are unchanged, and `none` removes a bound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewLimit {
    /// As [`Limit::role`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// As [`Limit::name`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As [`Limit::per_operation`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_operation: Option<String>,
    /// As [`Limit::per_day`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<String>,
}

/// Query of routes with operations that may need two-person approval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProposeQuery {
    /// Check and answer, but write nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Store the operation as a proposal that another person approves.
    #[serde(default)]
    pub propose: bool,
}

/// The request in a proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProposedRequest {
    /// `POST` or `PATCH`.
    pub method: String,
    /// The path of its route.
    pub path: String,
    /// Its body.
    pub body: Value,
    /// For a request of a person who may not do it: their reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// What a requested project starts with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<ProjectStart>,
}

/// A proposal (`GET /api/v1/proposals/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Proposal {
    /// Its number.
    pub id: i64,
    /// `deposit`, `withdraw`, `transfer`, `refund`, `adjust` or `credit_limit`; of a request also `extension`,
    /// `member` or `project`.
    pub kind: String,
    /// Amount of the operation; zero for one that moves no money.
    pub amount: String,
    /// The bank's unit.
    pub unit: String,
    /// The proposed request.
    pub request: ProposedRequest,
    /// For a request of a person who may not do it: their reason. `null` for a proposal.
    pub asked: Option<String>,
    /// The key, token or person that proposed or asked for it.
    pub proposed_by: String,
    /// When.
    pub at: String,
    /// Expiry time of the proposal.
    pub until: String,
    /// `open`, `approved`, `rejected` or `expired`; a request can also be `withdrawn`, or `proposed` while the proposal
    /// that it became is open.
    pub state: String,
    /// The user who approved or rejected it; `null` while it is pending.
    pub decided_by: Option<String>,
    /// Time of the decision; `null` while it is pending.
    pub decided_at: Option<String>,
    /// Reason of the decision, if given.
    pub reason: Option<String>,
    /// The first transaction of the approved operation.
    pub done: Option<i64>,
    /// The proposal that a request became (`?propose=true` of its approval). The state is that of the proposal.
    #[serde(default)]
    pub proposal: Option<i64>,
}

impl Proposal {
    /// The account, the project, the member, the allocation or the job of the proposed request; `–` for none.
    pub fn subject(&self) -> String {
        let path: Vec<&str> = self.request.path.split('/').skip(3).collect();
        let text = |name: &str| self.request.body.get(name).and_then(Value::as_str);
        match path.as_slice() {
            ["allocations", number] => return format!("allocation {number}"),
            ["projects", project, "members", user] => return format!("{user} leaves {project}"),
            ["projects", project, "members"] => {
                return format!("{} in {project}", text("user").unwrap_or_default());
            }
            _ => {}
        }
        let names = ["name", "account", "from", "job"];
        let found = names.into_iter().find_map(text);
        found.unwrap_or("–").to_owned()
    }
}

/// Query of `GET /api/v1/proposals`. Answer: `List<Proposal>`, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProposalQuery {
    /// Those that were decided or are over too.
    #[serde(default)]
    pub all: bool,
    /// Cursor: `next` of the page before.
    pub after: Option<String>,
    /// Rows, 1 to 1000; absent: 100.
    pub limit: Option<u32>,
}

/// `POST /api/v1/proposals/{id}/approve` and `…/reject`. Answer: `Written<Proposal>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewDecision {
    /// Why, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Number of refused accesses since the daemon started (`GET /api/v1/status`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusedAccess {
    /// The roles of who was refused, with commas between.
    pub roles: String,
    /// The refusal's code.
    pub code: String,
    /// Number of refusals.
    pub count: i64,
}

impl std::fmt::Debug for RotateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RotateKey")
            .field("id", &self.id)
            .field("overlap_s", &self.overlap_s)
            .finish_non_exhaustive()
    }
}

// It carries the token: its debug form must not.
impl std::fmt::Debug for NewTokenAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewTokenAnswer")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
