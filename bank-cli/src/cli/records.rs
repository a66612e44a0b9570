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
    /// Usage records 2.0, a document
    Ur2(FeedArgs),
    /// What Open XDMoD shreds: 26 columns of sacct
    Xdmod(FeedArgs),
    /// CSV, a row for each use
    Csv(ExportCsv),
    /// JSON Lines, a line for each use
    Jsonl(ExportJsonl),
    /// Messages for APEL
    Apel(ExportApel),
    /// A workload in the Standard Workload Format
    Swf(ExportSwf),
    /// Balances for the dashboard of Open OnDemand
    Ondemand(ExportOnDemand),
    /// Costs in a national currency, as FOCUS 1.2 has them: CSV
    Focus(ExportCsv),
    /// Service units of pods in a month, as NERC invoices them: CSV
    NercInvoice(ExportInvoice),
    /// What pods asked for, as NERC lists them: CSV
    NercPods(ExportPods),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportInvoice {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// The month, such as 2026-01, in UTC
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<String>,
    /// An hour that began counts as a whole one
    #[arg(long)]
    pub(crate) round_up: bool,
    /// Of this namespace only, by the classes of its pods
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) by_class: Option<String>,
    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,
    /// Put ' before a text that a spreadsheet would take for a formula
    #[arg(long)]
    pub(crate) spreadsheet_safe: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportPods {
    #[command(flatten)]
    pub(crate) csv: ExportCsv,
    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,
}

/// What of the time of pods is nobody's to pay.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct IgnoreArgs {
    /// A time that is not billed, such as an outage; as often as there are some
    #[arg(long, value_name = "FROM/TO")]
    pub(crate) ignore: Vec<String>,
}

/// What a number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDemandValue {
    /// What is available
    Amount,
    /// That, of what was deposited
    Percent,
    /// How long it lasts
    Days,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportOnDemand {
    /// What the numbers say
    #[arg(long, value_name = "WHAT", default_value = "amount")]
    pub(crate) value: OnDemandValue,
    /// Into this file instead of standard output; it appears when it is complete
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Which uses, since when, and where to.
#[derive(Debug, Clone, Args)]
pub(crate) struct FeedArgs {
    /// Uses that ended at this time or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Uses that ended before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Uses of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Into this file instead of standard output; it appears when it is complete
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) more: MoreArgs,
}

/// What goes with exports along a cursor.
#[derive(Debug, Clone, Args)]
pub(crate) struct MoreArgs {
    /// Uses for this project, without those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Uses of this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only what came after this cursor, which an export before it printed
    #[arg(long, value_name = "CURSOR", conflicts_with = "state")]
    pub(crate) since: Option<String>,
    /// Keep the cursor in this file: each run writes what came since the last one
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Say what the format has no place for
    #[arg(long)]
    pub(crate) explain_loss: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportCsv {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Put ' before a text that a spreadsheet would take for a formula (default of csv)
    #[arg(long, conflicts_with = "raw_text")]
    pub(crate) spreadsheet_safe: bool,
}

/// The shape of a line of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// The bank's own
    Bank,
    /// That of AUDITOR's records
    Auditor,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportJsonl {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Shape of the lines
    #[arg(long, value_name = "SHAPE", default_value = "bank")]
    pub(crate) profile: Profile,
}

/// What is told to APEL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Message {
    /// Each job (individual job message 0.3)
    Jobs,
    /// Sums of a month (normalised summary message 0.4)
    Summary,
    /// How many jobs there were in each month (sync message 0.1)
    Sync,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportApel {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// What is told
    #[arg(long, value_name = "WHAT", default_value = "jobs")]
    pub(crate) message: Message,
    /// Jobs that ended in this month, such as 2026-01, in UTC
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<String>,
    /// Into this folder, a file for each message of at most 1000 records
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    pub(crate) spool: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportSwf {
    #[command(flatten)]
    pub(crate) feed: FeedArgs,
    /// Which user, project and queue has which number, instead of jobs
    #[arg(long)]
    pub(crate) ids: bool,
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
    /// One XML document of all that was used, instead of what the record files have, line by line
    #[arg(long, conflicts_with_all = ["sink", "adjustments", "records"])]
    pub(crate) document: bool,
    #[command(flatten)]
    pub(crate) more: MoreArgs,
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
