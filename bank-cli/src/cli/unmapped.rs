//! Arguments for usage that waits for a project.

use clap::{Args, Subcommand};

use super::RemoveArgs;

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
    /// Principal investigator of the usage [default: unchanged]
    #[arg(long, value_name = "NAME")]
    pub(crate) pi: Option<String>,
    /// Only present usage; add no mapping for later usage
    #[arg(long)]
    pub(crate) no_rule: bool,
    #[command(flatten)]
    pub(crate) remove: RemoveArgs,
}
