//! Arguments for hardware, downtimes, contributions and contributors.

use clap::{Args, Subcommand};

use super::{RemoveArgs, Switch, WriteArgs};

/// `bank hardware`.
#[derive(Debug, Subcommand)]
pub(crate) enum HardwareCommand {
    /// Add hardware: nodes of one kind
    #[command(alias = "create")]
    Add(AddHardware),
    /// List hardware in the order of the search for the factor of a host
    #[command(alias = "list")]
    Ls,
    /// Show one hardware entry
    #[command(alias = "get")]
    Show {
        /// Number of the hardware
        id: i64,
    },
    /// Change hardware; reports of the past change too
    #[command(alias = "modify")]
    Set(SetHardware),
    /// Remove hardware, from past reports too; `set --until` retires it
    #[command(alias = "delete")]
    Rm {
        /// Number of the hardware
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Import processor_type of Cluster Accountant: CSV with a header line
    Import(ImportTable),
    /// Downtimes, in which nodes do not count as capacity
    #[command(subcommand)]
    Downtime(DowntimeCommand),
}

/// `bank hardware downtime`.
#[derive(Debug, Subcommand)]
pub(crate) enum DowntimeCommand {
    /// Add a downtime
    #[command(alias = "create")]
    Add(AddDowntime),
    /// List downtimes
    #[command(alias = "list")]
    Ls,
    /// Show one downtime
    #[command(alias = "get")]
    Show {
        /// Number of the downtime
        id: i64,
    },
    /// Change a downtime, such as its end; reports of the past change too
    #[command(alias = "modify")]
    Set(SetDowntime),
    /// Remove a downtime, from past reports too
    #[command(alias = "delete")]
    Rm {
        /// Number of the downtime
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddDowntime {
    /// Number of the hardware
    pub(crate) hardware: i64,
    /// Number of nodes that are down [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    /// Start of the downtime, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// End of the downtime, exclusive [default: unknown]
    #[arg(
        long,
        visible_alias = "to",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Reason for the downtime
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetDowntime {
    /// Number of the downtime
    pub(crate) id: i64,
    /// Number of nodes that are down; 0 for all
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    /// Start of the downtime, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of the downtime, exclusive; '' for unknown
    #[arg(
        long,
        visible_alias = "to",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Reason for the downtime
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddHardware {
    /// Name of the processor type
    pub(crate) name: String,
    /// Processors per node
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) processors: i64,
    /// Number of nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: i64,
    #[command(flatten)]
    pub(crate) more: HardwareArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetHardware {
    /// Number of the hardware
    pub(crate) id: i64,
    /// Name of the processor type
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Processors per node
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) processors: Option<i64>,
    /// Number of nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    #[command(flatten)]
    pub(crate) more: HardwareArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HardwareArgs {
    /// Machine of the nodes; '' for any
    #[arg(short = 'm', long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// Hosts: * any text, ? one letter, [0-9] one of these; '' for all hosts
    #[arg(long = "host", value_name = "PATTERN")]
    pub(crate) hosts: Vec<String>,
    /// Weight of a processor-hour [default for new hardware: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) factor: Option<String>,
    /// Count as capacity [default for new hardware: yes]
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) counts: Option<Switch>,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    /// Priority; lower is tried first [default for new hardware: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

/// Period in which hardware or a contribution is installed.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ValidArgs {
    /// Start of use, inclusive; '' for always
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of use, exclusive; '' for no end
    #[arg(
        long,
        visible_alias = "to",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
}

/// `bank contribution`.
#[derive(Debug, Subcommand)]
pub(crate) enum ContributionCommand {
    /// Credit a contributor with processors
    #[command(alias = "create")]
    Add(AddContribution),
    /// List contributions
    #[command(alias = "list")]
    Ls,
    /// Show one contribution
    #[command(alias = "get")]
    Show {
        /// Number of the contribution
        id: i64,
    },
    /// Change a contribution; reports of the past change too
    #[command(alias = "modify")]
    Set(SetContribution),
    /// Remove a contribution, from past reports too; `set --until` ends it
    #[command(alias = "delete")]
    Rm {
        /// Number of the contribution
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Import tables of Cluster Accountant, each as CSV with a header line
    Import(ImportTables),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddContribution {
    /// Contributor that receives the credit
    pub(crate) contributor: String,
    /// Number of processors
    #[arg(value_name = "PROCESSORS", allow_negative_numbers = true)]
    pub(crate) processors: i64,
    #[command(flatten)]
    pub(crate) more: ContributionArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetContribution {
    /// Number of the contribution
    pub(crate) id: i64,
    /// Contributor that receives the credit
    #[arg(long, value_name = "NAME")]
    pub(crate) contributor: Option<String>,
    /// Number of processors
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) processors: Option<i64>,
    #[command(flatten)]
    pub(crate) more: ContributionArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ContributionArgs {
    /// Percent of processors credited [default for a new contribution: 100]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) split: Option<String>,
    /// Weight of a processor [default for a new contribution: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) factor: Option<String>,
    /// Person or group that paid
    #[arg(long, value_name = "TEXT")]
    pub(crate) paid_by: Option<String>,
    /// Hardware, such as a host or a processor type
    #[arg(long, value_name = "TEXT")]
    pub(crate) what: Option<String>,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

/// `bank contributor`.
#[derive(Debug, Subcommand)]
pub(crate) enum ContributorCommand {
    /// Add a person or group that contributions are credited to
    #[command(alias = "create")]
    Add(ContributorArgs),
    /// List contributors
    #[command(alias = "list")]
    Ls,
    /// Show one contributor
    #[command(alias = "get")]
    Show {
        /// Name of the contributor
        name: String,
    },
    /// Change a contributor
    #[command(alias = "modify")]
    Set(ContributorArgs),
    /// Remove a contributor without contributions
    #[command(alias = "delete")]
    Rm {
        /// Name of the contributor
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ContributorArgs {
    /// Name in reports
    pub(crate) name: String,
    /// Login name; '' for none
    #[arg(short = 'u', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Exclude the contributor from subscriptions
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) exempt: Option<Switch>,
    /// Project, with those below it; repeatable, replaces all; '' for none
    #[arg(short = 'A', long = "project", value_name = "NAME")]
    pub(crate) projects: Vec<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank hardware import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportTable {
    /// processor_type as CSV; - for standard input
    pub(crate) file: String,
    /// Machine for a cluster of the file: scluster=colony; '' for any machine
    #[arg(long = "machine", short = 'm', value_name = "CLUSTER=MACHINE")]
    pub(crate) machines: Vec<String>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

/// `bank contribution import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportTables {
    /// principal_investigator: the contributors
    #[arg(long, value_name = "FILE")]
    pub(crate) investigators: Option<String>,
    /// project: the groups of each contributor
    #[arg(long, value_name = "FILE", requires = "investigators")]
    pub(crate) projects: Option<String>,
    /// contribution: the contributions
    #[arg(long, value_name = "FILE", requires = "investigators")]
    pub(crate) contributions: Option<String>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

/// Options of an import.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TakeArgs {
    /// Show the result without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Exit with code 1 if a row was not imported
    #[arg(long)]
    pub(crate) strict: bool,
}
