//! What wants attention, who is told, and how long money lasts.

use clap::{Args, Subcommand};

use super::WriteArgs;

/// `bank attention`.
#[derive(Debug, Subcommand)]
pub(crate) enum AttentionCommand {
    /// List what is raised and has not cleared
    #[command(alias = "list")]
    Ls(ListAttention),
    /// Show one event by its number
    #[command(alias = "get")]
    Show { id: i64 },
    /// Say that you have seen what an event raised; it stands until it clears
    Ack {
        id: i64,
        /// Kept in the journal
        #[arg(long)]
        note: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Watch nothing of a project any more; what is raised of it clears
    Off {
        project: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Watch a project again
    On {
        project: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List notices that wait or were given up
    Outbox {
        /// Those too that were sent
        #[arg(long)]
        all: bool,
    },
    /// Try a notice again that was given up
    Retry {
        /// Its number in the outbox
        id: i64,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListAttention {
    /// What cleared too, and who has seen what
    #[arg(long)]
    pub(crate) all: bool,
    /// Only this project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only this kind: used, expiring, negative, fallback_used, lien_stuck, collector_silent
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Rows at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) limit: u32,
}

/// Which accounts a report is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct ForecastArgs {
    /// Only accounts of this project and those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExpiringArgs {
    /// Only accounts of this project and those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Ends within so many days
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub(crate) within: u32,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}
