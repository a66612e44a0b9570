//! What is asked after the fact: money moved between accounts, given back, put right, undone.

use crate::amount::Amount;
use crate::ids::{AllocationId, TxId};
use crate::model::ObjectType;
use crate::time::Timestamp;

/// A command about what was done before (ledger.md 2.3, 2.4, 2.11, 2.13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// Moves money between accounts.
    Transfer(Transfer),
    /// Gives back what an instance was charged.
    Refund(Refund),
    /// Puts an account right, with a reason.
    Adjust(Adjust),
    /// Writes the opposite of a transaction.
    Reverse(Reverse),
    /// Bills a project for usage that `#unbilled` carries.
    Settle(Settle),
    /// Removes an account by name with its money, and moves its liens.
    RemoveAccount(String),
    /// Brings a removed account back, by name.
    RestoreAccount(String),
    /// Removes an allocation.
    RemoveAllocation(RemoveAllocation),
    /// Asks to set what cannot be set: always refused (ledger.md 2.10).
    SetFixed(AllocationId, &'static str),
}

impl After {
    /// The word for it in the journal's `op` column.
    pub fn op(&self) -> &'static str {
        match self {
            After::Transfer(_) => "transfer",
            After::Refund(_) => "refund",
            After::Adjust(_) => "adjust",
            After::Reverse(_) | After::RestoreAccount(_) => "undo",
            After::Settle(_) => "settle",
            After::RemoveAccount(_) => "account_rm",
            After::RemoveAllocation(_) => "allocation_rm",
            After::SetFixed(..) => "allocation_set",
        }
    }
}

/// Money from one account to another (ledger.md 2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// An account, else a project with one account.
    pub from: String,
    /// An account, else a project with one account.
    pub to: String,
    /// Above zero.
    pub amount: Amount,
    /// From this allocation only, which may be inactive.
    pub allocation: Option<AllocationId>,
    /// Kept in the journal.
    pub note: String,
}

/// Money back to who paid for an instance (ledger.md 2.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refund {
    /// The scheduler's id.
    pub object_id: String,
    /// On which machine; none where only one knows the id.
    pub machine: Option<String>,
    /// Job or reservation; none where only one of them has the id.
    pub object_type: Option<ObjectType>,
    /// Above zero; everything that is left by default.
    pub amount: Option<Amount>,
    /// Only what this account paid, by name.
    pub account: Option<String>,
    /// What expired allocations paid goes to a new one that ends then.
    pub reissue_until: Option<Timestamp>,
    /// Kept in the journal.
    pub note: String,
}

/// A correction with a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjust {
    /// An account, else a project with one account; none where the allocation says it.
    pub name: Option<String>,
    /// This allocation, which may be inactive.
    pub allocation: Option<AllocationId>,
    /// Signed, not zero.
    pub amount: Amount,
    /// Why; required, kept in the journal.
    pub note: String,
}

/// The opposite of a transaction (ledger.md 2.13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverse {
    /// Which.
    pub transaction: TxId,
    /// Do it although an allocation is left without cover.
    pub allow_debt: bool,
    /// Kept in the journal.
    pub note: String,
}

/// Usage on `#unbilled` that a project pays after all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settle {
    /// The scheduler's id.
    pub object_id: String,
    /// On which machine; none where only one knows the id.
    pub machine: Option<String>,
    /// Job or reservation; none where only one of them has the id.
    pub object_type: Option<ObjectType>,
    /// Who pays.
    pub project: String,
    /// Kept in the journal.
    pub note: String,
}

/// An allocation that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveAllocation {
    /// Its number.
    pub id: AllocationId,
    /// With its money, and although liens lie on it.
    pub force: bool,
}
