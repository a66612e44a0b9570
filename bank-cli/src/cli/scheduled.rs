//! Reports by the calendar: what the daemon makes by itself, and the report of a month.

use clap::Args;

use super::WriteArgs;
use super::statement::{PeriodArgs, ZoneArgs};

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
    /// The name of a `[[scheduled_report]]` of the daemon's settings
    pub(crate) name: String,
    /// Its period, such as 2026-10, 2026-W40, 2026Q4 or 2026-10-05 [default: the last one that is over]
    #[arg(long, value_name = "PERIOD")]
    pub(crate) period: Option<String>,
    /// Make and deliver it although that was done
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank report monthly`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MonthlyArgs {
    /// The month, such as 2026-10 [default: the last one that is over]
    #[arg(value_name = "YYYY-MM", conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<String>,
    /// The same
    #[arg(long = "month", value_name = "YYYY-MM", conflicts_with_all = ["month", "from", "to"])]
    pub(crate) named: Option<String>,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Start of another time, inclusive
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "to"
    )]
    pub(crate) from: Option<String>,
    /// Its end, exclusive
    #[arg(
        long,
        visible_aliases = ["until", "end"],
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "from"
    )]
    pub(crate) to: Option<String>,
    /// Only this project, with those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// So many projects and users by name, and the others in one row
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) top: u32,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}
