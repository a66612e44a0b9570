//! Who used the clusters beside who paid for them, what of the capacity was used, and priorities by
//! that.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/report/contribution`. Answer: [`ContributionReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ContributionQuery {
    /// Start of the period, inclusive: RFC 3339, or a date as it begins in the time zone; absent: 30 days
    /// before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its end, exclusive; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Start of a second period beside the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from2: Option<String>,
    /// Its end, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to2: Option<String>,
    /// What is counted: `slots` (processors × time), `cpu` (time that processors were busy), `gpu`, each
    /// times the factor of the host; `su` what was charged. Absent: `slots`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<String>,
    /// Whom it is told of: `contributor`, `project`, `user`; absent: `contributor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How utilisation is cut: `day`, `week`, `month` in the time zone, or into so many parts of the same
    /// length, 1 to 1000; absent: the smaller of 50 and the days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buckets: Option<String>,
    /// Time zone of buckets and dates, such as `Europe/Berlin`; absent: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// `spread`: usage counts where jobs ran; `end`: all of it where they ended, as older reports have
    /// it. Absent: `spread`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit: Option<String>,
    /// What time is told in: `hours` or `seconds`; what was charged (`su`) only as the bank counts. Absent:
    /// `hours`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
    /// Only usage of this project, with those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only usage of this user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Only usage and capacity of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// Shares, subscriptions and utilisation of one or two periods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionReport {
    /// What is counted.
    pub basis: String,
    /// Whom it is told of.
    pub by: String,
    /// Where usage counts.
    pub credit: String,
    /// The time zone of the buckets.
    pub zone: String,
    /// The unit of usage, such as `factored processor-hours`. That of capacity is the same, but of `su`:
    /// there it is factored processor-hours.
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
    /// Its start in the time zone: a date, with the time of day where that is not midnight.
    pub shown_from: String,
    /// Its end in the time zone, likewise.
    pub shown_to: String,
    /// By name, then what belongs to nobody: `unassigned`.
    pub rows: Vec<ContributionRow>,
    /// Of all who are not exempt, without what belongs to nobody: what subscriptions go by.
    pub counted: ContributionTotal,
    /// Of all.
    pub all: ContributionTotal,
    /// By machine, then of all of them together.
    pub utilisation: Vec<Utilisation>,
    /// How many uses lie in it.
    pub uses: u64,
    /// How many of them say nothing of what is counted: they count as nothing. Nobody looked where that
    /// is `null`.
    pub unmeasured: Option<u64>,
    /// `rollups`, or `records` where each use was looked at.
    pub from_what: String,
}

/// Somebody's share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionRow {
    /// The contributor, project or user; `unassigned` for what belongs to nobody.
    pub group: String,
    /// Whether subscriptions leave them out.
    pub exempt: bool,
    /// What was used, two decimals.
    pub usage: String,
    /// Percent of all usage, two decimals; empty where there is none at all.
    pub usage_share: String,
    /// Processors × factor, weighed by the time that they were installed; two decimals.
    pub contribution: String,
    /// Percent of all contributions, two decimals; empty where there is none at all.
    pub contribution_share: String,
    /// Share of usage over share of contributions in whole percent, else `Over`, `Under`, `Exempt`, or
    /// `—`; empty for `unassigned`, and where it is not told of contributors.
    pub subscription: String,
    /// Time that processors were busy, in percent of the time that they were held, two decimals;
    /// `null` where nobody says.
    pub cpu_efficiency: Option<String>,
}

/// Sums of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContributionTotal {
    /// What was used, two decimals.
    pub usage: String,
    /// What was contributed, two decimals.
    pub contribution: String,
}

/// What of a capacity was used over a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Utilisation {
    /// The machine; `null` for all of them together.
    pub machine: Option<String>,
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
    /// Its start in the time zone: a date, with the time of day where that is not midnight.
    pub shown_from: String,
    /// Its end in the time zone, likewise.
    pub shown_to: String,
    /// What was used, two decimals.
    pub used: String,
    /// What there was to use, two decimals.
    pub capacity: String,
    /// Percent with two decimals, by slots never above 100; `null` where there was nothing to use.
    pub percent: Option<String>,
}

/// Query of `GET /api/v1/report/priority`. Answer: [`PriorityReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PriorityQuery {
    /// `scaled-by-sum` or `full-spread`; absent: `scaled-by-sum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The lowest priority; absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// The highest; absent: 1024.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// Length of the window up to now, in seconds; absent: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<i64>,
    /// `started`: finished uses that began within the window, whole; `overlap`: of each use, running ones
    /// included, the part within the window. Absent: `started`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// What counts, with commas: `NAME=SCORE` with `processors`, `gpus`, `nodes`, `memory_gb`; the
    /// product of several. Absent: time alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<String>,
    /// `project`, `account`, `user`, `group` or `contributor`; absent: `project`. An account is as its
    /// source names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Only these groups, with commas; those that used nothing are there too. Absent: whoever used
    /// something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// Only on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// Priorities of groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriorityReport {
    /// How resources became priorities.
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
    /// What the groups are.
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
    /// What it used: seconds × amounts × scores, an exact decimal cut to six places.
    pub resource: String,
    /// Its priority.
    pub priority: i64,
    /// How many uses counted.
    pub uses: u64,
}

/// Query of `GET /api/v1/report/efficiency`. Answer: [`EfficiencyReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct EfficiencyQuery {
    /// Start of the period, inclusive: RFC 3339, or a date as it begins in UTC; absent: 30 days before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its end, exclusive, likewise; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// `project`, `account`, `user`, `group` or `contributor`; absent: `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Watts of one processor, an exact decimal, in place of those of the settings: adds energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<String>,
    /// Grams of CO2 of a kilowatt-hour, an exact decimal, in place of those of the settings: with watts
    /// adds CO2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub co2_g_per_kwh: Option<String>,
    /// Only on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// What was asked for beside what was used, and the energy that it took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EfficiencyReport {
    /// Start of the period, inclusive.
    pub from: String,
    /// Its end, exclusive.
    pub to: String,
    /// What the groups are.
    pub by: String,
    /// By name.
    pub items: Vec<EfficiencyRow>,
    /// Of all.
    pub total: EfficiencyRow,
    /// Uses on machines of which nobody says how many watts a processor takes: their energy counts as
    /// nothing.
    #[serde(default)]
    pub without_watts: u64,
}

/// One group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EfficiencyRow {
    /// Its name; empty where nobody says.
    pub group: String,
    /// How many uses lie in the period.
    pub uses: u64,
    /// Processor-hours that were held, two decimals.
    pub hours: String,
    /// Processor-hours that were asked for, of uses that say it, two decimals.
    pub requested_hours: String,
    /// Hours that processors were busy, of uses that say it, two decimals.
    pub cpu_hours: String,
    /// What was held, in processor-seconds, six decimals.
    #[serde(default)]
    pub seconds: String,
    /// What was asked for, in processor-seconds, six decimals.
    #[serde(default)]
    pub requested_seconds: String,
    /// How long processors were busy, in seconds, six decimals.
    #[serde(default)]
    pub cpu_seconds: String,
    /// Percent of the asked time that ran, two decimals; `null` where nobody says.
    pub time_efficiency: Option<String>,
    /// Percent of the held time that processors were busy, two decimals; `null` where nobody says.
    pub cpu_efficiency: Option<String>,
    /// Kilowatt-hours, three decimals; `null` where no watts are known.
    pub energy_kwh: Option<String>,
    /// Kilograms of CO2, three decimals; `null` where not both factors are known.
    pub co2_kg: Option<String>,
}
