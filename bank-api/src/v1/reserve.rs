//! Manual reserves and charges, and changes of liens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `POST /api/v1/reserves` (ledger.md 2.7). Answer: `Held`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewReserve {
    /// The scheduler's id of the job or reservation.
    pub job: String,
    /// `job` or `reservation`; absent: `job`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Project that pays; absent: the user's default project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User; absent: the caller, if registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Machine; absent: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// Nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Memory in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<i64>,
    /// Disk in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<i64>,
    /// Generic resources: name to exact decimal count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gres: BTreeMap<String, String>,
    /// Further usage attributes that rates may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Quality of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// Class (queue).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Group of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Wall duration in seconds.
    #[serde(alias = "wall")]
    pub wall_s: i64,
    /// Start of the use; absent: now. The lien uses allocations that are usable then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Expiry time of the lien; absent: start + wall duration + grace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// TID of a quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// `POST /api/v1/charges` (ledger.md 2.8). Answer: `Charged`. The duration, or start and end of the
/// charged window, or an amount must be there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewCharge {
    /// The scheduler's id of the job or reservation.
    pub job: String,
    /// `job` or `reservation`; absent: `job`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Project that pays; absent: the job's, else the user's default project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User; absent: the job's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Machine; absent: the job's, if neither `project` nor `user` is given, else the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// Nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Memory in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<i64>,
    /// Disk in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<i64>,
    /// Generic resources: name to exact decimal count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gres: BTreeMap<String, String>,
    /// Further usage attributes that rates may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Quality of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// Class (queue).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Group of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Seconds used: since the last charge, or in all with `total`.
    #[serde(default, alias = "duration", skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<i64>,
    /// Start of the charged window. With `end`: usage that is already billed is not billed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// End of the use, exclusive; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The figures are totals of the job. The difference to earlier charges is billed, or refunded if it is
    /// negative.
    #[serde(default)]
    pub total: bool,
    /// Bill this amount instead of a price from the rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Reason for this amount; one line, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itemisation: Option<String>,
    /// Leave the job open, and keep the rest of its lien.
    #[serde(default)]
    pub interim: bool,
    /// `debt`, `reject` or `fallback`; absent: the setting `charge.shortfall`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// TID of a quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

/// `PATCH /api/v1/liens/{id}`. Answer: `Written<Lien>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchLien {
    /// New expiry time. An expired lien holds the amount again that it held at its end.
    pub end: String,
}

/// Result of a reserve.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Held {
    /// The scheduler's id.
    pub job: String,
    /// Machine.
    pub machine: String,
    /// `job` or `reservation`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The lien; `null` if no amount had to be held, and on a dry run.
    pub lien: Option<i64>,
    /// Held amount: 0 in the modes `notional` and `track`.
    pub held: String,
    /// Unit label of the amount.
    pub unit: String,
    /// The accounts of the lien, in payment order.
    #[serde(default)]
    pub accounts: Vec<String>,
    /// The account with insufficient funds, if a fallback account holds the lien.
    pub fallback_from: Option<String>,
    /// Planned start of the use.
    pub start: Option<String>,
    /// Expiry time of the lien, including its grace.
    pub end: Option<String>,
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted request.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The part of a charge that an account paid.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PaidPart {
    /// Account name.
    pub account: String,
    /// Its part; negative for a refund after a lower total.
    pub amount: String,
}

/// Result of a charge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Charged {
    /// The scheduler's id.
    pub job: String,
    /// Machine.
    pub machine: String,
    /// `job` or `reservation`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Billed amount; negative for a refund after a lower total.
    pub amount: String,
    /// The seconds that it counts.
    pub seconds: i64,
    /// Amount that no funds covered.
    pub debt: String,
    /// The part of the debt that is held by other liens.
    pub debt_against_liens: String,
    /// Amount that the fallback account covered.
    pub by_fallback: String,
    /// `charged`, `unbilled` or `notional`.
    pub outcome: String,
    /// The account that pays first.
    pub account: Option<String>,
    /// The accounts that paid, each with its part, in the order of payment; empty if nothing was paid.
    #[serde(default)]
    pub paid_by: Vec<PaidPart>,
    /// Balance of the account that pays first, afterwards.
    pub balance: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// Whether it arrived after the close.
    pub late: bool,
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted request.
    #[serde(default)]
    pub warnings: Vec<String>,
}
