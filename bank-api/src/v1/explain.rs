//! Explanations of charges and other transactions.

use serde::{Deserialize, Serialize};

use super::{ChargeRow, JournalEntry, PartnerEntry, QuoteLine, Rate};

/// The transactions of a job, or one transaction, each with its explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The scheduler's object id, for a job.
    pub job: Option<String>,
    /// Its machine.
    pub machine: Option<String>,
    /// Which use of the id on this machine, from 1.
    pub number: Option<i64>,
    /// All uses of the id on this machine that the caller sees, the newest first, if there are several.
    #[serde(default)]
    pub uses: Vec<JobUse>,
    /// The latest refused reserve of the job, unless the job began later.
    pub refused: Option<RefusedReserve>,
    /// The time of a reservation, if its machine has `reservation_charge` `reported`.
    pub reservation: Option<ReservationTime>,
    /// The transactions, oldest first.
    pub items: Vec<Explained>,
    /// Always `null`.
    pub next: Option<String>,
    /// False if the job has more transactions than the answer contains.
    pub complete: bool,
    /// The unit of amounts.
    pub unit: String,
}

/// One use of a scheduler's object id, which a scheduler can use again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobUse {
    /// Its number, from 1.
    pub number: i64,
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Its start; that of its first document if the scheduler reported none.
    pub start: String,
    /// Its end, if it has ended.
    pub end: Option<String>,
}

/// The time of a reservation: it pays for the part that no job in it used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReservationTime {
    /// Its processor-seconds.
    pub reserved: String,
    /// The part that no job used.
    pub idle: String,
    /// The parts that jobs used, by the order of their first documents.
    pub jobs: Vec<ReservationJob>,
}

/// A job in a reservation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReservationJob {
    /// The scheduler's object id; `null` for all jobs together that the caller does not see.
    pub job: Option<String>,
    /// Its project, likewise.
    pub project: Option<String>,
    /// Processor-seconds of the reservation that it used.
    pub used: String,
}

/// A reserve that was refused: the job has no lien for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusedReserve {
    /// Time of the last refusal.
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

/// Query of `GET /api/v1/refused-reserves`. Answer: `List<RefusedJob>`, the latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RefusedQuery {
    /// Only of this machine.
    pub machine: Option<String>,
    /// Rows at most, 1 to 1000; default 100.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next` of the previous page.
    pub after: Option<String>,
}

/// A job whose reserve was refused, with the last refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusedJob {
    /// The scheduler's object id.
    pub job: String,
    /// Machine as named.
    pub machine: String,
    /// The refusal.
    #[serde(flatten)]
    pub refused: RefusedReserve,
}

/// A transaction with its explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explained {
    /// Its number.
    pub transaction: i64,
    /// Effective time.
    pub at_effective: String,
    /// Recording time.
    pub at_recorded: String,
    /// The requested operation.
    pub op: String,
    /// The user or program that requested it.
    pub actor: String,
    /// Note, or the reason of an automatic operation.
    pub reason: Option<String>,
    /// The transaction that took it back, if one did.
    pub reversed_by: Option<i64>,
    /// Its effects, in sentences.
    pub effects: Vec<String>,
    /// Its visible entries.
    pub entries: Vec<JournalEntry>,
    /// Accounts in the order of the search. Empty if the transaction selected no account.
    pub considered: Vec<Considered>,
    /// The charge that it made, with its arithmetic.
    pub charge: Option<ChargeRow>,
    /// The price calculation of the charge, line by line.
    pub price: Vec<QuoteLine>,
    /// The rates that applied, as recorded at that time.
    pub rates: Vec<Rate>,
    /// Its counterparts at partner banks.
    #[serde(default)]
    pub counterparts: Vec<PartnerEntry>,
}

/// An account, or one of its allocations, in the search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Considered {
    /// Position in the search, from 1. Each moved lien has a separate order.
    pub place: i64,
    /// The moved lien that the search was for, else `null`.
    pub lien: Option<i64>,
    /// Account.
    pub account: String,
    /// Allocation, or `null` if the search skipped the whole account.
    pub allocation: Option<i64>,
    /// Its priority, if its lists allow the request.
    pub priority: Option<i64>,
    /// Levels above the project, from 0.
    pub distance: Option<i64>,
    /// Free amount at that time.
    pub free: String,
    /// Amount taken from it.
    pub taken: String,
    /// `lien`, `turn`, `fallback`, `debt`, `suspense`: it paid or holds. `removed`: its liens moved to
    /// other accounts. `not_needed`, `no_money`, `came_after`, `too_little`, `blocked`, `indivisible`,
    /// `ends_before`, `no_window`, `list`, `not_named`, `untold`: it did not pay.
    pub verdict: String,
    /// Explanation of the verdict.
    pub why: String,
}

/// Query of `GET /api/v1/explanations/{name}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExplainQuery {
    /// Only the job of this machine.
    pub machine: Option<String>,
    /// This use of the id, from 1; the newest if none is named.
    pub number: Option<i64>,
    /// `name` is a transaction number, even if a job has this id.
    #[serde(default)]
    pub transaction: bool,
}
