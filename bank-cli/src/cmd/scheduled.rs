//! `bank report scheduled` and `bank report run`: what the daemon makes by itself, and one of it now.

use std::fmt::Write as _;

use bank_api::v1::{List, ReportRun, RunReport, ScheduledReport, Status, Written};
use bank_picture::figure;
use serde_json::{Value, json};
use ureq::http::Method;

use crate::{
    cli::RunReportArgs,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, alarming, column},
};

/// `bank report scheduled`
pub(super) fn list(context: &Context) -> Result<String, Failure> {
    let list: List<ScheduledReport> = context.get(&["report", "scheduled"], &())?;
    context.form.list(&list, &sheet(&list.items))
}

/// `bank report run`
pub(super) fn run(context: &Context, args: &RunReportArgs) -> Result<String, Failure> {
    let body = RunReport {
        period: args.period.clone(),
        person: args.person.clone(),
        again: args.again,
    };
    let target = ["report", "scheduled", args.name.as_str(), "run"];
    let answer: Written<ReportRun> = context.send(Method::POST, &target, &body, &args.write)?;
    let (name, period) = (&args.name, &answer.object.period);
    let person = answer.object.person.as_ref();
    let person = person.map_or_else(String::new, |person| format!(" for {person}"));
    context.written(
        &answer,
        &format!(
            "{name} {period}{person} is created next: `bank report scheduled` shows its state"
        ),
    )
}

/// What `bank status` says of them; nothing where nothing is scheduled.
pub(super) fn state_of_reports(status: &Status) -> String {
    let Some(reports) = status.reports.as_ref().filter(|all| all.scheduled > 0) else {
        return String::new();
    };
    let mut out = format!("reports        {} scheduled", reports.scheduled);
    if reports.passed_over > 0 {
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            ", {} periods passed over",
            figure::grouped(&reports.passed_over.to_string())
        );
    }
    out.push('\n');
    for one in &reports.failing {
        let line = format!("report {}: {} !", one.name, one.error);
        let _ = writeln!(out, "{}", alarming(&line));
    }
    out
}

fn sheet(items: &[ScheduledReport]) -> Sheet {
    let passed = items.iter().any(|item| item.passed_over > 0);
    let rows: Vec<Value> = items.iter().map(row).collect();
    let trouble = rows.iter().any(|row| !row["error"].is_null());
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("report", "Report", Kind::Text).secondary(),
        column("each", "Each", Kind::Text).if_machine(),
        column("every", "Every", Kind::Text).secondary(),
        column("tz", "Zone", Kind::Text).secondary(),
        column("form", "Form", Kind::Text).if_machine(),
        column("last_period", "Last", Kind::Text),
        column("last_made", "Made at", Kind::Time).secondary(),
        column("delivered", "Delivered", Kind::Text),
        column("next_period", "Next", Kind::Text).secondary(),
        column("next_due", "Due", Kind::Time),
        column("passed_over", "Passed over", Kind::Number).screen_if(passed),
        column("failures", "Failures", Kind::Number).if_machine(),
        column("error", "Error", Kind::Text).screen_if(trouble),
    ];
    Sheet::new(columns, &rows, "no report is scheduled")
}

fn row(item: &ScheduledReport) -> Value {
    let last = item.runs.iter().find(|run| run.state == "made");
    let requested = item.runs.iter().find(|run| run.state == "wanted");
    let error = item.error.clone().or_else(|| {
        let mut deliveries = last.into_iter().flat_map(|run| &run.deliveries);
        deliveries.find_map(|one| Some(format!("{}: {}", one.target, one.error.as_ref()?)))
    });
    let error = error.or_else(|| last.and_then(problems));
    json!({
        "name": item.name,
        "report": item.report.as_deref().unwrap_or("(not in the settings)"),
        "each": item.each,
        "every": item.every,
        "tz": item.tz,
        "form": item.form,
        "last_period": last.map(|run| &run.period),
        "last_made": last.and_then(|run| run.made_at.as_ref()),
        "delivered": last.map(delivered),
        "next_period": requested.map_or(item.next_period.as_ref(), |run| Some(&run.period)),
        "next_due": match requested {
            Some(_) => None,
            None => item.next_due.as_ref(),
        },
        "passed_over": item.passed_over,
        "failures": item.failures,
        "error": error,
    })
}

/// The people who did not get their page.
fn problems(run: &ReportRun) -> Option<String> {
    let all = run.problems.iter();
    let all: Vec<String> = all
        .map(|one| format!("{} ({})", one.person, one.reason))
        .collect();
    (!all.is_empty()).then(|| format!("no page for {}", all.join(", ")))
}

/// `archive sent, chat waiting`, or what was printed where nobody gets it. Before it the number of pages.
fn delivered(run: &ReportRun) -> String {
    let pages = run.people.map(|people| format!("{people} pages; "));
    pages.unwrap_or_default() + &sent(run)
}

fn sent(run: &ReportRun) -> String {
    if run.deliveries.is_empty() {
        return run.message.clone().unwrap_or_default();
    }
    let each = run.deliveries.iter();
    let words: Vec<String> = each
        .map(|one| match one.state.as_str() {
            "dead" => format!("{} given up", one.target),
            state => format!("{} {state}", one.target),
        })
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use bank_api::v1::{FailingReport, ReportDelivery, ScheduleStatus};

    use super::*;

    #[test]
    fn a_screen_of_scheduled_reports() {
        let delivery = |target: &str, state: &str, error: Option<&str>| ReportDelivery {
            target: target.to_owned(),
            state: state.to_owned(),
            error: error.map(str::to_owned),
        };
        let run = ReportRun {
            period: "2026-10".to_owned(),
            state: "made".to_owned(),
            made_at: Some("2026-11-01T00:00:01Z".to_owned()),
            deliveries: vec![
                delivery("archive", "sent", None),
                delivery("chat", "waiting", Some("answered 500")),
            ],
            ..ReportRun::default()
        };
        let items = vec![ScheduledReport {
            name: "month".to_owned(),
            active: true,
            report: Some("usage".to_owned()),
            every: Some("monthly".to_owned()),
            tz: Some("UTC".to_owned()),
            next_period: Some("2026-11".to_owned()),
            next_due: Some("2026-12-01T00:00:00Z".to_owned()),
            runs: vec![run],
            ..ScheduledReport::default()
        }];
        let mut context = crate::context::test_context();
        context.form.width = 160;
        let text = context
            .form
            .list(&List::whole(items.clone()), &sheet(&items))
            .unwrap();
        let line = text.lines().nth(1).unwrap();
        for part in [
            "2026-10",
            "archive sent, chat waiting",
            "2026-11",
            "chat: answered 500",
        ] {
            assert!(line.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("Passed over"), "{text}");
    }

    #[test]
    fn the_state_of_the_daemon_shows_failures() {
        assert_eq!(state_of_reports(&Status::default()), "");
        let status = Status {
            reports: Some(ScheduleStatus {
                scheduled: 2,
                failing: vec![FailingReport {
                    name: "month".to_owned(),
                    failures: 3,
                    error: "2026-10: no project \"x\"".to_owned(),
                }],
                passed_over: 1200,
            }),
            ..Status::default()
        };
        let message = state_of_reports(&status);
        let plain = anstream::adapter::strip_str(&message).to_string();
        let expected = "reports        2 scheduled, 1,200 periods passed over\n\
            report month: 2026-10: no project \"x\" !\n";
        assert_eq!(plain, expected);
    }
}
