//! `bank export` and `bank records`: usage records in several formats, and checks of record files.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueEnum};

/// `bank export`.
#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// Export FILE lines of Moab or Maui
    File(ExportFile),
    /// Export usage records 1.0, one per line or in one document
    Ur1(ExportUr1),
    /// Export usage records 2.0, in one document
    Ur2(FeedArgs),
    /// Export 26 columns of sacct for the shredder of Open XDMoD
    Xdmod(ExportXdmod),
    /// Export CSV, one row for each use
    Csv(ExportCsv),
    /// Export JSON Lines, one line for each use
    Jsonl(ExportJsonl),
    /// Export messages for APEL
    Apel(ExportApel),
    /// Export a workload in the Standard Workload Format
    Swf(ExportSwf),
    /// Export balances for the dashboard of Open OnDemand
    Ondemand(ExportOnDemand),
    /// Export costs in a national currency (FOCUS 1.2, CSV)
    Focus(ExportCsv),
    /// Export NERC's invoice: service units of pods in a month (CSV)
    NercInvoice(ExportInvoice),
    /// Export NERC's list of pods with their requests (CSV)
    NercPods(ExportPods),
}

/// Rows of `bank export xdmod`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// A row for each job
    Slurm,
    /// A row for each sample of a pod
    Openshift,
}

/// `bank export xdmod`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportXdmod {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Rows and the meaning of their columns
    #[arg(long, value_name = "LAYOUT", default_value = "slurm")]
    pub(crate) layout: Layout,
}

/// `bank export nerc-invoice`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportInvoice {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Month, such as 2026-01, in UTC
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<String>,
    /// Count a started hour as a whole hour
    #[arg(long)]
    pub(crate) round_up: bool,
    /// Bill only this namespace, by the classes of its pods
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) by_class: Option<String>,
    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,
    /// Put ' before texts that look like formulas
    #[arg(long)]
    pub(crate) spreadsheet_safe: bool,
}

/// `bank export nerc-pods`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportPods {
    #[command(flatten)]
    pub(crate) csv: ExportCsv,
    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,
}

/// Periods of pods that are not billed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct IgnoreArgs {
    /// Period that is not billed, such as an outage (repeatable)
    #[arg(long, value_name = "FROM/TO")]
    pub(crate) ignore: Vec<String>,
}

/// Figures of `bank export ondemand`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDemandValue {
    /// Available amount
    Amount,
    /// Available part of the deposits, in percent
    Percent,
    /// Days until nothing is left
    Days,
}

/// `bank export ondemand`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportOnDemand {
    /// Figure to export
    #[arg(long, value_name = "FIGURE", default_value = "amount")]
    pub(crate) value: OnDemandValue,
    /// Output file; it appears when complete [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Filters and output of usage exports.
#[derive(Debug, Clone, Args)]
pub(crate) struct FeedArgs {
    /// Start of the period, inclusive, by the end of each use
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of the period, exclusive, by the end of each use
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Only usage of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Output file; it appears when complete [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) more: MoreArgs,
}

/// Options of exports with a cursor.
#[derive(Debug, Clone, Args)]
pub(crate) struct MoreArgs {
    /// Only usage of this project, without the projects below
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only usage of this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only records after this cursor, which an earlier export printed
    #[arg(long, value_name = "CURSOR", conflicts_with = "state")]
    pub(crate) since: Option<String>,
    /// Cursor file; each run exports the records since the last run
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Report data that the format has no field for
    #[arg(long)]
    pub(crate) explain_loss: bool,
}

/// `bank export csv`, `bank export focus`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportCsv {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Put ' before texts that look like formulas (default of csv)
    #[arg(long, conflicts_with = "raw_text")]
    pub(crate) spreadsheet_safe: bool,
}

/// Shapes of a JSON line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Fields of the bank
    Bank,
    /// Fields of AUDITOR's records
    Auditor,
}

/// `bank export jsonl`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportJsonl {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Shape of the lines
    #[arg(long, value_name = "SHAPE", default_value = "bank")]
    pub(crate) profile: Profile,
}

/// Messages for APEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Message {
    /// One record for each job (individual job message 0.3)
    Jobs,
    /// Totals of a month (normalised summary message 0.4)
    Summary,
    /// Number of jobs in each month (sync message 0.1)
    Sync,
}

/// `bank export apel`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportApel {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Type of message
    #[arg(long, value_name = "TYPE", default_value = "jobs")]
    pub(crate) message: Message,
    /// Month in which the jobs ended, such as 2026-01, in UTC
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<String>,
    /// Folder for one file per message, each of at most 1000 records
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    pub(crate) spool: Option<PathBuf>,
}

/// `bank export swf`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportSwf {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Export the numbers of users, projects and queues instead of jobs
    #[arg(long)]
    pub(crate) ids: bool,
}

/// Filters and output of record lines.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpanArgs {
    /// Start of the period, inclusive, by the creation of each record
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of the period, exclusive, by the creation of each record
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Only records of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Numbers of the records, such as 412 or 412-415
    #[arg(long, value_name = "NUMBERS")]
    pub(crate) records: Option<String>,
    /// Output file; it appears when complete [default: standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Formats of a FILE line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    /// Format of Moab 6
    Moab6,
    /// Format of Maui
    Maui,
}

impl Dialect {
    /// Value in the daemon's API.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Moab6 => "moab6",
            Self::Maui => "maui",
        }
    }
}

/// Handling of bytes that would break a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Escape {
    /// Write %XX
    Percent,
    /// Write no line for the record
    Reject,
}

impl Escape {
    /// Value in the daemon's API.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::Reject => "reject",
        }
    }
}

/// `bank export file`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportFile {
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// Name of the record file to reproduce, with its settings
    #[arg(long, value_name = "NAME", conflicts_with_all = ["dialect", "interim", "extended", "escape", "blank_account", "blank_user"])]
    pub(crate) sink: Option<String>,
    /// Format of the lines
    #[arg(long, value_name = "FORM")]
    pub(crate) dialect: Option<Dialect>,
    /// One line for each charge (true), or for each closed job (false)
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) interim: Option<bool>,
    /// Add QOS=, NODES= and AMOUNT=
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) extended: Option<bool>,
    /// Handling of blanks and similar bytes in a value
    #[arg(long, value_name = "HOW")]
    pub(crate) escape: Option<Escape>,
    /// Text in place of a missing account
    #[arg(long, value_name = "WORD")]
    pub(crate) blank_account: Option<String>,
    /// Text in place of a missing user
    #[arg(long, value_name = "WORD")]
    pub(crate) blank_user: Option<String>,
}

/// `bank export ur1`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportUr1 {
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// Name of the record file to reproduce, with its settings
    #[arg(long, value_name = "NAME", conflicts_with = "adjustments")]
    pub(crate) sink: Option<String>,
    /// Include records of changes after the close
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(crate) adjustments: Option<bool>,
    /// One XML document of all usage, instead of the lines of record files
    #[arg(long, conflicts_with_all = ["sink", "adjustments", "records"])]
    pub(crate) document: bool,
    #[command(flatten)]
    pub(crate) more: MoreArgs,
}

/// `bank records`.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordsCommand {
    /// Check a file of FILE lines or usage records 1.0, without the daemon
    Check {
        /// File to check; - is standard input
        file: PathBuf,
        /// Show only errors, no warnings
        #[arg(long)]
        errors: bool,
    },
}
