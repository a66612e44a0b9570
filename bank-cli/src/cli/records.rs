//! Usage records: the past as lines of a record file, and what is wrong with a file of them.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueEnum};

/// `bank export`.
#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// FILE lines of Moab or Maui
    File(ExportFile),
    /// Usage records 1.0, one a line or in one document
    Ur1(ExportUr1),
}

/// Which records, and where to.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpanArgs {
    /// Records made at this time or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Records made before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Records of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Records of these numbers, such as 412 or 412-415
    #[arg(long, value_name = "NUMBERS")]
    pub(crate) records: Option<String>,
    /// Into this file instead of standard output; it appears when it is complete
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    /// As Moab 6 writes it
    Moab6,
    /// As Maui writes it
    Maui,
}

impl Dialect {
    /// The daemon's word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Moab6 => "moab6",
            Self::Maui => "maui",
        }
    }
}

/// What becomes of bytes that would break a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Escape {
    /// %XX
    Percent,
    /// The record has no line
    Reject,
}

impl Escape {
    /// The daemon's word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::Reject => "reject",
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportFile {
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// The lines of this record file, by its settings
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dialect", "interim", "extended", "escape", "blank_account", "blank_user"])]
    pub(crate) sink: Option<String>,
    /// Form of the lines
    #[arg(long, value_name = "FORM")]
    pub(crate) dialect: Option<Dialect>,
    /// A line for each charge (true), or one for each closed job (false)
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) interim: Option<bool>,
    /// With QOS=, NODES= and AMOUNT=
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) extended: Option<bool>,
    /// What becomes of blanks and the like in a value
    #[arg(long, value_name = "HOW")]
    pub(crate) escape: Option<Escape>,
    /// Written where there is no account
    #[arg(long, value_name = "WORD")]
    pub(crate) blank_account: Option<String>,
    /// Written where there is no user
    #[arg(long, value_name = "WORD")]
    pub(crate) blank_user: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportUr1 {
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// The lines of this record file, by its settings
    #[arg(long, value_name = "NAME", conflicts_with = "adjustments")]
    pub(crate) sink: Option<String>,
    /// Records for what changed after the close too
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) adjustments: Option<bool>,
    /// One XML document instead of a record on each line
    #[arg(long)]
    pub(crate) document: bool,
}

/// `bank records`.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordsCommand {
    /// Say what is wrong with a file of FILE lines or usage records 1.0; the daemon is not asked
    Check {
        /// The file, - for standard input
        file: PathBuf,
        /// Errors only
        #[arg(long)]
        errors: bool,
    },
}
