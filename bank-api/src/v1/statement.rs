//! Statements of accounts, and closed periods of the books.

use serde::{Deserialize, Serialize};

/// `GET /api/v1/statements`: exactly one of `project`, `account`, `user` and `machine`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StatementQuery {
    /// The accounts of this project alone.
    pub project: Option<String>,
    /// This account, by name or number.
    pub account: Option<String>,
    /// Charges of this user, by project.
    pub user: Option<String>,
    /// Charges on this machine, by project.
    pub machine: Option<String>,
    /// With the projects below.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// The start, inclusive; absent: the beginning of the bank.
    pub from: Option<String>,
    /// The end, exclusive; absent: now.
    pub until: Option<String>,
    /// State at this instant, without entries that take effect later.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then.
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub recorded: bool,
    /// At so many instants of the period, evenly spaced, the amount and what of it was held: 1 to 100; none if absent.
    pub samples: Option<u32>,
}

/// `GET /api/v1/statements/entries`: the lines of a statement, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StatementLineQuery {
    /// See [`StatementQuery::project`].
    pub project: Option<String>,
    /// See [`StatementQuery::account`].
    pub account: Option<String>,
    /// See [`StatementQuery::user`].
    pub user: Option<String>,
    /// See [`StatementQuery::machine`].
    pub machine: Option<String>,
    /// See [`StatementQuery::tree`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// See [`StatementQuery::from`].
    pub from: Option<String>,
    /// See [`StatementQuery::until`].
    pub until: Option<String>,
    /// See [`StatementQuery::at`].
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// See [`StatementQuery::recorded`].
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub recorded: bool,
    /// Only entries up to this transaction: [`Statement::transaction`]. The lines then match the statement,
    /// despite later entries.
    pub transaction: Option<i64>,
    /// `next` of the page before.
    pub after: Option<String>,
    /// Lines of a page, 1 to 1000; absent: 100.
    pub limit: Option<u32>,
}

/// The answer of `GET /api/v1/statements`: opening + credits + debits = closing, of active funds. A
/// statement of a user or a machine has no balances: `opening`, `closing` and values derived from them are
/// `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Statement {
    /// `project`, `account`, `user` or `machine`.
    pub of: String,
    /// Its name.
    pub name: String,
    /// With the projects below.
    pub tree: bool,
    /// The accounts that it is of, by name; empty for a user or a machine.
    pub accounts: Vec<String>,
    /// The start, inclusive; `null` for the beginning of the bank.
    pub from: Option<String>,
    /// The end, exclusive.
    pub until: String,
    /// The last transaction that counts; of a closed period its close.
    pub transaction: i64,
    /// Whether the period is closed. Statements of closed periods do not change.
    pub closed: bool,
    /// Active money at the start.
    pub opening: Option<String>,
    /// Credits, by heading.
    pub credits: Vec<StatementGroup>,
    /// Debits, by heading. Amounts are zero or below, except for corrections.
    pub debits: Vec<StatementGroup>,
    /// The sum of the credits.
    pub total_credits: String,
    /// The sum of the debits.
    pub total_debits: String,
    /// Active money at the end.
    pub closing: Option<String>,
    /// Amount held by open liens at the end.
    pub held: Option<String>,
    /// Number of open liens.
    pub liens: Option<i64>,
    /// Closing − held.
    pub balance: Option<String>,
    /// Credit limit at the end.
    pub credit_limit: Option<String>,
    /// Balance + credit limit.
    pub available: Option<String>,
    /// Debt of the accounts, zero or above.
    pub debt: Option<String>,
    /// Average charges per day before the end, over at most 30 days, as recorded then. `null` with less
    /// than a day of data.
    pub burn_per_day: Option<String>,
    /// Forecast of the time when no funds are available at that rate.
    pub empty_at: Option<String>,
    /// Charges by user; of a user or a machine by project.
    pub parts: Vec<StatementPart>,
    /// Number of lines.
    pub entries: i64,
    /// Unit label of the amounts.
    pub unit: String,
    /// The amounts at instants of the period, if they were asked for, from its start on.
    #[serde(default)]
    pub samples: Vec<StatementSample>,
}

/// The money of a statement's accounts at an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementSample {
    /// The instant.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: String,
    /// Active money.
    pub amount: String,
    /// What of it open liens held.
    pub held: String,
}

