//! Quotes, liens and jobs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `POST /api/v1/quotes` (ledger.md 2.9). Answer: `Quote`, or 402 with `needed` and `available`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewQuote {
    /// Project; absent: the user's default project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User; absent: the caller.
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
    /// Group, for rates and accounts that ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Generic resources: name to exact decimal count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gres: BTreeMap<String, String>,
    /// Quality of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// Class (queue).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Further usage attributes that rates may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Wall duration in seconds.
    pub wall_s: i64,
    /// Write a row that freezes the rates; then the call is mutating.
    #[serde(default)]
    pub guarantee: bool,
    /// For how many jobs a guarantee holds, 1 to 1000; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub uses: Option<i64>,
    /// Price only, without the test of the balance.
    #[serde(default)]
    pub cost_only: bool,
}

/// The price of a job, and whether it could start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quote {
    /// Cost at the given duration.
    pub cost: String,
    /// Available amount now; `null` with `cost_only`, and for a project of a partner bank.
    pub available: Option<String>,
    /// Required amount; differs from `cost` in modes that charge nothing.
    pub needed: Option<String>,
    /// Amount available afterwards; `null` where `available` is.
    pub remaining: Option<String>,
    /// The project that pays.
    pub project: Option<String>,
    /// The account that pays first.
    pub account: Option<String>,
    /// Row id of a guaranteed quote.
    pub id: Option<i64>,
    /// Text by which a scheduler names the row.
    pub tid: Option<String>,
    /// Start of its validity.
    pub valid_from: Option<String>,
    /// End of its validity, exclusive.
    pub valid_until: Option<String>,
    /// The calculation of the cost, line by line. The last line is the cost.
    #[serde(default)]
    pub lines: Vec<QuoteLine>,
    /// Unit label of the amounts.
    pub unit: String,
    /// The journal transaction of a guaranteed quote.
    pub transaction: Option<i64>,
    /// Warnings, including `would_refuse` in the modes `notional` and `track`.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// One line of the explanation of a price.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteLine {
    /// The factor: `64 procs × 12:00:00`, `× qos high 1.5`, `+ fee VBF`.
    pub text: String,
    /// The running amount after this line.
    pub amount: String,
    /// Unit of this line.
    pub unit: String,
}

/// A lien (`GET /api/v1/liens`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lien {
    /// Row id.
    pub id: i64,
    /// The scheduler's object id.
    pub job: String,
    /// Machine.
    pub machine: String,
    /// `job` or `reservation`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Accounts with allocations that hold a part.
    #[serde(default)]
    pub accounts: Vec<String>,
    /// Amount still held.
    pub amount: String,
    /// The time from which the lien holds, as `start`.
    pub placed: String,
    /// Planned start of the use.
    pub start: Option<String>,
    /// Expiry time, including the grace.
    pub end: Option<String>,
    /// `open`, `settled`, `released`, `replaced` or `expired`.
    pub state: String,
    /// True in the modes `notional` and `track`: no real money is held.
    pub shadow: bool,
    /// Unit label of the amount.
    #[serde(default)]
    pub unit: String,
}

/// Query of `GET /api/v1/liens`. Answer: `List<Lien>`. Without `state`: only open liens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LienQuery {
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// A state of [`Lien::state`], or `all`.
    #[cfg_attr(
        feature = "openapi",
        schema(pattern = "^(open|settled|released|replaced|expired|all)$")
    )]
    pub state: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
    /// Liens that were open at this instant; absent: now.
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then.
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub recorded: bool,
}

