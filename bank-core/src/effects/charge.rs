//! The answer to a charge.

use super::Billing;
use crate::amount::Amount;
use crate::ids::{AccountId, InstanceId, TxId};
use crate::time::Seconds;

/// The answer to a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate warning of the answer"
)]
pub struct Charged {
    /// The instance.
    pub instance: InstanceId,
    /// The transaction.
    pub tx: TxId,
    /// Billed amount: 0 in mode `track`.
    pub amount: Amount,
    /// The uncovered part, a debt (ledger.md 2.12).
    pub debt: Amount,
    /// The result of billing.
    pub billing: Billing,
    /// The paying account, and its balance afterwards.
    pub account: Option<AccountId>,
    /// Each account that paid, with its part, in the order of payment; negative parts are refunds.
    pub shares: Vec<(AccountId, i128)>,
    /// Amount − held of the paying account's active allocations.
    pub balance: Amount,
    /// Why it is unbilled: the project as named.
    pub project: String,
    /// There was no open lien.
    pub lien_missing: bool,
    /// It came after the close.
    pub late: bool,
    /// The TID is a quote of ours that does not hold for this request.
    pub quote_invalid: bool,
    /// The part of the debt that was taken from under other liens (ledger.md 2.12).
    pub against_liens: Amount,
    /// The amount paid by the fallback account.
    pub by_fallback: Amount,
    /// The seconds that it counts: without what a window had billed before; for a total the
    /// difference.
    pub counted: Seconds,
    /// No rate found anything to count.
    pub unpriced: bool,
    /// Seconds beyond what can have been used; billed only where the site accepts them.
    pub disputed: Seconds,
    /// The document repeats time that is billed already: it added nothing.
    pub repeats: bool,
    /// The source that charges the machine in place of this one, so that this is on record with
    /// amount 0 (decisions.md 19).
    pub kept_for: Option<String>,
    /// The refusal code of strict enforcement, for a finished use in a mode that refuses nothing.
    pub would_refuse: Option<&'static str>,
}
