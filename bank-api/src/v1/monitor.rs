//! Observation without enforcement: live refusals in mode strict, and a simulation of enforcement from a
//! given day.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/monitor`. Answer: [`Monitor`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MonitorQuery {
    /// Only entries with this effective time or later; absent: the whole journal.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub since: Option<String>,
    /// Only entries with an earlier effective time.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// Only this user.
    pub user: Option<String>,
    /// Only this machine.
    pub machine: Option<String>,
    /// Only refusals of this code.
    pub code: Option<String>,
    /// Only entries after this cursor: `next` of the previous page.
    pub after: Option<String>,
    /// Rows per page, 1 to 1000; absent: 100.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
}

/// Requests that mode strict would have refused, in journal order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Monitor {
    /// The refusals.
    pub items: Vec<Watched>,
    /// Cursor of the next page, or of the next request to a live journal.
    pub next: String,
    /// Whether more entries are available now.
    pub more: bool,
    /// Unit label of the amounts.
    pub unit: String,
}

/// One refusal that strict would have given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Watched {
    /// When: the time of the request, or the start of a use that was reported.
    pub at: String,
    /// The scheduler's or the source's id.
    pub job: String,
    /// Machine as named.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// The refusal's code.
    pub code: String,
    /// Required amount; `null` if funds were not the reason.
    pub needed: Option<String>,
    /// Available amount.
    pub available: Option<String>,
    /// The source that reported the use; `null` for a request of a scheduler.
    pub source: Option<String>,
    /// The journal transaction.
    pub transaction: i64,
}

/// Output of `bank monitor --json`: the newest refusals and the sums of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Monitored {
    /// The refusals, the oldest first.
    pub items: Vec<Watched>,
    /// Sums by project, including refusals that the list omits.
    pub projects: Vec<MonitorSum>,
    /// False if older refusals were only counted.
    pub complete: bool,
    /// Unit label of the amounts.
    pub unit: String,
}

/// A project in [`Monitored`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MonitorSum {
    /// Project as named.
    pub project: String,
    /// Refusals.
    pub refused: i64,
    /// Number of refusals because of insufficient funds.
    pub short: i64,
    /// Sum of the amounts that these required.
    pub needed: String,
    /// Number of their users.
    pub users: i64,
    /// The time of the first.
    pub first: String,
    /// The time of the last.
    pub last: String,
}

/// Query of `GET /api/v1/what-if/enforced`. Answer: [`Enforced`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EnforcedQuery {
    /// Start of the simulated enforcement.
    pub from: String,
    /// Uses that began before this instant; absent: now.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Show only this project. The simulation includes all.
    pub project: Option<String>,
    /// Show only this machine. The simulation includes all.
    pub machine: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Result of simulated strict enforcement from an instant on. Refused uses do not run, so their funds
/// remain for later uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enforced {
    /// Start of the simulated enforcement.
    pub from: String,
    /// Uses that began before this instant took part.
    pub until: String,
    /// By project.
    pub projects: Vec<EnforcedSum>,
    /// The uses that would have been refused, the first first.
    pub items: Vec<EnforcedUse>,
    /// Cursor of the next page; sums are of all pages.
    pub next: Option<String>,
    /// False if there are more than 500,000 uses: the latest are left out.
    pub complete: bool,
    /// Unit label of the amounts.
    pub unit: String,
}

/// A project in [`Enforced`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EnforcedSum {
    /// Project as named.
    pub project: String,
    /// Uses that would have run.
    pub jobs: i64,
    /// Cost of these uses.
    pub cost: String,
    /// Uses that would have been refused.
    pub refused: i64,
    /// Cost of the refused uses without enforcement.
    pub refused_cost: String,
    /// Start of the first refused use.
    pub first_refused: Option<String>,
}

/// A use that enforcement would have refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EnforcedUse {
    /// Start of the use.
    pub at: String,
    /// Its id.
    pub job: String,
    /// Machine as named.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Cost of the use.
    pub cost: String,
    /// The refusal's code.
    pub code: String,
    /// Amount that would have been available; `null` if funds were not the reason.
    pub available: Option<String>,
}
