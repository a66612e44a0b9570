//! Allocations.

use axum::response::IntoResponse;
use bank_api::v1::{AllocationQuery, PatchAllocation, RemoveQuery};
use bank_core::command::{After, Command, RemoveAllocation, SetAllocation};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Account, Allocation, Phase};
use bank_core::refusal::Refusal;
use bank_core::time::Seconds;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;
use bankd_store::read::{money, past};

use super::approval::write_or_propose;
use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::json::{self, read_bound};
use super::pages::Turn;
use super::path::Path;
use super::view::Lookup as _;
use super::{account, historical};
use crate::error::Failure;

/// An end so long ago is the present of a client.
const HOUR: Seconds = Seconds(3600);

/// `GET /api/v1/allocations`: by number.
pub(super) async fn list(call: Call) -> Handled {
    let query: AllocationQuery = call.query()?;
    let turn = Turn::of(&call, query.limit, query.after.clone())?;
    let then = historical::then(&call, query.at.as_deref(), query.recorded).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let project = query.project.as_deref().map(|name| view.project(name));
    let project = project.transpose()?;
    let is_wanted =
        |account: &Account| project.is_none_or(|own| account::lists_project(account, &own.name));
    let accounts: Vec<AccountId> = if let Some(name) = &query.account {
        let one = view.account(name)?;
        is_wanted(one).then_some(one.id).into_iter().collect()
    } else {
        let seen = directory.accounts().filter(|a| view.sees_account(a));
        seen.filter(|a| is_wanted(a)).map(|a| a.id).collect()
    };
    let wanted = query.state.as_deref().map(phase).transpose();
    let wanted = wanted.map_err(|r| call.refused(&r))?;
    let (as_of, now) = (then.as_ref().map(|then| then.as_of), call.now());
    let all = call.ask(move |connection| match (as_of, accounts.as_slice()) {
        (Some(as_of), [one]) => past::allocations(connection, *one, as_of),
        (Some(as_of), _) => {
            let mut all = past::whole(connection, as_of)?;
            all.retain(|(a, _)| accounts.contains(&a.account));
            Ok(all)
        }
        (None, _) => {
            let mut all = Vec::new();
            for account in accounts {
                let own = money::allocations_of(connection, account)?.into_iter();
                all.extend(own.map(|a| (a, Phase::of(&a.window, now))));
            }
            Ok(all)
        }
    });
    let mut all = all.await?;
    all.sort_by_key(|(a, _)| a.id);
    let rows = all.iter();
    let rows = rows.filter(|(_, phase)| wanted.is_none_or(|w| w == *phase));
    let shape = |(a, phase): &(_, _)| json::allocation(directory, a, *phase);
    turn.list(&call, rows.collect(), |(a, _)| a.id.0, shape)
}

/// `GET /api/v1/allocations/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let then = historical::requested(&call).await?;
    let id = number(&call, &id)?;
    let found = find(&call, id).await?;
    let Some(then) = then else {
        let phase = Phase::of(&found.window, call.now());
        return ok(&json::allocation(call.directory(), &found, phase));
    };
    let as_of = then.as_of;
    let found = call.ask(move |connection| past::allocation(connection, id, as_of));
    let found = found.await?;
    let (found, phase) = found.ok_or_else(|| unknown(&call, &id.0.to_string()))?;
    ok(&json::allocation(then.view.directory(), &found, phase))
}

/// `PATCH /api/v1/allocations/{id}`
pub(super) async fn set(Path(id): Path<String>, call: Call) -> Handled {
    let patch: PatchAllocation = call.json()?;
    if is_slip(&call, &patch) {
        return call.answered_or(call.refused(&Refusal::WindowInPast)).await;
    }
    write_or_propose(&call, changed(&call, &id)?, render).await
}

/// Whether the new end is so long ago that it takes all credits by a typing error.
fn is_slip(call: &Call, patch: &PatchAllocation) -> bool {
    let until = patch.until.as_deref().filter(|_| !patch.allow_past);
    let end = until
        .and_then(|text| read_bound(text, "until", "infinity").ok())
        .flatten();
    end.is_some_and(|end| end.plus(HOUR) <= call.now())
}

/// The change that a body asks for.
pub(super) fn changed(call: &Call, id: &str) -> Result<Command, Failure> {
    let patch: PatchAllocation = call.json()?;
    let id = number(call, id)?;
    if let Some(field) = fixed(&patch) {
        return Ok(Command::After(After::SetFixed(id, field)));
    }
    let change = change(id, &patch, call.directory()).map_err(|r| call.refused(&r))?;
    Ok(Command::SetAllocation(change))
}

/// `DELETE /api/v1/allocations/{id}`
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    let id = number(&call, &id)?;
    let RemoveQuery { dry_run, force } = call.query()?;
    let command = Command::After(After::RemoveAllocation(RemoveAllocation { id, force }));
    let done = call.write_or_try(command, removed, dry_run).await?;
    Ok(done.into_response())
}

/// The first field in the request that cannot be changed (ledger.md 2.10).
fn fixed(patch: &PatchAllocation) -> Option<&'static str> {
    let filters = [
        ("amount", patch.amount.is_some()),
        ("active", patch.active.is_some()),
        ("deposited", patch.deposited.is_some()),
        ("account", patch.account.is_some()),
    ];
    let mut filters = filters
        .into_iter()
        .filter(|(_, is_requested)| *is_requested);
    filters.next().map(|(field, _)| field)
}

/// One allocation in view.
async fn find(call: &Call, id: AllocationId) -> Result<Allocation, Failure> {
    let found = call
        .ask(move |connection| money::allocation(connection, id))
        .await?;
    let seen = |a: &Allocation| {
        let account = call.directory().account(a.account);
        account.is_some_and(|account| call.view.sees_account(account))
    };
    found
        .filter(seen)
        .ok_or_else(|| unknown(call, &id.0.to_string()))
}

fn number(call: &Call, text: &str) -> Result<AllocationId, Failure> {
    let number = text.parse().map(AllocationId);
    number.map_err(|_| unknown(call, text))
}

fn unknown(call: &Call, id: &str) -> Failure {
    call.refused(&Refusal::not_found("allocation", id))
}

fn phase(word: &str) -> Result<Phase, Refusal> {
    Phase::parse(word).ok_or(Refusal::bad_value("state", "future, active or expired"))
}

fn change(
    id: AllocationId,
    patch: &PatchAllocation,
    directory: &Directory,
) -> Result<SetAllocation, Refusal> {
    let start = patch.start.as_deref();
    let start = start.map(|text| read_bound(text, "start", "-infinity"));
    let end = patch.until.as_deref();
    let end = end.map(|text| read_bound(text, "until", "infinity"));
    let limit = patch.credit_limit.as_deref();
    let limit = limit.map(|text| json::read_amount(text, directory.bank.precision));
    Ok(SetAllocation {
        id,
        start: start.transpose()?,
        end: end.transpose()?,
        credit_limit: limit.transpose()?,
    })
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| {
        let Outcome::Allocation(allocation, outlived) = outcome else {
            return None;
        };
        let shape = json::allocation(decided.directory, allocation, allocation.phase);
        let mut written = new_state(shape, decided);
        written.warnings.extend(outlived.iter().map(|outlived| {
            let (key, lien) = (&outlived.instance, outlived.lien.0);
            let (kind, id, machine) = (key.object_type.word(), &key.object_id, &key.machine);
            format!("outlives_allocation: lien {lien} of {kind} {id} on {machine} ends after it")
        }));
        Some(written)
    })
}
