//! What the caller's key may touch (http-auth.md 4): checked before anything else is said, so that
//! a refusal tells nothing about what lies outside.

mod accounts;

use crate::command::{Access, After, Command, Deposit, Whose};
use crate::model::Dimension;
use crate::refusal::{Refusal, short};
use crate::select;
use crate::view::Context;

/// Refuses what lies outside the caller's machines and projects.
pub(super) fn check(command: &Command, ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.scope.projects.is_empty() && ctx.scope.machines.is_empty() {
        return Ok(());
    }
    match command {
        Command::Quote(quote) => whose(&quote.whose, ctx),
        Command::Create(create) => whose(&create.request.whose, ctx),
        Command::Modify(request) => whose(&request.whose, ctx),
        Command::Reserve(reserve) => whose(&reserve.request.whose, ctx),
        Command::Charge(charge) => whose(&charge.request.whose, ctx),
        Command::Usage(used) => whose(&used.request.whose, ctx),
        // Each of its reports is looked at on its own.
        Command::Import(_) => Ok(()),
        Command::Close(close) => machine(&close.key.machine, ctx),
        Command::Repeat(repeat) => machine(&repeat.key.machine, ctx),
        Command::Deposit(deposit) => deposited(deposit, ctx),
        Command::Withdraw(withdraw) => account(&withdraw.name, ctx),
        Command::SetProject(set) => project(&set.name, ctx),
        Command::SetMember(set) => project(&set.project, ctx),
        Command::RemoveMember(name, _) => project(name, ctx),
        // A lien or a job names its project only where it is looked at: the rule does.
        Command::ExtendLien(_) | Command::ReleaseLien(_) | Command::After(After::Refund(_)) => {
            Ok(())
        }
        Command::After(After::Transfer(transfer)) => {
            account(&transfer.from, ctx)?;
            account(&transfer.to, ctx)?;
            accounts::inside_one(&transfer.from, &transfer.to, ctx)
        }
        Command::AddAccount(set) => accounts::lists(set, true, ctx),
        Command::SetAccount(set) => {
            account(&set.name, ctx)?;
            accounts::lists(set, false, ctx)
        }
        Command::RemoveAccount(name) => account(name, ctx),
        Command::Access(Access::Reject(reject)) => match &reject.command {
            Some(command) => check(command, ctx),
            None => nothing(),
        },
        Command::Access(access) => match access.inner() {
            Some(command) => check(command, ctx),
            None => nothing(),
        },
        Command::After(After::Settle(settle)) => project(&settle.project, ctx),
        _ => nothing(),
    }
}

/// What is of no project is for nobody with single ones.
fn nothing() -> Result<(), Refusal> {
    Err(Refusal::NotAllowed {
        what: "this key is for single projects or machines".to_owned(),
    })
}

/// Refuses whom the caller may not touch.
pub(super) fn whose(whose: &Whose, ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.scope.projects.is_empty() && ctx.scope.machines.is_empty() {
        return Ok(());
    }
    machine(&whose.machine, ctx)?;
    let payer = select::find(ctx.directory, whose);
    if ctx.may_touch(payer.project, &payer.project_name) {
        return Ok(());
    }
    // The name as it was given: whose default project or account it is, is not the caller's to know.
    let what = match whose.project.as_deref() {
        Some(name) => format!("project {}", short(name)),
        None => "name one of the projects that this key is for".to_owned(),
    };
    Err(Refusal::NotAllowed { what })
}

pub(super) fn machine(name: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.scope.has_machine(name) {
        return Ok(());
    }
    Err(Refusal::NotAllowed {
        what: format!("machine {}", short(name)),
    })
}

fn project(name: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let id = ctx.directory.project_named(name).map(|p| p.id);
    if ctx.may_touch(id, name) {
        return Ok(());
    }
    Err(Refusal::OutOfScope {
        kind: "project",
        name: short(name),
    })
}

/// A deposit touches every account that gets a share of it.
fn deposited(deposit: &Deposit, ctx: &Context<'_>) -> Result<(), Refusal> {
    account(&deposit.name, ctx)?;
    let named = select::account_by_name(ctx.directory, &deposit.name);
    let Some(named) = named.ok().filter(|_| deposit.is_spread()) else {
        return Ok(());
    };
    let parts = select::spread(ctx.directory, named.id, deposit.amount.0);
    let touched = parts
        .iter()
        .filter_map(|(id, _)| ctx.directory.account(*id));
    // Which one it is tells what lies below.
    let outside = |_| not_account(&deposit.name);
    let mut touched = touched.into_iter();
    touched
        .try_for_each(|a| account(&a.name, ctx))
        .map_err(outside)
}

/// The same of an account that is there and of one that is not: only the name as given.
fn not_account(name: &str) -> Refusal {
    Refusal::OutOfScope {
        kind: "account",
        name: short(name),
    }
}

fn account(name: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    in_projects(name, ctx).map_err(|_| not_account(name))
}

fn in_projects(name: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let Ok(account) = select::account_by_name(ctx.directory, name) else {
        return project(name, ctx);
    };
    let rows = account
        .constraints
        .iter()
        .filter(|c| c.dimension == Dimension::Project && c.allow);
    let mut names = rows.map(|c| c.value.as_str()).peekable();
    if names.peek().is_none() && !ctx.scope.projects.is_empty() {
        return Err(not_account(name));
    }
    names.try_for_each(|name| project(name, ctx))
}
