//! `bank statement` and `bank close`.

use clap::{Args, Subcommand};

use super::period::{AtArgs, PeriodArgs, ZoneArgs};
use super::{OutputArgs, RemoveArgs, WriteArgs};

/// `bank statement`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StatementArgs {
    /// A project with accounts of its own, or an account [default: BANK_PROJECT]
    #[arg(conflicts_with_all = ["project", "account", "user", "machine"])]
    pub(crate) name: Option<String>,
    /// Accounts of this project
    #[arg(short = 'A', long, conflicts_with_all = ["account", "user", "machine"])]
    pub(crate) project: Option<String>,
    /// This account
    #[arg(short = 'a', long, conflicts_with_all = ["user", "machine"])]
    pub(crate) account: Option<String>,
    /// Charges of this user, by project
    #[arg(short = 'u', long, conflicts_with = "machine")]
    pub(crate) user: Option<String>,
    /// Charges on this machine, by project
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Include the projects below
    #[arg(long, conflicts_with_all = ["account", "user", "machine"])]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) period: PeriodArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    #[command(flatten)]
    pub(crate) at: AtArgs,
    /// Totals only
    #[arg(long)]
    pub(crate) summary: bool,
    /// Draw the burn-down and the charges as text
    #[arg(long)]
    pub(crate) chart: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// `bank close`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CloseArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CloseCommand>,
    /// Past month (2026-10), quarter (2026Q4) or year (2026)
    #[arg(required_unless_present = "until", conflicts_with = "until")]
    pub(crate) period: Option<String>,
    /// Close all open periods before this time
    #[arg(
        long,
        visible_alias = "to",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Closed periods.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CloseCommand {
    /// List closed periods, the newest first
    #[command(alias = "list")]
    Ls,
    /// Reopen the last closed period
    Undo {
        /// Reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}
