//! Usage of the clusters compared with contributions, utilisation of capacity, and fair-share priorities.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/report/contribution`. Answer: [`ContributionReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ContributionQuery {
    /// Start of the period, inclusive: RFC 3339, or a date, which begins at midnight in the time zone.
    /// Absent: 30 days before its end.
    pub from: Option<String>,
    /// Its end, exclusive; absent: now.
    pub to: Option<String>,
    /// Start of a second period, for comparison.
    pub from2: Option<String>,
    /// Its end, exclusive.
    pub to2: Option<String>,
    /// Measure of usage: `slots` (processors × time), `cpu` (busy processor time), `gpu`, each times the
    /// factor of the host, or `su`, the charges. Absent: `slots`.
    pub basis: Option<String>,
    /// Group rows by `contributor`, `project` or `user`; absent: `contributor`.
    pub by: Option<String>,
    /// Buckets of utilisation: `day`, `week`, `month` in the time zone, or a number of equal parts, 1 to
    /// 1000. Absent: the smaller of 50 and the number of days.
    pub buckets: Option<String>,
    /// Time zone of buckets and dates, such as `Europe/Berlin`; absent: UTC.
    pub tz: Option<String>,
    /// `spread`: usage counts when jobs ran. `end`: a job counts at its end, as in older reports. Absent:
    /// `spread`.
    pub credit: Option<String>,
    /// Unit of time: `hours` or `seconds`. Charges (`su`) are always in the unit of the bank. Absent:
    /// `hours`.
    pub units: Option<String>,
    /// Only usage of this project, with those below it.
    pub project: Option<String>,
    /// Only usage of this user.
    pub user: Option<String>,
    /// Only usage and capacity of this machine.
    pub machine: Option<String>,
    /// Only the rows of the contributors with the caller's login name. Without any, the report has no periods and
    /// nothing is refused.
    pub own: Option<bool>,
}

/// Shares, subscriptions and utilisation of one or two periods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionReport {
    /// Measure of usage.
    pub basis: String,
    /// Grouping of the rows.
    pub by: String,
    /// The rule that credits usage to contributors.
    pub credit: String,
    /// The time zone of the buckets.
    pub zone: String,
    /// The unit of usage, such as `factored processor-hours`. Capacity has the same unit, but with `su` it
    /// is in factored processor-hours.
    pub unit: String,
    /// The periods, the one of `from` and `to` first.
    pub periods: Vec<ContributionPeriod>,
}

/// One period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionPeriod {
    /// Its start, inclusive.
    pub from: String,
    /// Its end, exclusive.
    pub to: String,
    /// Its start in the time zone: a date, and the time of day unless it is midnight.
    pub shown_from: String,
    /// Its end in the time zone, in the same form.
    pub shown_to: String,
    /// By name, then unassigned usage and contributions: `unassigned`.
    pub rows: Vec<ContributionRow>,
    /// Total of all rows that are not exempt, without `unassigned`: the base of subscriptions.
    pub counted: ContributionTotal,
    /// Total of all rows.
    pub all: ContributionTotal,
    /// By machine, then the total.
    pub utilisation: Vec<Utilisation>,
    /// Number of uses in the period.
    pub uses: u64,
    /// Number of uses without a value for this measure. They count as zero. `null` if the report does not
    /// count them.
    pub unmeasured: Option<u64>,
    /// Source of the figures: `rollups` or single `records`.
    pub from_what: String,
}

/// The share of a contributor, project or user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionRow {
    /// The contributor, project or user, or `unassigned`.
    pub group: String,
    /// Whether subscriptions exclude this group.
    pub exempt: bool,
    /// Usage, two decimals.
    pub usage: String,
    /// Percent of all usage, two decimals; empty without any usage.
    pub usage_share: String,
    /// Processors × factor, weighed by the time that they were installed; two decimals.
    pub contribution: String,
    /// Percent of all contributions, two decimals; empty without any contribution.
    pub contribution_share: String,
    /// Share of usage divided by share of contributions in whole percent, or `Over`, `Under`, `Exempt`,
    /// `—`. Empty for `unassigned`, and in reports by project or user.
    pub subscription: String,
    /// Busy processor time in percent of held processor time, two decimals; `null` if not reported.
    pub cpu_efficiency: Option<String>,
}

/// Sums of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionTotal {
    /// Usage, two decimals.
    pub usage: String,
    /// Contribution, two decimals.
    pub contribution: String,
}

/// Utilisation of a capacity over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Utilisation {
    /// The machine; `null` for all of them together.
    pub machine: Option<String>,
    /// All buckets as one.
    pub whole: UtilisationBucket,
    /// In order.
    pub buckets: Vec<UtilisationBucket>,
}

/// One bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UtilisationBucket {
    /// Its start, inclusive.
    pub from: String,
    /// Its end, exclusive.
    pub to: String,
    /// Its start in the time zone: a date, and the time of day unless it is midnight.
    pub shown_from: String,
    /// Its end in the time zone, in the same form.
    pub shown_to: String,
    /// Used capacity, two decimals.
    pub used: String,
    /// Available capacity, two decimals.
    pub capacity: String,
    /// Percent with two decimals, by slots never above 100; `null` without capacity, and in an unfinished bucket that
    /// follows others: usage is reported after the end of a job.
    pub percent: Option<String>,
    /// Whether the bucket is a day, a week or a month that is not over. Its capacity is that of the elapsed part.
    #[serde(default)]
    pub unfinished: bool,
}

