//! Accounts, allocations, liens, rates and keys: the nouns around money, with the verbs of `noun`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{RemoveArgs, Switch, WriteArgs, amount};

/// `bank account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Make an account
    #[command(alias = "create")]
    Add(AddAccount),
    /// List accounts
    #[command(alias = "list")]
    Ls,
    /// Show one account, by name or id
    #[command(alias = "get")]
    Show { name: String },
    /// Change an account
    #[command(alias = "modify")]
    Set(AddAccount),
    /// Remove an account
    #[command(alias = "delete")]
    Rm {
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// Who may spend, and where. `NAME` allows, `-NAME` denies, `NAME/*` is a project with all below it,
/// `MEMBERS` the members of the project, `ANY` everybody.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Constraints {
    /// Projects: chem,bio/*,-bio/test
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) projects: Option<Vec<String>>,
    /// Users: MEMBERS,-dave
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) users: Option<Vec<String>>,
    /// Machines
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) machines: Option<Vec<String>>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddAccount {
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) constraints: Constraints,
    /// Lower is spent first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Account that pays in place of this one
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) fallback: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank allocation`. Deposits make allocations.
#[derive(Debug, Subcommand)]
pub(crate) enum AllocationCommand {
    /// List allocations
    #[command(alias = "list")]
    Ls {
        /// Only those of this account
        #[arg(short = 'a', long)]
        account: Option<String>,
        /// future, active or expired [default: all]
        #[arg(long)]
        state: Option<String>,
    },
    /// Show one allocation
    #[command(alias = "get")]
    Show { id: i64 },
    /// Change the window or the credit limit of an allocation
    #[command(alias = "modify")]
    Set(SetAllocation),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetAllocation {
    pub(crate) id: i64,
    /// First moment it can be spent, or -infinity
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// First moment it can no longer be spent, or infinity
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    /// Credit limit
    #[arg(long, alias = "credit-limit", value_name = "AMOUNT", value_parser = amount,
          allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank lien`.
#[derive(Debug, Subcommand)]
pub(crate) enum LienCommand {
    /// List liens
    #[command(alias = "list")]
    Ls {
        /// Only this project
        #[arg(short = 'A', long)]
        project: Option<String>,
        /// Only this user
        #[arg(short = 'u', long)]
        user: Option<String>,
        /// Only this machine
        #[arg(short = 'm', long)]
        machine: Option<String>,
        /// open, settled, released, replaced, expired or all [default: open]
        #[arg(long)]
        state: Option<String>,
    },
}

/// `bank key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key; its secret is shown this once
    #[command(alias = "create")]
    Add(AddKey),
    /// List keys
    #[command(alias = "list")]
    Ls {
        /// Only those of this client
        #[arg(long)]
        client: Option<String>,
    },
    /// Show one key
    #[command(alias = "get")]
    Show { id: String },
    /// Switch a key on or off, or change what its client may do
    #[command(alias = "modify")]
    Set(SetKey),
    /// Remove a key
    #[command(alias = "delete")]
    Rm {
        id: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddKey {
    pub(crate) id: String,
    /// Client that it belongs to [default: the id]
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// admin, scheduler, auditor or user
    #[arg(long, alias = "roles", value_name = "A,B", value_delimiter = ',')]
    pub(crate) role: Vec<String>,
    /// Only these projects
    #[arg(
        short = 'A',
        long,
        alias = "projects",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(crate) project: Vec<String>,
    /// Only these machines
    #[arg(
        short = 'm',
        long,
        alias = "machines",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(crate) machine: Vec<String>,
    /// Read the secret from this file instead of making one
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Write the secret to this new file (mode 0600) instead of the screen
    #[arg(long, value_name = "FILE", conflicts_with = "secret_file")]
    pub(crate) out: Option<PathBuf>,
    /// First moment it is accepted [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// First moment it is no longer accepted
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetKey {
    pub(crate) id: String,
    /// A key that is off is not accepted
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Roles of its client
    #[arg(long, alias = "roles", value_name = "A,B", value_delimiter = ',')]
    pub(crate) role: Option<Vec<String>>,
    /// Project scope of its client
    #[arg(
        short = 'A',
        long,
        alias = "projects",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(crate) project: Option<Vec<String>>,
    /// Machine scope of its client
    #[arg(
        short = 'm',
        long,
        alias = "machines",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(crate) machine: Option<Vec<String>>,
    /// First moment it is no longer accepted, or infinity
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
