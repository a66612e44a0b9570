//! Arguments for accounts, allocations, liens and keys, with the verbs of `noun`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value::amount;
use super::{AtArgs, OnlyArgs, ProposeArgs, RemoveArgs, Switch, WriteArgs};

/// `bank account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account
    #[command(alias = "create")]
    Add(AddAccount),
    /// List accounts
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one account, by name or id
    #[command(alias = "get")]
    Show {
        /// Name or id of the account
        name: String,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change an account
    #[command(alias = "modify")]
    Set(AddAccount),
    /// Remove an account
    #[command(alias = "delete")]
    Rm {
        /// Name of the account
        name: String,
        /// Remove its credits too; its liens move to other allocations
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Restore a removed account with its lists, credits and liens
    Undelete {
        /// Name of the account
        name: String,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// Access lists of an account. `NAME` allows, `-NAME` denies, `NAME/*` matches a project and all
/// projects below it, `MEMBERS` the members of the project, `ANY` everybody.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Constraints {
    /// Allowed projects, such as chem,bio/*,-bio/test (- denies)
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) projects: Option<Vec<String>>,
    /// Allowed users, such as MEMBERS,-dave (- denies)
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) users: Option<Vec<String>>,
    /// Allowed machines
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) machines: Option<Vec<String>>,
    /// Allowed classes (queues)
    #[arg(
        long,
        alias = "class",
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) classes: Option<Vec<String>>,
    /// Allowed qualities of service
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) qos: Option<Vec<String>>,
    /// Allowed groups
    #[arg(
        long,
        alias = "group",
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) groups: Option<Vec<String>>,
    /// Allowed organizations of the project or the user
    #[arg(
        long,
        alias = "organization",
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) organizations: Option<Vec<String>>,
    /// List of a usage attribute: Zone=Asia,-Europe; 'Zone=' removes it
    #[arg(short = 'X', long = "attribute", value_name = "NAME=LIST", value_parser = named_list)]
    pub(crate) attributes: Vec<(String, Vec<String>)>,
}

/// `NAME=A,B`; an empty list for `NAME=`.
fn named_list(text: &str) -> Result<(String, Vec<String>), String> {
    match text.split_once('=') {
        Some((name, list)) if !name.trim().is_empty() => {
            let items = list.split(',').map(|item| item.trim().to_owned());
            let items = items.filter(|item| !item.is_empty()).collect();
            Ok((name.trim().to_owned(), items))
        }
        _ => Err("must be NAME=A,B".to_owned()),
    }
}

/// Payment by the parent account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Overflowing {
    /// The parent pays if its own lists allow it
    #[value(alias = "true", alias = "on")]
    Yes,
    /// The parent does not pay
    #[value(alias = "false", alias = "off")]
    No,
    /// The parent pays regardless of its own lists
    Any,
}

/// Position of an account below another account.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Place {
    /// Parent account; '' for none
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) parent: Option<String>,
    /// Remove the account from its parent
    #[arg(long, conflicts_with_all = ["parent", "share", "overflow", "overflow_any"])]
    pub(crate) no_parent: bool,
    /// Percent of each deposit into the parent for this account
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) share: Option<i64>,
    /// Parent pays a shortfall: yes, no, or any (regardless of its lists)
    #[arg(
        long,
        value_name = "YES|NO|ANY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        hide_possible_values = true
    )]
    pub(crate) overflow: Option<Overflowing>,
    /// Same as --overflow=any
    #[arg(long, conflicts_with = "overflow")]
    pub(crate) overflow_any: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddAccount {
    /// Name of the account
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) constraints: Constraints,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Take each lien or charge from one allocation, never from several
    #[arg(
        long,
        value_name = "YES|NO",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        hide_possible_values = true
    )]
    pub(crate) discrete: Option<Switch>,
    /// Payment priority; lower is spent first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Fallback account, which pays in place of this one
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) fallback: Option<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank allocation`. Deposits create allocations.
#[derive(Debug, Subcommand)]
pub(crate) enum AllocationCommand {
    /// List allocations
    #[command(alias = "list")]
    Ls {
        /// Only allocations of this account
        #[arg(short = 'a', long)]
        account: Option<String>,
        /// Only allocations of the accounts of this project
        #[arg(short = 'A', long)]
        project: Option<String>,
        /// State: future, active or expired [default: all]
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Show one allocation
    #[command(alias = "get")]
    Show {
        /// Number of the allocation
        id: i64,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change the window or credit limit of an allocation
    #[command(alias = "modify")]
    Set(SetAllocation),
    /// Remove an allocation
    #[command(alias = "delete")]
    Rm {
        /// Number of the allocation
        id: i64,
        /// Remove its credits too; its liens move to other allocations
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetAllocation {
    /// Number of the allocation
    pub(crate) id: i64,
    /// Start of the window, inclusive, or -infinity
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// End of the window, exclusive, or infinity
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    /// Accept an end in the past, which means now
    #[arg(long, requires = "end")]
    pub(crate) allow_past: bool,
    /// Credit limit of the allocation
    #[arg(long, alias = "credit-limit", value_name = "AMOUNT", value_parser = amount,
          allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// Not settable; the refusal names the alternative
    #[arg(long, value_name = "AMOUNT", value_parser = amount, allow_negative_numbers = true,
          hide = true)]
    pub(crate) amount: Option<String>,
    /// Not settable
    #[arg(long, value_name = "YES|NO", hide_possible_values = true, hide = true)]
    pub(crate) active: Option<Switch>,
    /// Not settable
    #[arg(long, value_name = "AMOUNT", value_parser = amount, allow_negative_numbers = true,
          hide = true)]
    pub(crate) deposited: Option<String>,
    /// Not settable
    #[arg(short = 'a', long, value_name = "NAME", hide = true)]
    pub(crate) account: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank lien`.