/// Query of `GET /api/v1/report/priority`. Answer: [`PriorityReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PriorityQuery {
    /// `scaled-by-sum` or `full-spread`; absent: `scaled-by-sum`.
    pub mode: Option<String>,
    /// The lowest priority; absent: 0.
    pub min: Option<i64>,
    /// The highest; absent: 1024.
    pub max: Option<i64>,
    /// Length of the window up to now, in seconds; absent: everything.
    pub duration_s: Option<i64>,
    /// `started`: finished uses that began within the window, whole; `overlap`: of each use, running ones
    /// included, the part within the window. Absent: `started`.
    pub count: Option<String>,
    /// Components of the score, separated by commas: `NAME=SCORE` with `processors`, `gpus`, `nodes`,
    /// `memory_gb`. Several components are multiplied. Absent: time alone.
    pub components: Option<String>,
    /// `project`, `account`, `user`, `group` or `contributor`; absent: `project`. An account is as its
    /// source names it.
    pub by: Option<String>,
    /// Only these groups, with commas; those that used nothing are there too. Absent: whoever used
    /// something.
    pub groups: Option<String>,
    /// Only on this machine.
    pub machine: Option<String>,
}

/// Priorities of groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriorityReport {
    /// Calculation of priorities from resources.
    pub mode: String,
    /// The lowest.
    pub min: i64,
    /// The highest.
    pub max: i64,
    /// Start of the window; `null` for all time.
    pub since: Option<String>,
    /// `started` or `overlap`.
    #[serde(default)]
    pub count: String,
    /// Kind of the groups.
    pub by: String,
    /// By name.
    pub items: Vec<PriorityRow>,
}

/// One group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriorityRow {
    /// Its name.
    pub group: String,
    /// Used resources: seconds × amounts × scores, an exact decimal cut to six places.
    pub resource: String,
    /// Its priority.
    pub priority: i64,
    /// Number of uses in the calculation.
    pub uses: u64,
}

/// Query of `GET /api/v1/report/efficiency`. Answer: [`EfficiencyReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EfficiencyQuery {
    /// Start of the period, inclusive: RFC 3339, or a date, which begins at midnight UTC. Absent: 30 days
    /// before its end.
    pub from: Option<String>,
    /// Its end, exclusive, in the same form. Absent: now.
    pub to: Option<String>,
    /// `project`, `account`, `user`, `group` or `contributor`; absent: `project`.
    pub by: Option<String>,
    /// Watts of one processor, an exact decimal, in place of those of the settings: adds energy.
    pub watts: Option<String>,
    /// Grams of CO2 of a kilowatt-hour, an exact decimal, in place of those of the settings: with watts
    /// adds CO2.
    pub co2_g_per_kwh: Option<String>,
    /// Only on this machine.
    pub machine: Option<String>,
}

/// Requested and used resources, and energy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EfficiencyReport {
    /// Start of the period, inclusive.
    pub from: String,
    /// Its end, exclusive.
    pub to: String,
    /// Kind of the groups.
    pub by: String,
    /// By name.
    pub items: Vec<EfficiencyRow>,
    /// Total of all groups.
    pub total: EfficiencyRow,
    /// Uses on machines without a value for watts per processor. Their energy counts as zero.
    #[serde(default)]
    pub without_watts: u64,
}

/// One group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EfficiencyRow {
    /// Its name; empty if not reported.
    pub group: String,
    /// Number of uses in the period.
    pub uses: u64,
    /// Processor-hours that were held, two decimals.
    pub hours: String,
    /// Requested processor-hours of uses that report them, two decimals.
    pub requested_hours: String,
    /// Busy processor-hours of uses that report them, two decimals.
    pub cpu_hours: String,
    /// Held processor-seconds, six decimals.
    #[serde(default)]
    pub seconds: String,
    /// Requested processor-seconds, six decimals.
    #[serde(default)]
    pub requested_seconds: String,
    /// Busy processor-seconds, six decimals.
    #[serde(default)]
    pub cpu_seconds: String,
    /// Run time in percent of the requested time, two decimals; `null` if not reported.
    pub time_efficiency: Option<String>,
    /// Busy processor time in percent of the held time, two decimals; `null` if not reported.
    pub cpu_efficiency: Option<String>,
    /// Kilowatt-hours, three decimals; `null` without a value for watts.
    pub energy_kwh: Option<String>,
    /// Kilograms of CO2, three decimals; `null` unless both factors are set.
    pub co2_kg: Option<String>,
    /// Possible savings: held but not busy processor-hours of uses that report busy time, two decimals.
    #[serde(default)]
    pub idle_hours: String,
    /// Kilowatt-hours of `idle_hours`, three decimals; `null` without a value for watts.
    pub idle_energy_kwh: Option<String>,
    /// Kilograms of CO2 of `idle_hours`, three decimals; `null` unless both factors are set.
    pub idle_co2_kg: Option<String>,
}
