//! Arguments for alerts, their notifications, and the reports on how long credits last.

use clap::{Args, Subcommand};

use super::WriteArgs;

/// `bank attention`.
#[derive(Debug, Subcommand)]
pub(crate) enum AttentionCommand {
    /// List raised alerts
    #[command(alias = "list")]
    Ls(ListAttention),
    /// Show one alert by its number
    #[command(alias = "get")]
    Show {
        /// Number of the alert
        id: i64,
    },
    /// Acknowledge an alert; it stays raised until it clears
    Ack {
        /// Number of the alert
        id: i64,
        /// Note, recorded in the journal
        #[arg(long)]
        note: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Stop watching a project; its raised alerts clear
    Off {
        /// Name of the project
        project: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Resume watching a project
    On {
        /// Name of the project
        project: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List notifications that are waiting or were given up
    Outbox {
        /// Include sent notifications
        #[arg(long)]
        all: bool,
    },
    /// Retry a notification that was given up
    Retry {
        /// Number of the notification in the outbox
        id: i64,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListAttention {
    /// Include cleared alerts and acknowledgements
    #[arg(long)]
    pub(crate) all: bool,
    /// Leave out open alerts for thresholds that the same object has passed
    #[arg(long)]
    pub(crate) highest: bool,
    /// Only this project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only this kind: used, expiring, negative, fallback_used, lien_stuck, collector_silent,
    /// partner_waiting, job_unfunded
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: u32,
}

/// Arguments of `bank report forecast`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ForecastArgs {
    /// Only accounts of this project and those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only accounts without money within this number of days, or now
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) within: Option<u32>,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExpiringArgs {
    /// Only accounts of this project and those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only allocations that end within this number of days
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) within: u32,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}