#[derive(Debug, Subcommand)]
pub(crate) enum LienCommand {
    /// List liens
    #[command(alias = "list")]
    Ls {
        #[command(flatten)]
        only: OnlyArgs,
        /// State: open, settled, released, replaced, expired, all [default: open]
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Show one lien
    #[command(alias = "get")]
    Show {
        /// Number of the lien
        id: i64,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change the end of a lien; an expired lien holds its amount again
    #[command(alias = "set", alias = "modify")]
    Extend {
        /// Number of the lien
        id: i64,
        /// New end of the lien
        #[arg(long, alias = "end", value_name = "TIME", allow_hyphen_values = true)]
        until: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Release a lien
    #[command(alias = "delete")]
    Rm {
        /// Number of the lien
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// `bank key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key; its secret is shown only once
    #[command(alias = "create")]
    Add(AddKey),
    /// List keys
    #[command(alias = "list")]
    Ls {
        /// Only keys of this client
        #[arg(long)]
        client: Option<String>,
    },
    /// Show one key
    #[command(alias = "get")]
    Show {
        /// Id of the key
        id: String,
    },
    /// Enable or disable a key, or change its client's roles and scope
    #[command(alias = "modify")]
    Set(SetKey),
    /// Rotate a key: add a second key; the old one expires by itself
    Rotate(RotateKey),
    /// Remove a key
    #[command(alias = "delete")]
    Rm {
        /// Id of the key
        id: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RotateKey {
    /// Id of the old key
    pub(crate) id: String,
    /// Id of the new key [default: the old id with a number]
    #[arg(long, value_name = "ID")]
    pub(crate) new_id: Option<String>,
    /// Time in which both keys are valid, such as 7d or 12h
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) overlap: String,
    /// For the Gold gateway: secret in schedulers' format
    #[arg(long)]
    pub(crate) gold: bool,
    /// File with the secret [default: a random secret]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// New file for the secret (mode 0600), instead of the screen
    #[arg(long, value_name = "FILE", conflicts_with = "secret_file")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddKey {
    /// Id of the key
    pub(crate) id: String,
    /// Client of the key [default: the id]
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Roles: admin, operator, manager, pi, auditor, scheduler, collector, partner, user
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
    /// For the Gold gateway: secret in schedulers' format, role scheduler
    #[arg(long)]
    pub(crate) gold: bool,
    /// File with the secret [default: a random secret]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// New file for the secret (mode 0600), instead of the screen
    #[arg(long, value_name = "FILE", conflicts_with = "secret_file")]
    pub(crate) out: Option<PathBuf>,
    /// Start of validity, inclusive [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of validity, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetKey {
    /// Id of the key
    pub(crate) id: String,
    /// Enable the key; a disabled key is not accepted
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Roles of the key's client
    #[arg(long, alias = "roles", value_name = "A,B", value_delimiter = ',')]
    pub(crate) role: Option<Vec<String>>,
    /// Project scope of the key's client
    #[arg(
        short = 'A',
        long,
        alias = "projects",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(crate) project: Option<Vec<String>>,
    /// Machine scope of the key's client
    #[arg(
        short = 'm',
        long,
        alias = "machines",
        value_name = "A,B",
        value_delimiter = ','
    )]
    pub(crate) machine: Option<Vec<String>>,
    /// End of validity, exclusive, or infinity
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
