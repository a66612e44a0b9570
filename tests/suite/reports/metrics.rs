//! What Prometheus is told of scheduled reports.

use super::scheduled::{DAY, brought, is_idle, scheduling, until_defined, usage};
use crate::harness::{Bank, Request, T0};

/// What `/metrics` says of a definition.
fn metric(bank: &Bank, name: &str, report: &str) -> Option<i64> {
    let answer = bank.over_socket(&Request::get("/metrics"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let media = answer.header("content-type").unwrap();
    assert_eq!(media, "text/plain; version=0.0.4; charset=utf-8");
    let sample = format!("{name}{{report=\"{report}\"}} ");
    let text = answer.text();
    let value = text.lines().find_map(|line| line.strip_prefix(&sample));
    value.map(|value| value.parse().unwrap())
}

#[test]
fn metrics_say_how_reports_do() {
    let other = "\n[[scheduled_report]]\nname = \"bad\"\nreport = \"usage\"\noptions = [\"-A\", \"later\"]\n\
        deliver = [\"archive\"]\n";
    let mut bank = scheduling(&(usage("monthly", "") + other));
    let value_of =
        |name: &str, report: &str| metric(&bank, &format!("bankd_report_{name}"), report);
    let month = T0 + 31 * DAY;
    assert_eq!(value_of("runs_total", "use"), Some(0));
    assert_eq!(value_of("last_success_timestamp_seconds", "use"), None);
    assert_eq!(value_of("next_due_timestamp_seconds", "use"), Some(month));
    bank.set_clock(month);
    brought(&bank, "use-2026-01.json");
    until_defined(&bank, "bad", |one| !one["error"].is_null());
    is_idle(&bank);
    assert_eq!(value_of("runs_total", "use"), Some(1));
    assert_eq!(
        value_of("last_success_timestamp_seconds", "use"),
        Some(month)
    );
    assert_eq!(
        value_of("next_due_timestamp_seconds", "use"),
        Some(T0 + 59 * DAY)
    );
    assert_eq!(value_of("failures", "use"), Some(0));
    assert_eq!(value_of("deliveries_waiting", "use"), Some(0));
    assert_eq!(value_of("deliveries_given_up", "use"), Some(0));
    assert_eq!(value_of("periods_passed_over_total", "use"), Some(0));
    // What fails has its turn in the past, and no success.
    assert_eq!(value_of("failures", "bad"), Some(1));
    assert_eq!(value_of("runs_total", "bad"), Some(0));
    assert_eq!(value_of("next_due_timestamp_seconds", "bad"), Some(month));
    // Counts go on over restarts.
    bank.stop();
    bank.start();
    assert_eq!(metric(&bank, "bankd_report_runs_total", "use"), Some(1));
    bank.verify();
}
