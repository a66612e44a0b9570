//! Liens.

use axum::response::IntoResponse;
use bank_api::v1::{Lien, LienQuery, List, PatchLien, Written};
use bank_core::command::{Command, ExtendLien};
use bank_core::directory::Directory;
use bank_core::effects::{LienChanged, Outcome};
use bank_core::ids::LienId;
use bank_core::model::LienState;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;
use bankd_store::read::liens::{self, Cursor, LienRow, Wanted};
use bankd_store::read::past;

use super::call::{Call, Handled, new_state, ok, rendered};
use super::historical::{self, Then};
use super::path::Path;
use super::{job, json, pages};

/// `GET /api/v1/liens`: open liens first, each part newest first. Without `state`: only open liens.
pub(super) async fn list(call: Call) -> Handled {
    let query: LienQuery = call.query()?;
    let wanted = wanted(query.state.as_deref()).map_err(|r| call.refused(&r))?;
    let limit = pages::limit(query.limit, 1000).map_err(|r| call.refused(&r))?;
    let after = query.after.as_deref().map(cursor).transpose();
    let after = after.map_err(|r| call.refused(&r))?;
    let then = historical::then(&call, query.at.as_deref(), query.recorded).await?;
    let work = job::Work::new(&call.view, query.project, query.user, query.machine);
    let names = work.clone();
    let keep = move |row: &LienRow| work.holds(&row.project, &row.user, &row.machine);
    if let Some(then) = then {
        let (Wanted::Open, None | Some(Cursor::Open(_))) = (wanted, after) else {
            let expected = "open, where `at` is given: which held something then";
            let field = "state";
            return Err(call.refused(&Refusal::BadValue { field, expected }));
        };
        return list_then(&call, &then, after, limit, (names, keep)).await;
    }
    let page = call
        .ask(move |connection| {
            liens::list(connection, wanted, after, limit.saturating_add(1), keep)
        })
        .await?
        .within(limit, LienRow::cursor);
    if page.rows.is_empty() && page.next.is_none() {
        names.check(&call).await?;
    }
    let directory = call.directory();
    ok(&List {
        items: page.rows.iter().map(|row| shaped(directory, row)).collect(),
        next: page.next.map(Cursor::text),
    })
}

/// Those that held something at an instant, the newest first.
async fn list_then(
    call: &Call,
    then: &Then,
    after: Option<Cursor>,
    limit: usize,
    (names, keep): (job::Work, impl Fn(&LienRow) -> bool),
) -> Handled {
    let as_of = then.as_of;
    let all = call.ask(move |connection| past::liens(connection, None, as_of));
    let below = match after {
        Some(Cursor::Open(id)) => id,
        _ => i64::MAX,
    };
    let mut all = all.await?;
    all.retain(|row| row.lien.id.0 < below && keep(row));
    let is_more = all.len() > limit;
    all.truncate(limit);
    if all.is_empty() {
        names.check(call).await?;
    }
    let last = all.last().filter(|_| is_more);
    let directory = then.view.directory();
    ok(&List {
        items: all.iter().map(|row| shaped(directory, row)).collect(),
        next: last.map(|row| Cursor::Open(row.lien.id.0).text()),
    })
}

/// `GET /api/v1/liens/{id}`
pub(super) async fn show(Path(id): Path<i64>, call: Call) -> Handled {
    let then = historical::requested(&call).await?;
    let as_of = then.as_ref().map(|then| then.as_of);
    let row = call.ask(move |connection| match as_of {
        None => liens::lien(connection, id),
        Some(as_of) => past::lien(connection, id, as_of),
    });
    let row = row.await?;
    let seen = |row: &LienRow| call.view.sees_work(&row.project, &row.user, &row.machine);
    let unknown = || call.refused(&Refusal::not_found("lien", &id.to_string()));
    let row = row.filter(seen).ok_or_else(unknown)?;
    let view = historical::view(then.as_ref(), &call);
    ok(&shaped(view.directory(), &row))
}

/// `PATCH /api/v1/liens/{id}`: another end; an expired lien holds again.
pub(super) async fn extend(Path(id): Path<i64>, call: Call) -> Handled {
    let PatchLien { end } = call.json()?;
    let end = json::read_time(&end, "end").map_err(|r| call.refused(&r))?;
    let lien = LienId(id);
    let command = Command::ExtendLien(ExtendLien { lien, end });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/liens/{id}`: releases the held amount.
pub(super) async fn release(Path(id): Path<i64>, call: Call) -> Handled {
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
        // The amount that it held. The lien itself has 0 now.
        written.object.amount = json::amount(changed.released, bank);
    }
    if changed.outlives_allocation {
        let warning = "outlives_allocation: one of its allocations ends before the lien";
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
            .ok_or(Refusal::bad_value(
                "state",
                "open, settled, released, replaced, expired or all",
            )),
    }
}

fn cursor(text: &str) -> Result<Cursor, Refusal> {
    Cursor::parse(text).ok_or(Refusal::bad_value("after", "the `next` of the page before"))
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
        project: json::some(&row.project),
        user: json::some(&row.user),
        accounts: accounts.map(|a| a.name.clone()).collect(),
        amount: json::sum(lien.remaining(), bank),
        placed: json::time(lien.start),
        start: Some(json::time(lien.start)),
        end: Some(json::time(lien.end)),
        state: lien.state.word().to_owned(),
        shadow: lien.shadow,
        unit: bank.unit.clone(),
    }
}
