//! Whom usage is for: mappings, and usage that waits for a project.

use clap::{Args, Subcommand};

use super::{RemoveArgs, WriteArgs};

/// `bank mapping`.
#[derive(Debug, Subcommand)]
pub(crate) enum MappingCommand {
    /// Say whom usage is for: add 'account=grp_*' --project '{account.1}'
    #[command(alias = "create")]
    Add(AddMapping),
    /// List mappings in the order in which they are asked
    #[command(alias = "list")]
    Ls,
    /// Show one mapping
    #[command(alias = "get")]
    Show { id: i64 },
    /// Change a mapping; usage that was taken in before stays as it is
    #[command(alias = "modify")]
    Set(SetMapping),
    /// Remove a mapping; usage that it gave away stays where it is
    #[command(alias = "delete")]
    Rm {
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Say whom usage would be for, and which mapping decides: test account=grp_chem user=amy
    Test {
        /// What the usage says: source, machine, user, group, account, queue, qos, namespace, attr.NAME
        #[arg(required = true, value_name = "FIELD=VALUE")]
        says: Vec<String>,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddMapping {
    /// All of it must hold: FIELD=PATTERN or FIELD!=PATTERN; * is any text
    #[arg(required = true, value_name = "CONDITION")]
    pub(crate) when: Vec<String>,
    /// The project that it gives; {account} and {account.1} are filled in
    #[arg(short = 'A', long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// The user that it gives
    #[arg(short = 'u', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Lower is asked first [default: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetMapping {
    pub(crate) id: i64,
    /// All its conditions anew
    #[arg(value_name = "CONDITION")]
    pub(crate) when: Vec<String>,
    /// The project that it gives; '' for none
    #[arg(short = 'A', long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// The user that it gives; '' for none
    #[arg(short = 'u', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Lower is asked first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
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
    /// What to sum up by: source, machine, account, user, group, queue [default: source,account,user]
    #[arg(long, value_name = "A,B")]
    pub(crate) by: Option<String>,
    /// Only what this collector reported
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Only on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only of this account, as the source names it
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Only of this user, as the source names them
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum UnmappedCommand {
    /// Give waiting usage to a project, and later usage like it too: assign account=grp_chem chem
    Assign(AssignArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AssignArgs {
    /// All of it must hold: FIELD=PATTERN or FIELD!=PATTERN; * is any text
    #[arg(required = true, value_name = "CONDITION")]
    pub(crate) when: Vec<String>,
    /// The project; {account} and {account.1} are filled in
    #[arg(required = true)]
    pub(crate) project: String,
    /// Who ran it [default: as it is]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Only what is there: add no mapping for later usage
    #[arg(long)]
    pub(crate) no_rule: bool,
    #[command(flatten)]
    pub(crate) remove: RemoveArgs,
}
