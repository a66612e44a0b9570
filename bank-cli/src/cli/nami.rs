//! The scheduler's side: the scripts' spool and the scheduler's own configuration.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bank nami`.
#[derive(Debug, Subcommand)]
pub(crate) enum NamiCommand {
    /// Documents that wait to be sent to the bank
    #[command(subcommand)]
    Spool(SpoolCommand),
    /// Documents that the bank can never take as they are
    #[command(subcommand)]
    Quarantine(QuarantineCommand),
    /// Play captured documents on a copy of a bank, and say what each would do
    #[command(disable_help_flag = true)]
    Replay {
        /// What `bankd replay` takes: --data DIR, --event EVENT, FILE or DIR …
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            required = true,
            value_name = "ARGUMENTS"
        )]
        arguments: Vec<OsString>,
    },
}

/// Which settings of the scripts.
#[derive(Debug, Clone, Args)]
pub(crate) struct Conf {
    /// Settings of the scripts, where they are not at $NAMI_CONF or /etc/bank/nami.conf
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
}

/// How much of a folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct Page {
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// Show so many at most, the oldest first
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub(crate) limit: u16,
}

/// Which document.
#[derive(Debug, Clone, Args)]
pub(crate) struct One {
    /// Its number, or its key
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) conf: Conf,
}

/// Which documents go for good.
#[derive(Debug, Clone, Args)]
pub(crate) struct DropArgs {
    /// Their numbers, or their keys
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// Do not ask
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}

/// `bank nami spool`.
#[derive(Debug, Subcommand)]
pub(crate) enum SpoolCommand {
    /// List what waits, in the order in which it is sent
    #[command(alias = "list")]
    Ls(Page),
    /// Show one document
    #[command(alias = "get")]
    Show(One),
    /// Send what waits now
    #[command(alias = "drain")]
    Retry(Conf),
    /// Remove documents for good: what they say is never charged
    #[command(alias = "rm")]
    Drop(DropArgs),
}

/// `bank nami quarantine`.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineCommand {
    /// List what was set aside, with the reasons
    #[command(alias = "list")]
    Ls(Page),
    /// Show one document
    #[command(alias = "get")]
    Show(One),
    /// Put documents back into the spool, and send what waits
    Retry {
        /// Their numbers, or their keys
        #[arg(
            required_unless_present = "all",
            conflicts_with = "all",
            value_name = "ID"
        )]
        ids: Vec<String>,
        /// All of them
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        conf: Conf,
    },
    /// Remove documents for good: what they say is never charged
    #[command(alias = "rm")]
    Drop(DropArgs),
}

/// `bank moab`.
#[derive(Debug, Subcommand)]
pub(crate) enum MoabCommand {
    /// Say what in a scheduler's configuration defeats the bank
    Check(CheckArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// moab.cfg and what belongs to it; moab-private.cfg beside it is read too
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// maui.cfg or maui-private.cfg; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) maui: Vec<PathBuf>,
    /// The machine of this scheduler, where neither nami.conf nor the bank has only one
    #[arg(short, long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// The daemon's nami.tid_variable
    #[arg(long, value_name = "NAME", default_value = "BILLTID")]
    pub(crate) tid_variable: String,
    /// What $HOME in the configuration means, for Moab its home
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<String>,
    /// Do not ask the bank about machines and accounts
    #[arg(long)]
    pub(crate) offline: bool,
}
