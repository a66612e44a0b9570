//! Collectors: who reports finished usage, and whether they still do.

use axum::response::IntoResponse;
use bank_api::v1::{Followed, LeftOut, PatchSource, Removed, Source, SourceQuery, Written};
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, TEN_YEARS_S, Timestamp};
use bankd_intake::follow::Standing;
use bankd_store::SourceChange;
use bankd_store::read::sources::{self, SourceRow};

use super::call::Empty;
use super::call::{Call, Handled, ok};
use super::json;
use super::pages::Turn;
use super::path::Path;
use super::share::whole;
use crate::error::Failure;

/// `GET /api/v1/sources`: by name.
pub(super) async fn list(call: Call) -> Handled {
    let SourceQuery { all, limit, after } = call.query()?;
    let turn = Turn::of(&call, limit, after)?;
    let rows = call
        .ask(|connection| sources::list(connection, None))
        .await?;
    let seen = rows
        .iter()
        .filter(|row| sees(&call, row) && (all || !row.removed));
    let shape = |row| shaped(&call, row);
    turn.list(&call, seen.collect(), |row| row.name.clone(), shape)
}

/// `GET /api/v1/sources/{name}`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    call.query::<Empty>()?;
    ok(&one(&call, &name).await?)
}

/// `PATCH /api/v1/sources/{name}`
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    let dry_run = call.dry_run()?;
    call.check_key(dry_run)?;
    let patch: PatchSource = call.json()?;
    of_machines(&call)?;
    let mut object = one(&call, &name).await?;
    if let Some(text) = &patch.silent_after {
        let after = read_patience(text).map_err(|r| call.refused(&r))?;
        if dry_run {
            let usual = Seconds(call.services.sources.silent_after_s);
            object.silent_after_s = after.unwrap_or(usual).0;
        } else {
            let name = name.clone();
            let change = SourceChange::SilentAfter { name, after };
            call.services.writer.change_source(change).await?;
            object = one(&call, &object.name).await?;
        }
    }
    ok(&Written {
        object,
        transaction: None,
        dry_run,
        warnings: Vec::new(),
    })
}

/// `DELETE /api/v1/sources/{name}`: removes the source from the list until its next contact. Its records
/// remain.
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    let dry_run = call.dry_run()?;
    call.check_key(dry_run)?;
    of_machines(&call)?;
    let source = one(&call, &name).await?;
    let mut warnings = Vec::new();
    for machine in &source.charges {
        warnings.push(format!("its records charge machine {machine} still"));
    }
    if !dry_run {
        let change = SourceChange::Remove { name: name.clone() };
        call.services.writer.change_source(change).await?;
    }
    let transaction = None;
    Ok(ok(&Removed {
        name,
        transaction,
        dry_run,
        warnings,
    })?
    .into_response())
}

/// The collectors that have been silent for too long, by name.
pub(super) fn silent(call: &Call, rows: &[SourceRow]) -> Vec<String> {
    let usual = Seconds(call.services.sources.silent_after_s);
    let silent = rows.iter().filter(|row| row.is_silent(usual, call.now()));
    silent.map(|row| row.name.clone()).collect()
}

async fn one(call: &Call, name: &str) -> Result<Source, Failure> {
    let wanted = name.to_owned();
    let rows = call.ask(move |connection| sources::list(connection, Some(&wanted)));
    let rows = rows.await?;
    let row = rows.iter().find(|row| sees(call, row));
    let row = row.ok_or_else(|| call.refused(&Refusal::not_found("source", name)))?;
    Ok(shaped(call, row))
}

/// Refuses a change by a caller with single projects: a collector is of machines.
fn of_machines(call: &Call) -> Result<(), Failure> {
    let [is_of_projects, _] = call.view.limits();
    if is_of_projects { whole(call) } else { Ok(()) }
}

/// A caller limited to single machines sees the collectors of those.
fn sees(call: &Call, row: &SourceRow) -> bool {
    call.view.is_unlimited()
        || charges(call, &row.name).any(|machine| call.view.sees_machine(machine))
        || (!row.machine.is_empty() && call.view.sees_machine(&row.machine))
}

fn charges<'a>(call: &'a Call, source: &str) -> impl Iterator<Item = &'a str> {
    let machines = call.directory().machines();
    let own = move |machine: &&bank_core::model::Machine| {
        !machine.deleted && machine.source.as_deref() == Some(source)
    };
    let names: Vec<&str> = machines.filter(own).map(|m| m.name.as_str()).collect();
    names.into_iter()
}

fn shaped(call: &Call, row: &SourceRow) -> Source {
    let usual = Seconds(call.services.sources.silent_after_s);
    let now = call.now();
    let [first, last] = row.contacts;
    let [records, jobs, skipped, rejected] = row.counts;
    let mut charges: Vec<String> = charges(call, &row.name).map(str::to_owned).collect();
    charges.sort();
    let files = call.services.follow.standings();
    let own = files.filter(|(source, ..)| *source == row.name);
    Source {
        name: row.name.clone(),
        format: json::some(&row.format),
        machine: json::some(&row.machine),
        charges,
        first_contact: first.map(json::time),
        last_contact: last.map(json::time),
        last_event: row.last_event.map(json::time),
        lag_s: row.last_event.map(|at| lag(now, at)),
        silent_after_s: row.patience(usual).0,
        silent: row.is_silent(usual, now),
        records,
        jobs,
        skipped,
        rejected,
        quarantined: row.quarantined,
        removed: row.removed,
        follow: own
            .map(|(_, path, standing)| followed(path, standing))
            .collect(),
    }
}

fn lag(now: Timestamp, event: Timestamp) -> i64 {
    now.0.saturating_sub(event.0).div_euclid(1_000_000)
}

fn followed(path: &str, standing: Standing) -> Followed {
    let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let state = match (&standing.error, standing.is_waiting) {
        (Some(_), _) => "failing",
        (None, true) => "waiting",
        (None, false) => "ok",
    };
    Followed {
        path: path.to_owned(),
        state: state.to_owned(),
        file: standing.file,
        offset: whole(standing.offset),
        behind: whole(standing.behind),
        error: standing.error,
        failures: whole(standing.failures),
        left_out: standing
            .left_out
            .into_iter()
            .map(|left| LeftOut {
                file: left.file,
                reason: left.why.word().to_owned(),
                read: whole(left.read),
            })
            .collect(),
    }
}

/// Seconds, `never`, or `default`.
fn read_patience(text: &str) -> Result<Option<Seconds>, Refusal> {
    let seconds = match text {
        "default" => return Ok(None),
        "never" => Some(0),
        _ => text.parse().ok(),
    };
    let seconds = seconds.filter(|s| (0..=TEN_YEARS_S).contains(s));
    seconds.map(|s| Some(Seconds(s))).ok_or(Refusal::BadValue {
        field: "silent_after",
        expected: "seconds, up to ten years, never, or default",
    })
}
