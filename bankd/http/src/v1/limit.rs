//! Transaction limits.

use axum::response::IntoResponse;
use bank_api::v1::{self, NewLimit};
use bank_core::command::{Access, Command, SetLimit};
use bank_core::directory::{Bank, Directory};
use bank_core::effects::Outcome;
use bank_core::model::{Limit, LimitOf};
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, removed, rendered};
use super::covered;
use super::json;
use super::pages::Turn;
use super::path::Path;
use super::role::read_role;

/// `GET /api/v1/limits`: those of roles first; those of names that the caller's scope covers.
pub(super) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let directory = call.directory();
    let all = directory.limits().filter(|l| covered::limit(&call.view, l));
    let all = all.map(|l| shaped(&directory.bank, l));
    let mut all: Vec<v1::Limit> = all.collect();
    all.sort_by_cached_key(place);
    turn.list(&call, all, place, |row| row)
}

/// Position of a limit in the list: those of roles, then those of names.
fn place(limit: &v1::Limit) -> String {
    match (&limit.role, &limit.name) {
        (Some(role), _) => format!("1 {role}"),
        (None, name) => format!("2 {}", name.as_deref().unwrap_or_default()),
    }
}

/// `POST /api/v1/limits`
pub(super) async fn set(call: Call) -> Handled {
    let command = read(call.json()?, call.directory()).map_err(|r| call.refused(&r))?;
    let command = Command::Access(Access::SetLimit(command));
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/limits/{of}/{name}`: of a `role`, or of a `name`.
pub(super) async fn remove(Path((of, name)): Path<(String, String)>, call: Call) -> Handled {
    let of = match of.as_str() {
        "role" => read_role(&name).map(LimitOf::Role),
        "name" => Ok(LimitOf::Name(name)),
        _ => Err(Refusal::not_found("limit", &name)),
    };
    let of = match of {
        Ok(of) => of,
        Err(refusal) => return call.answered_or(call.refused(&refusal)).await,
    };
    let command = Command::Access(Access::RemoveLimit(of));
    Ok(call.write(command, removed).await?.into_response())
}

fn read(new: NewLimit, directory: &Directory) -> Result<SetLimit, Refusal> {
    let of = match (new.role, new.name) {
        (Some(role), None) => LimitOf::Role(read_role(&role)?),
        (None, Some(name)) => LimitOf::Name(name),
        _ => {
            return Err(Refusal::bad_value("role and name", "one of them"));
        }
    };
    let bound = |text: Option<String>| match text.as_deref() {
        None => Ok(None),
        Some("none") => Ok(Some(None)),
        Some(text) => json::read_amount(text, directory.bank.precision).map(|a| Some(Some(a))),
    };
    Ok(SetLimit {
        of,
        per_operation: bound(new.per_operation)?,
        per_day: bound(new.per_day)?,
    })
}

fn shaped(bank: &Bank, limit: &Limit) -> v1::Limit {
    let (role, name) = match &limit.of {
        LimitOf::Role(role) => (Some(role.word().to_owned()), None),
        LimitOf::Name(name) => (None, Some(name.clone())),
    };
    v1::Limit {
        role,
        name,
        per_operation: limit.per_operation.map(|a| json::amount(a, bank)),
        per_day: limit.per_day.map(|a| json::amount(a, bank)),
        unit: bank.unit.clone(),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Limited(limit) => Some(new_state(shaped(&decided.directory.bank, limit), decided)),
        _ => None,
    })
}