/// The entries under one heading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementGroup {
    /// `deposits`, `transfers_in`, `refunds`, `activations`, `debts_ended` (debt of allocations that ended
    /// below zero), `charges`, `withdrawals`, `transfers_out`, `expiries`, `deletions`; on either side
    /// `carried_over`, `put_right`, `reversals`.
    pub heading: String,
    /// Corrections of a closed period, each with its own date.
    pub adjustment: bool,
    /// The sum, signed.
    pub amount: String,
    /// Number of entries.
    pub entries: i64,
    /// Number of jobs and reservations in these entries.
    pub jobs: i64,
}

impl StatementGroup {
    /// The heading on screens, pages and paper.
    pub fn label(&self) -> String {
        match self.heading.as_str() {
            "put_right" => "adjustments".to_owned(),
            heading => heading.replace('_', " "),
        }
    }
}

/// Charges of one user or one project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementPart {
    /// The user or project as in the journal; `null` for none.
    pub name: Option<String>,
    /// Jobs and reservations that were charged, each counted once.
    pub jobs: i64,
    /// Charges, less reversed ones; below zero after the reversal of a charge of an earlier period.
    pub charged: String,
    /// Given back by refunds and amended records, less refunds that were undone. Charged less refunded, over
    /// all parts, equals the sum of the headings of uses.
    pub refunded: String,
}

/// One sum of a statement as `bank` writes it for separated values: an end, or a heading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementSum {
    /// `balance`, `credit` or `debit`.
    pub side: String,
    /// `opening`, `closing`, `held`, `available`, or that of a [`StatementGroup`].
    pub heading: String,
    /// Corrections of a closed period.
    pub adjustment: bool,
    /// Signed.
    pub amount: String,
    /// Number of entries.
    pub entries: Option<i64>,
    /// Number of jobs and reservations.
    pub jobs: Option<i64>,
}

/// One line of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementLine {
    /// Effective time.
    pub at: String,
    /// The kind of the journal's entry.
    pub kind: String,
    /// Whether the entry corrects a closed period: `at` is before the start of the statement, or in a
    /// closed period.
    pub adjustment: bool,
    /// Account.
    pub account: String,
    /// Allocation.
    pub allocation: i64,
    /// Project as named.
    pub project: Option<String>,
    /// User as named.
    pub user: Option<String>,
    /// Machine as named.
    pub machine: Option<String>,
    /// The scheduler's id of the job or reservation.
    pub job: Option<String>,
    /// `job` or `reservation`.
    pub job_type: Option<String>,
    /// Amount of the entry, signed.
    pub amount: String,
    /// Sum of the amounts of the statement up to this line: with the opening, the balance after it. `null` behind a
    /// cursor of an earlier version.
    pub running: Option<String>,
    /// The transaction.
    pub transaction: i64,
    /// The entry's number in the journal.
    pub entry: i64,
}

/// `POST /api/v1/closes`: closes the books of a period that is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewClose {
    /// Start, inclusive: the end of the last closed period. Absent: the start of the open period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The end, exclusive.
    pub until: String,
    /// Kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST /api/v1/closes/undo`: opens the period again that was closed last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UndoClose {
    /// Kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `GET /api/v1/closes`: the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CloseQuery {
    /// `next` of the page before.
    pub after: Option<String>,
    /// Rows of a page, 1 to 1000; absent: 100.
    pub limit: Option<u32>,
}

/// A closed period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Close {
    /// The transaction that closed it.
    pub closed_by: Option<i64>,
    /// The start; `null` if the first close had none.
    pub from: Option<String>,
    /// The end, exclusive.
    pub until: String,
    /// Closing time; `null` in the answer to the close itself.
    pub at: Option<String>,
    /// The user who closed it; `null` in the answer to the close itself.
    pub actor: Option<String>,
    /// The reason in the journal; `null` in the answer to the close itself.
    pub reason: Option<String>,
    /// The transaction that opened it again.
    pub reopened_by: Option<i64>,
    /// Total of all accounts at the end; only in the answer to the close itself.
    pub amount: Option<String>,
    /// Number of accounts with a balance; only in the answer to the close itself.
    pub accounts: Option<i64>,
    /// Unit label of the amount.
    pub unit: String,
}
