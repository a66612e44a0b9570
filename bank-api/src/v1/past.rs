//! Looking at the bank as it was.

use serde::{Deserialize, Serialize};

/// Query of what can be seen as it was: projects, members, users, machines, accounts; one allocation,
/// one lien. Without `at` it is as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PastQuery {
    /// As it was at this instant: RFC 3339, not after now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: as it was known then. Without it everything counts that took effect by then, whenever
    /// it was recorded.
    #[serde(default, skip_serializing_if = "is_no")]
    pub recorded: bool,
}

/// Query of lists of what can be seen as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PastPageQuery {
    /// As it was at this instant: RFC 3339, not after now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: as it was known then.
    #[serde(default, skip_serializing_if = "is_no")]
    pub recorded: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Whether a switch is off: what is off is not sent.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_no(switch: &bool) -> bool {
    !switch
}