/// One instance of a job with its charges (`GET /api/v1/jobs/{object_id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Job {
    /// The scheduler's object id.
    pub job: String,
    /// Machine.
    pub machine: String,
    /// `job` or `reservation`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Number of the use of this id, from 1.
    pub number: i64,
    /// `open` or `closed`.
    pub state: String,
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// The account that pays first.
    pub account: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Class (queue).
    pub class: Option<String>,
    /// Processors.
    pub processors: Option<i64>,
    /// Wall duration that was asked for, in seconds.
    pub requested_s: Option<i64>,
    /// Billed so far.
    pub charged: String,
    /// Amount refunded to the payers, without refunds that were undone; absent without a charge.
    pub refunded: Option<String>,
    /// `charged - refunded`; absent without a charge.
    pub net: Option<String>,
    /// Seconds billed so far.
    pub charged_s: i64,
    /// Seconds that its scheduler reported above the possible maximum (nami.md 1.4).
    #[serde(default)]
    pub disputed_s: i64,
    /// Its latest lien, `null` if it never had one.
    pub lien: Option<JobLien>,
    /// Creation time of the instance.
    pub opened: Option<String>,
    /// Closing time.
    pub closed: Option<String>,
    /// The account with insufficient funds, if the fallback account pays.
    pub fallback_from: Option<String>,
    /// True if a charge arrived after the close.
    pub late: bool,
    /// State of the usage: `charged`, `partly_refunded`, `refunded`, `unbilled`, `notional`, `reversed` or `none`.
    pub outcome: Option<String>,
    /// Its charges, oldest first; empty in lists.
    #[serde(default)]
    pub charges: Vec<ChargeRow>,
    /// The payers with their amounts; empty in lists.
    #[serde(default)]
    pub paid_by: Vec<Payer>,
    /// The calculation of the total, line by line; empty in lists.
    #[serde(default)]
    pub explanation: Vec<String>,
    /// Unit label of the amounts.
    #[serde(default)]
    pub unit: String,
}

/// The lien of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobLien {
    /// Amount held initially.
    pub placed_amount: String,
    /// Amount still held.
    pub amount: String,
    /// Creation time.
    pub placed: String,
    /// Amount released without a charge.
    pub released: String,
    /// A state of [`Lien::state`].
    pub state: String,
}

/// One charge of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChargeRow {
    /// Journal transaction.
    pub transaction: i64,
    /// Effective time.
    pub at: String,
    /// Seconds that it bills.
    pub seconds: Option<i64>,
    /// Billed by it.
    pub amount: String,
    /// Journal kind: `charge`, `charge_debt`, `charge_fallback`, `charge_notional`, `late_charge`,
    /// `refund`, `reverse`; `settle` for usage that moved from `#unbilled` to a project.
    pub kind: String,
    /// `interim`, and further remarks.
    pub explanation: Option<String>,
    /// The exact calculation of the added amount (ledger.md 3.1), by the rates that applied then.
    pub itemisation: Option<String>,
    /// The numbers of these rates.
    #[serde(default)]
    pub rates: Vec<i64>,
}

/// The share that an allocation paid of a job's charges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Payer {
    /// Account name.
    pub account: String,
    /// Allocation id.
    pub allocation: i64,
    /// Its payments for all charges, less refunds.
    pub amount: String,
    /// End of the allocation, exclusive.
    pub until: Option<String>,
}

/// Query of `GET /api/v1/jobs`. Answer: `List<Job>`, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JobQuery {
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// `open` or `closed`.
    #[cfg_attr(feature = "openapi", schema(pattern = "^(open|closed)$"))]
    pub state: Option<String>,
    /// An outcome, as in [`Job`]: `unbilled` for jobs whose price waits on `#unbilled`.
    #[cfg_attr(
        feature = "openapi",
        schema(pattern = "^(charged|partly_refunded|refunded|unbilled|notional|reversed|none)$")
    )]
    pub outcome: Option<String>,
    /// Start of the period.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: Option<String>,
    /// End of the period, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Which jobs belong to the period: those that `ended` in it (default), `started` in it, or were `running` at least
    /// for a part of it. They are the `ended`, `started` and `jobs` of a usage report of the same period. A job without
    /// a charge is in no period.
    #[cfg_attr(feature = "openapi", schema(pattern = "^(ended|started|running)$"))]
    pub period: Option<String>,
    /// Rows per page, 1 to 1000; default 100.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Query of `GET /api/v1/jobs/{id}`. Answer: [`Job`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OneJobQuery {
    /// The machine. Required if several machines have this id.
    pub machine: Option<String>,
}
