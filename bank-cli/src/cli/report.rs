//! `bank usage`, and where it and reports go.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Command, PeriodArgs};

/// Where an answer goes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArgs {
    /// Into this file instead of standard output (-); it appears when it is complete
    #[arg(short = 'o', long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl Command {
    /// The file for the whole answer, of commands whose answers are read later: usage, reports, statements.
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

/// Usage added up. Periods and buckets are those of the time zone of the machine, or of --tz.
#[derive(Debug, Clone, Default, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct UsageTableArgs {
    /// Only this project [default: BANK_PROJECT]
    #[arg(conflicts_with = "project")]
    pub(crate) name: Option<String>,
    /// What rows are of: project, account, user, machine, queue, qos, pi, group, state, size, wall, and
    /// one of hour, day, week, month, quarter, half-year, year [default: user of one project, else project]
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    #[command(flatten)]
    pub(crate) period: PeriodArgs,
    /// Only this project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// With the projects below
    #[arg(long)]
    pub(crate) tree: bool,
    /// Only what this account paid
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
    /// So many of the largest, and the others in one row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) top: Option<u32>,
    /// By which figure they are large: core, gpu, node, wall, cpu, memory, disk, factored, charge,
    /// started, ended or running
    #[arg(long, value_name = "FIGURE")]
    pub(crate) sort: Option<String>,
    /// The hours of these, with jobs and active users, in place of core-hours and cost
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub(crate) resource: Vec<Resource>,
    /// Zone of days and months, such as Europe/Berlin [default: that of the machine]
    #[arg(long, value_name = "AREA/CITY")]
    pub(crate) tz: Option<String>,
    /// end: all of a job counts when it ended, as older programs did it
    #[arg(long, value_name = "WHEN", default_value = "time")]
    pub(crate) credit: String,
    /// Out of the records one by one: slower, and says how long jobs waited
    #[arg(long)]
    pub(crate) records: bool,
    /// How many jobs ran and waited when collectors took snapshots, in place of what was used: by project,
    /// user, machine, queue, pi or source, and a length of time
    #[arg(long, conflicts_with_all = ["account", "qos", "top", "sort", "resource", "credit", "records"])]
    pub(crate) sampled: bool,
    /// Draw bars and sparklines
    #[arg(long)]
    pub(crate) chart: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What is used by the hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Resource {
    /// Processors
    Cpu,
    /// The speed of processors, in MHz, where collectors say it; out of the records one by one
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
