//! `bank import`, `bank quarantine` and `bank report`.

use std::path::PathBuf;

use bank_api::v1::IMPORT_FORMATS;
use clap::{
    Args, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};

use super::attention::{ExpiringArgs, ForecastArgs};
use super::period::{RecentArgs, ZoneArgs};
use super::personal::{LetterArgs, PersonalArgs};
use super::scheduled::{BalanceSheetArgs, MonthlyArgs, RunReportArgs};
use super::share::{EfficiencyArgs, ShareArgs, TopArgs};
use super::{OutputArgs, RemoveArgs, WriteArgs};

/// `bank import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// Format of the files
    #[arg(value_name = "FORMAT", value_parser = formats())]
    pub(crate) kind: String,
    /// Files or folders, plain, .gz or .zst; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// Collector of the records, such as slurm:colony [default: FORMAT:MACHINE, or FORMAT without
    /// a machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Machine of the records [default: their cluster, or the only machine]
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Exit with 1 if a record is unreadable or a line is not accepted
    #[arg(long)]
    pub(crate) strict: bool,
    /// Omit usage that ended before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Add totals by UTC day
    #[arg(long)]
    pub(crate) days: bool,
    /// Do not keep the original lines
    #[arg(long)]
    pub(crate) no_raw: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Options for reading usage files.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReadArgs {
    /// Layout of sacct without a header line: xdmod26, xdmod25-2021, xdmod25-2019, xdmod26-2020
    #[arg(long, value_name = "NAME", conflicts_with = "columns")]
    pub(crate) layout: Option<String>,
    /// Names of columns, for sacct and csv; name=number for maui and moab-events
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// Separator of columns, for sacct and csv; one or more bytes
    #[arg(long, value_name = "TEXT")]
    pub(crate) delimiter: Option<String>,
    /// Time zone of times without one [default: UTC]
    #[arg(long, value_name = "AREA/CITY")]
    pub(crate) tz: Option<String>,
    /// File with the meaning of the columns, for csv
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping: Option<PathBuf>,
    /// Count the complex gpu for each slot (Grid Engine)
    #[arg(long)]
    pub(crate) gpus_per_slot: bool,
}

/// `bank quarantine`.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantinedCommand {
    /// List rejected records, oldest first
    #[command(visible_alias = "list")]
    Ls {
        /// Only records of this collector
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        /// Maximum number of rows
        #[arg(long, value_name = "N", default_value_t = 100,
              value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Show one record with its text
    #[command(visible_alias = "get")]
    Show {
        /// Number of the record
        id: i64,
    },
    /// Import records again; accepted ones leave the quarantine
    Replay(Box<ReplayArgs>),
    /// Remove records permanently; they are never counted
    #[command(visible_alias = "delete")]
    Rm {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// Selection of records in the quarantine.
#[derive(Debug, Clone, Args)]
pub(crate) struct Which {
    /// Numbers of the records
    #[arg(
        required_unless_present = "source",
        conflicts_with = "source",
        value_name = "ID"
    )]
    pub(crate) ids: Vec<i64>,
    /// All records of this collector
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
}

/// `bank quarantine replay`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Format of the records [default: that of their collector]
    #[arg(long = "as", value_name = "FORMAT", value_parser = formats_of_files())]
    pub(crate) kind: Option<String>,
    /// Machine of the records
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// File with the corrected text, read instead; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub(crate) with: Option<String>,
    /// Show the result without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// The formats of usage files.
fn formats_of_files() -> PossibleValuesParser {
    PossibleValuesParser::new(
        IMPORT_FORMATS.map(|(name, about)| PossibleValue::new(name).help(about)),
    )
}

/// `jsonl`, and the formats of usage files.
fn formats() -> PossibleValuesParser {
    let jsonl = ("jsonl", "finished usage, one JSON object per line");
    let all = std::iter::once(jsonl).chain(IMPORT_FORMATS);
    PossibleValuesParser::new(all.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// `bank report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: ReportCommand,
}

/// Reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// List jobs that a fallback account paid for, with the reason
    Fallback(FallbackArgs),
    /// Forecast how long the credits of accounts last, from recent usage
    Forecast(ForecastArgs),
    /// List allocations that end soon, with their expected remainder
    Expiring(ExpiringArgs),
    /// List accounts below zero
    Negative(ForecastArgs),
    /// Compare shares of usage with shares of hardware contributions
    Contribution(Box<ShareArgs>),
    /// Show the used part of the capacity, by interval
    #[command(alias = "utilisation")]
    Utilization(Box<ShareArgs>),
    /// Rank projects by usage, or users with --by-user
    Top(Box<TopArgs>),
    /// Show opening, credits, debits and closing of each account
    BalanceSheet(BalanceSheetArgs),
    /// Compare requested and used resources, with energy and CO2
    Efficiency(EfficiencyArgs),
    /// Show a month on one page: usage by project, user and day, totals
    Monthly(MonthlyArgs),
    /// Show a person's projects on one page: statements, usage of members, subscription, forecast
    Personal(Box<PersonalArgs>),
    /// Show a person's requested and used resources, possible savings and CO2
    EfficiencyLetter(Box<LetterArgs>),
    /// List scheduled reports, with their times and results
    Scheduled,
    /// Create and deliver a scheduled report now
    Run(RunReportArgs),
}

/// `bank report fallback`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FallbackArgs {
    #[command(flatten)]
    pub(crate) span: RecentArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Only jobs that named this project originally
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only jobs of this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only jobs on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}
