//! Machines. Their names are no secret; a key for single machines sees only those.

use axum::response::IntoResponse;
use bank_api::v1::{self, List, NewMachine, PatchMachine};
use bank_core::command::{Command, SetMachine};
use bank_core::effects::Outcome;
use bank_core::policy::ChargePolicy;
use bank_core::refusal::Refusal;
use bank_core::time::Seconds;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::historical;
use super::json::{self, cleared, read_charge_duration, read_mode};
use super::path::Path;

/// `GET /api/v1/machines`: by name.
pub(super) async fn list(call: Call) -> Handled {
    let (then, turn) = historical::listed(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let all = view.directory().machines();
    let seen = all.filter(|m| view.sees_machine(&m.name));
    let mut items: Vec<v1::Machine> = seen.map(json::machine).collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    let page = turn.by(items, |row| row.name.clone());
    let (items, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List { items, next })
}

/// `GET /api/v1/machines/{name}`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let then = historical::requested(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    ok(&json::machine(view.machine(&name)?))
}

/// `POST /api/v1/machines`
pub(super) async fn add(call: Call) -> Handled {
    let new: NewMachine = call.json()?;
    let mode = new.mode.as_deref().map(read_mode).transpose();
    let policy = new.charge_policy.as_deref().map(read_policy).transpose();
    let meaning = new.charge_duration.as_deref();
    let meaning = meaning.map(read_charge_duration).transpose();
    let command = Command::AddMachine(SetMachine {
        name: new.name,
        active: None,
        mode: mode.map_err(|r| call.refused(&r))?,
        flush_interval: new.flush_interval_s.map(Seconds),
        fallback: new.fallback.map(cleared),
        description: new.description,
        architecture: new.architecture,
        operating_system: new.operating_system,
        source: new.source.map(cleared),
        charge_policy: policy.map_err(|r| call.refused(&r))?,
        fallback_qos: new.fallback_qos.map(cleared),
        fqdn: new.fqdn,
        reservation_account: new.reservation_account.map(cleared),
        test: new.test,
        charge_duration: meaning.map_err(|r| call.refused(&r))?,
    });
    Ok(call.write(command, render_added).await?.into_response())
}

/// `PATCH /api/v1/machines/{name}`
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    let patch: PatchMachine = call.json()?;
    let mode = patch.mode.as_deref().map(read_mode).transpose();
    let policy = patch.charge_policy.as_deref().map(read_policy).transpose();
    let meaning = patch.charge_duration.as_deref();
    let meaning = meaning.map(read_charge_duration).transpose();
    let command = Command::SetMachine(SetMachine {
        name,
        active: patch.active,
        mode: mode.map_err(|r| call.refused(&r))?,
        flush_interval: patch.flush_interval_s.map(Seconds),
        fallback: patch.fallback.map(cleared),
        description: patch.description,
        architecture: patch.architecture,
        operating_system: patch.operating_system,
        source: patch.source.map(cleared),
        charge_policy: policy.map_err(|r| call.refused(&r))?,
        fallback_qos: patch.fallback_qos.map(cleared),
        fqdn: patch.fqdn,
        reservation_account: patch.reservation_account.map(cleared),
        test: patch.test,
        charge_duration: meaning.map_err(|r| call.refused(&r))?,
    });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/machines/{name}`
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    let command = Command::RemoveMachine(name);
    Ok(call.write(command, removed).await?.into_response())
}

/// A charge policy in a request; empty or `default` for the default.
fn read_policy(word: &str) -> Result<Option<ChargePolicy>, Refusal> {
    if word.is_empty() || word == "default" {
        return Ok(None);
    }
    let policy = ChargePolicy::parse(word);
    policy.map(Some).ok_or(Refusal::BadValue {
        field: "charge_policy",
        expected: "DEBITALL or DEBITSUCCESSFUL with WC, CPU, PE, BLOCKED or NODE behind it, \
                   DEBITREQUESTEDWC, or default",
    })
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Machine(machine) => Some(new_state(json::machine(machine), decided)),
        _ => None,
    })
}

fn render_added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn render(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}
