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
    pub at: Option<String>,
    /// With `at`: as it was known then. Without it everything counts that took effect by then, whenever
    /// it was recorded.
    #[serde(default, skip_serializing_if = "is_no")]
    pub recorded: bool,
}

/// Whether a switch is off: what is off is not sent.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_no(switch: &bool) -> bool {
    !switch
}
