//! Cycles, the clock, and what-if: time that does something, and what it would have done.

use clap::{Args, Subcommand, ValueEnum};

use super::{OnlyArgs, ProposeArgs, RemoveArgs, Switch, WriteArgs, amount};

/// `bank cycle`.
#[derive(Debug, Subcommand)]
pub(crate) enum CycleCommand {
    /// Give an account money each month, quarter or year
    #[command(alias = "create")]
    Add(AddCycle),
    /// List cycles
    #[command(alias = "list")]
    Ls,
    /// Show one cycle
    #[command(alias = "get")]
    Show { name: String },
    /// Change a cycle from its next boundary on
    #[command(alias = "modify")]
    Set(SetCycle),
    /// Remove a cycle; what it made stays
    #[command(alias = "delete")]
    Rm {
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Show what the next boundary will do (--dry-run); the daemon does it by itself
    Run {
        name: String,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// How often a cycle comes.
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
    /// The daemon's word.
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
    pub(crate) name: String,
    /// Account that gets the money
    #[arg(short = 'a', long, short_alias = 'A')]
    pub(crate) account: String,
    /// How often
    #[arg(long)]
    pub(crate) every: Every,
    /// What each period gets
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// How much of what is free goes over into the next period, such as 20%
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
    pub(crate) name: String,
    /// What passes while it is off is left out
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// How often, counted from the next boundary
    #[arg(long)]
    pub(crate) every: Option<Every>,
    /// What each period gets
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    /// How much of what is free goes over
    #[arg(long, value_name = "PERCENT", value_parser = per_cent, allow_negative_numbers = true)]
    pub(crate) rollover: Option<i64>,
    /// Free text
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank clock`.
#[derive(Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Say that the daemon's clock is right although it jumped ahead
    Confirm {
        /// Reason, kept in the journal
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `bank monitor`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MonitorArgs {
    /// Go on showing what is added
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Only the sums by project
    #[arg(long, conflicts_with = "follow")]
    pub(crate) totals: bool,
    #[command(flatten)]
    pub(crate) only: OnlyArgs,
    /// Only refusals of this code: `insufficient_funds`, `not_a_member`, …
    #[arg(long)]
    pub(crate) code: Option<String>,
    /// From this time on, inclusive
    #[arg(
        long,
        alias = "from",
        value_name = "TIME",
        default_value = "-1d",
        allow_hyphen_values = true
    )]
    pub(crate) since: Option<String>,
    /// Before this time
    #[arg(
        long,
        alias = "to",
        value_name = "TIME",
        conflicts_with = "follow",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// The newest N rows [default: 20 of a table, else all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) limit: Option<u32>,
    /// Draw bars and sparklines in plain characters
    #[arg(long, conflicts_with = "follow")]
    pub(crate) chart: bool,
}

/// `bank what-if`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WhatIfArgs {
    /// How many days to look back [default: 30]
    #[arg(long, value_name = "N", conflicts_with = "enforce_from")]
    pub(crate) days: Option<u32>,
    /// Run all uses since then against the money that there was: who is refused does not run
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) enforce_from: Option<String>,
    /// Only uses that began before this time [default: now]
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

/// `20%` or `20`. Which are allowed is the bank's to say.
fn per_cent(text: &str) -> Result<i64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number
        .parse()
        .map_err(|_| "write whole per cent, such as 20%".to_owned())
}
