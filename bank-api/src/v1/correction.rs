//! Transfers, refunds, corrections, reversals and settlements.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/transfers` (ledger.md 2.3). Answer: `Transfer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewTransfer {
    /// An account, else a project whose only account is meant.
    pub from: String,
    /// An account, else a project whose only account is meant.
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

/// What a transfer did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Transfer {
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// The account that gave.
    pub from: String,
    /// The account that got.
    pub to: String,
    /// The amount moved, positive.
    pub amount: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// From which allocation to which; each kept its window.
    pub parts: Vec<TransferPart>,
    /// What the giving account has available afterwards.
    pub from_available: String,
    /// What the getting account has available afterwards.
    pub to_available: String,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// What the caller should know although it was accepted.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// One window's part of a transfer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransferPart {
    /// Allocation that gave.
    pub from: i64,
    /// Allocation that got.
    pub to: i64,
    /// How much.
    pub amount: String,
}

/// `POST /api/v1/refunds` (ledger.md 2.4). Answer: `Correction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewRefund {
    /// The scheduler's object id.
    pub job: String,
    /// Its machine; needed where several know the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// `job` or `reservation`; needed where both have the id.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Exact decimal above zero; absent: everything that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Only what this account paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// What expired allocations paid goes to a new allocation that ends then.
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
    /// An account, else a project whose only account is meant; absent where `allocation` says it.
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

/// `POST /api/v1/settlements`: a project pays for what `#unbilled` carries. Answer: `Correction`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewSettlement {
    /// The scheduler's object id.
    pub job: String,
    /// Its machine; needed where several know the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// `job` or `reservation`; needed where both have the id.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Who pays.
    pub project: String,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a refund, an adjustment, a reversal or a settlement did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Correction {
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// `refund`, `adjust`, `reverse` or `settle`.
    pub kind: String,
    /// What it is about: the job, the account, or what the reversed transaction had done.
    pub subject: String,
    /// The amount: positive for refunds and settlements, signed for adjustments; for a reversal the
    /// sum of what its allocations got.
    pub amount: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// By allocation, signed: what each got or gave.
    pub parts: Vec<CorrectionPart>,
    /// The transaction that a reversal is the opposite of.
    #[serde(default)]
    pub reverses: Option<i64>,
    /// What can still be refunded, after a refund.
    #[serde(default)]
    pub left: Option<String>,
    /// What of a settlement nothing covered.
    #[serde(default)]
    pub debt: Option<String>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// What the caller should know although it was accepted.
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
    /// Decide and answer, write nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// With its money, and although liens lie on it.
    #[serde(default)]
    pub force: bool,
}
