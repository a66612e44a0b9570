//! Who may do what: API tokens.

use clap::{Args, Subcommand};

use super::{RemoveArgs, WriteArgs};

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
