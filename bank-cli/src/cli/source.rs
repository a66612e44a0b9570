//! Sources of usage records, and their comparison with charges.

use clap::{Args, Subcommand};

use super::{RemoveArgs, WriteArgs};

/// `bank source`.
#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// List collectors with their last contact, progress and counts
    #[command(alias = "list")]
    Ls {
        /// Include removed collectors
        #[arg(long)]
        all: bool,
    },
    /// Show one collector and the files that the daemon follows for it
    #[command(alias = "get")]
    Show {
        /// Name of the collector
        name: String,
    },
    /// Set the longest allowed silence of a collector
    #[command(alias = "modify")]
    Set(SetSource),
    /// Remove a collector until it sends again; its records stay
    #[command(alias = "delete")]
    Rm {
        /// Name of the collector
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// `bank source set`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetSource {
    /// Name of the collector
    pub(crate) name: String,
    /// Longest allowed silence: 36h, 1:12:00:00, never or default
    #[arg(long, value_name = "TIME")]
    pub(crate) silent_after: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank reconcile`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReconcileArgs {
    /// Machine [default: the only one]
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only records of this collector
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Start of the period, inclusive, by the end of each use [default: 30 days before its end]
    #[arg(long, alias = "since", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of the period, exclusive, by the end of each use [default: now]
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Largest difference of wall times that counts as equal, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    pub(crate) tolerance: i64,
    /// Include usage that matches
    #[arg(long)]
    pub(crate) all: bool,
}
