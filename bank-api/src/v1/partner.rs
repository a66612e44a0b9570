//! Partner banks: what they ask each other, and settlements.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/partner/reserves`: a job of a project of this bank is about to run at the partner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PartnerReserve {
    /// The id of the question, a UUID.
    pub question: String,
    /// The project, as this bank names it.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine at the partner.
    pub machine: String,
    /// `job` or `reservation`.
    pub kind: String,
    /// The id of the use: the scheduler's id, with `#` and a number from the second use on.
    pub job: String,
    /// The amount to hold, an exact decimal.
    pub amount: String,
    /// The partner's unit of amounts.
    pub unit: String,
    /// The partner's decimals.
    pub precision: u8,
    /// End of the lien.
    pub end: String,
    /// Longest duration of the job, seconds.
    pub wall_s: i64,
    /// Processors, a decimal.
    pub processors: String,
}

/// The answer: the amount is held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerHeld {
    /// The transaction that holds it; `null` on a dry run.
    pub transaction: Option<i64>,
    /// The held amount.
    pub held: String,
    /// Unit of amounts.
    pub unit: String,
}

/// `POST /api/v1/partner/releases`: the reserve was not written at the partner after all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PartnerRelease {
    /// The id of the question.
    pub question: String,
    /// The machine at the partner.
    pub machine: String,
    /// `job` or `reservation`.
    pub kind: String,
    /// The id of the use.
    pub job: String,
}

/// The answer: nothing is held for the use any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerReleased {
    /// The transaction that released the lien; `null` if there was none.
    pub transaction: Option<i64>,
}

/// `POST /api/v1/partner/charges`: what a transaction at the partner charged to a project of this bank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PartnerCharge {
    /// The number of the message: from 1 without gaps.
    pub number: i64,
    /// The transaction at the partner.
    pub transaction: i64,
    /// When the partner recorded it; it decides the month of the settlement.
    pub recorded_at: String,
    /// When it counts.
    pub at: String,
    /// The project, as this bank names it.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine at the partner.
    pub machine: String,
    /// `job` or `reservation`.
    pub kind: String,
    /// The id of the use.
    pub job: String,
    /// The charged amount, an exact decimal; below zero for a return.
    pub amount: String,
    /// The partner's unit of amounts.
    pub unit: String,
    /// The partner's decimals.
    pub precision: u8,
    /// The charged seconds; below zero for a return that takes time back.
    pub seconds: i64,
    /// Processors, a decimal.
    pub processors: String,
    /// What became of the lien: `nothing`, `lien` (released) or `use` (the job is over).
    pub ends: String,
}

/// The answer: the message is carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerCharged {
    /// The number of the message.
    pub number: i64,
    /// The transaction here.
    pub transaction: i64,
}

/// `GET /api/v1/partner/position`: the last messages between the caller and this bank; 0 before the first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerPosition {
    /// The number of the last message that this bank received.
    pub received: i64,
    /// The number of the last message that this bank made.
    pub sent: i64,
}

/// Query of the entries between two banks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PartnerEntryQuery {
    /// A month, `2026-10`, in UTC.
    pub month: String,
    /// Only sent (`true`) or received (`false`) ones.
    pub sent: bool,
    /// Continue after this number.
    #[serde(default)]
    pub after: i64,
}

/// Query of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PartnerMessageQuery {
    /// Whether the asking bank sent the message; else it received it.
    #[serde(default)]
    pub sent: bool,
}

/// Query of a settlement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SettlementQuery {
    /// A month, `2026-10`, in UTC.
    pub month: String,
}

/// A message between two banks, as one of them has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerEntry {
    /// The other bank.
    pub partner: String,
    /// Whether this bank sent it.
    pub sent: bool,
    /// Its number.
    pub number: i64,
    /// The transaction of this bank.
    pub transaction: i64,
    /// The transaction of the other bank; `null` while the message is in flight.
    pub counterpart: Option<i64>,
    /// When the sender recorded it.
    pub recorded_at: String,
    /// The project at the receiving bank.
    pub project: String,
    /// The id of the job.
    pub job: String,
    /// The machine of the job, as this bank names it.
    pub machine: String,
    /// The amount; below zero for a return.
    pub amount: String,
    /// Unit of amounts.
    pub unit: String,
}

/// What a message is at the other bank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerExplained {
    /// The message.
    pub entry: PartnerEntry,
    /// The entries of the transaction, in order.
    pub lines: Vec<PartnerLine>,
}

/// An entry of the transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerLine {
    /// Kind of entry.
    pub kind: String,
    /// Account.
    pub account: Option<String>,
    /// Change of the account's amount.
    pub amount: String,
    /// Change of the held amount. Absent in answers of banks of before.
    pub held: Option<String>,
}

/// The settlement of a month between this bank and a partner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Settlement {
    /// The partner.
    pub partner: String,
    /// The month, `2026-10`.
    pub month: String,
    /// Unit of amounts.
    pub unit: String,
    /// Whether the partner answered. If not, the entries of this bank are not compared.
    pub compared: bool,
    /// Why they are not compared.
    pub cause: Option<String>,
    /// Whether both banks have the same entries. False while one is in flight.
    pub agrees: bool,
    /// Jobs of the partner's projects at this bank.
    pub partner_owes: SettlementSide,
    /// Jobs of projects of this bank at the partner.
    pub partner_gets: SettlementSide,
    /// What the partner owes in sum; below zero if this bank owes.
    pub net: String,
    /// Entries that only one bank has, or that differ.
    pub differences: Vec<SettlementDifference>,
}

/// One direction of a settlement: the entries that both banks have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SettlementSide {
    /// Number of entries.
    pub entries: i64,
    /// Sum of the charges.
    pub charged: String,
    /// Sum of the returns, positive.
    pub returned: String,
    /// Charges less returns.
    pub total: String,
    /// Number of entries that the receiving bank does not have yet.
    pub in_flight: i64,
    /// Their sum.
    pub in_flight_amount: String,
}

/// An entry that only one bank has, or that differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SettlementDifference {
    /// Whether this bank sent it.
    pub sent: bool,
    /// Its number.
    pub number: i64,
    /// `in_flight`, `missing_here`, `missing_there`, `differs`, or `no_message`: a charge here that no message
    /// delivers.
    pub what: String,
    /// The entry here.
    pub here: Option<PartnerEntry>,
    /// The entry at the partner.
    pub there: Option<PartnerEntry>,
}

/// Messages that wait for a partner bank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartnerWaiting {
    /// The partner.
    pub name: String,
    /// Their number.
    pub waiting: i64,
    /// When the oldest was recorded.
    pub since: String,
    /// Why the last attempt failed; `null` if there was none since the start.
    pub cause: Option<String>,
}
