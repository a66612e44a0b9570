//! The verbs after the fact: transfer, refund, adjust, undo, settle.

use clap::Args;

use super::{ProposeArgs, WriteArgs, amount};

/// `bank transfer`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TransferArgs {
    /// Account that gives, or a project with one account
    pub(crate) from: String,
    /// Account that gets, or a project with one account
    pub(crate) to: String,
    /// How much
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// From this allocation only
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank refund`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RefundArgs {
    /// The scheduler's id of the job
    pub(crate) job: String,
    /// How much [default: everything that is left]
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    /// Its machine, where several know the id
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// job or reservation, where both have the id
    #[arg(long = "type", value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only what this account paid
    #[arg(short = 'a', long)]
    pub(crate) account: Option<String>,
    /// What expired allocations paid goes to a new one that ends then
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) reissue_until: Option<String>,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank adjust`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AdjustArgs {
    /// Account, or a project with one account
    pub(crate) name: String,
    /// How much, with its sign
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// This allocation only
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) note: String,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank undo`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct UndoArgs {
    /// The transaction; that of an undo does it again
    #[arg(value_name = "TRANSACTION")]
    pub(crate) transaction: i64,
    /// Do it although an allocation is left without cover
    #[arg(long)]
    pub(crate) allow_debt: bool,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank settle`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SettleArgs {
    /// The scheduler's id of the job
    pub(crate) job: String,
    /// Project that pays
    #[arg(short = 'A', long)]
    pub(crate) project: String,
    /// Its machine, where several know the id
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// job or reservation, where both have the id
    #[arg(long = "type", value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Reason, kept in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
