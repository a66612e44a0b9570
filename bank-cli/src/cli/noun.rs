//! Projects, users and machines: the nouns with their verbs `add ls show set rm` (aliases create,
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
    /// Make a project, and an account of the same name that its members may use
    #[command(alias = "create")]
    Add(AddProject),
    /// List projects
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one project
    #[command(alias = "get")]
    Show {
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
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Who may spend a project's money
    #[command(subcommand)]
    Members(MemberCommand),
    /// Show projects below their parents
    Tree {
        /// Only this project and what is below it
        name: Option<String>,
        #[command(flatten)]
        then: AtArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddProject {
    pub(crate) name: String,
    /// Project above it
    #[arg(long)]
    pub(crate) parent: Option<String>,
    /// Make no account of the same name
    #[arg(long)]
    pub(crate) no_account: bool,
    /// Members: users that are there already
    #[arg(long, alias = "users", value_name = "A,B", value_delimiter = ',')]
    pub(crate) members: Vec<String>,
    /// strict, fast, notional, track or default
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Member machines: MEMBERS in the machine list of an account
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) machines: Vec<String>,
    /// Organization it belongs to
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetProject {
    pub(crate) name: String,
    /// An inactive project gets no quotes and no liens
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Project above it; '' for none
    #[arg(long)]
    pub(crate) parent: Option<String>,
    /// strict, fast, notional, track or default
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// All its member machines anew; '' for none
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) machines: Option<Vec<String>>,
    /// Organization it belongs to; '' for none
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank project members`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// Make users members
    #[command(alias = "create")]
    Add {
        project: String,
        #[arg(required = true)]
        users: Vec<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Say what a member is in the project
    Role {
        project: String,
        user: String,
        /// member, pi or manager
        role: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List the members
    #[command(alias = "list")]
    Ls {
        project: String,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Remove members
    #[command(alias = "delete")]
    Rm {
        project: String,
        #[arg(required = true)]
        users: Vec<String>,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

/// `bank user`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Make a user
    #[command(alias = "create")]
    Add(AddUser),
    /// List users
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one user
    #[command(alias = "get")]
    Show {
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
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
    /// Merge a directory of people: it adds and fills in, and takes nothing away
    Import(ImportUsers),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddUser {
    pub(crate) name: String,
    /// Name for people
    #[arg(long, value_name = "TEXT")]
    pub(crate) common_name: Option<String>,
    #[arg(long)]
    pub(crate) email: Option<String>,
    /// Project taken where a request names none
    #[arg(long, value_name = "PROJECT")]
    pub(crate) default_project: Option<String>,
    /// Organization they belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Telephone number
    #[arg(long, value_name = "NUMBER")]
    pub(crate) phone: Option<String>,
    /// Other names that sources of usage have for them
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) aliases: Option<Vec<String>>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// What a directory of people is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PeopleFormat {
    /// Separated values with a head line
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
    /// The file; - for standard input
    pub(crate) file: String,
    /// csv or ai4 [default: by the first byte]
    #[arg(long = "as", id = "people_format", value_name = "FORMAT")]
    pub(crate) people_format: Option<PeopleFormat>,
    /// Where nobody has the name, whoever alone has the e-mail is meant, and gets it as another name
    #[arg(long)]
    pub(crate) by_email: bool,
    /// Make no new users
    #[arg(long)]
    pub(crate) known_only: bool,
    /// What is known already stays, whatever the file says
    #[arg(long)]
    pub(crate) keep: bool,
    /// End with exit code 1 where a line was not merged
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetUser {
    pub(crate) name: String,
    /// An inactive user gets no quotes and no liens
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
    /// Name for people
    #[arg(long, value_name = "TEXT")]
    pub(crate) common_name: Option<String>,
    #[arg(long)]
    pub(crate) email: Option<String>,
    /// Project taken where a request names none; '' for none
    #[arg(long, value_name = "PROJECT")]
    pub(crate) default_project: Option<String>,
    /// Organization they belong to; '' for none
    #[arg(long, value_name = "NAME")]
    pub(crate) organization: Option<String>,
    /// Telephone number; '' for none
    #[arg(long, value_name = "NUMBER")]
    pub(crate) phone: Option<String>,
    /// All their other names anew; '' for none
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) aliases: Option<Vec<String>>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank machine`.
#[derive(Debug, Subcommand)]
pub(crate) enum MachineCommand {
    /// Make a machine
    #[command(alias = "create")]
    Add(AddMachine),
    /// List machines
    #[command(alias = "list")]
    Ls(AtArgs),
    /// Show one machine
    #[command(alias = "get")]
    Show {
        name: String,
        #[command(flatten)]
        then: AtArgs,
    },
    /// Change a machine
    #[command(alias = "modify")]
    Set(SetMachine),
    /// Remove a machine
    #[command(alias = "delete")]
    Rm {
        name: String,
        #[command(flatten)]
        remove: RemoveArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AddMachine {
    pub(crate) name: String,
    /// strict, fast, notional, track or default
    #[arg(long)]
    pub(crate) mode: Option<String>,
    /// Time between two charges of a running job: seconds, HH:MM:SS, or minute, hour, day
    #[arg(long, value_name = "TIME")]
    pub(crate) flush_interval: Option<String>,
    /// Account that pays when the project's cannot
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) fallback: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Architecture of its processors
    #[arg(long, alias = "architecture", value_name = "NAME")]
    pub(crate) arch: Option<String>,
    /// Operating system
    #[arg(long, alias = "operating-system", value_name = "NAME")]
    pub(crate) opsys: Option<String>,
    /// Whose word its usage is charged by: nami, gold or an import source
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// What of finished usage is charged, such as DEBITALLWC [default: DEBITALLWC]
    #[arg(long, value_name = "POLICY")]
    pub(crate) charge_policy: Option<String>,
    /// Quality of service whose price counts on the fallback account
    #[arg(long, value_name = "QOS")]
    pub(crate) fallback_qos: Option<String>,
    /// Its domain name for usage records, where its own name is none
    #[arg(long, value_name = "NAME")]
    pub(crate) fqdn: Option<String>,
    /// Project or account that pays for reservations which name nobody
    #[arg(long, value_name = "NAME")]
    pub(crate) reservation_account: Option<String>,
    /// Its scheduler only tries the bank out: everything runs in mode track
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) test: Option<Switch>,
    /// What ChargeDuration counts: incremental, cumulative or default
    #[arg(long, value_name = "WORD")]
    pub(crate) charge_duration: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SetMachine {
    #[command(flatten)]
    pub(crate) machine: AddMachine,
    /// An inactive machine gets no quotes and no liens
    #[arg(long, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) active: Option<Switch>,
}
