//! Reports that the daemon makes by itself.

use serde::{Deserialize, Serialize};

/// State of a scheduled report. `GET /api/v1/report/scheduled` answers a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduledReport {
    /// Its name.
    pub name: String,
    /// False if the settings no longer contain it.
    pub active: bool,
    /// Kind of the report; `null` if the settings no longer contain it, as the next five.
    pub report: Option<String>,
    /// `daily`, `weekly`, `monthly`, `quarterly`, `semi-annually` or `annually`.
    pub every: Option<String>,
    /// Zone of its periods.
    pub tz: Option<String>,
    /// `html`, `csv`, `json` or `text`.
    pub form: Option<String>,
    /// People with a page each: `pi`, `manager` or `user`; absent for other reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// The next period.
    pub next_period: Option<String>,
    /// Time of the next report.
    pub next_due: Option<String>,
    /// Recipients: names of `[[deliver]]`.
    pub deliver: Vec<String>,
    /// The last created or requested reports, newest first, ten at most.
    pub runs: Vec<ReportRun>,
    /// Failures since the last success.
    pub failures: i64,
    /// Time of the last attempt.
    pub tried_at: Option<String>,
    /// Error of the last attempt.
    pub error: Option<String>,
    /// Periods that were passed over after long downtimes, ever.
    pub passed_over: i64,
    /// The last of these periods.
    pub last_passed_over: Option<String>,
}

/// A report of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportRun {
    /// The name of its period, such as `2026-10`.
    pub period: String,
    /// Start of the period.
    pub from: String,
    /// End of the period, exclusive.
    pub until: String,
    /// `wanted`: requested by a user; `made`: created.
    pub state: String,
    /// The user who requested it; `null` for the timer.
    pub asked_by: Option<String>,
    /// Creation time.
    pub made_at: Option<String>,
    /// The name of its file.
    pub file: Option<String>,
    /// Bytes of its text.
    pub size: i64,
    /// A line about a report without a delivery, or about the pages of people.
    pub message: Option<String>,
    /// The person whose page it is; absent for a report or a summary of pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Number of people with a page; absent for other reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<i64>,
    /// People who did not get their page, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<PageProblem>,
    /// Delivery state, one row for each target.
    pub deliveries: Vec<ReportDelivery>,
}

/// A person who did not get a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PageProblem {
    /// The login name.
    pub person: String,
    /// The reason, such as `no mail address`.
    pub reason: String,
}

/// Delivery of a report to one target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportDelivery {
    /// The name of a `[[deliver]]`.
    pub target: String,
    /// `waiting`, `sent` or `dead`: given up.
    pub state: String,
    /// Error of the last attempt.
    pub error: Option<String>,
}

/// `POST /api/v1/report/scheduled/{name}/run`. Answer: [`Written`](super::Written) of a [`ReportRun`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RunReport {
    /// The period, such as `2026-10`; absent: the last one that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// Only the page of this person, of a report with a page for each person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Make and deliver it although that was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// State of the scheduler of reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleStatus {
    /// Definitions in the settings.
    pub scheduled: i64,
    /// Those that failed last, with why.
    pub failing: Vec<FailingReport>,
    /// Periods that were passed over, ever, of all definitions.
    pub passed_over: i64,
}

/// A definition that failed last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailingReport {
    /// Its name.
    pub name: String,
    /// Failures since the last success.
    pub failures: i64,
    /// Why.
    pub error: String,
}

/// Payload of a report for a program or a webhook. A receiver may get a report twice and can identify it by
/// `notice`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportNotification {
    /// Number of the notification. It is the same in every attempt.
    pub notice: i64,
    /// The bank's UUID.
    pub bank: String,
    /// The report.
    pub report: MadeReport,
}

/// A report with its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MadeReport {
    /// The name of its definition.
    pub name: String,
    /// The name of its period.
    pub period: String,
    /// Start of the period.
    pub from: String,
    /// End of the period, exclusive.
    pub until: String,
    /// Creation time.
    pub made_at: String,
    /// `html`, `csv`, `json` or `text`.
    pub form: String,
    /// Its media type.
    pub media: String,
    /// The name of its file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The person whose page it is; absent for a report or a summary of pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The text part of a mail; absent if the report is an attachment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
}
