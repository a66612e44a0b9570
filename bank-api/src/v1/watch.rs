//! Observation before enforcement, and the clock of the ledger.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/what-if`. Answer: [`WhatIf`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WhatIfQuery {
    /// Number of days to include, 1 to 3660; absent: 30.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 3660))]
    pub days: Option<u32>,
    /// Only this project.
    pub project: Option<String>,
    /// Only this machine.
    pub machine: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Jobs that strict enforcement would have refused, from the journal's `would_refuse` entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WhatIf {
    /// Start of the period.
    pub from: String,
    /// Its end, exclusive.
    pub until: String,
    /// The jobs, the first refused first.
    pub items: Vec<WouldRefuse>,
    /// Cursor of the next page; sums are of all pages.
    pub next: Option<String>,
    /// Their sums, by project.
    pub projects: Vec<WouldRefuseSum>,
    /// False if the period has more rows than the limit of one answer. The oldest are included.
    pub complete: bool,
    /// Unit label of the amounts.
    pub unit: String,
}

/// A job that strict would have refused, and that ran all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WouldRefuse {
    /// The scheduler's object id.
    pub job: String,
    /// Machine.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Time of the first such refusal, or the start of a use that was reported.
    pub at: String,
    /// The refusal's code, of the latest time.
    pub code: String,
    /// Required amount at that time; `null` if funds were not the reason.
    pub needed: Option<String>,
    /// Available amount at that time.
    pub available: Option<String>,
    /// Number of such refusals.
    pub times: i64,
    /// Seconds that it was charged for since, up to now.
    pub used_s: i64,
    /// Cost of that use.
    pub used: String,
    /// The first journal transaction.
    pub transaction: i64,
}

/// The jobs of one project in [`WhatIf`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WouldRefuseSum {
    /// Project as named.
    pub project: String,
    /// Jobs that would have been refused.
    pub jobs: i64,
    /// Sum of the required amounts.
    pub needed: String,
    /// Sum of the cost of their use.
    pub used: String,
}

/// State of the ledger's clock, in [`super::Status`] and as the answer of `POST /api/v1/clock`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClockStatus {
    /// `ok`; `behind`: the system clock went back, and the ledger waits for it; `held`: the system clock
    /// jumped ahead, and the journal waits for the confirmation of an operator.
    pub state: String,
    /// The ledger's present.
    pub ledger: String,
    /// Time of the system clock.
    pub clock: String,
    /// Steps back since the start.
    pub steps_back: i64,
}

/// `POST /api/v1/clock`: the clock is right. Answer: `Written<ClockStatus>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfirmClock {
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The next boundary of a cycle, in [`super::Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NextCycle {
    /// The cycle.
    pub name: String,
    /// When.
    pub at: String,
}

/// A boundary that no rule lets be journalled, in [`super::Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StuckBoundary {
    /// `allocation`, `instance` or `cycle`.
    pub kind: String,
    /// Its number.
    pub id: i64,
    /// The name of a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Due time.
    pub at: String,
    /// The refusal's code.
    pub code: String,
}

impl StuckBoundary {
    /// What is stuck, as people address it: `cycle quarterly`, `allocation 7`.
    pub fn subject(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {name}", self.kind),
            None => format!("{} {}", self.kind, self.id),
        }
    }
}
