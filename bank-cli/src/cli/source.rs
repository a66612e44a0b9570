//! Collectors, and what of their records was charged.

use clap::{Args, Subcommand};

use super::{RemoveArgs, WriteArgs};

/// `bank source`.
#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// List collectors: when they were heard last, how far they are, what they brought
    #[command(alias = "list")]
    Ls {
        /// Those that were removed too
        #[arg(long)]
        all: bool,
    },
    /// Show one collector, with the files that the daemon follows for it
    #[command(alias = "get")]
    Show { name: String },
    /// Change what is expected of a collector
    #[command(alias = "modify")]
    Set(SetSource),
    /// Take a collector off the list until it is heard again; what it brought stays
    #[command(alias = "delete")]
    Rm {
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetSource {
    pub(crate) name: String,
    /// How long it may say nothing, such as 36h or 1:12:00:00, never, or default
    #[arg(long, value_name = "TIME")]
    pub(crate) silent_after: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank reconcile`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReconcileArgs {
    /// The machine; not needed where there is one
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only the records of this collector
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Uses that ended from here on [default: 30 days before the end]
    #[arg(long, alias = "since", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// And before here [default: now]
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Seconds by which wall times may differ and be equal
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    pub(crate) tolerance: i64,
    /// What matches too
    #[arg(long)]
    pub(crate) all: bool,
}
