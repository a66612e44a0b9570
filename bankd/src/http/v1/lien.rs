//! Liens.

use bank_api::v1::{Lien, List};
use bank_core::directory::Directory;
use bank_core::model::LienState;
use bank_core::refusal::Refusal;
use serde::Deserialize;

use super::call::{Call, Handled, ok};
use super::{job, shape};
use crate::store::read::liens::{self, Cursor, LienRow, Wanted};

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
