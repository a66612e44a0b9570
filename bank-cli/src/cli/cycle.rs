//! Arguments for cycles, the clock, and the simulation of strict enforcement.

use clap::{Args, Subcommand, ValueEnum};

use super::value::amount;
use super::{OnlyArgs, ProposeArgs, RemoveArgs, Switch, WriteArgs};

/// `bank cycle`.
#[derive(Debug, Subcommand)]
pub(crate) enum CycleCommand {
    /// Create a cycle: a deposit each month, quarter or year
    #[command(alias = "create")]
    Add(AddCycle),
    /// List cycles
    #[command(alias = "list")]
    Ls,
    /// Show one cycle
    #[command(alias = "get")]
    Show {
        /// Name of the cycle
        name: String,
    },
    /// Change a cycle from its next boundary on
    #[command(alias = "modify")]
    Set(SetCycle),
    /// Remove a cycle; its allocations stay
    #[command(alias = "delete")]
    Rm {
        /// Name of the cycle
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Run the next boundary if it is due; --dry-run shows its effect at any time
    Run {
        /// Name of the cycle
        name: String,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// Interval of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Every {
    /// Each month
    Month,
    /// Every three months
    Quarter,
    /// Each year
    Year,
}

impl Every {
    /// The value in requests to the daemon.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddCycle {
    /// Name of the cycle
    pub(crate) name: String,
    /// Account that receives the deposits
    #[arg(short = 'a', long, short_alias = 'A')]
    pub(crate) account: String,
    /// Interval of the deposits
    #[arg(long)]
    pub(crate) every: Every,
    /// Amount of each deposit
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Part of the free amount that the next period receives, such as 20%
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, default_value = "0%",
          allow_negative_numbers = true)]
    pub(crate) rollover: i64,
    /// First boundary [default: the next month, quarter or year in UTC]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// Reason, kept with the cycle
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetCycle {
    /// Name of the cycle
    pub(crate) name: String,
    /// Enable the cycle; boundaries that pass while it is off are skipped
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Interval of the deposits, counted from the next boundary
    #[arg(long)]
    pub(crate) every: Option<Every>,
    /// Amount of each deposit
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    /// Part of the free amount that the next period receives
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, allow_negative_numbers = true)]
    pub(crate) rollover: Option<i64>,
    /// Reason, kept with the cycle
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank clock`.
#[derive(Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Confirm that the daemon's clock is right after a jump ahead
    Confirm {
        /// Reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `bank monitor`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MonitorArgs {
    /// Keep running and show new refusals
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Only the totals by project
    #[arg(long, conflicts_with = "follow")]
    pub(crate) totals: bool,
    #[command(flatten)]
    pub(crate) only: OnlyArgs,
    /// Only refusals with this code: `insufficient_funds`, `not_a_member`, …
    #[arg(long)]
    pub(crate) code: Option<String>,
    /// Start of the period, inclusive
    #[arg(
        long,
        alias = "from",
        value_name = "TIME",
        default_value = "-1d",
        allow_hyphen_values = true
    )]
    pub(crate) since: Option<String>,
    /// End of the period, exclusive
    #[arg(
        long,
        alias = "to",
        value_name = "TIME",
        conflicts_with = "follow",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Number of rows, newest first [default: 20 in a table, else all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: Option<u32>,
    /// Draw bars and sparklines in plain characters
    #[arg(long, conflicts_with = "follow")]
    pub(crate) chart: bool,
}

/// `bank what-if`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WhatIfArgs {
    /// Number of past days [default: 30]
    #[arg(long, value_name = "N", conflicts_with = "enforce_from")]
    pub(crate) days: Option<u32>,
    /// Replay usage since this time with its deposits; refused jobs do not run
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) enforce_from: Option<String>,
    /// Only usage that began before this time [default: now]
    #[arg(
        long,
        alias = "to",
        value_name = "TIME",
        requires = "enforce_from",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Only this project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
}

/// `20%` or `20`. The daemon checks the range.
fn per_cent(text: &str) -> Result<i64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number
        .parse()
        .map_err(|_| "must be a whole percentage, such as 20%".to_owned())
}
