//! Arguments of transfer, refund, adjust, undo and settle.

use clap::Args;

use super::value::amount;
use super::{ProposeArgs, WriteArgs};

/// `bank transfer`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TransferArgs {
    /// Source account, or a project with one account
    pub(crate) from: String,
    /// Target account, or a project with one account
    pub(crate) to: String,
    /// Amount
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Only from this allocation
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank refund`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RefundArgs {
    /// Job id of the scheduler
    pub(crate) job: String,
    /// Amount [default: all charges that are not refunded yet]
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: Option<String>,
    /// Machine, if several machines have this id
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// job or reservation, if both have this id
    #[arg(long = "type", value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// This use of a job id that was used again, from 1 [default: the newest that was charged]
    #[arg(long = "use", value_name = "N")]
    pub(crate) number: Option<i64>,
    /// Only charges paid by this account
    #[arg(short = 'a', long)]
    pub(crate) account: Option<String>,
    /// Refund expired allocations to a new allocation with this end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) reissue_until: Option<String>,
    /// Reason, recorded in the journal
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
    /// Amount with its sign
    #[arg(value_parser = amount, allow_negative_numbers = true)]
    pub(crate) amount: String,
    /// Only this allocation
    #[arg(short = 'i', long, value_name = "ID")]
    pub(crate) allocation: Option<i64>,
    /// Reason, recorded in the journal
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) note: String,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank undo`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct UndoArgs {
    /// Number of the transaction; undoing an undo redoes it
    #[arg(value_name = "TRANSACTION")]
    pub(crate) transaction: i64,
    /// Undo even if an allocation is left without cover
    #[arg(long)]
    pub(crate) allow_debt: bool,
    /// Reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: ProposeArgs,
}

/// `bank settle`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SettleArgs {
    /// Job id of the scheduler
    pub(crate) job: String,
    /// Project that pays
    #[arg(short = 'A', long)]
    pub(crate) project: String,
    /// Machine, if several machines have this id
    #[arg(short = 'm', long)]
    pub(crate) machine: Option<String>,
    /// job or reservation, if both have this id
    #[arg(long = "type", value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// This use of a job id that was used again, from 1 [default: the newest on #unbilled]
    #[arg(long = "use", value_name = "N")]
    pub(crate) number: Option<i64>,
    /// Reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
