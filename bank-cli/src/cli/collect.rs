//! `bank collect`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bank collect`.
#[derive(Debug, Subcommand)]
pub(crate) enum CollectCommand {
    /// Jobs from Slurm, by sacct
    Slurm(CollectArgs),
    /// Pods from Prometheus, by their requests or by queries of one's own
    Prometheus(CollectArgs),
    /// Snapshots of Nomad's allocations
    Nomad(CollectArgs),
    /// Pods that have ended, from Kubernetes
    Kubernetes(CollectArgs),
    /// Up to where each collector of this machine is, and what waits
    Status(CollectStatusArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CollectArgs {
    /// Its settings [default: /etc/bank/collect/COLLECTOR.toml]
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Fetch and send what is new, and end; for a timer
    #[arg(long)]
    pub(crate) once: bool,
    /// Time between two rounds, such as 5m; wins over the settings
    #[arg(long, value_name = "TIME", conflicts_with = "once")]
    pub(crate) interval: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CollectStatusArgs {
    /// Settings of collectors [default: all in /etc/bank/collect]
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
}
