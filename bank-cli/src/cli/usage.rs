//! `bank import` and `bank report`.

use std::path::PathBuf;

use bank_api::v1::IMPORT_FORMATS;
use clap::{
    Args, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};

use super::attention::{ExpiringArgs, ForecastArgs};
use super::scheduled::{BalanceSheetArgs, MonthlyArgs, RunReportArgs};
use super::share::{EfficiencyArgs, ShareArgs, TopArgs};
use super::statement::{RecentArgs, ZoneArgs};
use super::{OutputArgs, RemoveArgs, WriteArgs};

/// `bank import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// What the files are
    #[arg(value_name = "FORMAT", value_parser = formats())]
    pub(crate) kind: String,
    /// Files or folders, plain, .gz or .zst; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// The collector that the records are of, such as slurm:colony [default: FORMAT:MACHINE, or
    /// FORMAT without a machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// The machine that the records are of [default: their cluster, or the only machine]
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// End with exit code 1 where a record could not be read, or a line not be taken in
    #[arg(long)]
    pub(crate) strict: bool,
    /// Leave out what ended before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Also by UTC day
    #[arg(long)]
    pub(crate) days: bool,
    /// Keep no raw lines
    #[arg(long)]
    pub(crate) no_raw: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// How usage files are read.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReadArgs {
    /// sacct without a header line: xdmod26, xdmod25-2021, xdmod25-2019, xdmod26-2020
    #[arg(long, value_name = "NAME", conflicts_with = "columns")]
    pub(crate) layout: Option<String>,
    /// Columns by name, for sacct and csv; name=number for maui and moab-events
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// What stands between two columns, for sacct and csv; one or more bytes
    #[arg(long, value_name = "TEXT")]
    pub(crate) delimiter: Option<String>,
    /// Zone of times that name none [default: UTC]
    #[arg(long, value_name = "AREA/CITY")]
    pub(crate) tz: Option<String>,
    /// Which column is what, for csv
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping: Option<PathBuf>,
    /// Grid Engine: the complex gpu counts for each slot
    #[arg(long)]
    pub(crate) gpus_per_slot: bool,
}

/// `bank quarantine`.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantinedCommand {
    /// List what could not be read or taken in, the oldest first
    #[command(visible_alias = "list")]
    Ls {
        /// Only of this collector
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        /// Show so many at most
        #[arg(long, value_name = "N", default_value_t = 100,
              value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Show one with its text
    #[command(visible_alias = "get")]
    Show {
        /// Its number
        id: i64,
    },
    /// Read it again and take it in; what goes well is gone from here
    Replay(Box<ReplayArgs>),
    /// Remove for good: what it says is never counted
    #[command(visible_alias = "delete")]
    Rm {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// Which rows of the quarantine.
#[derive(Debug, Clone, Args)]
pub(crate) struct Which {
    /// Their numbers
    #[arg(
        required_unless_present = "source",
        conflicts_with = "source",
        value_name = "ID"
    )]
    pub(crate) ids: Vec<i64>,
    /// All of this collector
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
}

/// `bank quarantine replay`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// What it is [default: what its collector sends]
    #[arg(long = "as", value_name = "FORMAT", value_parser = formats_of_files())]
    pub(crate) kind: Option<String>,
    /// The machine that the records are of
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Read this file in its place: the line as it should have been; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub(crate) with: Option<String>,
    /// Say what would become of it, change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

fn formats_of_files() -> PossibleValuesParser {
    PossibleValuesParser::new(
        IMPORT_FORMATS.map(|(name, about)| PossibleValue::new(name).help(about)),
    )
}

/// `jsonl`, and the formats of usage files.
fn formats() -> PossibleValuesParser {
    let jsonl = ("jsonl", "finished usage, one JSON object a line");
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

/// The reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Who ran on a fallback account, and why
    Fallback(FallbackArgs),
    /// How long the money of accounts lasts at the speed of late
    Forecast(ForecastArgs),
    /// Money that ends soon, and what of it will be left over
    Expiring(ExpiringArgs),
    /// Accounts below zero
    Negative(ForecastArgs),
    /// Who used the clusters beside who paid for them
    Contribution(Box<ShareArgs>),
    /// What of the capacity was used, part by part
    #[command(alias = "utilisation")]
    Utilization(Box<ShareArgs>),
    /// Who used the most: projects, or users with --by-user
    Top(Box<TopArgs>),
    /// What came into each account, what went out, and what it had before and after
    BalanceSheet(BalanceSheetArgs),
    /// What was asked for beside what was used, with energy and CO2
    Efficiency(EfficiencyArgs),
    /// A month on one page: usage by project, by user and by day, with its totals
    Monthly(MonthlyArgs),
    /// What the daemon makes by itself, when, and what became of it
    Scheduled,
    /// Have a scheduled report made and delivered now
    Run(RunReportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FallbackArgs {
    #[command(flatten)]
    pub(crate) span: RecentArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Only jobs that named this project first
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Draw bars and sparklines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}
