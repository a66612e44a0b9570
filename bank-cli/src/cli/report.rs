//! `bank usage`, and where it and reports go.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use super::{Command, PeriodArgs};

/// The output file.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArgs {
    /// Output file, written atomically [default: -, standard output]
    #[arg(short = 'o', long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Command {
    /// The output file of usage, reports and statements.
    pub(crate) fn output(&self) -> Option<&PathBuf> {
        let args = match self {
            Self::Usage(args) => &args.output,
            Self::Report(args) => &args.output,
            Self::Statement(args) => &args.output,
            _ => return None,
        };
        args.output.as_ref()
    }
}

/// Usage totals. Periods and intervals are in the time zone of this host, or of --tz.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct UsageTableArgs {
    /// Only this project [default: BANK_PROJECT]
    #[arg(conflicts_with = "project")]
    pub(crate) name: Option<String>,
    /// Rows by project, account, user, machine, queue, qos, pi, group, state, size, wall, and
    /// one of hour, day, week, month, quarter, half-year, year [default: user of one project, else project]
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) period: PeriodArgs,
    /// Only this project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Include the projects below
    #[arg(long)]
    pub(crate) tree: bool,
    /// Only usage that this account paid for
    #[arg(short = 'a', long)]
    pub(crate) account: Option<String>,
    /// Only this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only this queue or class
    #[arg(long, visible_alias = "class")]
    pub(crate) queue: Option<String>,
    /// Only this quality of service
    #[arg(long)]
    pub(crate) qos: Option<String>,
    /// Show the N largest, and all others in one row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) top: Option<u32>,
    /// Figure to sort by: core, gpu, node, wall, cpu, memory, disk, factored, charge,
    /// started, ended or running
    #[arg(long, value_name = "FIGURE")]
    pub(crate) sort: Option<String>,
    /// Hours of these resources, with jobs and active users, instead of core-hours and cost
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub(crate) resource: Vec<Resource>,
    /// Time zone of days and months, such as Europe/Berlin [default: that of this host]
    #[arg(long, value_name = "AREA/CITY")]
    pub(crate) tz: Option<String>,
    /// end: all of a job counts at its end
    #[arg(long, value_name = "WHEN", default_value = "time")]
    pub(crate) credit: String,
    /// Read every record: slower, and adds the waiting times of jobs
    #[arg(long)]
    pub(crate) records: bool,
    /// Running and waiting jobs in the snapshots of collectors, instead of usage: by project,
    /// user, machine, queue, pi or source, and an interval
    #[arg(long, conflicts_with_all = ["account", "qos", "top", "sort", "resource", "credit", "records"])]
    pub(crate) sampled: bool,
    /// Draw bars and sparklines
    #[arg(long)]
    pub(crate) chart: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Resources measured by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Resource {
    /// Processors
    Cpu,
    /// Processor speed in MHz, if collectors report it; reads every record
    Mhz,
    /// Graphics processors
    Gpu,
    /// Memory, in MiB
    Memory,
    /// Disk, in MiB
    Disk,
    /// Whole nodes
    Node,
    /// Jobs
    Wall,
}
