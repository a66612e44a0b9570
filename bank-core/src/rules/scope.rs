//! What the caller's key may touch (http-auth.md 4): checked before anything else is said, so that
//! a refusal tells nothing about what lies outside.

use crate::command::{After, Command, Deposit, Whose};
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
            account(&transfer.from, ctx).and_then(|()| account(&transfer.to, ctx))
        }
        Command::After(After::Settle(settle)) => project(&settle.project, ctx),
        _ => Err(Refusal::NotAllowed {
            what: "this key is for single projects or machines".to_owned(),
        }),
    }
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
    Err(Refusal::NotAllowed {
        what: format!("project {}", payer.project_name),
    })
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
    Err(Refusal::NotAllowed {
        what: format!("project {}", short(name)),
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
    touched.into_iter().try_for_each(|a| account(&a.name, ctx))
}

fn account(name: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    let Ok(account) = select::account_by_name(ctx.directory, name) else {
        return project(name, ctx);
    };
    let rows = account
        .constraints
        .iter()
        .filter(|c| c.dimension == Dimension::Project && c.allow);
    let mut names = rows.map(|c| c.value.as_str()).peekable();
    if names.peek().is_none() && !ctx.scope.projects.is_empty() {
        return Err(Refusal::NotAllowed {
            what: format!("account {}", account.name),
        });
    }
    names.try_for_each(|name| project(name, ctx))
}
