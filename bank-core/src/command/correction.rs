//! Commands after the fact: transfer, refund, adjust, undo.

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

/// Refund to the accounts that paid for an instance (ledger.md 2.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refund {
    /// The scheduler's id.
    pub object_id: String,
    /// The machine; none if only one machine has the id.
    pub machine: Option<String>,
    /// Job or reservation; none where only one of them has the id.
    pub object_type: Option<ObjectType>,
    /// Which use of the id, from 1; the newest that was charged by default.
    pub number: Option<i64>,
    /// Above zero; everything that is left by default.
    pub amount: Option<Amount>,
    /// Only what this account paid, by name.
    pub account: Option<String>,
    /// The amounts that expired allocations paid go to a new allocation that ends then.
    pub reissue_until: Option<Timestamp>,
    /// Kept in the journal.
    pub note: String,
}

/// A correction with a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjust {
    /// An account, else a project with one account; none if the allocation identifies it.
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
    /// The machine; none if only one machine has the id.
    pub machine: Option<String>,
    /// Job or reservation; none where only one of them has the id.
    pub object_type: Option<ObjectType>,
    /// Which use of the id, from 1; by default the newest one that is on the suspense account, else the newest one that was
    /// charged.
    pub number: Option<i64>,
    /// The project that pays.
    pub project: String,
    /// Kept in the journal.
    pub note: String,
}

/// An allocation that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveAllocation {
    /// Its number.
    pub id: AllocationId,
    /// Remove it with its money and despite its liens.
    pub force: bool,
}
