//! Arguments for members of projects and directories of people.

use clap::{Args, Subcommand};

use super::{AtArgs, RemoveArgs, WriteArgs};

/// `yes` or `no`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Switch {
    /// On
    #[value(alias = "true", alias = "on")]
    Yes,
    /// Off
    #[value(alias = "false", alias = "off")]
    No,
}

impl From<Switch> for bool {
    fn from(switch: Switch) -> Self {
        switch == Switch::Yes
    }
}

/// `bank project members`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Add members
    #[command(alias = "create")]
    Add {
        /// Name of the project
        project: String,
        /// Names of the users
        #[arg(required = true)]
        users: Vec<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Set the role of a member
    Role {
        /// Name of the project
        project: String,
        /// Name of the user
        user: String,
        /// Role: member, pi or manager
        role: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List members
    #[command(alias = "list")]
    Ls {
        /// Name of the project
        project: String,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Remove members
    #[command(alias = "delete")]
    Rm {
        /// Name of the project
        project: String,
        /// Names of the users
        #[arg(required = true)]
        users: Vec<String>,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// Format of a directory of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PeopleFormat {
    /// Separated values with a header line
    Csv,
    /// The user database of ai4-accounting
    Ai4,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ImportUsers {
    /// File; - for standard input
    pub(crate) file: String,
    /// Format: csv or ai4 [default: detected by the first byte]
    #[arg(long = "as", id = "people_format", value_name = "FORMAT")]
    pub(crate) people_format: Option<PeopleFormat>,
    /// Match unknown names by unique e-mail, and store them as other names
    #[arg(long)]
    pub(crate) by_email: bool,
    /// Create no users
    #[arg(long)]
    pub(crate) known_only: bool,
    /// Keep present values, even if the file has others
    #[arg(long)]
    pub(crate) keep: bool,
    /// Exit with code 1 if a line was not merged
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
