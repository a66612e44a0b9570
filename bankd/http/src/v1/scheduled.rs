//! Scheduled reports: their state, and reports on request. Their texts cover all projects, so only callers
//! with an unlimited view see them.

use bank_api::v1::{
    FailingReport, List, PageProblem, ReportDelivery, ReportRun, RunReport, ScheduleStatus,
    ScheduledReport, Written,
};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_config as config;
use bankd_notices::schedule;
use bankd_store::{
    self as store, RunState, Schedule, ScheduleChange, SpanRow, WantedReport, runs_of,
};

use super::attention::unlimited;
use super::call::Empty;
use super::call::{Call, Handled, ok};
use super::json;
use super::path::Path;
use crate::error::Failure;

/// People without a page that one report lists.
const PROBLEMS_MAX: usize = 1_000;

/// `GET /api/v1/report/scheduled`: by name.
pub(super) async fn list(call: Call) -> Handled {
    call.query::<Empty>()?;
    unlimited(&call)?;
    let rows = call.ask(store::schedules).await?;
    let items = rows.into_iter().map(|row| shaped(&call, row)).collect();
    ok(&List::<ScheduledReport> { items, next: None })
}

/// `POST /api/v1/report/scheduled/{name}/run`
pub(super) async fn run(Path(name): Path<String>, call: Call) -> Handled {
    unlimited(&call)?;
    let body: RunReport = call.json()?;
    let dry_run = call.dry_run()?;
    // A repeat makes nothing once more, not even with `again`.
    if let Some(answer) = call.answered(dry_run).await? {
        return Ok(answer);
    }
    let unknown = || call.refused(&Refusal::not_found("scheduled report", &name));
    let report = definition(&call, &name).ok_or_else(unknown)?;
    let span = span_of(&call, report, body.period.as_deref())?;
    let person = page_of(&call, report, body.person)?;
    let (of, label, whose) = (name.clone(), span.name.clone(), person.clone());
    let mut there = call
        .ask(move |connection| runs_of(connection, &of, &label, &whose))
        .await?;
    // A page that failed can be made after all.
    there.retain(|run| run.state != RunState::Failed);
    let who = call.auth.caller.actor.clone();
    // A pending request is not repeated.
    let on_its_way = there.iter().any(|run| run.state == RunState::Wanted);
    if !there.is_empty() && !on_its_way && !body.again {
        let refusal = Refusal::AlreadyExists {
            kind: "report".into(),
            name: [&name, &span.name, &person]
                .map(String::as_str)
                .join(" ")
                .trim_end()
                .to_owned(),
        };
        return Err(call
            .refused(&refusal)
            .hint("`--again` makes and delivers it once more"));
    }
    let answer = Written {
        object: wanted(&span, &person, &who),
        transaction: None,
        dry_run,
        warnings: Vec::new(),
    };
    if let Some((key, stored)) = call.kept(&answer, dry_run)? {
        let change = ScheduleChange::Wanted(Box::new(WantedReport {
            schedule: name,
            period: span,
            person,
            requested_by: who,
            client: call.auth.caller.client.clone(),
            key: key.key,
            answer: stored,
        }));
        let kept = call.services.writer.change_schedule(change).await?;
        // The same call was on its way at the same time.
        if kept == 0
            && let Some(answer) = call.answered(dry_run).await?
        {
            return Ok(answer);
        }
    }
    ok(&answer)
}

/// The period of a name, else the last one; it must be over.
fn span_of(
    call: &Call,
    report: &config::ScheduledReport,
    name: Option<&str>,
) -> Result<SpanRow, Failure> {
    let now = call.now();
    let period = schedule::period_of(report, name, now);
    let Some(period) = period.filter(|period| period.until <= now) else {
        let refusal = Refusal::BadValue {
            field: "period",
            expected: "a period of the definition that is over, such as 2026-10",
        };
        return Err(call.refused(&refusal));
    };
    Ok(SpanRow {
        name: period.name,
        from: period.from.0,
        until: period.until.0,
    })
}

