//! Reports of calendar periods: scheduled reports, balance sheet, and monthly report.

use clap::Args;

use super::WriteArgs;
use super::period::{PeriodArgs, ZoneArgs};

/// `bank report balance-sheet`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BalanceSheetArgs {
    #[command(flatten)]
    pub(crate) period: PeriodArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Draw bars in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}

/// `bank report run`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunReportArgs {
    /// Name of a `[[scheduled_report]]` in the daemon's settings
    pub(crate) name: String,
    /// Period, such as 2026-10, 2026-W40, 2026Q4 or 2026-10-05 [default: the last complete period]
    #[arg(long, value_name = "PERIOD")]
    pub(crate) period: Option<String>,
    /// Only the page of this person, of a report with a page for each person
    #[arg(long = "for", value_name = "USER")]
    pub(crate) person: Option<String>,
    /// Create and deliver the report again, even if it was delivered
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank report monthly`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MonthlyArgs {
    /// Month, such as 2026-10 [default: the last complete month]
    #[arg(value_name = "YYYY-MM", conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<String>,
    /// Month, as an option
    #[arg(long = "month", value_name = "YYYY-MM", conflicts_with_all = ["month", "from", "to"])]
    pub(crate) named: Option<String>,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Start of another period, inclusive
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "to"
    )]
    pub(crate) from: Option<String>,
    /// End of that period, exclusive
    #[arg(
        long,
        visible_aliases = ["until", "end"],
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "from"
    )]
    pub(crate) to: Option<String>,
    /// Only this project, with the projects below
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Number of largest projects and users; the others are in one row
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) top: u32,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}
