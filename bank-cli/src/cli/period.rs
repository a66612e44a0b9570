//! Options that name a time, a period or a time zone, for several commands.

use clap::Args;

/// A moment in the past.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AtArgs {
    /// State at this moment
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// State as recorded at this moment, without later corrections
    #[arg(long, requires = "at")]
    pub(crate) recorded: bool,
}

/// The time zone of dates.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ZoneArgs {
    /// Time zone of dates, such as Europe/Berlin [default: that of this host]
    #[arg(long, value_name = "AREA/CITY")]
    pub(crate) tz: Option<String>,
}

/// A period.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PeriodArgs {
    /// Start, inclusive [default: the first of this month]
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true,
        conflicts_with_all = ["month", "quarter", "year"]
    )]
    pub(crate) from: Option<String>,
    /// End, exclusive [default: now]
    #[arg(
        long,
        visible_aliases = ["until", "end"],
        value_name = "TIME",
        allow_hyphen_values = true,
        conflicts_with_all = ["month", "quarter", "year"]
    )]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) named: NamedPeriodArgs,
}

/// A period of a report that looks back from now.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RecentArgs {
    /// Start, inclusive [default: 30 days before the end]
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true,
        conflicts_with_all = ["month", "quarter", "year"]
    )]
    pub(crate) from: Option<String>,
    /// End, exclusive [default: now]
    #[arg(
        long,
        visible_aliases = ["until", "end"],
        value_name = "TIME",
        allow_hyphen_values = true,
        conflicts_with_all = ["month", "quarter", "year"]
    )]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) named: NamedPeriodArgs,
}

/// A period of the calendar.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct NamedPeriodArgs {
    /// A month, such as 2026-10
    #[arg(long, value_name = "YYYY-MM", conflicts_with_all = ["quarter", "year"])]
    pub(crate) month: Option<String>,
    /// A quarter, such as 2026Q4
    #[arg(long, value_name = "YYYYQN", conflicts_with = "year")]
    pub(crate) quarter: Option<String>,
    /// A year, such as 2026
    #[arg(long, value_name = "YYYY")]
    pub(crate) year: Option<String>,
}
