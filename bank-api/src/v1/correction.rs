//! Transfers, refunds, corrections, reversals and settlements.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/transfers` (ledger.md 2.3). Answer: `Transfer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewTransfer {
    /// An account, or a project with exactly one account.
    pub from: String,
    /// An account, or a project with exactly one account.
    pub to: String,
    /// Exact decimal above zero.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^-?[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// From this allocation only; it may be inactive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<i64>,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The result of a transfer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Transfer {
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// The source account.
    pub from: String,
    /// The account that got.
    pub to: String,
    /// The amount moved, positive.
    pub amount: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// From which allocation to which; each kept its window.
    pub parts: Vec<TransferPart>,
    /// Amount available on the source account afterwards.
    pub from_available: String,
    /// Amount available on the target account afterwards.
    pub to_available: String,
    /// Both accounts afterwards: the source, then the target.
    #[serde(default)]
    pub accounts: Vec<AccountAfter>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted request.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// An account after a transfer, a refund or an adjustment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccountAfter {
    /// Account name.
    pub account: String,
    /// Its `amount` afterwards.
    pub amount: String,
    /// Its `available` afterwards.
    pub available: String,
}

/// One window's part of a transfer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransferPart {
    /// The source allocation.
    pub from: i64,
    /// Allocation that got.
    pub to: i64,
    /// Amount.
    pub amount: String,
}

/// `POST /api/v1/refunds` (ledger.md 2.4). Answer: `Correction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewRefund {
    /// The scheduler's object id.
    pub job: String,
    /// The machine of the job. Required if several machines have this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// `job` or `reservation`. Required if both have this id.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Which use of an id that was used again, from 1; absent: the newest that was charged.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Exact decimal above zero; absent: everything that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Refund only the part that this account paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// End of a new allocation that receives refunds of expired allocations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reissue_until: Option<String>,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST /api/v1/reversals` (ledger.md 2.13). Answer: `Correction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewReversal {
    /// The transaction to undo; that of a reversal does it again.
    pub transaction: i64,
    /// Do it although an allocation is left without cover.
    #[serde(default)]
    pub allow_debt: bool,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST /api/v1/adjustments`. Answer: `Correction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewAdjustment {
    /// An account, or a project with exactly one account. Absent with `allocation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// This allocation only; it may be inactive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<i64>,
    /// Exact decimal with its sign, not zero.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^-?[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// Reason, kept in the journal; required.
    #[serde(default)]
    pub note: String,
}

/// `POST /api/v1/settlements`: charges a project for unbilled usage on `#unbilled`. Answer: `Correction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewSettlement {
    /// The scheduler's object id.
    pub job: String,
    /// The machine of the job. Required if several machines have this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// `job` or `reservation`. Required if both have this id.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Which use of an id that was used again, from 1; absent: the newest that is on `#unbilled`.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// The project to charge.
    pub project: String,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The result of a refund, an adjustment, a reversal or a settlement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Correction {
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// `refund`, `adjust`, `reverse` or `settle`.
    pub kind: String,
    /// The job, the account, or the effect of the reversed transaction.
    pub subject: String,
    /// The amount: positive for refunds and settlements, signed for adjustments. For a reversal, the sum
    /// over its allocations.
    pub amount: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// Signed amount of each allocation.
    pub parts: Vec<CorrectionPart>,
    /// The accounts after a refund, an adjustment or a reversal; empty for a settlement.
    #[serde(default)]
    pub accounts: Vec<AccountAfter>,
    /// The transaction that a reversal is the opposite of.
    pub reverses: Option<i64>,
    /// Amount that can still be refunded, after a refund.
    pub left: Option<String>,
    /// Part of a settlement that no funds covered.
    pub debt: Option<String>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted request.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// An allocation's part of a correction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CorrectionPart {
    /// Allocation id.
    pub allocation: i64,
    /// Signed.
    pub amount: String,
}

/// Query of `DELETE /api/v1/accounts/{name}` and `DELETE /api/v1/allocations/{id}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoveQuery {
    /// Check and answer, but write nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Remove it even if it has funds or open liens.
    #[serde(default)]
    pub force: bool,
}
