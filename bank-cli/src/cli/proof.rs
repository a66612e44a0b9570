//! Proof: `verify` and `checkpoint`.

use clap::Args;
use std::path::PathBuf;

/// `bank verify`
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct VerifyArgs {
    /// Show how the running one stands, or the last one; start none
    #[arg(long)]
    pub(crate) last: bool,
    /// Do not wait for its end
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `bank checkpoint`
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckpointArgs {
    /// A new file for it; else it is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
