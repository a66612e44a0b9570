//! Fallback accounts: allowed settings, prices there, and a report of uses that a fallback paid for (nami.md
//! 5).

use crate::command::{Command, Reserve};
use crate::effects::{DirectoryRow, Effects, Shortage};
use crate::model::{Instance, Machine};
use crate::refusal::Refusal;
use crate::select;
use crate::time::Timestamp;
use crate::usage::Usage;
use crate::view::Context;
use std::borrow::Cow;

/// Refuses a change of accounts or machines after which a fallback account has a fallback itself. An earlier
/// fault does not block the repair of it.
pub(super) fn check(effects: &Effects, ctx: &Context<'_>) -> Result<(), Refusal> {
    let by_suffix =
        |fallback: &Option<String>| fallback.as_deref().is_some_and(|f| f.starts_with('+'));
    let suffixes = || ctx.directory.machines().any(|m| by_suffix(&m.fallback));
    let touches = |row: &DirectoryRow| match row {
        DirectoryRow::Account(new) => {
            let old = ctx.directory.account(new.id).filter(|a| !a.deleted);
            let same = old.is_some_and(|a| a.fallback == new.fallback);
            !new.deleted && !same && (new.fallback.is_some() || suffixes())
        }
        DirectoryRow::Record(new) if new.kind == "machine" => {
            let old = ctx.directory.machine_named(new.name());
            let fallback = Machine::of(new).fallback;
            let same = old.is_some_and(|m| m.fallback == fallback);
            !new.deleted && !same && fallback.is_some()
        }
        _ => false,
    };
    if !effects.directory.iter().any(touches) || ctx.directory.fallback_fault().is_some() {
        return Ok(());
    }
    let mut after = ctx.directory.clone();
    for row in &effects.directory {
        after.put(row);
    }
    match after.fallback_fault() {
        Some(name) => Err(Refusal::FallbackChain { name }),
        None => Ok(()),
    }
}

/// The usage that is priced: on its fallback account, the machine's `fallback_qos` replaces the requested
/// quality of service.
pub(super) fn priced<'a>(instance: &'a Instance, ctx: &Context<'_>) -> Cow<'a, Usage> {
    let usage = &instance.facts.usage;
    let on_fallback = instance.fallback_from.is_some();
    let qos = ctx.directory.fallback_qos(&instance.key.machine);
    match qos.filter(|_| on_fallback) {
        Some(qos) => Cow::Owned(Usage {
            qos: Some(qos.to_owned()),
            ..usage.clone()
        }),
        None => Cow::Borrowed(usage),
    }
}

/// The stored shortage of a reserve that was refused for funds. It explains why the scheduler asks again with
/// another account.
pub(crate) fn shortage(
    command: &Command,
    refusal: &Refusal,
    directory: &crate::directory::Directory,
    now: Timestamp,
) -> Option<Shortage> {
    let (Command::Reserve(reserve), Refusal::InsufficientFunds { .. }) = (command, refusal) else {
        return None;
    };
    of(reserve, refusal, directory, now)
}

/// The same for a refusal that the bank's own fallback answers.
pub(super) fn of(
    reserve: &Reserve,
    refusal: &Refusal,
    directory: &crate::directory::Directory,
    now: Timestamp,
) -> Option<Shortage> {
    let Refusal::InsufficientFunds {
        needed, available, ..
    } = refusal
    else {
        return None;
    };
    let request = &reserve.request;
    let payer = select::find(directory, &request.whose);
    Some(Shortage {
        key: request.key(),
        project: payer.project_name,
        user: request.whose.user.clone().unwrap_or_default(),
        at: request.event_time.map_or(now, |at| at.min(now)),
        needed: *needed,
        available: *available,
    })
}
