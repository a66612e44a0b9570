//! The scope of the caller's key (http-auth.md 4): checked before any other rule, so that a refusal reveals
//! nothing about objects outside.

mod accounts;
#[cfg(test)]
mod tests;

use crate::command::{
    After, Command, Deposit, Object, RecordAction, RecordChange, Whose, of_stored,
};
use crate::kind::{Key, Kind, Record, Type, Value, Writers};
use crate::model::{Dimension, Project, User};
use crate::refusal::{Refusal, short};
use crate::select;
use crate::view::Context;

/// Refuses objects outside of the caller's machines and projects. All objects that the command names are
/// looked up here only.
pub(super) fn check(command: &Command, ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.scope.projects.is_empty() && ctx.scope.machines.is_empty() {
        return Ok(());
    }
    for object in command.objects() {
        look_up(&object, ctx)?;
    }
    match command {
        Command::Deposit(deposit) => spread(deposit, ctx),
        Command::After(After::Transfer(transfer)) => {
            accounts::inside_one(&transfer.from, &transfer.to, ctx)
        }
        Command::Record(change) => {
            stored(change, ctx)?;
            stays(change, ctx)
        }
        Command::AddAccount(set) => accounts::stays(set, true, ctx),
        Command::SetAccount(set) => accounts::stays(set, false, ctx),
        _ => Ok(()),
    }
}

/// Refuses an object outside the caller's scope with the answer for a missing one.
fn look_up(object: &Object<'_>, ctx: &Context<'_>) -> Result<(), Refusal> {
    match object {
        Object::Bank => nothing(),
        Object::Project(name) => project(name, ctx),
        Object::Account(name) => account(name, ctx),
        Object::User(name) => user(name, ctx),
        Object::Machine(name) => machine(name, ctx),
        Object::Payer(payer) => whose(payer, ctx),
        Object::Row(account, row) => accounts::row(account, row, ctx),
        Object::Inside(command) => check(command, ctx),
        // Rows of the ledger, which are not in the directory: the rules look for them among the rows of
        // the account that is named beside them, or of the caller's jobs.
        Object::Allocation(_) | Object::Lien(_) | Object::Job(_) => Ok(()),
    }
}

/// An object without a project is outside of the scope of single projects.
fn nothing() -> Result<(), Refusal> {
    Err(Refusal::NotAllowed {
        what: "this key is for single projects or machines".to_owned(),
    })
}

/// Refuses projects, users and machines outside of the caller's scope.
pub(super) fn whose(whose: &Whose, ctx: &Context<'_>) -> Result<(), Refusal> {
    machine(&whose.machine, ctx)?;
    if ctx.scope.projects.is_empty() {
        return Ok(());
    }
    let payer = select::find(ctx.directory, whose);
    if ctx.may_touch(payer.project, &payer.project_name) {
        return Ok(());
    }
    // The name as given: the caller must not learn who has it as a default project or account.
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
    Err(Refusal::out_of_scope("project", name))
}

/// A user is in the scope of single projects as a member of one of them, or where one of them pays by
/// default for what they run. A user without any project is in every scope.
fn user(name: &str, ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.scope.projects.is_empty() {
        return Ok(());
    }
    let person = ctx.scope.who.as_ref().and_then(|who| who.person.as_deref());
    let is_seen = |found: &User| {
        let is_member = |p: &&Project| ctx.directory.membership(p.id, found.id).is_some();
        let all = ctx.directory.projects().filter(is_member).map(|p| p.id);
        let mut theirs = all.chain(found.default_project).peekable();
        theirs.peek().is_none() || theirs.any(|id| ctx.may_touch(Some(id), ""))
    };
    let found = ctx.directory.user_named(name);
    if found.is_some_and(|found| person == Some(name) || is_seen(found)) {
        return Ok(());
    }
    Err(Refusal::out_of_scope("user", name))
}

/// A record that operators change is theirs if all that it refers to is: a change must not take it over.
fn stored(change: &RecordChange, ctx: &Context<'_>) -> Result<(), Refusal> {
    let (RecordAction::Set(key, _) | RecordAction::Remove(key)) = &change.action else {
        return Ok(());
    };
    let records = &ctx.directory.records;
    let kind = records.kind(&change.kind);
    let Some(kind) = kind.filter(|_| change.writers == Writers::Operators) else {
        return Ok(());
    };
    let Some(record) = records.get(&kind.word, &records.spelled(kind, key)) else {
        return Ok(());
    };
    let mut objects = of_stored(kind, record).into_iter();
    let outside = |_| Refusal::NotAllowed {
        what: format!(
            "{} {}, which names objects of others",
            kind.word,
            short(&key.to_string())
        ),
    };
    objects
        .try_for_each(|object| look_up(&object, ctx))
        .map_err(outside)
}

/// A project that is in the scope of single projects by one above it stays below that one.
fn stays(change: &RecordChange, ctx: &Context<'_>) -> Result<(), Refusal> {
    let RecordAction::Set(Key::Name(name), set) = &change.action else {
        return Ok(());
    };
    let is_freed = |(field, value): &(String, Value)| field == "parent" && value.is_none();
    let is_named = ctx.scope.projects.is_empty() || ctx.scope.projects.contains(name);
    if change.kind != "project" || is_named || !set.iter().any(is_freed) {
        return Ok(());
    }
    Err(Refusal::NotAllowed {
        what: format!("project {} without a project above it", short(name)),
    })
}

/// New values of a record, with what is in a list and outside of the caller's machines: the caller does not see
/// it, so a new list does not remove it.
pub(super) fn with_hidden(
    kind: &Kind,
    before: &Record,
    set: &[(String, Value)],
    ctx: &Context<'_>,
) -> Vec<(String, Value)> {
    let mut set = set.to_vec();
    if ctx.scope.machines.is_empty() {
        return set;
    }
    for (name, value) in &mut set {
        let field = kind.field(name);
        let is_of_machines = field.is_some_and(
            |field| matches!(&field.of, Type::References(other, _) if other == "machine"),
        );
        if let Value::List(list) = value
            && is_of_machines
        {
            let old = before.list(name).iter();
            let hidden = old.filter(|machine| !ctx.scope.has_machine(machine));
            let missing: Vec<String> = hidden.filter(|own| !list.contains(own)).cloned().collect();
            list.extend(missing);
        }
    }
    set
}

/// A deposit touches every account that gets a share of it.
fn spread(deposit: &Deposit, ctx: &Context<'_>) -> Result<(), Refusal> {
    let named = select::account_by_name(ctx.directory, &deposit.name);
    let Some(named) = named.ok().filter(|_| deposit.is_spread()) else {
        return Ok(());
    };
    let parts = select::spread(ctx.directory, named.id, deposit.amount.0);
    let touched = parts
        .iter()
        .filter_map(|(id, _)| ctx.directory.account(*id));
    // The name of the account would reveal those below it.
    let outside = |_| not_account(&deposit.name);
    let mut touched = touched.into_iter();
    touched
        .try_for_each(|a| account(&a.name, ctx))
        .map_err(outside)
}

/// The same of an account that is there and of one that is not: only the name as given.
fn not_account(name: &str) -> Refusal {
    Refusal::out_of_scope("account", name)
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
