//! Alerts, notifications, and forecasts.

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/attention`. Answer: a list of [`Attention`], the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AttentionQuery {
    /// Include cleared alerts, clear events and acknowledgements.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Without open alerts for thresholds that the same object has passed: of 50, 80 and 95 percent used the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub highest: bool,
    /// Only this project.
    pub project: Option<String>,
    /// Only this kind.
    pub kind: Option<String>,
    /// `next` of a page before.
    pub after: Option<String>,
    /// Rows at most, 1 to 1000; absent: 100.
    pub limit: Option<u32>,
}

/// An alert event: a threshold was reached, cleared or acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attention {
    /// Its journal transaction: the number of the event.
    pub id: i64,
    /// Recording time.
    pub at: String,
    /// `raised`, `cleared` or `acked`.
    pub turn: String,
    /// `used`, `expiring`, `negative`, `fallback_used`, `lien_stuck`, `collector_silent`,
    /// `partner_waiting` or `job_unfunded`.
    pub kind: String,
    /// The affected object: `account:3`, `allocation:7`, `lien:12`, `instance:12`, `project:chem`, `source:sge`.
    pub subject: String,
    /// Percent for `used`, days for `expiring`; `null` for the others.
    pub threshold: Option<i64>,
    /// One sentence with names and figures; of an acknowledgement its note.
    pub message: String,
    /// Measured level: percent used, or days left.
    pub level: Option<i64>,
    /// Account name.
    pub account: Option<String>,
    /// Allocation id.
    pub allocation: Option<i64>,
    /// Lien id.
    pub lien: Option<i64>,
    /// The scheduler's id of the lien's job.
    pub job: Option<String>,
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// The amount of the event: available, expiring, missing, paid or held.
    pub amount: Option<String>,
    /// Unit label of the amount.
    pub unit: String,
    /// Whether notifications are sent immediately.
    pub urgent: bool,
    /// Whether the alert is raised and has not cleared.
    pub open: bool,
    /// The event that raised the alert which this event clears or acknowledges.
    pub raised_by: Option<i64>,
    /// The user who acknowledged it, while it is open.
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
    /// Whether alerts of the project are enabled.
    pub on: bool,
}

/// Number of events or switches that a change affected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttentionDone {
    /// Number of changes.
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
    pub after: Option<String>,
    /// Rows at most, 1 to 1000; absent: 100.
    pub limit: Option<u32>,
}

/// A notification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notice {
    /// Its number.
    pub id: i64,
    /// The target: the name of a `[[deliver]]`.
    pub target: String,
    /// Creation time.
    pub made_at: String,
    /// `waiting`, `sent` or `dead`: given up.
    pub state: String,
    /// The events in the notification.
    pub events: Vec<i64>,
    /// The recipient of a digest.
    pub recipient: Option<String>,
    /// The report that it brings, such as `month 2026-10`.
    pub report: Option<String>,
    /// Number of attempts.
    pub attempts: i64,
    /// Time of the last attempt.
    pub tried_at: Option<String>,
    /// Error of the last attempt.
    pub error: Option<String>,
}

/// Payload of a notification to a program or a webhook: one event. A receiver may get an event twice and
/// can identify it by `notice`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Notification {
    /// Number of the notification. It is the same in every attempt.
    pub notice: i64,
    /// The bank's UUID.
    pub bank: String,
    /// The event.
    pub event: Attention,
}

/// Payload of a daily digest, if the settings enable it: open events without an immediate notification,
/// oldest first. A receiver may get a digest twice and can identify it by `notice`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DigestNotification {
    /// Number of the notification. It is the same in every attempt.
    pub notice: i64,
    /// The bank's UUID.
    pub bank: String,
    /// Creation time.
    pub made_at: String,
    /// The events, 1 to 500.
    pub events: Vec<Attention>,
    /// Number of further events, 0 or more.
    pub more: usize,
}

/// State of a notification target, in [`AttentionStatus`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetStatus {
    /// The name of its `[[deliver]]`.
    pub name: String,
    /// Whether the settings contain it.
    pub active: bool,
    /// Notices that wait.
    pub waiting: i64,
    /// Notices that were given up.
    pub dead: i64,
    /// Last error of the oldest pending notification.
    pub error: Option<String>,
}

/// State of alerts and notifications, in [`super::Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttentionStatus {
    /// Whether alerts are enabled.
    pub on: bool,
    /// Number of open alerts.
    pub open: i64,
    /// Notification targets, by name.
    pub targets: Vec<TargetStatus>,
    /// Projects with disabled alerts.
    pub off: Vec<String>,
}

/// Query of `GET /api/v1/report/forecast`, `…/expiring` and `…/negative`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ForecastQuery {
    /// Only the accounts of this project and those below it.
    pub project: Option<String>,
    /// 1 to 3660. `expiring`: ends within so many days; absent: 30. `forecast`: only accounts without money within so
    /// many days, or now; absent: all.
    pub days: Option<u32>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Forecast of an account: time until its funds run out at the recent rate of charges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForecastRow {
    /// Account name.
    pub account: String,
    /// Its project, if it has exactly one.
    pub project: Option<String>,
    /// Available amount.
    pub available: String,
    /// Average charges per day, rounded down; `null` without charges, or with less than a day of data.
    pub burn_per_day: Option<String>,
    /// First time without available funds, because they were spent or expired. The current time if no funds
    /// are available now. `null` if the forecast does not reach it.
    pub empty_at: Option<String>,
    /// First start of a later allocation after that; `null` if none exists.
    pub again_at: Option<String>,
    /// Whole days until then.
    pub days_left: Option<i64>,
    /// Whether the funds are spent, not only expired.
    pub spent: bool,
    /// Whole days until the funds are used up, or until the first end at which some of them are left over, whichever is
    /// first. `null` if there is nothing to spend, or no end is in sight.
    pub days_to_spend: Option<i64>,
    /// The first end at which something is left over.
    pub unused_at: Option<String>,
    /// Remaining amount at that time.
    pub unused: Option<String>,
    /// Sum of the amounts that remain at all ends.
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
    /// Its project, if it has exactly one.
    pub project: Option<String>,
    /// End of the allocation.
    pub until: String,
    /// Days until then, begun ones whole.
    pub days_left: i64,
    /// Remaining amount now.
    pub amount: String,
    /// Forecast of the amount that expires unused.
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
    /// Its project, if it has exactly one.
    pub project: Option<String>,
    /// Remaining amount, below zero.
    pub amount: String,
    /// Amount held by liens.
    pub held: String,
    /// Lowest balance below zero that liens and withdrawals may cause.
    pub credit_limit: String,
    /// Available amount.
    pub available: String,
    /// Whether new work needs a deposit first.
    pub blocked: bool,
    /// Unit label of the amounts.
    pub unit: String,
}
