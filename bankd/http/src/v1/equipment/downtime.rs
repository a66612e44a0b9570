//! Known downtimes of hardware: seen as the hardware is, changed by administrators.

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewDowntime, PatchDowntime};
use bank_core::command::{Equipment, SetDowntime};
use bank_core::effects::Outcome;
use bank_core::ids::{DowntimeId, HardwareId};
use bank_core::model::Downtime;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::super::json;
use super::super::pages::Turn;
use super::super::path::Path;
use super::{asked, bound, number};

/// `GET /api/v1/downtimes`: by number.
pub(in crate::v1) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let all: Vec<&Downtime> = call.directory().equipment.all_downtimes().collect();
    let page = turn.by(all, |own| own.id.0);
    let (all, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List {
        items: all.into_iter().map(shaped).collect(),
        next,
    })
}

/// `GET /api/v1/downtimes/{id}`
pub(in crate::v1) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let number = DowntimeId(number(&call, "downtime", &id)?);
    let known = call.directory().equipment.downtime(number);
    let unknown = || call.refused(&Refusal::not_found("downtime", &id));
    ok(&shaped(known.ok_or_else(unknown)?))
}

/// `POST /api/v1/downtimes`
pub(in crate::v1) async fn add(call: Call) -> Handled {
    let new: NewDowntime = call.json()?;
    let from = json::read_time(&new.from, "from").map_err(|r| call.refused(&r))?;
    let set = SetDowntime {
        nodes: new.nodes.map(Some),
        from: Some(from),
        until: bound(new.until, "until").map_err(|r| call.refused(&r))?,
        reason: Some(new.reason),
    };
    let command = asked(Equipment::AddDowntime(HardwareId(new.hardware), set));
    Ok(call.write(command, added).await?.into_response())
}

/// `PATCH /api/v1/downtimes/{id}`
pub(in crate::v1) async fn set(Path(id): Path<String>, call: Call) -> Handled {
    let id = DowntimeId(number(&call, "downtime", &id)?);
    let set = read(call.json()?).map_err(|r| call.refused(&r))?;
    let command = asked(Equipment::SetDowntime(id, set));
    Ok(call.write(command, changed).await?.into_response())
}

/// `DELETE /api/v1/downtimes/{id}`: reports are as if all had worked.
pub(in crate::v1) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    let id = DowntimeId(number(&call, "downtime", &id)?);
    let command = asked(Equipment::RemoveDowntime(id));
    Ok(call.write(command, removed).await?.into_response())
}

fn read(patch: PatchDowntime) -> Result<SetDowntime, Refusal> {
    let from = patch.from.map(|text| json::read_time(&text, "from"));
    Ok(SetDowntime {
        nodes: patch.nodes.map(|nodes| Some(nodes).filter(|n| *n != 0)),
        from: from.transpose()?,
        until: bound(patch.until, "until")?,
        reason: patch.reason,
    })
}

fn shaped(own: &Downtime) -> v1::Downtime {
    v1::Downtime {
        id: own.id.0,
        hardware: own.hardware.0,
        nodes: own.nodes,
        // The rules take none without a start.
        from: own.valid.start.map_or_else(String::new, json::time),
        until: own.valid.end.map(json::time),
        reason: own.reason.clone(),
    }
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Downtime(own) => Some(new_state(shaped(own), decided)),
        _ => None,
    })
}

fn added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn changed(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}
