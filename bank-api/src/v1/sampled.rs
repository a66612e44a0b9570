//! Numbers of running and waiting jobs in snapshots.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/report/sampled`. Answer: [`SampledTable`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SampledQuery {
    /// Start of the period, inclusive: a time, or a date such as `2026-10-01`, which begins at midnight in
    /// the zone. Absent: the first snapshot.
    pub from: Option<String>,
    /// Its end, exclusive; absent: the end of the hour that is now.
    pub until: Option<String>,
    /// Row keys, separated by commas: `project`, `user`, `machine`, `queue`, `pi`, `source` (the collector
    /// of the snapshots). Absent: one row.
    pub by: Option<String>,
    /// `hour`, `day`, `week`, `month`, `quarter`, `half-year` or `year`: a row for each. Absent: `all` in
    /// one row.
    pub every: Option<String>,
    /// Time zone of days and months, such as `Europe/Berlin`; absent: `UTC`.
    pub tz: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// With the projects below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// Only this user.
    pub user: Option<String>,
    /// Only this machine.
    pub machine: Option<String>,
    /// Only this queue or class.
    pub queue: Option<String>,
}

/// Numbers of running and waiting jobs in snapshots. A bucket without a snapshot has no figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledTable {
    /// Start of the period.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: String,
    /// Its end, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: String,
    /// Its start in the time zone: a date, and the time of day unless it is midnight.
    pub shown_from: String,
    /// Its end in the time zone, in the same form.
    pub shown_until: String,
    /// The zone of its buckets.
    pub tz: String,
    /// The length of its buckets.
    pub every: String,
    /// Row keys.
    pub by: Vec<String>,
    /// `snapshots`.
    pub from_what: String,
    /// The collectors with any data for the query, by name.
    pub sources: Vec<SampledSource>,
    /// By bucket, then by mean of running jobs, largest first. Without words in `by`, each bucket has one
    /// row. Otherwise only keys with jobs have rows, and a bucket without a snapshot has a row with `null`
    /// keys.
    pub rows: Vec<SampledLine>,
    /// The total of all rows, over the whole period.
    pub total: SampledFigures,
}

/// The snapshots of a collector in the period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledSource {
    /// Its name.
    pub source: String,
    /// Number of snapshots.
    pub snapshots: u64,
    /// Time of the first snapshot; `null` for none.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub first: Option<String>,
    /// Time of the last snapshot.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub last: Option<String>,
    /// The longest time between two snapshots, in whole seconds, cut; `null` with fewer than two.
    pub gap_s: Option<i64>,
    /// Start of the gap.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub gap_from: Option<String>,
    /// End of the gap.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub gap_until: Option<String>,
}

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledLine {
    /// The value of each word of `by`; empty if the source reports none, `null` if it is hidden and in the
    /// row of a bucket without a snapshot.
    pub keys: BTreeMap<String, Option<String>>,
    /// The bucket: `2026-10-01T13:00+02:00`, `2026-10-01`, `2026-W40`, `2026-10`, `2026Q4`, `2026H2`,
    /// `2026`; `null` if the whole period is one bucket.
    pub bucket: Option<String>,
    /// Start of the bucket in this period.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub bucket_from: String,
    /// End of the bucket, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub bucket_until: String,
    /// Figures from the snapshots.
    #[serde(flatten)]
    pub figures: SampledFigures,
}

/// Figures from snapshots. A mean has three places, rounded once, half away from zero. With several
/// collectors it is the sum of their means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledFigures {
    /// Number of snapshots of all collectors that reported any of these jobs in this time.
    pub snapshots: u64,
    /// Mean number of running jobs in the snapshots; `null` without snapshots.
    pub running_sampled_mean: Option<String>,
    /// Running jobs in the snapshot with the most; `null` with several collectors, whose snapshots have
    /// different times.
    pub running_sampled_max: Option<u64>,
    /// Mean number of waiting jobs; `null` without snapshots.
    pub queued_sampled_mean: Option<String>,
    /// Waiting jobs in the snapshot with the most; `null` with several collectors.
    pub queued_sampled_max: Option<u64>,
}
