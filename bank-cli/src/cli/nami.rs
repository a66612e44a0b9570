//! Arguments for the scripts' spool and quarantine, and for the scheduler's configuration.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `bank nami`.
#[derive(Debug, Subcommand)]
pub(crate) enum NamiCommand {
    /// Documents that wait for delivery to the bank
    #[command(subcommand)]
    Spool(SpoolCommand),
    /// Documents that the bank can never accept unchanged
    #[command(subcommand)]
    Quarantine(QuarantineCommand),
    /// Replay captured documents on a copy of a bank, and show the effects
    #[command(disable_help_flag = true)]
    Replay {
        /// Arguments of `bankd replay`: --data DIR, --event EVENT, FILE or DIR …
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            required = true,
            value_name = "ARGUMENTS"
        )]
        arguments: Vec<OsString>,
    },
}

/// Settings of the scripts.
#[derive(Debug, Clone, Args)]
pub(crate) struct Conf {
    /// Scripts' settings file [default: $NAMI_CONF, else /etc/bank/nami.conf]
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,
}

/// A part of a folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct Page {
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// Maximum number of documents, oldest first
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub(crate) limit: u16,
}

/// One document.
#[derive(Debug, Clone, Args)]
pub(crate) struct One {
    /// Number or key of the document
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) conf: Conf,
}

/// Documents to remove permanently.
#[derive(Debug, Clone, Args)]
pub(crate) struct DropArgs {
    /// Numbers or keys of the documents
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// Do not ask for confirmation
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}

/// `bank nami spool`.
#[derive(Debug, Subcommand)]
pub(crate) enum SpoolCommand {
    /// List waiting documents in the order of delivery
    #[command(alias = "list")]
    Ls(Page),
    /// Show one document
    #[command(alias = "get")]
    Show(One),
    /// Send waiting documents now
    #[command(alias = "drain")]
    Retry(Conf),
    /// Remove documents permanently; their usage is never charged
    #[command(alias = "rm")]
    Drop(DropArgs),
}

/// `bank nami quarantine`.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineCommand {
    /// List quarantined documents with the reasons
    #[command(alias = "list")]
    Ls(Page),
    /// Show one document
    #[command(alias = "get")]
    Show(One),
    /// Return documents to the spool, and send all waiting documents
    Retry {
        /// Numbers or keys of the documents
        #[arg(
            required_unless_present = "all",
            conflicts_with = "all",
            value_name = "ID"
        )]
        ids: Vec<String>,
        /// All quarantined documents
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        conf: Conf,
    },
    /// Remove documents permanently; their usage is never charged
    #[command(alias = "rm")]
    Drop(DropArgs),
}

/// `bank moab`.
#[derive(Debug, Subcommand)]
pub(crate) enum MoabCommand {
    /// Find settings of a scheduler that make the bank ineffective
    Check(CheckArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// moab.cfg and related files; moab-private.cfg beside it is read too
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// maui.cfg or maui-private.cfg; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) maui: Vec<PathBuf>,
    /// Machine of the scheduler [default: that of nami.conf, else the only one]
    #[arg(short, long, value_name = "MACHINE")]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// Setting nami.tid_variable of the daemon
    #[arg(long, value_name = "NAME", default_value = "BILLTID")]
    pub(crate) tid_variable: String,
    /// Value of $HOME in the configuration; for Moab, its home directory
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<String>,
    /// Do not query the bank for machines and accounts
    #[arg(long)]
    pub(crate) offline: bool,
}

/// `bank slurm`.
#[derive(Debug, Subcommand)]
pub(crate) enum SlurmCommand {
    /// Find settings of Slurm that make the bank ineffective
    Check(SlurmArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SlurmArgs {
    /// slurm.conf, or the output of scontrol show config [default: /etc/slurm/slurm.conf]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) conf: Conf,
    /// Do not query the bank for rates
    #[arg(long)]
    pub(crate) offline: bool,
}
