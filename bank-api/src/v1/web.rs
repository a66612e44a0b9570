//! The web pages: links to sign in.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/web/logins`. Answer: [`WebLogin`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewWebLogin {}

/// A link with which the caller can sign in once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebLogin {
    /// The address to open in a browser. It contains a code that can be used once.
    pub url: String,
    /// The person who signs in with it.
    pub name: String,
    /// For how many seconds it can be used.
    pub valid_s: i64,
}
