//! Liens.

use axum::extract::Path;
use axum::response::IntoResponse;
use bank_api::v1::{Lien, List, PatchLien, Written};
use bank_core::command::{Command, ExtendLien};
use bank_core::directory::Directory;
use bank_core::effects::{LienChanged, Outcome};
use bank_core::ids::LienId;
use bank_core::model::LienState;
use bank_core::refusal::Refusal;
use serde::Deserialize;

use super::call::{Call, Handled, new_state, ok, rendered};
use super::{job, shape};
use crate::access::Role;
use crate::answer::Answer;
use crate::store::read::liens::{self, Cursor, LienRow, Wanted};
use crate::writer::Decided;

/// The query of `bank_api::v1::LienQuery`, with a page size and a cursor.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    project: Option<String>,
    user: Option<String>,
    machine: Option<String>,
    state: Option<String>,
    limit: Option<u32>,
    after: Option<String>,
}

/// `GET /api/v1/liens`: the open ones first, each part newest first; the open ones only unless
/// `state` says otherwise.
pub(super) async fn list(call: Call) -> Handled {
    let query: Query = call.query()?;
    let wanted = wanted(query.state.as_deref()).map_err(|r| call.refused(&r))?;
    let limit = job::limit(query.limit, 1000).map_err(|r| call.refused(&r))?;
    let after = query.after.as_deref().map(cursor).transpose();
    let after = after.map_err(|r| call.refused(&r))?;
    let work = job::Work::new(&call.view, query.project, query.user, query.machine)?;
    let keep = move |row: &LienRow| work.holds(&row.project, &row.user, &row.machine);
    let page = call
        .ask(move |connection| liens::list(connection, wanted, after, limit, keep))
        .await?;
    let directory = call.directory();
    ok(&List {
        items: page.rows.iter().map(|row| shaped(directory, row)).collect(),
        next: page.next.map(Cursor::text),
    })
}

/// `GET /api/v1/liens/{id}`
pub(super) async fn show(Path(id): Path<i64>, call: Call) -> Handled {
    let row = call.ask(move |connection| liens::lien(connection, id));
    let row = row.await?;
    let seen = |row: &LienRow| call.view.sees_work(&row.project, &row.machine);
    let unknown = || call.refused(&Refusal::not_found("lien", &id.to_string()));
    let row = row.filter(seen).ok_or_else(unknown)?;
    ok(&shaped(call.directory(), &row))
}

/// `PATCH /api/v1/liens/{id}`: another end; an expired lien holds again.
pub(super) async fn extend(Path(id): Path<i64>, call: Call) -> Handled {
    call.require(&[Role::Scheduler])?;
    let PatchLien { end } = call.json()?;
    let end = shape::read_time(&end, "end").map_err(|r| call.refused(&r))?;
    let lien = LienId(id);
    let command = Command::ExtendLien(ExtendLien { lien, end });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/liens/{id}`: gives back what it holds.
pub(super) async fn release(Path(id): Path<i64>, call: Call) -> Handled {
    call.require(&[Role::Scheduler])?;
    let command = Command::ReleaseLien(LienId(id));
    Ok(call.write(command, render).await?.into_response())
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::LienChanged(changed) => Some(written(decided, changed)),
        _ => None,
    })
}

fn written(decided: &Decided<'_>, changed: &LienChanged) -> Written<Lien> {
    let bank = &decided.directory.bank;
    let instance = &changed.instance;
    let row = LienRow {
        lien: changed.lien.clone(),
        accounts: changed.accounts.clone(),
        object_id: instance.key.object_id.clone(),
        object_type: instance.key.object_type,
        machine: instance.key.machine.clone(),
        project: instance.facts.project.clone(),
        user: instance.facts.user.clone(),
    };
    let mut written = new_state(shaped(decided.directory, &row), decided);
    if changed.lien.state == LienState::Released {
        // What it held, for its own figure is 0 now.
        written.object.amount = shape::amount(changed.released, bank);
    }
    if changed.outlives_allocation {
        let warning = "outlives_allocation: an allocation it lies on ends before it";
        written.warnings.push(warning.to_owned());
    }
    written
}

fn wanted(state: Option<&str>) -> Result<Wanted, Refusal> {
    match state {
        None | Some("open") => Ok(Wanted::Open),
        Some("all") => Ok(Wanted::All),
        Some(word) => LienState::parse(word)
            .map(Wanted::Ended)
            .ok_or(Refusal::BadValue {
                field: "state",
                expected: "open, settled, released, replaced, expired or all",
            }),
    }
}

fn cursor(text: &str) -> Result<Cursor, Refusal> {
    Cursor::parse(text).ok_or(Refusal::BadValue {
        field: "after",
        expected: "the `next` of the page before",
    })
}

fn shaped(directory: &Directory, row: &LienRow) -> Lien {
    let bank = &directory.bank;
    let lien = &row.lien;
    let accounts = row.accounts.iter().filter_map(|id| directory.account(*id));
    Lien {
        id: lien.id.0,
        job: row.object_id.clone(),
        machine: row.machine.clone(),
        kind: row.object_type.word().to_owned(),
        project: shape::some(&row.project),
        user: shape::some(&row.user),
        accounts: accounts.map(|a| a.name.clone()).collect(),
        amount: shape::sum(lien.remaining(), bank),
        placed: shape::time(lien.start),
        start: Some(shape::time(lien.start)),
        end: Some(shape::time(lien.end)),
        state: lien.state.word().to_owned(),
        shadow: lien.shadow,
        unit: bank.unit.clone(),
    }
}
