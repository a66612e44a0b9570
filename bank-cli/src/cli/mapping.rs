//! Arguments for mappings, and for usage that waits for a project.

use clap::{Args, Subcommand};

use super::{RemoveArgs, WriteArgs};

/// `bank mapping`.
#[derive(Debug, Subcommand)]
pub(crate) enum MappingCommand {
    /// Create a mapping from names in usage to a project or user
    #[command(alias = "create")]
    Add(AddMapping),
    /// List mappings in the order in which they are tried
    #[command(alias = "list")]
    Ls,
    /// Show one mapping
    #[command(alias = "get")]
    Show {
        /// Number of the mapping
        id: i64,
    },
    /// Change a mapping; usage accepted before stays unchanged
    #[command(alias = "modify")]
    Set(SetMapping),
    /// Remove a mapping; usage that it assigned stays assigned
    #[command(alias = "delete")]
    Rm {
        /// Number of the mapping
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Show the project and user for given names, and the deciding mapping
    Test {
        /// Fields: source, machine, user, group, account, queue, qos, namespace, attr.NAME
        #[arg(required = true, value_name = "FIELD=VALUE")]
        says: Vec<String>,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddMapping {
    /// Conditions, all required: FIELD=PATTERN or FIELD!=PATTERN; * any text
    #[arg(required = true, value_name = "CONDITION")]
    pub(crate) when: Vec<String>,
    /// Project for the usage; {account} and {account.1} are filled in
    #[arg(short = 'A', long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// User for the usage
    #[arg(short = 'u', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Priority; lower is tried first [default: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetMapping {
    /// Number of the mapping
    pub(crate) id: i64,
    /// Conditions; they replace all present ones
    #[arg(value_name = "CONDITION")]
    pub(crate) when: Vec<String>,
    /// Project for the usage; '' for none
    #[arg(short = 'A', long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// User for the usage; '' for none
    #[arg(short = 'u', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Priority; lower is tried first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank unmapped`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UnmappedArgs {
    #[command(subcommand)]
    pub(crate) command: Option<UnmappedCommand>,
    /// Group by source, machine, account, user, group, queue [default: source,account,user]
    #[arg(long, value_name = "A,B")]
    pub(crate) by: Option<String>,
    /// Only usage from this collector
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Only usage on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only usage of this account, by its name in the source
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Only usage of this user, by the name in the source
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum UnmappedCommand {
    /// Assign waiting usage to a project, and later usage like it
    Assign(AssignArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AssignArgs {
    /// Conditions, all required: FIELD=PATTERN or FIELD!=PATTERN; * any text
    #[arg(required = true, value_name = "CONDITION")]
    pub(crate) when: Vec<String>,
    /// Project; {account} and {account.1} are filled in
    #[arg(required = true)]
    pub(crate) project: String,
    /// User who ran the jobs [default: unchanged]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Only present usage; add no mapping for later usage
    #[arg(long)]
    pub(crate) no_rule: bool,
    #[command(flatten)]
    pub(crate) remove: RemoveArgs,
}
