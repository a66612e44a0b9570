//! Why something is as it is.

use serde::{Deserialize, Serialize};

use super::{ChargeRow, JournalEntry, QuoteLine, Rate};

/// The transactions of a job, or one transaction, each with how it came about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The scheduler's object id, where it is about a job.
    pub job: Option<String>,
    /// Its machine.
    pub machine: Option<String>,
    /// The latest refused reserve of the job, unless the job began later.
    pub refused: Option<RefusedReserve>,
    /// The transactions, oldest first.
    pub items: Vec<Explained>,
    /// Always `null`.
    pub next: Option<String>,
    /// False where the job has more transactions than are told.
    pub complete: bool,
    /// The unit of amounts.
    pub unit: String,
}

/// A reserve that was refused: the job has no lien for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusedReserve {
    /// When it was refused last.
    pub at: String,
    /// How often the bank refused a reserve of this job id.
    pub tries: i64,
    /// The refusal code.
    pub code: String,
    /// The rule and its figures at that time.
    pub detail: String,
    /// A remedy, if there is one.
    pub hint: Option<String>,
    /// The amount to hold, for `insufficient_funds`.
    pub needed: Option<String>,
    /// The amount that was free, for `insufficient_funds`.
    pub available: Option<String>,
    /// The project that the document named.
    pub project: String,
    /// The user that the document named.
    pub user: String,
}

/// A transaction and how it came about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explained {
    /// Its number.
    pub transaction: i64,
    /// When it counts.
    pub at_effective: String,
    /// When it was written.
    pub at_recorded: String,
    /// What was asked for.
    pub op: String,
    /// Who.
    pub actor: String,
    /// Note, or why the system acted.
    pub reason: Option<String>,
    /// What it did, in sentences.
    pub says: Vec<String>,
    /// Its entries that are in view.
    pub entries: Vec<JournalEntry>,
    /// Accounts that were looked at, in that order; only where it chose among them.
    pub considered: Vec<Considered>,
    /// The charge that it made, with its arithmetic.
    pub charge: Option<ChargeRow>,
    /// How the price of what it charges comes about, line by line.
    pub price: Vec<QuoteLine>,
    /// The rates that counted, as they were known then.
    pub rates: Vec<Rate>,
}

/// An account, or an allocation of it, that was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Considered {
    /// Its place in the order, from 1; of each lien anew where several were moved.
    pub place: i64,
    /// The lien that looked, where its money went and it holds elsewhere since; else `null`.
    pub lien: Option<i64>,
    /// Account.
    pub account: String,
    /// Allocation; none where the account was not entered.
    pub allocation: Option<i64>,
    /// Its priority, where its lists let the request spend.
    pub priority: Option<i64>,
    /// How far above the project it is, from 0.
    pub distance: Option<i64>,
    /// What could be taken of it then.
    pub free: String,
    /// What was taken of it.
    pub taken: String,
    /// `lien`, `turn`, `fallback`, `debt`, `suspense`: it paid, or holds; `removed`: what lay on it
    /// holds elsewhere since; `not_needed`, `no_money`, `came_after`, `too_little`, `blocked`, `indivisible`, `ends_before`, `no_window`, `list`, `not_named`, `untold`: it did not.
    pub verdict: String,
    /// The same in words.
    pub why: String,
}

/// Query of `GET /api/v1/explanations/{name}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplainQuery {
    /// Only the job of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// `name` is the number of a transaction, also where a job has it.
    #[serde(default)]
    pub transaction: bool,
}
