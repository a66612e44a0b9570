//! `bank verify` and `bank checkpoint`.

use clap::Args;
use std::path::PathBuf;

/// `bank status`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct StatusArgs {
    /// End with exit code 1 if the state has a fault
    #[arg(long)]
    pub(crate) check: bool,
}

/// `bank verify`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct VerifyArgs {
    /// Show the running or the last verification, without starting one
    #[arg(long)]
    pub(crate) last: bool,
    /// Do not wait for the result
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `bank checkpoint`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckpointArgs {
    /// New file for the checkpoint [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// List the checkpoints that the daemon made, and whether the bank agrees with them
    #[arg(long, conflicts_with = "out")]
    pub(crate) list: bool,
}
