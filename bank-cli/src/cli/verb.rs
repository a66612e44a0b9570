//! The bare verbs: balance, quote, deposit, withdraw, jobs, journal, explain, query.

use std::path::PathBuf;

use clap::Args;

use super::value::amount;
use super::{AtArgs, ProposeArgs, QuoteCommand, UsageArgs, WriteArgs};

/// `bank balance`.
#[derive(Debug, Clone, Default, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct BalanceArgs {
    /// Only these projects (or accounts of that name)
    pub(crate) projects: Vec<String>,
    /// Only accounts that this user may use
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only accounts that may be used on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only this account
    #[arg(short = 'a', long)]
    pub(crate) account: Option<String>,
    /// With the sub-projects of the projects named
    #[arg(long)]
    pub(crate) tree: bool,
    /// Only what may still be spent
    #[arg(long)]
    pub(crate) available: bool,
    /// Add a row with the sums
    #[arg(long)]
    pub(crate) total: bool,
    #[command(flatten)]
    pub(crate) then: AtArgs,
    /// The columns of Moab Accounting Manager 9
    #[arg(long, conflicts_with = "available")]
    pub(crate) mam: bool,
}

/// `bank quote`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct QuoteArgs {
    #[command(subcommand)]
    pub(crate) given: Option<QuoteCommand>,
    #[arg(
        long,
        value_name = "TIME",
        required = true,
        allow_hyphen_values = true,
        help = "Wall time: seconds, or [[DD:]HH:]MM:SS"
    )]
    pub(crate) wall: Option<String>,
    #[command(flatten)]
    pub(crate) usage: UsageArgs,
    /// Project that pays [default: BANK_PROJECT, else the user's]
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// User who runs it [default: the caller]
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Machine it runs on [default: the only one]
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Freeze this price for one job
    #[arg(long)]
    pub(crate) guarantee: bool,
    /// Freeze it for so many jobs
    #[arg(
        long,
        value_name = "N",
        requires = "guarantee",
        allow_negative_numbers = true
    )]
    pub(crate) uses: Option<i64>,
    /// Price only; do not look at the balance
    #[arg(long)]
    pub(crate) cost_only: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// `bank deposit`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DepositArgs {
    /// Account, or a project with one account
    pub(crate) name: String,
    /// How much
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Top up this allocation
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// First moment it can be spent
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// First moment it can no longer be spent
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    /// Credit limit of the allocation
    #[arg(long, alias = "credit-limit", value_name = "AMOUNT", value_parser = amount,
          allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// Always make a new allocation
    #[arg(long)]
    pub(crate) new: bool,
    /// Take a window that lies in the past
    #[arg(long)]
    pub(crate) allow_past: bool,
    /// All of it to this account, nothing to those below it
    #[arg(long)]
    pub(crate) no_tree: bool,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank withdraw`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WithdrawArgs {
    /// Account, or a project with one account
    pub(crate) name: String,
    /// How much
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Take from this allocation only
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Do not touch the credit limit
    #[arg(long)]
    pub(crate) no_credit: bool,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// Whose work is shown.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OnlyArgs {
    /// Only this project
    #[arg(short = 'A', long)]
    pub(crate) project: Option<String>,
    /// Only this user
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
}

/// `bank jobs`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct JobsArgs {
    /// One job: what it was charged, and why
    pub(crate) job: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyArgs,
    /// open or closed
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// At most so many rows, 1 to 1000
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Go on where the last page ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

/// `bank journal`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct JournalArgs {
    /// Go on showing what is added
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) only: OnlyArgs,
    /// Only this account
    #[arg(short = 'a', long)]
    pub(crate) account: Option<String>,
    /// Only this job
    #[arg(short = 'j', long)]
    pub(crate) job: Option<String>,
    /// Only this kind: deposit, lien, charge, …
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// With the sub-projects of the project
    #[arg(long, requires = "project")]
    pub(crate) tree: bool,
    /// Only what this person, key or program wrote
    #[arg(long)]
    pub(crate) actor: Option<String>,
    /// Effective from, inclusive
    #[arg(long, alias = "from", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Effective until, exclusive
    #[arg(long, alias = "to", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// The newest N rows, up to the end of a transaction; with --after the next N [default: all]
    #[arg(long, value_name = "N", conflicts_with = "follow",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Only transactions after this one
    #[arg(long, value_name = "TRANSACTION")]
    pub(crate) after: Option<String>,
    /// Go on where this file says, and keep there how far it was read
    #[arg(long, value_name = "FILE")]
    pub(crate) cursor: Option<PathBuf>,
}

/// `bank explain`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ExplainArgs {
    /// A job, else a transaction of this number
    #[arg(value_name = "JOB|TRANSACTION")]
    pub(crate) name: String,
    /// The job on this machine
    #[arg(short = 'm', long, conflicts_with = "transaction")]
    pub(crate) machine: Option<String>,
    /// A transaction, also where a job has its number
    #[arg(short = 't', long)]
    pub(crate) transaction: bool,
}

/// `bank query`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
bank query Account Query 'Balance<0' Show:=Name,Balance
bank query Entry Query Kind==charge 'Time>=-30d' 'Show:=GroupBy(Project),Sum(Amount)'

Objects and attributes stand in docs/reference/query.md; a name that is none is answered with the \
ones there are.")]
pub(crate) struct QueryArgs {
    /// OBJECTS Query CONDITION… OPTION…; quote what the shell would read
    #[arg(required = true, num_args = 1.., value_name = "QUERY")]
    pub(crate) words: Vec<String>,
}
