//! The bare verbs about one job: reserve and charge.

use clap::Args;

use super::WriteArgs;
use super::value::{amount, pair};

/// Resources of a job, and other properties that its price depends on.
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
    /// Further attributes for rates
    #[arg(short = 'X', long = "attribute", value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) attributes: Vec<(String, String)>,
    /// Quality of service
    #[arg(long)]
    pub(crate) qos: Option<String>,
    /// Class (queue)
    #[arg(long, alias = "queue")]
    pub(crate) class: Option<String>,
    /// Group, for rates and accounts with a list of groups
    #[arg(long)]
    pub(crate) group: Option<String>,
}

/// A job and its resources.
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
    /// Machine it runs on [default: the only one; for a charge: the job's]
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    #[command(flatten)]
    pub(crate) usage: UsageArgs,
    /// Quote (TID) with a guaranteed price
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
    /// Start of the use [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// End of the lien [default: start + wall time + grace]
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
    /// Start of the charged window; with --end, no time is charged twice
    #[arg(long, alias = "from", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// End of the use, exclusive [default: now]
    #[arg(long, alias = "to", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    /// Figures are totals of the job: charge or refund the difference
    #[arg(long)]
    pub(crate) total: bool,
    /// Charge this amount, regardless of the rates
    #[arg(long, value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    /// Reason for the amount, recorded in the journal
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
