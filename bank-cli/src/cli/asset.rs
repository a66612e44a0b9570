//! Accounts, allocations, liens, rates and keys: the nouns around money, with the verbs of `noun`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{AtArgs, OnlyArgs, ProposeArgs, RemoveArgs, Switch, WriteArgs, amount};

/// `bank account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Make an account
    #[command(alias = "create")]
    Add(AddAccount),
    /// List accounts
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one account, by name or id
    #[command(alias = "get")]
    Show {
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
        name: String,
        /// With its money; its liens hold elsewhere
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Bring a removed account back, with its lists, its money and its liens
    Undelete {
        name: String,
        #[command(flatten)]
        write: WriteArgs,
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
    /// Classes (queues)
    #[arg(
        long,
        alias = "class",
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) classes: Option<Vec<String>>,
    /// Qualities of service
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) qos: Option<Vec<String>>,
    /// Groups
    #[arg(
        long,
        alias = "group",
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) groups: Option<Vec<String>>,
    /// Organizations of the project or of the user
    #[arg(
        long,
        alias = "organization",
        value_name = "LIST",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) organizations: Option<Vec<String>>,
    /// A usage attribute: Zone=Asia,-Europe; 'Zone=' takes its list away
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
        _ => Err("write NAME=A,B".to_owned()),
    }
}

/// Whether the parent pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Overflowing {
    /// It does, for those whom its own lists let spend
    #[value(alias = "true", alias = "on")]
    Yes,
    /// It does not
    #[value(alias = "false", alias = "off")]
    No,
    /// It does, whatever its own lists say
    Any,
}

/// An account's place below another one.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Place {
    /// Account above it; '' for none
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) parent: Option<String>,
    /// Take it from below its parent
    #[arg(long, conflicts_with_all = ["parent", "share", "overflow", "overflow_any"])]
    pub(crate) no_parent: bool,
    /// Percent of every deposit into the parent that goes on to it
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub(crate) share: Option<i64>,
    /// The parent pays where it is short: yes, no, or any (whatever the parent's lists say)
    #[arg(
        long,
        value_name = "YES|NO|ANY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        hide_possible_values = true
    )]
    pub(crate) overflow: Option<Overflowing>,
    /// As --overflow=any
    #[arg(long, conflicts_with = "overflow")]
    pub(crate) overflow_any: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddAccount {
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) constraints: Constraints,
    #[command(flatten)]
    pub(crate) place: Place,
    /// A lien or charge uses one of its allocations whole, never several
    #[arg(
        long,
        value_name = "YES|NO",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        hide_possible_values = true
    )]
    pub(crate) discrete: Option<Switch>,
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
        #[command(flatten)]
        then: AtArgs,
    },
    /// Show one allocation
    #[command(alias = "get")]
    Show {
        id: i64,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change the window or the credit limit of an allocation
    #[command(alias = "modify")]
    Set(SetAllocation),
    /// Remove an allocation
    #[command(alias = "delete")]
    Rm {
        id: i64,
        /// With its money; its liens hold elsewhere
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        remove: RemoveArgs,
    },
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
    /// Cannot be set: refused with what to do instead
    #[arg(long, value_name = "AMOUNT", value_parser = amount, allow_negative_numbers = true,
          hide = true)]
    pub(crate) amount: Option<String>,
    /// Cannot be set either
    #[arg(long, value_name = "YES|NO", hide_possible_values = true, hide = true)]
    pub(crate) active: Option<Switch>,
    /// Cannot be set either
    #[arg(long, value_name = "AMOUNT", value_parser = amount, allow_negative_numbers = true,
          hide = true)]
    pub(crate) deposited: Option<String>,
    /// Cannot be set either
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
        /// open, settled, released, replaced, expired or all [default: open]
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Show one lien
    #[command(alias = "get")]
    Show {
        id: i64,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Move a lien's end; an expired one holds again what it held
    #[command(alias = "set", alias = "modify")]
    Extend {
        id: i64,
        /// When it expires now
        #[arg(long, alias = "end", value_name = "TIME", allow_hyphen_values = true)]
        until: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Give back what a lien holds
    #[command(alias = "delete")]
    Rm {
        id: i64,
        #[command(flatten)]
        remove: RemoveArgs,
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
    /// Make a second key for the client of one, which ends by itself
    Rotate(RotateKey),
    /// Remove a key
    #[command(alias = "delete")]
    Rm {
        id: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RotateKey {
    /// The old key
    pub(crate) id: String,
    /// Id of the new one [default: the old one with a number]
    #[arg(long, value_name = "ID")]
    pub(crate) new_id: Option<String>,
    /// How long both are accepted, such as 7d or 12h
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) overlap: String,
    /// For a client of the Gold gateway: a secret that schedulers can read from their files
    #[arg(long)]
    pub(crate) gold: bool,
    /// Read the secret from this file instead of making one
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Write the secret to this new file (mode 0600) instead of the screen
    #[arg(long, value_name = "FILE", conflicts_with = "secret_file")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddKey {
    pub(crate) id: String,
    /// Client that it belongs to [default: the id]
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// admin, operator, manager, pi, auditor, scheduler, collector or user
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
    /// For a client of the Gold gateway: a secret that schedulers can read from their files, role
    /// scheduler
    #[arg(long)]
    pub(crate) gold: bool,
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
