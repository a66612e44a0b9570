//! Contributors: names in reports, with their projects.

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewContributor, PatchContributor};
use bank_core::command::{Equipment, SetContributor};
use bank_core::effects::Outcome;
use bank_core::model::Contributor;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::super::json;
use super::super::pages::Turn;
use super::super::path::Path;
use super::super::share::whole;
use super::asked;

/// `GET /api/v1/contributors`: by name.
pub(in crate::v1) async fn list(call: Call) -> Handled {
    whole(&call)?;
    let turn = Turn::read(&call)?;
    let all: Vec<&Contributor> = call.directory().equipment.all_contributors().collect();
    let page = turn.by(all, |own| own.name.clone());
    let (all, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List {
        items: all.into_iter().map(shaped).collect(),
        next,
    })
}

/// `GET /api/v1/contributors/{name}`
pub(in crate::v1) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    whole(&call)?;
    let known = call.directory().equipment.contributor(&name);
    let unknown = || call.refused(&Refusal::not_found("contributor", &name));
    ok(&shaped(known.ok_or_else(unknown)?))
}

/// `POST /api/v1/contributors`
pub(in crate::v1) async fn add(call: Call) -> Handled {
    let new: NewContributor = call.json()?;
    let set = SetContributor {
        name: new.name,
        user: new.user,
        exempt: new.exempt,
        projects: Some(new.projects),
        description: new.description,
    };
    let command = asked(Equipment::AddContributor(set));
    Ok(call.write(command, added).await?.into_response())
}

/// `PATCH /api/v1/contributors/{name}`
pub(in crate::v1) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    let patch: PatchContributor = call.json()?;
    let set = SetContributor {
        name,
        user: patch.user,
        exempt: patch.exempt,
        projects: patch.projects,
        description: patch.description,
    };
    let command = asked(Equipment::SetContributor(set));
    Ok(call.write(command, changed).await?.into_response())
}

/// `DELETE /api/v1/contributors/{name}`
pub(in crate::v1) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    let command = asked(Equipment::RemoveContributor(name));
    Ok(call.write(command, removed).await?.into_response())
}

fn shaped(own: &Contributor) -> v1::Contributor {
    v1::Contributor {
        name: own.name.clone(),
        user: json::some(&own.user),
        exempt: own.exempt,
        projects: own.projects.clone(),
        description: json::some(&own.description),
    }
}

fn added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn changed(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Contributor(own) => Some(new_state(shaped(own), decided)),
        _ => None,
    })
}
