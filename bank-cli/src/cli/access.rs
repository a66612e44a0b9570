//! Arguments for access control: API tokens, roles, transaction limits, proposals.

use clap::{Args, Subcommand};

use super::value::amount;
use super::{RemoveArgs, WriteArgs};

/// `bank token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token; it is shown only once
    #[command(alias = "create")]
    Add(AddToken),
    /// List tokens
    #[command(alias = "list")]
    Ls {
        /// Only tokens of this client
        #[arg(long)]
        client: Option<String>,
    },
    /// Show one token, without its text
    #[command(alias = "get")]
    Show {
        /// Id of the token
        id: String,
    },
    /// Remove a token; requests with it are refused at once
    #[command(alias = "delete")]
    Rm {
        /// Id of the token
        id: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// `bank web`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WebCommand {
    /// Print a link that signs you in to the web pages once
    Login,
    /// Print the address of a feed (Atom) with your notices
    Feed {
        /// Days for which it is valid, 1 to 366
        #[arg(long, default_value_t = 366)]
        days: u32,
    },
    /// Print addresses of a picture for another web site
    Embed {
        /// Path of the page with the picture, with its query, such as '/usage?by=project&from=-30d'
        page: String,
        /// Days for which they are valid, 1 to 366
        #[arg(long, default_value_t = 90)]
        days: u32,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddToken {
    /// Id for `ls`, `show` and `rm` [default: generated]
    pub(crate) id: Option<String>,
    /// Client of the token; for a person, the login name [default: the id]
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Roles: admin, operator, manager, pi, auditor, scheduler, collector, partner, user
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
    /// Lifetime, such as 90d or 12h [default: 90d]
    #[arg(long = "for", value_name = "TIME", conflicts_with = "until")]
    pub(crate) lasting: Option<String>,
    /// End of validity, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank role`.
#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// Grant a role to a person
    #[command(alias = "add")]
    Grant(GrantArgs),
    /// Revoke a role
    #[command(alias = "rm")]
    Revoke {
        /// Login name
        name: String,
        /// Role to revoke
        role: String,
        /// Project of the grant
        #[arg(short = 'A', long)]
        project: Option<String>,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// List roles of people
    #[command(alias = "list")]
    Ls {
        /// Only this person (login name)
        name: Option<String>,
        /// Include grants that have ended
        #[arg(long)]
        all: bool,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct GrantArgs {
    /// Login name
    pub(crate) name: String,
    /// Role: admin, operator, manager, pi, auditor, scheduler or collector
    pub(crate) role: String,
    /// Project, with those below it; required for operator, manager and pi
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// End of the grant, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank limit`.
#[derive(Debug, Subcommand)]
pub(crate) enum LimitCommand {
    /// Set a transaction limit
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

/// Subject of a limit.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct LimitOf {
    /// Name of a person or client, or id of a key or token
    pub(crate) name: Option<String>,
    /// Role; the limit applies to each person with it separately
    #[arg(long)]
    pub(crate) role: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetLimit {
    #[command(flatten)]
    pub(crate) of: LimitOf,
    /// Maximum amount of one operation, or none
    #[arg(long, value_name = "AMOUNT", value_parser = bound)]
    pub(crate) per_operation: Option<String>,
    /// Maximum sum of one UTC day, or none
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
    /// List pending approvals
    #[command(alias = "list")]
    Ls {
        /// Include decided and expired proposals
        #[arg(long)]
        all: bool,
    },
    /// Show one proposal with its complete request
    #[command(alias = "get")]
    Show {
        /// Number of the proposal
        id: i64,
    },
}

/// `bank approve` and `bank reject`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DecideArgs {
    /// Number of the proposal
    pub(crate) id: i64,
    /// Reason, recorded in the journal. The rejection of a request needs one
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Options of operations that may need two-person approval.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ProposeArgs {
    #[command(flatten)]
    pub(crate) write: WriteArgs,
    /// Create a proposal for another person to approve; execute nothing
    #[arg(long)]
    pub(crate) propose: bool,
}
