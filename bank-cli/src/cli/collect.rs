//! `bank collect`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bank collect`.
#[derive(Debug, Subcommand)]
pub(crate) enum CollectCommand {
    /// Collect jobs from Slurm, with sacct
    Slurm(CollectArgs),
    /// Collect pods from Prometheus, by their requests or by your queries
    Prometheus(CollectArgs),
    /// Collect snapshots of Nomad's allocations
    Nomad(CollectArgs),
    /// Collect ended pods from Kubernetes
    Kubernetes(CollectArgs),
    /// Show the position and queue of each collector of this machine
    Status(CollectStatusArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CollectArgs {
    /// Settings file [default: /etc/bank/collect/COLLECTOR.toml]
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Fetch and send new usage once, then exit; for a timer
    #[arg(long)]
    pub(crate) once: bool,
    /// Time between two rounds, such as 5m; overrides the settings
    #[arg(long, value_name = "TIME", conflicts_with = "once")]
    pub(crate) interval: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CollectStatusArgs {
    /// Settings file, repeatable [default: all in /etc/bank/collect]
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
}
