//! Arguments for projects, users and machines, with the verbs `add ls show set rm` (aliases create,
//! list, get, modify, delete).

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

/// `bank project`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Create a project, and an account of its name for its members
    #[command(alias = "create")]
    Add(AddProject),
    /// List projects
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one project
    #[command(alias = "get")]
    Show {
        /// Name of the project
        name: String,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change a project
    #[command(alias = "modify")]
    Set(SetProject),
    /// Remove a project
    #[command(alias = "delete")]
    Rm {
        /// Name of the project
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Members: users who may spend the project's credits
    #[command(subcommand)]
    Members(MemberCommand),
    /// Show projects as a tree
    Tree {
        /// Only this project and those below it
        name: Option<String>,
        #[command(flatten)]
        then: AtArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddProject {
    /// Name of the project
    pub(crate) name: String,
    /// Parent project
    #[arg(long)]
    pub(crate) parent: Option<String>,
    /// Create no account of the same name
    #[arg(long)]
    pub(crate) no_account: bool,
    /// Members; the users must exist
    #[arg(long, alias = "users", value_name = "A,B", value_delimiter = ',')]
    pub(crate) members: Vec<String>,
    /// Mode: strict, fast, notional, track or default
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Member machines: MEMBERS in the machine list of an account
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) machines: Vec<String>,
    /// Organization of the project
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetProject {
    /// Name of the project
    pub(crate) name: String,
    /// Enable the project; an inactive project gets no quotes and no liens
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Parent project; '' for none
    #[arg(long)]
    pub(crate) parent: Option<String>,
    /// Mode: strict, fast, notional, track or default
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Member machines; replaces all present ones; '' for none
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) machines: Option<Vec<String>>,
    /// Organization of the project; '' for none
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
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

/// `bank user`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Create a user
    #[command(alias = "create")]
    Add(AddUser),
    /// List users
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one user
    #[command(alias = "get")]
    Show {
        /// Name of the user
        name: String,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change a user
    #[command(alias = "modify")]
    Set(SetUser),
    /// Remove a user
    #[command(alias = "delete")]
    Rm {
        /// Name of the user
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Merge users from a file: adds and updates users, removes nothing
    Import(ImportUsers),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddUser {
    /// Name of the user
    pub(crate) name: String,
    /// Full name
    #[arg(long, value_name = "TEXT")]
    pub(crate) common_name: Option<String>,
    /// E-mail address
    #[arg(long)]
    pub(crate) email: Option<String>,
    /// Project for requests that name none
    #[arg(long, value_name = "PROJECT")]
    pub(crate) default_project: Option<String>,
    /// Organization of the user
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Telephone number
    #[arg(long, value_name = "NUMBER")]
    pub(crate) phone: Option<String>,
    /// Other names of the user in usage sources
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) aliases: Option<Vec<String>>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
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
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
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

#[derive(Debug, Clone, Args)]
pub(crate) struct SetUser {
    /// Name of the user
    pub(crate) name: String,
    /// Enable the user; an inactive user gets no quotes and no liens
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Full name
    #[arg(long, value_name = "TEXT")]
    pub(crate) common_name: Option<String>,
    /// E-mail address
    #[arg(long)]
    pub(crate) email: Option<String>,
    /// Project for requests that name none; '' for none
    #[arg(long, value_name = "PROJECT")]
    pub(crate) default_project: Option<String>,
    /// Organization of the user; '' for none
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Telephone number; '' for none
    #[arg(long, value_name = "NUMBER")]
    pub(crate) phone: Option<String>,
    /// Other names; replaces all present ones; '' for none
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) aliases: Option<Vec<String>>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
