//! Shares of usage and of contributions, efficiency, and priorities by past usage.

use clap::{Args, ValueEnum};

use super::period::{RecentArgs, ZoneArgs};

/// `bank report contribution`, `bank report utilization`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ShareArgs {
    #[command(flatten)]
    pub(crate) span: RecentArgs,
    /// Start of a second period for comparison, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from2: Option<String>,
    /// End of the second period, exclusive [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to2: Option<String>,
    /// Measure of usage: processor, busy processor or GPU time, or charges with shadow charges
    #[arg(long, value_name = "BASIS", default_value = "slots")]
    pub(crate) basis: Basis,
    /// Intervals: day, week, month, or their number [default: 1; in charts one per day, at most 50]
    #[arg(long, visible_alias = "by", value_name = "day|week|month|N")]
    pub(crate) buckets: Option<String>,
    /// Time zone of dates and intervals, such as Europe/Berlin [default: that of this host]
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Time at which a job counts: while it ran, or all of it at its end
    #[arg(long, value_name = "spread|end", default_value = "spread")]
    pub(crate) credit: Credit,
    /// Only usage of this project, with the projects below
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only usage of this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Show shares of projects
    #[arg(long)]
    pub(crate) by_project: bool,
    /// Show shares of users
    #[arg(long, conflicts_with = "by_project")]
    pub(crate) by_user: bool,
    /// Draw bars and lines in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}

/// `bank report top`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopArgs {
    /// Number of rows
    #[arg(long = "most", value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) most: u32,
    #[command(flatten)]
    pub(crate) of: ShareArgs,
}

/// Measures of usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Basis {
    /// Processors × time
    #[default]
    Slots,
    /// Busy time of processors
    Cpu,
    /// GPUs × time
    Gpu,
    /// Charges
    Su,
}

/// Time at which a job counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Credit {
    /// The time during which it ran
    #[default]
    #[value(alias = "time")]
    Spread,
    /// All of it at its end, as in older reports
    End,
}

/// `bank report efficiency`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EfficiencyArgs {
    #[command(flatten)]
    pub(crate) span: RecentArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// Grouping: project, account, user, group or contributor
    #[arg(long, value_name = "GROUPS", default_value = "project")]
    pub(crate) group_by: String,
    /// Power of one processor in watts; adds energy [default: report.watts of the daemon]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) watts: Option<String>,
    /// Grams of CO2 per kilowatt-hour; adds CO2 if watts are known [default: report.co2_g_per_kwh
    /// of the daemon]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) co2: Option<String>,
    /// Only usage of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Draw bars in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}

/// `bank priority`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PriorityArgs {
    /// scaled-by-sum: by the share of the total; full-spread: from the least to the most usage,
    /// over the whole range
    #[arg(long, value_name = "MODE", default_value = "scaled-by-sum")]
    pub(crate) mode: String,
    /// Lowest priority
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(crate) min: i64,
    /// Highest priority
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        allow_negative_numbers = true
    )]
    pub(crate) max: i64,
    /// Period up to now, such as 14d [default: all usage]
    #[arg(long, value_name = "DURATION")]
    pub(crate) duration: Option<String>,
    /// started: whole finished uses that began in the period; overlap: the part of each use in the
    /// period, including running uses
    #[arg(long, value_name = "BASIS", default_value = "started")]
    pub(crate) count: String,
    /// Component with its score: processors, gpus, nodes or memory_gb; several are multiplied
    /// (repeatable) [default: time alone]
    #[arg(long = "component", value_name = "NAME=SCORE")]
    pub(crate) components: Vec<String>,
    /// Grouping: project, account, user, group or contributor
    #[arg(long, value_name = "GROUPS", default_value = "project")]
    pub(crate) group_by: String,
    /// Group to show, even without usage (repeatable) [default: groups with usage]
    #[arg(long = "group", value_name = "NAME")]
    pub(crate) groups: Vec<String>,
    /// Only usage of this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Command for each group, without a shell: 'scontrol update PartitionName={group}
    /// PriorityJobFactor={priority}'; {resource} is available too
    #[arg(long, value_name = "CMD")]
    pub(crate) run: Option<String>,
    /// Time limit of the command for one group
    #[arg(long, value_name = "DURATION", default_value = "30")]
    pub(crate) timeout: String,
    /// Run the command [default: only show it]
    #[arg(long, requires = "run")]
    pub(crate) yes: bool,
}
