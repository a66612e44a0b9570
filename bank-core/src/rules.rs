//! The rules: a command and what it must see in, facts or a refusal out.
//!
//! One file per family of commands. Nothing here asks for the time or for a row: both are handed
//! in (style 2.9).

mod access;
mod admin;
mod allocation;
mod assign;
mod attention;
mod billed_time;
mod charge;
mod choice;
pub(crate) mod clock;
mod correction;
mod cycle;
pub mod enforce;
pub(crate) mod fallback;
mod funds;
mod import;
mod instance;
mod key;
mod lien;
mod lien_end;
mod lifecycle;
mod money;
mod opening;
mod partner;
mod period;
mod phase;
mod promise;
mod quote;
mod rates;
mod record;
pub mod refused;
mod report;
mod same;
mod scope;
pub(crate) mod settings;
mod split;
pub mod sweep;
mod usage;
mod would;

pub(crate) use access::day_of;
pub use access::{ASKED_MAX, REQUEST_MAX, REQUESTS_MAX};
pub use rates::propose;

use self::access::{Eyes, guard};
use crate::access::narrowed;
use crate::command::{Charge, Command, Period, Scope, UsageReport};
use crate::directory::Directory;
use crate::effects::Effects;
use crate::ids::InstanceId;
use crate::model::Instance;
use crate::refusal::Refusal;
use crate::reservation::TimeChange;
use crate::time::Timestamp;
use crate::view::{Context, View};

/// Decides a command. The same command, view and context give the same effects.
pub fn decide(command: &Command, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let scope = narrowed(command, ctx)?;
    let ctx = &Context {
        scope: &scope,
        ..*ctx
    };
    scope::check(command, ctx)?;
    command.check_note()?;
    let mut effects = by_family(command, view, ctx)?;
    if !matches!(command, Command::Access(_)) {
        guard(command, Eyes::Two, &mut effects, view, ctx)?;
    }
    effects.trace_accounts(ctx.directory);
    partner::notify(&mut effects, ctx.directory);
    fallback::check(&effects, ctx)?;
    Ok(effects)
}

/// Whether a caller may do this at all, in any state of the ledger.
///
/// # Errors
/// [`Refusal::NotAllowed`].
pub fn may(command: &Command, ctx: &Context<'_>) -> Result<(), Refusal> {
    let scope = narrowed(command, ctx)?;
    let ctx = &Context {
        scope: &scope,
        ..*ctx
    };
    scope::check(command, ctx)
}

fn by_family(command: &Command, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    match command {
        Command::Deposit(deposit) => money::deposit(deposit, view, ctx),
        Command::Withdraw(withdraw) => money::withdraw(withdraw, view, ctx),
        Command::Open(open) => opening::open(open, view, ctx),
        Command::Quote(request) => quote::quote(request, view, ctx),
        Command::Create(create) => lifecycle::create(create, view, ctx),
        Command::Modify(request) => lifecycle::modify(request, view, ctx),
        Command::Reserve(reserve) => lien::reserve(reserve, view, ctx),
        Command::Charge(charge) => charge::charge(charge, view, ctx),
        Command::Usage(used) => usage::take(used, view, ctx),
        Command::Import(chunk) => import::import(chunk, view, ctx),
        Command::Close(close) => lifecycle::close(close, view, ctx),
        Command::SetAllocation(set) => allocation::set(set, view, ctx),
        Command::SetRate(set) => rates::set(set, view, ctx),
        Command::RemoveRate(id) => rates::remove(*id, view, ctx),
        Command::AddKey(key) => key::add(key, view, ctx),
        Command::SetKey(key) => key::set(key, view, ctx),
        Command::RemoveKey(id) => key::remove(id, view, ctx),
        Command::AddCycle(add) => cycle::add(add, view, ctx),
        Command::SetCycle(set) => cycle::set(set, view, ctx),
        Command::RemoveCycle(name) => cycle::remove(name, view, ctx),
        Command::RunCycle(name, preview) => cycle::run_now(name, *preview, view, ctx),
        Command::ConfirmClock(shown, note) => clock::confirm(*shown, note, view, ctx),
        Command::ExtendLien(extend) => lien_end::extend(extend, view, ctx),
        Command::ReleaseLien(id) => lien_end::release(*id, view, ctx),
        Command::After(after) => correction::decide(after, view, ctx),
        Command::Attention(attention) => attention::decide(attention, view, ctx),
        Command::RemoveQuote(id) => promise::remove(*id, view, ctx),
        Command::Repeat(repeat) => lifecycle::repeated(repeat, view, ctx),
        Command::Assign(assign) => assign::assign(assign, view, ctx),
        Command::Period(Period::Close(close)) => period::close(close, view, ctx),
        Command::Period(Period::Reopen(note)) => period::reopen(note, view, ctx),
        Command::Record(change) => record::decide(change, view, ctx),
        Command::Access(access) => access::decide(access, view, ctx),
        Command::MergeUser(merge) => record::merge::user(merge, view, ctx),
        Command::SetMember(_)
        | Command::RemoveMember(..)
        | Command::AddAccount(_)
        | Command::SetAccount(_)
        | Command::RemoveAccount(_) => admin::decide(command, view, ctx),
    }
}

/// The instance of a charge that reports a total and gives money back: then its payers and their charges must be loaded.
pub(crate) fn total_falls(
    charge: &Charge,
    view: &View,
    directory: &Directory,
    now: Timestamp,
) -> Option<InstanceId> {
    // Whether the caller may do this at all is decided with all rows in view.
    let scope = &Scope::default();
    let ctx = Context {
        directory,
        now,
        scope,
    };
    charge::falls(charge, view, &ctx)
}

/// The instance of a finished use of which its source charged no record yet.
pub(crate) fn same_use<'a>(report: &UsageReport, view: &'a View) -> Option<&'a Instance> {
    same::instance_of(&report.request.facts, Some(&report.source), view)
}

/// Whether a change of a reservation's time leaves something to be billed, given back or counted.
pub(crate) fn owes(
    change: &TimeChange,
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> bool {
    charge::owes(change, instance, view, ctx)
}

/// The instant at which a correction for a change of a reservation's time counts.
pub(crate) use charge::counts_at;

/// Corrects the charge of a reservation after a change of its time. No caller requests this, so no role and no
/// limit applies.
pub(crate) fn settle_reservation(
    change: &TimeChange,
    id: InstanceId,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let mut effects = charge::settle(change, id, view, ctx)?;
    effects.trace_accounts(ctx.directory);
    partner::notify(&mut effects, ctx.directory);
    Ok(effects)
}

#[cfg(test)]
mod tests;
