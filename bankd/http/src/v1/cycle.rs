//! Cycles. Those of accounts in view are seen; administrators change them.

use axum::response::IntoResponse;
use bank_api::v1::{self, NewCycle, PatchCycle};
use bank_core::amount::Amount;
use bank_core::command::{AddCycle, Command, SetCycle};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::model::{Cycle, CycleRun, Every};
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::approval::write_or_propose;
use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::json::{self, read_time};
use super::natural::Natural;
use super::pages::Turn;
use super::path::Path;
use crate::error::Failure;

/// `GET /api/v1/cycles`: by name.
pub(super) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let directory = call.directory();
    let seen = directory.cycles().filter(|c| sees(&call, c));
    let mut items: Vec<v1::Cycle> = seen.map(|c| shaped(directory, c)).collect();
    items.sort_by_cached_key(|cycle| Natural(cycle.name.clone()));
    turn.list(&call, items, |row| Natural(row.name.clone()), |row| row)
}

/// `GET /api/v1/cycles/{name}`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let unknown = || call.refused(&Refusal::not_found("cycle", &name));
    let cycle = call.directory().cycle_named(&name);
    let cycle = cycle.filter(|c| sees(&call, c)).ok_or_else(unknown)?;
    ok(&shaped(call.directory(), cycle))
}

/// `POST /api/v1/cycles`
pub(super) async fn add(call: Call) -> Handled {
    write_or_propose(&call, added(&call)?, render_added).await
}

/// The cycle that a body asks for.
pub(super) fn added(call: &Call) -> Result<Command, Failure> {
    let command = read(call, call.json()?).map_err(|r| call.refused(&r))?;
    Ok(Command::AddCycle(command))
}

/// `PATCH /api/v1/cycles/{name}`
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    write_or_propose(&call, patched(&call, name)?, render).await
}

/// The change that a body asks for.
pub(super) fn patched(call: &Call, name: String) -> Result<Command, Failure> {
    let command = changed(call, name, call.json()?).map_err(|r| call.refused(&r))?;
    Ok(Command::SetCycle(command))
}

/// `DELETE /api/v1/cycles/{name}`
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    let command = Command::RemoveCycle(name);
    Ok(call.write(command, removed).await?.into_response())
}

/// `POST /api/v1/cycles/{name}/run`: runs the next boundary if it is due; a dry run shows its effect at
/// any time. The daemon runs due boundaries by itself.
pub(super) async fn run(Path(name): Path<String>, call: Call) -> Handled {
    let command = Command::RunCycle(name, call.dry_run()?);
    Ok(call.write(command, render_run).await?.into_response())
}

fn sees(call: &Call, cycle: &Cycle) -> bool {
    let account = call.directory().account(cycle.account);
    account.is_some_and(|account| call.view.sees_account(account))
}

fn read(call: &Call, new: NewCycle) -> Result<AddCycle, Refusal> {
    let start = new.start.as_deref().map(|text| read_time(text, "start"));
    Ok(AddCycle {
        name: new.name,
        account: new.account,
        every: every(&new.every)?,
        amount: amount(call, &new.amount)?,
        rollover: new.rollover_percent,
        start: start.transpose()?,
        note: new.note.unwrap_or_default(),
    })
}

fn changed(call: &Call, name: String, patch: PatchCycle) -> Result<SetCycle, Refusal> {
    let new_amount = patch.amount.as_deref().map(|text| amount(call, text));
    Ok(SetCycle {
        name,
        active: patch.active,
        every: patch.every.as_deref().map(every).transpose()?,
        amount: new_amount.transpose()?,
        rollover: patch.rollover_percent,
        note: patch.note,
    })
}

fn amount(call: &Call, text: &str) -> Result<Amount, Refusal> {
    json::read_amount(text, call.directory().bank.precision)
}

fn every(word: &str) -> Result<Every, Refusal> {
    Every::parse(word).ok_or(Refusal::bad_value("every", "month, quarter or year"))
}

fn account_name(directory: &Directory, cycle: &Cycle) -> String {
    let account = directory.account(cycle.account);
    account.map(|a| a.name.clone()).unwrap_or_default()
}

fn shaped(directory: &Directory, cycle: &Cycle) -> v1::Cycle {
    let bank = &directory.bank;
    v1::Cycle {
        name: cycle.name.clone(),
        account: account_name(directory, cycle),
        every: cycle.every.word().to_owned(),
        amount: json::amount(cycle.amount, bank),
        rollover_percent: cycle.rollover,
        start: json::time(cycle.start),
        next: cycle.due().map(json::time),
        last_allocation: cycle.last.map(|id| id.0),
        active: cycle.active,
        note: json::some(&cycle.note),
        unit: bank.unit.clone(),
    }
}

fn shaped_run(decided: &Decided<'_>, run: &CycleRun) -> v1::CycleRun {
    let directory = decided.directory;
    let bank = &directory.bank;
    let bound = |at: Option<bank_core::time::Timestamp>| at.map(json::time).unwrap_or_default();
    v1::CycleRun {
        name: run.cycle.name.clone(),
        account: account_name(directory, &run.cycle),
        start: bound(run.period.start),
        until: bound(run.period.end),
        amount: json::amount(run.cycle.amount, bank),
        rollover: json::amount(run.rollover, bank),
        // On a dry run it has no number yet.
        allocation: (!decided.dry_run).then_some(run.allocation.0),
        unit: bank.unit.clone(),
    }
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Cycle(cycle) => Some(new_state(shaped(decided.directory, cycle), decided)),
        _ => None,
    })
}

fn render_added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn render(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}

fn render_run(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::CycleRun(run) => Some(new_state(shaped_run(decided, run), decided)),
        _ => None,
    })
}
