//! The bare verbs about one job: reserve and charge.

use clap::Args;

use super::WriteArgs;
use super::value::{amount, pair};

/// What a job uses, and what else its price may depend on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct UsageArgs {
    /// Processors
    #[arg(
        long,
        alias = "processors",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub(crate) procs: Option<i64>,
    /// Nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<i64>,
    /// Memory in MB
    #[arg(long, value_name = "MB", allow_negative_numbers = true)]
    pub(crate) memory: Option<i64>,
    /// Disk in MB
    #[arg(long, value_name = "MB", allow_negative_numbers = true)]
    pub(crate) disk: Option<i64>,
    /// Generic resources, such as gpu=2
    #[arg(long, value_name = "NAME=N", value_delimiter = ',', value_parser = pair)]
    pub(crate) gres: Vec<(String, String)>,
    /// Further attributes that rates may name
    #[arg(short = 'X', long = "attribute", value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) attributes: Vec<(String, String)>,
    /// Quality of service
    #[arg(long)]
    pub(crate) qos: Option<String>,
    /// Class (queue)
    #[arg(long, alias = "queue")]
    pub(crate) class: Option<String>,
    /// Group, for rates and accounts that ask for one
    #[arg(long)]
    pub(crate) group: Option<String>,
}

/// Which job, and what it uses.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ObjectArgs {
    /// The scheduler's id of the job
    pub(crate) job: String,
    /// job or reservation [default: job]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Project that pays [default for a reserve: BANK_PROJECT; for a charge: the job's]
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// User who runs it [default for a reserve: the caller; for a charge: the job's]
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Machine it runs on [default: the only one]
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) usage: UsageArgs,
    /// TID of a quote whose price counts
    #[arg(long, value_name = "TID")]
    pub(crate) quote: Option<String>,
}

/// `bank reserve`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReserveArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        help = "Wall time: seconds, or [[DD:]HH:]MM:SS"
    )]
    pub(crate) wall: String,
    /// When the use begins [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// When the lien expires [default: start + wall time + grace]
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank charge`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChargeArgs {
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
    #[arg(
        long,
        alias = "wall",
        value_name = "TIME",
        allow_hyphen_values = true,
        help = "Time used: seconds, or [[DD:]HH:]MM:SS"
    )]
    pub(crate) duration: Option<String>,
    /// Start of the charged window; with --end nothing is billed twice
    #[arg(long, alias = "from", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// When the use ended, exclusive [default: now]
    #[arg(long, alias = "to", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    /// The figures are totals of the job: bill what is new, refund what is too much
    #[arg(long)]
    pub(crate) total: bool,
    /// Bill this amount, whatever the rates say
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    /// Why this amount, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) itemisation: Option<String>,
    /// Leave the job open, and keep the rest of its lien
    #[arg(long, alias = "incremental")]
    pub(crate) interim: bool,
    /// debt, reject or fallback [default: the bank's setting]
    #[arg(long, value_name = "POLICY")]
    pub(crate) shortfall: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
