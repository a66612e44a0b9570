//! Reports: who ran on a fallback account, and why (nami.md 5).

use bank_api::v1::{FallbackJob, FallbackQuery, FallbackReport};
use bank_core::directory::Directory;
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, Timestamp};
use bankd_ledger::usable::ran_elsewhere;
use bankd_store::read::fallback::{self, ShortJob};

use super::call::{Call, Handled, ok};
use super::job::Work;
use super::json;
use super::pages::Turn;
use super::report_usage::utc_moment;

/// Default period of a query without a start.
const USUAL: Seconds = Seconds(30 * 86_400);

/// `GET /api/v1/report/fallback`: the first that was short first.
pub(super) async fn on_fallback(call: Call) -> Handled {
    let query: FallbackQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after.clone())?;
    let (from, until) = window(&query, call.now()).map_err(|r| call.refused(&r))?;
    let work = Work::new(&call.view, query.project, query.user, query.machine);
    let names = work.clone();
    let directory = std::sync::Arc::clone(call.directory());
    let keep = move |job: &ShortJob| {
        work.holds(&job.project, &job.user, &job.machine) && ran_elsewhere(&directory, job)
    };
    let found = call.ask(move |connection| fallback::short(connection, (from, until), keep));
    let (jobs, complete) = found.await?;
    if jobs.is_empty() {
        names.check(&call).await?;
    }
    let directory = call.directory();
    let bank = &directory.bank;
    let held = jobs.iter().map(|job| i128::from(job.held.0)).sum();
    let charged = jobs.iter().map(|job| job.charged).sum();
    let page = turn.behind(jobs, place);
    let (jobs, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&FallbackReport {
        from: json::time(from),
        until: json::time(until),
        items: jobs.iter().map(|job| shaped(directory, job)).collect(),
        next,
        held: json::sum(held, bank),
        charged: json::sum(charged, bank),
        complete,
        unit: bank.unit.clone(),
    })
}

/// The identity of a job. Each job has one row.
fn place(job: &ShortJob) -> String {
    let ShortJob {
        at,
        machine,
        object_id,
        project,
        ..
    } = job;
    format!("{}/{machine}/{project}/{object_id}", at.0)
}

/// A period up to now if it has no end, of 30 days if it has no start.
pub(super) fn recent(
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    now: Timestamp,
) -> Result<(Timestamp, Timestamp), Refusal> {
    let until = until.unwrap_or(Timestamp(now.0.saturating_add(1)));
    let from = from.unwrap_or(until.minus(USUAL));
    if from >= until {
        return Err(Refusal::BadWindow);
    }
    Ok((from, until))
}

fn window(query: &FallbackQuery, now: Timestamp) -> Result<(Timestamp, Timestamp), Refusal> {
    let time = |text: &Option<String>, field| {
        let text = text.as_deref();
        text.map(|text| utc_moment(text, field)).transpose()
    };
    recent(
        time(&query.from, "from")?,
        time(&query.until, "until")?,
        now,
    )
}

fn shaped(directory: &Directory, job: &ShortJob) -> FallbackJob {
    let bank = &directory.bank;
    let name = |id| directory.account(id).map(|a| a.name.clone());
    let by = if job.covered || job.fallback_from.is_some() {
        "bank"
    } else {
        "scheduler"
    };
    let from = job.fallback_from.and_then(name);
    FallbackJob {
        job: job.object_id.clone(),
        machine: job.machine.clone(),
        user: job.user.clone(),
        project: job.project.clone(),
        by: by.to_owned(),
        from: from.unwrap_or_else(|| job.project.clone()),
        to: job.account.and_then(name).unwrap_or_default(),
        at: json::time(job.at),
        needed: json::amount(job.needed, bank),
        available: json::amount(job.available, bank),
        held: json::amount(job.held, bank),
        charged: json::sum(job.charged, bank),
    }
}
