//! What clusters are made of, who paid for it, and whose projects use it.

use clap::{Args, Subcommand};

use super::{RemoveArgs, Switch, WriteArgs};

/// `bank hardware`.
#[derive(Debug, Subcommand)]
pub(crate) enum HardwareCommand {
    /// Add nodes of a kind: add epyc -m colony --host 'n[0-9]*' --processors 128 --nodes 20
    #[command(alias = "create")]
    Add(AddHardware),
    /// List hardware, in the order in which it is asked for the factor of a host
    #[command(alias = "list")]
    Ls,
    /// Show nodes of one kind
    #[command(alias = "get")]
    Show { id: i64 },
    /// Change nodes of a kind; reports of the past change with it
    #[command(alias = "modify")]
    Set(SetHardware),
    /// Remove nodes of a kind, as if they never had been there; --until of set retires them
    #[command(alias = "delete")]
    Rm {
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Take in processor_type of Cluster Accountant, as CSV with a head line
    Import(ImportTable),
    /// When nodes are known not to work: they are no capacity then
    #[command(subcommand)]
    Downtime(DowntimeCommand),
}

/// `bank hardware downtime`.
#[derive(Debug, Subcommand)]
pub(crate) enum DowntimeCommand {
    /// Add a downtime: add 1 --nodes 3 --from 2026-01-05 --until 2026-01-07 --reason cooling
    #[command(alias = "create")]
    Add(AddDowntime),
    /// List downtimes
    #[command(alias = "list")]
    Ls,
    /// Show one downtime
    #[command(alias = "get")]
    Show { id: i64 },
    /// Change a downtime, such as its end once that is known; reports of the past change with it
    #[command(alias = "modify")]
    Set(SetDowntime),
    /// Remove a downtime, as if all nodes had worked
    #[command(alias = "delete")]
    Rm {
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddDowntime {
    /// The number of the hardware
    pub(crate) hardware: i64,
    /// How many of its nodes are down [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    /// From when they are down, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// Until when they are down, exclusive [default: nobody knows]
    #[arg(
        long,
        visible_alias = "to",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetDowntime {
    pub(crate) id: i64,
    /// How many nodes are down; 0 for all
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    /// From when they are down, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Until when they are down, exclusive; '' while nobody knows
    #[arg(
        long,
        visible_alias = "to",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddHardware {
    /// What its processors are called
    pub(crate) name: String,
    /// Processors of a node
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) processors: i64,
    /// How many nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: i64,
    #[command(flatten)]
    pub(crate) more: HardwareArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetHardware {
    pub(crate) id: i64,
    /// What its processors are called
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Processors of a node
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) processors: Option<i64>,
    /// How many nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    #[command(flatten)]
    pub(crate) more: HardwareArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HardwareArgs {
    /// The machine that it is of; '' for any
    #[arg(short = 'm', long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// Its hosts: * is any text, ? one letter, [0-9] one of these; '' for all of the machine
    #[arg(long = "host", value_name = "PATTERN")]
    pub(crate) hosts: Vec<String>,
    /// What an hour of a processor counts [default of a new one: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) factor: Option<String>,
    /// Whether it adds to the capacity [default of a new one: yes]
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) counts: Option<Switch>,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    /// Lower is asked first [default of a new one: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

/// When something is there.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ValidArgs {
    /// From when it is there, inclusive; '' for always
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Until when it is there, exclusive; '' for ever
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
    /// Credit somebody with processors: add amy 128 --split 50 --from 2026-01-01
    #[command(alias = "create")]
    Add(AddContribution),
    /// List contributions
    #[command(alias = "list")]
    Ls,
    /// Show one contribution
    #[command(alias = "get")]
    Show { id: i64 },
    /// Change a contribution; reports of the past change with it
    #[command(alias = "modify")]
    Set(SetContribution),
    /// Remove a contribution, as if it never had been there; --until of set ends it
    #[command(alias = "delete")]
    Rm {
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Take in the tables of Cluster Accountant, each as CSV with a head line
    Import(ImportTables),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddContribution {
    /// The contributor that it is credited to
    pub(crate) contributor: String,
    /// Processors
    #[arg(value_name = "PROCESSORS", allow_negative_numbers = true)]
    pub(crate) processors: i64,
    #[command(flatten)]
    pub(crate) more: ContributionArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetContribution {
    pub(crate) id: i64,
    /// The contributor that it is credited to
    #[arg(long, value_name = "NAME")]
    pub(crate) contributor: Option<String>,
    /// Processors
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) processors: Option<i64>,
    #[command(flatten)]
    pub(crate) more: ContributionArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ContributionArgs {
    /// Percent of the processors that are credited [default of a new one: 100]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) split: Option<String>,
    /// What a processor counts [default of a new one: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) factor: Option<String>,
    /// Who paid for it
    #[arg(long, value_name = "TEXT")]
    pub(crate) paid_by: Option<String>,
    /// What it is: a host, a kind of processors
    #[arg(long, value_name = "TEXT")]
    pub(crate) what: Option<String>,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

/// `bank contributor`.
#[derive(Debug, Subcommand)]
pub(crate) enum ContributorCommand {
    /// Add somebody whom contributions are credited to: add amy --project chem --project bio
    #[command(alias = "create")]
    Add(ContributorArgs),
    /// List contributors
    #[command(alias = "list")]
    Ls,
    /// Show one contributor
    #[command(alias = "get")]
    Show { name: String },
    /// Change a contributor
    #[command(alias = "modify")]
    Set(ContributorArgs),
    /// Remove a contributor that nothing is credited to
    #[command(alias = "delete")]
    Rm {
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ContributorArgs {
    /// Their name in reports
    pub(crate) name: String,
    /// Their login name; '' for none
    #[arg(short = 'u', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Whether subscriptions leave them out
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) exempt: Option<Switch>,
    /// One of their projects, with those below it; all of them anew; '' for none
    #[arg(short = 'A', long = "project", value_name = "NAME")]
    pub(crate) projects: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank hardware import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportTable {
    /// processor_type as CSV, or - for standard input
    pub(crate) file: String,
    /// What a cluster of the file is here: scluster=colony; '' for any machine
    #[arg(long = "machine", short = 'm', value_name = "CLUSTER=MACHINE")]
    pub(crate) machines: Vec<String>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

/// `bank contribution import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportTables {
    /// principal_investigator: who there is
    #[arg(long, value_name = "FILE")]
    pub(crate) investigators: Option<String>,
    /// project: whose groups are whose
    #[arg(long, value_name = "FILE", requires = "investigators")]
    pub(crate) projects: Option<String>,
    /// contribution: who gave what
    #[arg(long, value_name = "FILE", requires = "investigators")]
    pub(crate) contributions: Option<String>,
    #[command(flatten)]
    pub(crate) take: TakeArgs,
}

/// How a table is taken in.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TakeArgs {
    /// Say what would be done, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Exit with 1 where a row was not taken in
    #[arg(long)]
    pub(crate) strict: bool,
}
