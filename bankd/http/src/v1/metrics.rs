//! `GET /metrics`: the state of the daemon, and of the reports that it makes by itself, in the text format
//! 0.0.4 of Prometheus. Samples of reports have the name of a definition for their only label, so that there
//! are as many lines as the settings have definitions.

mod daemon;

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;

use bank_core::time::Timestamp;
use bankd_config::ScheduledReport;
use bankd_ledger::exposition::{MEDIA, Text};
use bankd_notices::schedule;
use bankd_store::{ScheduleCount, schedule_counts};

use super::attention::unlimited;
use super::call::Empty;
use super::call::{Call, Handled};

/// The sample of a definition; `None` for no sample.
type Value = fn(&ScheduleCount, Option<&ScheduledReport>) -> Option<i64>;

/// Every metric with its kind, description, and value.
const METRICS: [(&str, &str, &str, Value); 7] = [
    (
        "bankd_report_runs_total",
        "counter",
        "Reports that were made, by the timer and by hand",
        |count, _| Some(count.made),
    ),
    (
        "bankd_report_last_success_timestamp_seconds",
        "gauge",
        "When the last report was made",
        |count, _| count.made_at.map(Timestamp::seconds),
    ),
    (
        "bankd_report_failures",
        "gauge",
        "Failures in a row since a report was made",
        |count, _| Some(count.failures),
    ),
    (
        "bankd_report_next_due_timestamp_seconds",
        "gauge",
        "When the next report is due; in the past where it could not be made yet",
        |count, report| Some(schedule::next(report?, count.done_to)?.1.seconds()),
    ),
    (
        "bankd_report_periods_passed_over_total",
        "counter",
        "Periods that were passed over after a downtime",
        |count, _| Some(count.skipped),
    ),
    (
        "bankd_report_deliveries_waiting",
        "gauge",
        "Deliveries of reports that wait for their target",
        |count, _| Some(count.waiting),
    ),
    (
        "bankd_report_deliveries_given_up",
        "gauge",
        "Abandoned deliveries of reports, as long as they are kept",
        |count, _| Some(count.dead),
    ),
];

/// `GET /metrics`
pub(super) async fn show(call: Call) -> Handled {
    call.query::<Empty>()?;
    unlimited(&call)?;
    let counts = call.ask(schedule_counts).await?;
    let definition = |name: &str| {
        let mut all = call.services.notices.scheduled_report.iter();
        all.find(|report| report.name == name)
    };
    let mut text = Text::default();
    daemon::write(&call, &mut text).await?;
    for (name, kind, help, value) in METRICS {
        text.head(name, kind, help);
        for count in &counts {
            if let Some(value) = value(count, definition(&count.name)) {
                text.sample(name, &[("report", &count.name)], value);
            }
        }
    }
    text.head(
        "bankd_gold_options_ignored_total",
        "counter",
        "Options of the Gold protocol that were left out, since the start",
    );
    let ignored = call.services.counters.options_ignored();
    text.sample("bankd_gold_options_ignored_total", &[], ignored);
    Ok(([(CONTENT_TYPE, MEDIA)], text.done()).into_response())
}
