//! `bank import` and `bank report`.

use clap::{Args, Subcommand};

use super::WriteArgs;

/// `bank import`.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Take in finished usage, one JSON object a line
    Jsonl(ImportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// The file; - for standard input
    pub(crate) file: String,
    /// End with exit code 1 where a line was not taken in
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank report`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Who ran on a fallback account, and why
    Fallback(FallbackArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FallbackArgs {
    /// Start of the time, inclusive [default: 30 days before its end]
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) from: Option<String>,
    /// Its end, exclusive [default: now]
    #[arg(long, visible_aliases = ["until", "end"], value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Only jobs that named this project first
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
}
