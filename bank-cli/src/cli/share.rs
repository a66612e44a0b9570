//! Who used the clusters beside who paid for them, and priorities by what was used.

use clap::{Args, ValueEnum};

use super::statement::{RecentArgs, ZoneArgs};

/// `bank report contribution`, `bank report utilization`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ShareArgs {
    #[command(flatten)]
    pub(crate) span: RecentArgs,
    /// Start of a second period beside it
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from2: Option<String>,
    /// End of the second period, exclusive [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to2: Option<String>,
    /// What is counted: processors × time, time that processors were busy, GPUs × time, or what was charged
    #[arg(long, value_name = "BASIS", default_value = "slots")]
    pub(crate) basis: Basis,
    /// Intervals: day, week, month, or their number [default: 1; of charts at most 50, of a day or more]
    #[arg(long, visible_alias = "by", value_name = "day|week|month|N")]
    pub(crate) buckets: Option<String>,
    /// Time zone of dates and of the parts, such as Europe/Berlin [default: that of the machine]
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Where usage counts: where jobs ran, or all of it where they ended, as older reports have it
    #[arg(long, value_name = "spread|end", default_value = "spread")]
    pub(crate) credit: Credit,
    /// Only usage of this project, with those below it
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only usage of this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Shares of projects
    #[arg(long)]
    pub(crate) by_project: bool,
    /// Shares of users
    #[arg(long, conflicts_with = "by_project")]
    pub(crate) by_user: bool,
    /// Draw bars and lines
    #[arg(long)]
    pub(crate) chart: bool,
}

/// `bank report top`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopArgs {
    /// How many
    #[arg(long = "most", value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) most: u32,
    #[command(flatten)]
    pub(crate) of: ShareArgs,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Basis {
    /// Processors × time
    #[default]
    Slots,
    /// Time that processors were busy
    Cpu,
    /// GPUs × time
    Gpu,
    /// What was charged
    Su,
}

/// Where usage counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Credit {
    /// Where jobs ran
    #[default]
    Spread,
    /// Where they ended
    End,
}

/// `bank report efficiency`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EfficiencyArgs {
    #[command(flatten)]
    pub(crate) span: RecentArgs,
    #[command(flatten)]
    pub(crate) zone: ZoneArgs,
    /// What the groups are: project, account, user, group, contributor
    #[arg(long, value_name = "WHAT", default_value = "project")]
    pub(crate) group_by: String,
    /// Watts of one processor: adds energy [default: the daemon's report.watts]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) watts: Option<String>,
    /// Grams of CO2 of a kilowatt-hour: adds CO2 where watts are known [default: report.co2_g_per_kwh]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) co2: Option<String>,
    /// Only on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Draw bars in plain characters
    #[arg(long)]
    pub(crate) chart: bool,
}

/// `bank priority`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PriorityArgs {
    /// scaled-by-sum: by the share of all; full-spread: from the least to the most over the whole range
    #[arg(long, value_name = "MODE", default_value = "scaled-by-sum")]
    pub(crate) mode: String,
    /// The lowest priority
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(crate) min: i64,
    /// The highest priority
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        allow_negative_numbers = true
    )]
    pub(crate) max: i64,
    /// Window up to now, such as 14d [default: everything]
    #[arg(long, value_name = "DURATION")]
    pub(crate) duration: Option<String>,
    /// started: finished uses that began in the window, whole; overlap: the part of each use in the
    /// window, running uses included
    #[arg(long, value_name = "BASIS", default_value = "started")]
    pub(crate) count: String,
    /// What counts, as a product where there are several: processors, gpus, nodes, memory_gb with a score
    /// [default: time alone]
    #[arg(long = "component", value_name = "NAME=SCORE")]
    pub(crate) components: Vec<String>,
    /// What the groups are: project, account, user, group, contributor
    #[arg(long, value_name = "WHAT", default_value = "project")]
    pub(crate) group_by: String,
    /// One of the groups; those that used nothing are there too [default: whoever used something]
    #[arg(long = "group", value_name = "NAME")]
    pub(crate) groups: Vec<String>,
    /// Only on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Program for each group, without a shell: 'scontrol update PartitionName={group}
    /// PriorityJobFactor={priority}'; {resource} is there too
    #[arg(long, value_name = "CMD")]
    pub(crate) run: Option<String>,
    /// How long the program may take for one group
    #[arg(long, value_name = "DURATION", default_value = "30")]
    pub(crate) timeout: String,
    /// Run it; without, it is only said what would be run
    #[arg(long, requires = "run")]
    pub(crate) yes: bool,
}
