//! What-if: jobs that strict enforcement would have refused. It prepares the change to enforcement, project
//! by project.

use std::collections::BTreeMap;

use bank_api::v1::{WhatIf, WhatIfQuery, WouldRefuse, WouldRefuseSum};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, Timestamp};
use bankd_store::read::SCAN_MAX;
use bankd_store::read::monitor::{self, Place, Watched};
use bankd_store::read::whatif::{self, Refused};

use super::call::{Call, Handled, ok};
use super::json;
use super::monitor::figures;
use super::pages::Turn;
use super::view::Lookup as _;
use crate::error::Failure;

/// Questions to the store for one answer; each looks at a bounded number of rows.
const QUESTIONS: usize = 20;
/// Longest time to look back, in days.
const DAYS_MAX: u32 = 3660;

/// `GET /api/v1/what-if`
pub(super) async fn show(call: Call) -> Handled {
    let query: WhatIfQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after.clone())?;
    let days = query.days.unwrap_or(30);
    if !(1..=DAYS_MAX).contains(&days) {
        let refusal = Refusal::bad_value("days", "1 to 3660");
        return Err(call.refused(&refusal));
    }
    if let Some(name) = &query.project {
        call.view.project_ever(name)?;
    }
    if let Some(name) = &query.machine {
        call.view.machine_ever(name)?;
    }
    let until = call.now();
    let from = until.minus(Seconds(i64::from(days) * 86_400));
    let (rows, complete) = collect(&call, &query, from).await?;
    let bank = &call.directory().bank;
    let items = by_job(rows, bank);
    let projects = sums(&items, bank);
    let page = turn.behind(items, |job| job.place.clone());
    let (items, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&WhatIf {
        from: json::time(from),
        until: json::time(until),
        projects,
        items: items.into_iter().map(|job| job.shape).collect(),
        next,
        complete,
        unit: bank.unit.clone(),
    })
}

async fn collect(
    call: &Call,
    query: &WhatIfQuery,
    from: Timestamp,
) -> Result<(Vec<Refused>, bool), Failure> {
    let mut rows = Vec::new();
    let mut after = Place::BEGIN;
    for _ in 0..QUESTIONS {
        let (view, query) = (call.view.clone(), query.clone());
        let keep = move |row: &Watched| {
            let named = view.directory().any_project_named(&row.project);
            let seen = view.is_unlimited() || named.is_some_and(|p| view.sees_project(p));
            let (_, machine) = &row.object;
            seen && view.sees_machine(machine)
                && query.project.as_ref().is_none_or(|p| *p == row.project)
                && query.machine.as_ref().is_none_or(|m| m == machine)
        };
        let page = call.ask(move |connection| {
            let page = monitor::page(connection, (Some(from), None), after, SCAN_MAX, keep)?;
            let rows = whatif::refused(connection, page.rows)?;
            Ok((rows, page.next, page.more))
        });
        let (found, next, more) = page.await?;
        rows.extend(found);
        if !more {
            return Ok((rows, true));
        }
        after = next;
    }
    Ok((rows, false))
}

/// A job, and its sums in minor units.
struct Job {
    shape: WouldRefuse,
    /// Its identity.
    place: String,
    /// It became an instance, or was reported.
    has_used: bool,
    needed: i128,
    used: i128,
}

/// One row for each use of a job's id: when it was first, why it was last.
fn by_job(rows: Vec<Refused>, bank: &Bank) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut places: BTreeMap<i64, usize> = BTreeMap::new();
    for Refused {
        watched: row,
        used,
        billed,
    } in rows
    {
        let known = row.instance.and_then(|id| places.get(&id).copied());
        if let Some(job) = known.and_then(|place| jobs.get_mut(place)) {
            job.shape.times += 1;
            refused_again(job, row, bank);
            continue;
        }
        if let Some(id) = row.instance {
            places.insert(id, jobs.len());
        }
        let (id, machine) = row.object.clone();
        let place = match row.instance {
            Some(instance) => format!("i{instance}"),
            // A job of a chunk, of which there is one beginning.
            None => format!("{}/{}/{machine}/{id}", row.tx, row.at.0),
        };
        let mut job = Job {
            place,
            shape: WouldRefuse {
                job: id,
                machine,
                project: row.project.clone(),
                user: row.user.clone(),
                at: json::time(row.at),
                times: 1,
                used_s: used.0,
                used: json::sum(billed, bank),
                transaction: row.tx,
                ..WouldRefuse::default()
            },
            has_used: row.instance.is_some() || row.reported.is_some(),
            needed: 0,
            used: billed,
        };
        refused_again(&mut job, row, bank);
        jobs.push(job);
    }
    jobs
}

fn refused_again(job: &mut Job, row: Watched, bank: &Bank) {
    let (needed, available) = figures(&row, bank);
    job.shape.code = row.code;
    let minor = needed
        .as_deref()
        .map(|text| Amount::parse(text, bank.precision));
    job.needed = minor.map_or(0, |amount| amount.map_or(0, |a| i128::from(a.0)));
    job.shape.needed = needed;
    job.shape.available = available;
}

fn sums(jobs: &[Job], bank: &Bank) -> Vec<WouldRefuseSum> {
    let mut sums: BTreeMap<&str, (i64, i128, i128)> = BTreeMap::new();
    for job in jobs {
        let sum = sums.entry(&job.shape.project).or_default();
        sum.0 += 1;
        sum.1 = sum.1.saturating_add(job.needed);
        // A request without an instance has no usage.
        let used = if job.has_used { job.used } else { 0 };
        sum.2 = sum.2.saturating_add(used);
    }
    let rows = sums.into_iter().map(|(project, (jobs, needed, used))| {
        let project = project.to_owned();
        WouldRefuseSum {
            project,
            jobs,
            needed: json::sum(needed, bank),
            used: json::sum(used, bank),
        }
    });
    rows.collect()
}
