//! Watching without enforcing: what strict would refuse as it happens, and what enforcement from a
//! day on would have come to.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/monitor`. Answer: [`Monitor`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MonitorQuery {
    /// Only what counts from this instant on; absent: the whole journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub since: Option<String>,
    /// Only what counts before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Only this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only this user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Only this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Only refusals of this code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Only what comes after it: `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Rows wanted, 1 to 1000; absent: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
}

/// What strict would have refused, in the order of the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Monitor {
    /// The refusals.
    pub items: Vec<Watched>,
    /// Where the next page, or the next look at a live journal, goes on.
    pub next: String,
    /// Whether there is more already.
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
    /// What was needed; `null` where money was not the reason.
    pub needed: Option<String>,
    /// What was available.
    pub available: Option<String>,
    /// The source that reported the use; `null` where a scheduler asked.
    pub source: Option<String>,
    /// The journal transaction.
    pub transaction: i64,
}

/// What `bank monitor --json` prints: the newest refusals and the sums of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Monitored {
    /// The refusals, the oldest first.
    pub items: Vec<Watched>,
    /// Their sums by project, and those of refusals that are not told.
    pub projects: Vec<MonitorSum>,
    /// False where older refusals were only counted.
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
    /// How many of them for want of money.
    pub short: i64,
    /// What those needed, together.
    pub needed: String,
    /// How many users they were of.
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
    /// When enforcement would have begun.
    pub from: String,
    /// Uses that began before this instant; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Show only this project; all of them take part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Show only this machine; all of them take part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What strict enforcement from an instant on would have come to: uses that would have been refused
/// do not run and leave their money to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enforced {
    /// When enforcement would have begun.
    pub from: String,
    /// Uses that began before this instant took part.
    pub until: String,
    /// By project.
    pub projects: Vec<EnforcedSum>,
    /// The uses that would have been refused, the first first.
    pub items: Vec<EnforcedUse>,
    /// Cursor of the next page; sums are of all pages.
    #[serde(default)]
    pub next: Option<String>,
    /// False where there are more uses than one answer takes, 500,000: the latest are left out.
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
    /// What they cost.
    pub cost: String,
    /// Uses that would have been refused.
    pub refused: i64,
    /// What those cost without enforcement.
    pub refused_cost: String,
    /// When the first of them began.
    pub first_refused: Option<String>,
}

/// A use that enforcement would have refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EnforcedUse {
    /// When it began.
    pub at: String,
    /// Its id.
    pub job: String,
    /// Machine as named.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// What it cost.
    pub cost: String,
    /// The refusal's code.
    pub code: String,
    /// What would have been available; `null` where money was not the reason.
    pub available: Option<String>,
}
