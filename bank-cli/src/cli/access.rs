//! Who may do what: API tokens, roles of people, limits, proposals.

use clap::{Args, Subcommand};

use super::{RemoveArgs, WriteArgs, amount};

/// `bank token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; it is shown this once
    #[command(alias = "create")]
    Add(AddToken),
    /// List tokens
    #[command(alias = "list")]
    Ls {
        /// Only those of this client
        #[arg(long)]
        client: Option<String>,
    },
    /// Show one token, without its text
    #[command(alias = "get")]
    Show { id: String },
    /// Remove a token; it is refused at once
    #[command(alias = "delete")]
    Rm {
        id: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddToken {
    /// Its id, for `ls` and `rm` [default: one is made]
    pub(crate) id: Option<String>,
    /// Client that it belongs to; for a token of a person their name [default: the id]
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// What it may do: admin, operator, manager, pi, auditor, scheduler, collector or user
    #[arg(
        long,
        alias = "roles",
        value_name = "A,B",
        value_delimiter = ',',
        required = true
    )]
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
    /// How long it is accepted, such as 90d or 12h [default: 90d]
    #[arg(long = "for", value_name = "TIME", conflicts_with = "until")]
    pub(crate) lasting: Option<String>,
    /// First moment it is no longer accepted
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank role`.
#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// Give a person a role
    #[command(alias = "add")]
    Grant(GrantArgs),
    /// Take a role back
    #[command(alias = "rm")]
    Revoke {
        /// Login name
        name: String,
        role: String,
        /// The project that it was given for
        #[arg(short = 'A', long)]
        project: Option<String>,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// List who has which role
    #[command(alias = "list")]
    Ls {
        /// Only this person
        name: Option<String>,
        /// Those that are over too
        #[arg(long)]
        all: bool,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct GrantArgs {
    /// Login name
    pub(crate) name: String,
    /// admin, operator, manager, pi, auditor, scheduler or collector
    pub(crate) role: String,
    /// Over this project and those below it; needed for operator, manager and pi
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// First moment at which it no longer counts
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank limit`.
#[derive(Debug, Subcommand)]
pub(crate) enum LimitCommand {
    /// Set how much somebody may move
    #[command(alias = "add")]
    Set(SetLimit),
    /// List limits
    #[command(alias = "list")]
    Ls,
    /// Remove a limit
    #[command(alias = "delete")]
    Rm {
        #[command(flatten)]
        of: LimitOf,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// Whom a limit is for.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct LimitOf {
    /// A person, a client, or one key or token
    pub(crate) name: Option<String>,
    /// Everybody who acts by this role, each on their own
    #[arg(long)]
    pub(crate) role: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetLimit {
    #[command(flatten)]
    pub(crate) of: LimitOf,
    /// The most in one operation, or none
    #[arg(long, value_name = "AMOUNT", value_parser = bound)]
    pub(crate) per_operation: Option<String>,
    /// The most in a UTC day, or none
    #[arg(long, value_name = "AMOUNT", value_parser = bound)]
    pub(crate) per_day: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// An amount, or `none`.
fn bound(text: &str) -> Result<String, String> {
    match text {
        "none" => Ok(text.to_owned()),
        _ => amount(text),
    }
}

/// `bank proposal`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProposalCommand {
    /// List what waits for somebody
    #[command(alias = "list")]
    Ls {
        /// What was decided or is over too
        #[arg(long)]
        all: bool,
    },
    /// Show one proposal with all that it asks for
    #[command(alias = "get")]
    Show { id: i64 },
}

/// `bank approve` and `bank reject`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DecideArgs {
    /// Number of the proposal
    pub(crate) id: i64,
    /// Why, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Options of operations that may need a second pair of eyes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ProposeArgs {
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Do not do it: write it down for somebody else to approve
    #[arg(long)]
    pub(crate) propose: bool,
}
