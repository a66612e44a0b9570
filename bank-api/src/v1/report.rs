//! Usage added up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/report/usage`. Answer: [`UsageTable`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a parameter of its own in the address"
)]
pub struct UsageQuery {
    /// Start of the period, inclusive: a time, or a date such as `2026-10-01`, which begins at midnight in
    /// the zone. Absent: the first usage.
    pub from: Option<String>,
    /// Its end, exclusive; absent: the end of the hour that is now.
    pub until: Option<String>,
    /// Row keys, separated by commas: `project`, `account`, `user`, `machine`, `queue`, `qos`, `pi`,
    /// `group`, `state`, `size` (processors of jobs), `wall` (wall time of jobs). Absent: one row.
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
    /// Only usage that this account paid.
    pub account: Option<String>,
    /// Only this user.
    pub user: Option<String>,
    /// Only this machine.
    pub machine: Option<String>,
    /// Only this queue or class.
    pub queue: Option<String>,
    /// Only this quality of service.
    pub qos: Option<String>,
    /// `end`: a job counts at its end, as in older programs. Absent: `time`, spread over its run time.
    pub credit: Option<String>,
    /// So many of the largest, and one row for all others. From 1 to 10,000.
    pub top: Option<u32>,
    /// The figure by which rows are large: `core` (absent too), `gpu`, `node`, `wall`, `cpu`, `memory`,
    /// `disk`, `factored`, `charge`, `started`, `ended` or `running`.
    pub sort: Option<String>,
    /// Also how many users were active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub users: bool,
    /// Read single records, even if rollups contain the values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub records: bool,
    /// Also the sums of each row over all buckets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sums: bool,
}

/// Usage in a period, in rows. A job across an edge counts on both sides with its part, cut to whole
/// microseconds so that the parts add up. Hours are rounded once, after the sum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageTable {
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
    /// The unit of charges.
    pub unit: String,
    /// Source of the figures: `rollups` or single `records`.
    pub from_what: String,
    /// By bucket, then largest first; without empty rows.
    pub rows: Vec<UsageLine>,
    /// The rows of the whole period, largest first, if they were asked for: a job in several buckets counts once.
    #[serde(default)]
    pub sums: Vec<UsageLine>,
    /// The total of all rows. A job in two rows counts in each, but once here if both have the same owner.
    pub total: UsageFigures,
}

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageLine {
    /// The value of each word of `by`; empty if records have none, `null` in the row of all others.
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
    /// True in the row of all that are not among the largest.
    pub others: bool,
    /// Full name of the user of `keys`, if the user is registered and visible to the caller.
    pub common_name: Option<String>,
    /// E-mail address of the user, under the same conditions.
    pub email: Option<String>,
    /// Usage figures.
    #[serde(flatten)]
    pub figures: UsageFigures,
}

/// Usage figures. Hours are decimals with six places, rounded once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageFigures {
    /// Jobs that ran at least for a part of the time.
    pub jobs: String,
    /// Jobs that began in it.
    pub started: String,
    /// Jobs that ended in it.
    pub ended: String,
    /// Processors × wall time.
    pub core_hours: String,
    /// Graphics processors × wall time.
    pub gpu_hours: String,
    /// Nodes × wall time.
    pub node_hours: String,
    /// Wall time.
    pub wall_hours: String,
    /// Processor time that was really used, of jobs that end in records.
    pub cpu_hours: String,
    /// Memory in MiB × wall time.
    pub memory_mib_hours: String,
    /// Disk in MiB × wall time.
    pub disk_mib_hours: String,
    /// Processor speed in MHz × wall time, if collectors report it; `null` from rollups.
    pub cpu_mhz_hours: Option<String>,
    /// Processors × wall time × the factor of the hardware when the job began.
    pub factored_hours: String,
    /// `core_hours` in seconds, exactly, as every figure below with this suffix. The figures of disjoint
    /// rows add up to the total, to the last digit.
    pub core_seconds: String,
    /// `gpu_hours` in seconds.
    pub gpu_seconds: String,
    /// `node_hours` in seconds.
    pub node_seconds: String,
    /// `wall_hours` in seconds.
    pub wall_seconds: String,
    /// `cpu_hours` in seconds.
    pub cpu_seconds: String,
    /// `memory_mib_hours` in seconds.
    pub memory_mib_seconds: String,
    /// `disk_mib_hours` in seconds.
    pub disk_mib_seconds: String,
    /// `cpu_mhz_hours` in seconds; `null` out of rollups.
    pub cpu_mhz_seconds: Option<String>,
    /// `factored_hours` in seconds.
    pub factored_seconds: String,
    /// Real charges, less later refunds.
    pub charged: String,
    /// Shadow charges in the modes `track` and `notional`, less reversed ones.
    #[serde(default)]
    pub shadow_charged: String,
    /// Percent of the charges in the bucket, or in the period if each row is a bucket. Without charges,
    /// percent of processor time. Two places; `null` without both.
    pub share: Option<String>,
    /// Users who used anything; `null` unless that was asked for.
    pub users: Option<u64>,
    /// Jobs that were submitted, as far as their time of submission is known.
    pub submitted: String,
    /// Mean waiting time of started jobs in seconds, with three places; `null` if no time of submission is known.
    pub wait_mean_s: Option<String>,
    /// The average of (wait + wall) ÷ wall of started jobs that have ended, with three places; `null` if no time of
    /// submission is known.
    pub expansion: Option<String>,
}
