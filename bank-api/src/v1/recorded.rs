//! Finished uses that no charge belongs to.

use serde::{Deserialize, Serialize};

/// A finished use that the bank only records: a collector reported it, and no job is charged for it (`GET /api/v1/uses`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordedUse {
    /// The source that reported it.
    pub source: String,
    /// Its id there.
    pub id: String,
    /// `job` or `reservation`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Machine.
    pub machine: String,
    /// Project; without one, the name that the source reports.
    pub project: Option<String>,
    /// User; without one, the name that the source reports.
    pub user: Option<String>,
    /// Group, as the source names it.
    pub group: Option<String>,
    /// Queue.
    pub queue: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// How it ended, as the source reports it.
    pub state: Option<String>,
    /// Its submission.
    pub submit: Option<String>,
    /// Its start. Without one in the record, the wall time defines it.
    pub start: String,
    /// Its end, likewise.
    pub end: String,
    /// Wall time in seconds, an exact decimal.
    pub wall_s: String,
    /// Processors, an exact decimal.
    pub processors: Option<String>,
    /// Nodes.
    pub nodes: Option<i64>,
    /// GPUs.
    pub gpus: Option<i64>,
    /// Its shadow charge; `null` if it was not priced.
    pub shadow_charged: Option<String>,
    /// Unit label of the amount.
    #[serde(default)]
    pub unit: String,
}

/// Query of `GET /api/v1/uses`. Answer: `List<RecordedUse>`, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RecordedUseQuery {
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// Start of the period.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: Option<String>,
    /// End of the period, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Which uses belong to the period: those that `ended` in it (default), `started` in it, or were `running` at least
    /// for a part of it, as for `GET /api/v1/jobs`.
    #[cfg_attr(feature = "openapi", schema(pattern = "^(ended|started|running)$"))]
    pub period: Option<String>,
    /// Rows per page, 1 to 1000; default 100.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}
