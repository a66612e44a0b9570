//! How many jobs ran and waited, as snapshots show it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/report/sampled`. Answer: [`SampledTable`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SampledQuery {
    /// Start of the period, inclusive: a time, or a date such as `2026-10-01`, which begins as it does in
    /// the zone; absent: the first snapshot there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its end, exclusive; absent: the end of the hour that is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What rows are of, with commas between: `project`, `user`, `machine`, `queue`, `pi`, `source` (the
    /// collector that took the snapshots). Absent: one row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// `hour`, `day`, `week`, `month`, `quarter`, `half-year` or `year`: a row for each; absent: `all` in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<String>,
    /// The zone whose days and months these are, such as `Europe/Berlin`; absent: `UTC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// Only this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// With the projects below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// Only this user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Only this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Only this queue or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
}

/// How many jobs ran and how many waited when collectors looked. Between two snapshots nothing is known: a
/// bucket without one has no figure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledTable {
    /// Start of the period.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: String,
    /// Its end, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: String,
    /// Its start in the zone: a date, with the time of day where that is not midnight.
    pub shown_from: String,
    /// Its end in the zone, likewise.
    pub shown_until: String,
    /// The zone of its buckets.
    pub tz: String,
    /// The length of its buckets.
    pub every: String,
    /// What rows are of.
    pub by: Vec<String>,
    /// `snapshots`.
    pub from_what: String,
    /// The collectors that ever saw something of what is asked for, by name.
    pub sources: Vec<SampledSource>,
    /// By bucket, and in it the largest mean of what ran first. Without words in `by` each bucket has its row;
    /// else those who had something in it, and a bucket that nobody looked at has a row whose keys are `null`.
    pub rows: Vec<SampledLine>,
    /// All of them together, over the whole period.
    pub total: SampledFigures,
}

/// The snapshots of a collector in the period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledSource {
    /// Its name.
    pub source: String,
    /// How many.
    pub snapshots: u64,
    /// When the first was taken; `null` where there is none.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub first: Option<String>,
    /// When the last was taken.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub last: Option<String>,
    /// The longest time between two of them, in whole seconds, cut; `null` where there are not two.
    pub gap_s: Option<i64>,
    /// When it began.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub gap_from: Option<String>,
    /// When it ended.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub gap_until: Option<String>,
}

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledLine {
    /// The value of each word of `by`; empty where the source says none, `null` where it is not shown and in
    /// the row of a bucket without a snapshot.
    pub keys: BTreeMap<String, Option<String>>,
    /// The bucket: `2026-10-01T13:00+02:00`, `2026-10-01`, `2026-W40`, `2026-10`, `2026Q4`, `2026H2`, `2026`;
    /// `null` where the period is one.
    pub bucket: Option<String>,
    /// When the bucket begins in this period.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub bucket_from: String,
    /// When it ends, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub bucket_until: String,
    /// What was seen.
    #[serde(flatten)]
    pub figures: SampledFigures,
}

/// What was seen in snapshots. A mean has three places, rounded once, half away from zero; of several
/// collectors it is the sum of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampledFigures {
    /// How many snapshots it was seen in, or could have been: those of the collectors that saw anything of it
    /// in this time.
    pub snapshots: u64,
    /// Jobs that ran, on average over the snapshots; `null` where there is none.
    pub running_sampled_mean: Option<String>,
    /// Jobs that ran in the snapshot with the most; `null` where several collectors looked, each at moments of
    /// its own.
    pub running_sampled_max: Option<u64>,
    /// Jobs that waited, on average; `null` likewise.
    pub queued_sampled_mean: Option<String>,
    /// Jobs that waited in the snapshot with the most; `null` likewise.
    pub queued_sampled_max: Option<u64>,
}