/// The person whose page is requested; empty for the whole report.
fn page_of(
    call: &Call,
    report: &config::ScheduledReport,
    person: Option<String>,
) -> Result<String, Failure> {
    let Some(person) = person else {
        return Ok(String::new());
    };
    let Some(each) = report.each else {
        return Err(call.refused(&Refusal::bad_value(
            "person",
            "nothing: the report has no pages for people",
        )));
    };
    let people = schedule::people::of(call.directory(), each, call.now());
    if people.iter().any(|(name, _)| *name == person) {
        return Ok(person);
    }
    Err(call.refused(&Refusal::not_found(each.word(), &person)))
}

fn wanted(span: &SpanRow, person: &str, who: &str) -> ReportRun {
    ReportRun {
        person: json::some(person),
        period: span.name.clone(),
        from: json::time(Timestamp(span.from)),
        until: json::time(Timestamp(span.until)),
        state: "wanted".to_owned(),
        asked_by: json::some(who),
        ..ReportRun::default()
    }
}

/// Overall state, for the state of the daemon.
pub(super) fn standing(rows: &[Schedule]) -> ScheduleStatus {
    let active = rows.iter().filter(|row| row.active);
    let failing = active.clone().filter(|row| row.failures > 0);
    ScheduleStatus {
        scheduled: i64::try_from(active.clone().count()).unwrap_or(i64::MAX),
        failing: failing
            .map(|row| FailingReport {
                name: row.name.clone(),
                failures: row.failures,
                error: row.error.clone(),
            })
            .collect(),
        passed_over: active.map(|row| row.skipped).sum(),
    }
}

fn definition<'c>(call: &'c Call, name: &str) -> Option<&'c config::ScheduledReport> {
    let mut all = call.services.notices.scheduled_report.iter();
    all.find(|report| report.name == name)
}

fn shaped(call: &Call, row: Schedule) -> ScheduledReport {
    let report = definition(call, &row.name);
    let next = report.and_then(|report| schedule::next(report, row.done_to));
    let (next_period, next_due) = match next {
        Some((period, at)) => (Some(period.name), Some(json::time(at))),
        None => (None, None),
    };
    ScheduledReport {
        active: report.is_some(),
        report: report.map(|report| report.report.clone()),
        every: report.map(|report| report.every.word().to_owned()),
        tz: report.map(|report| report.tz.clone()),
        form: report.map(|report| report.form.word().to_owned()),
        each: report.and_then(|report| Some(report.each?.word().to_owned())),
        next_period,
        next_due,
        deliver: report.map_or_else(Vec::new, |report| report.deliver.clone()),
        runs: row
            .runs
            .iter()
            .map(|run| shaped_run(run, report.is_some_and(|report| report.each.is_some())))
            .collect(),
        failures: row.failures,
        tried_at: row.tried_at.map(json::time),
        error: json::some(&row.error),
        passed_over: row.skipped,
        last_passed_over: json::some(&row.skipped_last),
        name: row.name,
    }
}

fn shaped_run(run: &store::ReportRun, has_pages: bool) -> ReportRun {
    let deliveries = run.notices.iter();
    let problems = run.pages.problems.iter().take(PROBLEMS_MAX);
    ReportRun {
        state: run.state.word().to_owned(),
        people: has_pages.then_some(run.pages.people),
        problems: problems
            .map(|(person, reason)| PageProblem {
                person: person.clone(),
                reason: reason.clone(),
            })
            .collect(),
        made_at: run.made_at.map(json::time),
        file: json::some(&run.file),
        size: run.size,
        message: json::some(&run.message),
        deliveries: deliveries
            .map(|(target, state, error)| ReportDelivery {
                target: target.clone(),
                state: state.clone(),
                error: json::some(error),
            })
            .collect(),
        ..wanted(&run.period, &run.person, &run.requested_by)
    }
}
