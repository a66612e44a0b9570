//! The answers to commands after the fact.

use crate::amount::Amount;
use crate::ids::{AccountId, AllocationId, InstanceId, TxId};
use crate::model::Figures;

/// The answer to a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// The transaction.
    pub tx: TxId,
    /// The account that gave.
    pub from: AccountId,
    /// The account that got.
    pub to: AccountId,
    /// The moved amount.
    pub amount: Amount,
    /// From which allocation to which.
    pub parts: Vec<(AllocationId, AllocationId, Amount)>,
    /// The figures of the giving account afterwards.
    pub from_figures: Figures,
    /// The figures of the getting account afterwards.
    pub to_figures: Figures,
}

/// The answer to a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refunded {
    /// The transaction.
    pub tx: TxId,
    /// The instance.
    pub instance: InstanceId,
    /// The refunded amount.
    pub amount: Amount,
    /// To which allocations.
    pub parts: Vec<(AllocationId, Amount)>,
    /// The part that went to expired allocations and expired with them.
    pub expired: Amount,
    /// The part that reduced debts which ended with the windows of their allocations.
    pub forgiven: Amount,
    /// Allocations that were made for it.
    pub reissued: Vec<AllocationId>,
    /// The amount that can still be refunded.
    pub left: Amount,
    /// The figures of the accounts afterwards.
    pub figures: Vec<(AccountId, Figures)>,
}

/// The answer to an adjustment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjusted {
    /// The transaction.
    pub tx: TxId,
    /// The account.
    pub account: AccountId,
    /// Signed.
    pub amount: Amount,
    /// By allocation, signed.
    pub parts: Vec<(AllocationId, Amount)>,
    /// The account's figures afterwards.
    pub figures: Figures,
}

/// The answer to a reversal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversed {
    /// The transaction.
    pub tx: TxId,
    /// The transaction that it is the opposite of; none for an account that left no trace.
    pub reversed: Option<TxId>,
    /// The operation of the reversed transaction, by its word.
    pub op: String,
    /// By allocation, signed.
    pub parts: Vec<(AllocationId, Amount)>,
    /// The figures of the accounts of these allocations afterwards.
    pub figures: Vec<(AccountId, Figures)>,
}

/// The answer to a settlement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The transaction.
    pub tx: TxId,
    /// The instance.
    pub instance: InstanceId,
    /// The amount that the project pays.
    pub amount: Amount,
    /// The uncovered part of it, a debt.
    pub debt: Amount,
    /// By allocation.
    pub parts: Vec<(AllocationId, Amount)>,
}
