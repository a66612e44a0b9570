//! Queries of earlier states of the bank.

use serde::{Deserialize, Serialize};

/// Query of objects with a history: projects, members, users, machines, accounts; one allocation, one lien.
/// Without `at`, the answer is the present state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PastQuery {
    /// State at this instant: RFC 3339, not after now.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then. Without it, the answer contains everything that
    /// took effect by `at`, even if it was recorded later.
    #[serde(default, skip_serializing_if = "is_no")]
    pub recorded: bool,
}

/// Query of lists of objects with a history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PastPageQuery {
    /// State at this instant: RFC 3339, not after now.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then.
    #[serde(default, skip_serializing_if = "is_no")]
    pub recorded: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Query of the list of accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AccountsQuery {
    /// State at this instant: RFC 3339, not after now.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then.
    #[serde(default, skip_serializing_if = "is_no")]
    pub recorded: bool,
    /// Include removed accounts, and order all by their number.
    #[serde(default, skip_serializing_if = "is_no")]
    pub removed: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Whether a switch is off. A switch that is off is not sent.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_no(switch: &bool) -> bool {
    !switch
}
