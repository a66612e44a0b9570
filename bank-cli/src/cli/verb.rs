//! The bare verbs: balance, quote, deposit, withdraw, jobs, journal, explain, query.

use std::path::PathBuf;

use clap::Args;

use super::value::amount;
use super::{AtArgs, ProposeArgs, QuoteCommand, UsageArgs, WriteArgs};

/// `bank balance`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BalanceArgs {
    /// Only these projects (or accounts of that name)
    pub(crate) projects: Vec<String>,
    /// The same, as other commands name a project
    #[arg(short = 'A', long = "project", value_name = "PROJECT")]
    pub(crate) named: Vec<String>,
    /// Only accounts that this user may use
    #[arg(short = 'u', long)]
    pub(crate) user: Option<String>,
    /// Only accounts that may be used on this machine
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// Only this account
    #[arg(short = 'a', long)]
    pub(crate) account: Option<String>,
    /// Only accounts with this text in their name or that of their project
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Include the sub-projects of the named projects
    #[arg(long)]
    pub(crate) tree: bool,
    /// Only available amounts
    #[arg(long)]
    pub(crate) available: bool,
    /// Add a row of totals
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
    /// Guarantee this price for one job
    #[arg(long)]
    pub(crate) guarantee: bool,
    /// Number of jobs that the price is guaranteed for
    #[arg(
        long,
        value_name = "N",
        requires = "guarantee",
        allow_negative_numbers = true
    )]
    pub(crate) uses: Option<i64>,
    /// Price only, without a check of the balance
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
    /// Amount
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Top up this allocation
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Start of the allocation, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<String>,
    /// End of the allocation, exclusive
    #[arg(long, alias = "until", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<String>,
    /// Credit limit of the allocation
    #[arg(long, alias = "credit-limit", value_name = "AMOUNT", value_parser = amount,
          allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// Always create a new allocation
    #[arg(long)]
    pub(crate) new: bool,
    /// Accept a start and an end in the past
    #[arg(long)]
    pub(crate) allow_past: bool,
    /// When the deposit counts: a time in an open period
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) effective: Option<String>,
    /// Deposit everything into this account, without shares of child accounts
    #[arg(long)]
    pub(crate) no_tree: bool,
    /// Reason, recorded in the journal
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
    /// Amount
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Withdraw from this allocation only
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Do not use the credit limit
    #[arg(long)]
    pub(crate) no_credit: bool,
    /// Reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// Filters by project, user and machine.
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
    /// Show the charges of this job
    pub(crate) job: Option<String>,
    #[command(flatten)]
    pub(crate) only: OnlyArgs,
    /// List finished uses without a charge, which collectors reported, instead of jobs
    #[arg(long, conflicts_with_all = ["job", "state", "outcome"])]
    pub(crate) recorded: bool,
    /// open or closed
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Outcome: charged, partly_refunded, refunded, unbilled, notional, reversed or none
    #[arg(long, value_name = "WORD", conflicts_with = "job")]
    pub(crate) outcome: Option<String>,
    /// Start of the period, inclusive
    #[arg(
        long,
        visible_alias = "start",
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) from: Option<String>,
    /// End of the period, exclusive
    #[arg(
        long,
        visible_aliases = ["until", "end"],
        value_name = "TIME",
        allow_hyphen_values = true
    )]
    pub(crate) to: Option<String>,
    /// Jobs that ended or started in the period, or were running in a part of it [default: ended]
    #[arg(long, value_name = "ended|started|running")]
    pub(crate) period: Option<String>,
    /// Maximum number of rows, 1 to 1000
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Continue after the last page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

/// `bank journal`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct JournalArgs {
    /// Keep printing new entries
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
    /// Only this kind, or these: deposit, lien, charge, refund,adjust, …
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Include the sub-projects of the project
    #[arg(long, requires = "project")]
    pub(crate) tree: bool,
    /// Only transactions of this person, key or program
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
    /// Cursor file: continue at its position, and store the new position in it
    #[arg(long, value_name = "FILE")]
    pub(crate) cursor: Option<PathBuf>,
}

/// `bank explain`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ExplainArgs {
    /// Job id, or number of a transaction
    #[arg(value_name = "JOB|TRANSACTION")]
    pub(crate) name: String,
    /// Machine of the job
    #[arg(short = 'm', long, conflicts_with = "transaction")]
    pub(crate) machine: Option<String>,
    /// Explain this use of a job id that was used again, from 1 [default: the newest]
    #[arg(long = "use", value_name = "N", conflicts_with = "transaction")]
    pub(crate) number: Option<i64>,
    /// Treat the number as a transaction, even if a job has it
    #[arg(short = 't', long)]
    pub(crate) transaction: bool,
    /// Ask partner banks for their entries
    #[arg(long)]
    pub(crate) partner: bool,
}

/// `bank settlement`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SettlementArgs {
    /// Partner bank
    pub(crate) partner: String,
    /// Month, such as 2026-10, in UTC
    #[arg(long, value_name = "MONTH")]
    pub(crate) month: String,
}

/// `bank query`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
bank query Account Query 'Balance<0' Show:=Name,Balance
bank query Entry Query Kind==charge 'Time>=-30d' 'Show:=GroupBy(Project),Sum(Amount)'

Objects and attributes are listed in docs/reference/query.md. The answer to an unknown name lists the \
ones there are.")]
pub(crate) struct QueryArgs {
    /// OBJECTS Query CONDITION… OPTION…; quote characters that the shell interprets
    #[arg(required = true, num_args = 1.., value_name = "QUERY")]
    pub(crate) words: Vec<String>,
}

/// `bank batch`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Each line of the file is a command: the request that it would be alone, as JSON.

{\"path\": \"/api/v1/deposits\", \"key\": \"grant-17\", \"body\": {\"name\": \"chem\", \"amount\": \"500\"}}
{\"path\": \"/nami/v1/end\", \"key\": \"job-412\", \"body\": \"<Job>…</Job>\"}

Commands run in their order. A refused command does not stop the others. A command without a key gets \
one of --key. Repeat an interrupted batch with the same --key: what was done has no second effect.")]
pub(crate) struct BatchArgs {
    /// File of JSON lines; - reads standard input
    pub(crate) file: PathBuf,
    /// Write all commands, or none of them if one is refused
    #[arg(long)]
    pub(crate) all_or_nothing: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
