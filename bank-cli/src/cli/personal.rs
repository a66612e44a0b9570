//! Pages of one person: the personal report and the efficiency letter.

use clap::Args;

use super::period::{NamedPeriodArgs, ZoneArgs};

/// The person and the period of a page.
#[derive(Debug, Clone, Args)]
pub(crate) struct PersonArgs {
    /// The person; another one requires the view of the whole bank [default: the caller]
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Start, inclusive [default: that of the last complete month, of a letter of the last week]
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "to",
        conflicts_with_all = ["month", "quarter", "year"]
    )]
    pub(crate) from: Option<String>,
    /// End, exclusive
    #[arg(
        long,
        visible_aliases = ["until", "end"],
        value_name = "TIME",
        allow_hyphen_values = true,
        requires = "from",
        conflicts_with_all = ["month", "quarter", "year"]
    )]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) named: NamedPeriodArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Print nothing if there is nothing to report, and a text before a page, for scheduled reports
    #[arg(long, hide = true)]
    pub(crate) scheduled: bool,
}

/// `bank report personal`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PersonalArgs {
    #[command(flatten)]
    pub(crate) of: PersonArgs,
    /// Days within which listed allocations end
    #[arg(long, value_name = "DAYS", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) within: u32,
}

/// `bank report efficiency-letter`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LetterArgs {
    #[command(flatten)]
    pub(crate) of: PersonArgs,
    /// Grouping: user, project, account or group
    #[arg(long, value_name = "GROUPS", default_value = "user")]
    pub(crate) group_by: String,
    /// Only usage of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
}
