//! Who may do what: API tokens.

use serde::{Deserialize, Serialize};

/// An API token without its text (`GET /api/v1/tokens/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Token {
    /// Token id, `[A-Za-z0-9._-]{1,64}`.
    pub id: String,
    /// The client that it belongs to.
    pub client: String,
    /// What it may do.
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
    /// When it was used last, to the minute; `null` for never.
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

/// The answer to [`NewToken`]. The token is told this once.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewTokenAnswer {
    /// What is kept of it.
    pub token: Token,
    /// `bk_…`: what a request shows as `Authorization: Bearer bk_…`; `null` on a dry run and in the
    /// answer to a repeat.
    pub secret: Option<String>,
    /// The journal transaction; `null` on a dry run.
    #[serde(default)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

// It carries the token: its debug form must not.
impl std::fmt::Debug for NewTokenAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewTokenAnswer")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
