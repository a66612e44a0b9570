//! What wants attention, the outbox of those who are told, and forecasts.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/attention`. Answer: a list of [`Attention`], the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AttentionQuery {
    /// Those too that cleared, and what cleared or has seen them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Only this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `next` of a page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Rows at most, 1 to 1000; absent: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A threshold that was reached, is so no more, or was seen by somebody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attention {
    /// Its journal transaction: the number of the event.
    pub id: i64,
    /// When it was journalled.
    pub at: String,
    /// `raised`, `cleared` or `acked`.
    pub turn: String,
    /// `used`, `expiring`, `negative`, `fallback_used`, `lien_stuck` or `collector_silent`.
    pub kind: String,
    /// Of what: `account:3`, `allocation:7`, `lien:12`, `project:chem`, `source:sge`.
    pub subject: String,
    /// Percent for `used`, days for `expiring`; `null` for the others.
    pub threshold: Option<i64>,
    /// One sentence with names and figures; of an acknowledgement its note.
    pub says: String,
    /// What was seen: percent used, or days left.
    pub level: Option<i64>,
    /// Account name.
    pub account: Option<String>,
    /// Allocation id.
    pub allocation: Option<i64>,
    /// Lien id.
    pub lien: Option<i64>,
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// What it is about: what is available, would end, is missing, was paid or is held.
    pub amount: Option<String>,
    /// Unit label of the amount.
    pub unit: String,
    /// Whether it is told at once.
    pub urgent: bool,
    /// Whether it is raised and has not cleared.
    pub open: bool,
    /// The event that raised what this one clears or has seen.
    pub raised_by: Option<i64>,
    /// Who has seen it, while it is open.
    pub acked_by: Option<String>,
}

/// `POST /api/v1/attention/{id}/ack`. Answer: `Written<AttentionDone>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AckAttention {
    /// Kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `PATCH /api/v1/attention/projects/{name}`. Answer: `Written<AttentionDone>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SwitchAttention {
    /// Whether anything of the project is watched.
    pub on: bool,
}

/// How many events or switches a change was about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttentionDone {
    /// How many.
    pub changed: i64,
}

/// Query of `GET /api/v1/attention/outbox`. Answer: a list of [`Notice`], the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OutboxQuery {
    /// Those too that were sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// `next` of a page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Rows at most, 1 to 1000; absent: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What somebody is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notice {
    /// Its number.
    pub id: i64,
    /// For whom: the name of a `[[deliver]]`.
    pub target: String,
    /// When it was made.
    pub made_at: String,
    /// `waiting`, `sent` or `dead`: given up.
    pub state: String,
    /// The events that it tells.
    pub events: Vec<i64>,
    /// Whom a digest is for.
    pub recipient: Option<String>,
    /// The report that it brings, such as `month 2026-10`.
    #[serde(default)]
    pub report: Option<String>,
    /// How often it was tried.
    pub attempts: i64,
    /// When last.
    pub tried_at: Option<String>,
    /// Why that failed.
    pub error: Option<String>,
}

/// What a program or a webhook is told: one event. A receiver may get one twice, and knows it by
/// `notice`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Told {
    /// Number of the notice; it stays the same for every attempt.
    pub notice: i64,
    /// The bank's UUID.
    pub bank: String,
    /// The event.
    pub event: Attention,
}

/// What a program or a webhook is told once a day where its settings say so: events that were not told
/// at once and still stand, the oldest first. A receiver may get one twice, and knows it by `notice`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToldDigest {
    /// Number of the notice; it stays the same for every attempt.
    pub notice: i64,
    /// The bank's UUID.
    pub bank: String,
    /// When it was made.
    pub made_at: String,
    /// The events, 1 to 500.
    pub events: Vec<Attention>,
    /// How many more there were, 0 or above.
    pub more: usize,
}

/// How somebody who is told stands, in [`AttentionStatus`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetStatus {
    /// The name of its `[[deliver]]`.
    pub name: String,
    /// Whether it is in the settings.
    pub active: bool,
    /// Notices that wait.
    pub waiting: i64,
    /// Notices that were given up.
    pub dead: i64,
    /// Why the first that waits failed last.
    pub error: Option<String>,
}

/// How attention stands, in [`super::Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttentionStatus {
    /// Whether anything is watched.
    pub on: bool,
    /// What is raised and has not cleared.
    pub open: i64,
    /// Who is told, by name.
    pub targets: Vec<TargetStatus>,
    /// Projects of which nothing is watched.
    pub off: Vec<String>,
}

/// Query of `GET /api/v1/report/forecast`, `…/expiring` and `…/negative`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ForecastQuery {
    /// Only the accounts of this project and those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// `expiring`: ends within so many days, 1 to 3660; absent: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Rows per page, 1 to 1000; default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// How long the money of an account lasts at the speed of late.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForecastRow {
    /// Account name.
    pub account: String,
    /// Its project, where it has one only.
    pub project: Option<String>,
    /// What may still be spent.
    pub available: String,
    /// Charged a day of late, rounded down; `null` where nothing was, or less than a day is known.
    pub burn_per_day: Option<String>,
    /// When nothing is left to spend for the first time: what had begun is spent or has ended; now, where
    /// there is nothing now. `null` where that is not in sight.
    pub empty_at: Option<String>,
    /// When money that is known of begins after that; `null` where none does.
    #[serde(default)]
    pub again_at: Option<String>,
    /// Whole days until then.
    pub days_left: Option<i64>,
    /// Whether it is spent then, not merely ended.
    pub spent: bool,
    /// The first end at which something is left over.
    pub unused_at: Option<String>,
    /// What is left over then.
    pub unused: Option<String>,
    /// What is left over at all ends together.
    pub unused_total: String,
    /// Unit label of the amounts.
    pub unit: String,
}

/// Money that ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExpiringRow {
    /// Allocation id.
    pub allocation: i64,
    /// Account name.
    pub account: String,
    /// Its project, where it has one only.
    pub project: Option<String>,
    /// When it ends.
    pub until: String,
    /// Days until then, begun ones whole.
    pub days_left: i64,
    /// What is left of it now.
    pub amount: String,
    /// What of that will be left then, as spent of late.
    pub unused: String,
    /// Unit label of the amounts.
    pub unit: String,
}

/// An account below zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NegativeRow {
    /// Account name.
    pub account: String,
    /// Its project, where it has one only.
    pub project: Option<String>,
    /// What is left: below zero.
    pub amount: String,
    /// What liens hold beyond that.
    pub held: String,
    /// How far below zero liens and withdrawals may take it.
    pub credit_limit: String,
    /// What may still be spent.
    pub available: String,
    /// Whether a deposit is needed before anything starts.
    pub blocked: bool,
    /// Unit label of the amounts.
    pub unit: String,
}
