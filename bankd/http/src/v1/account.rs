//! Accounts, with the figures of their active allocations.

use axum::response::IntoResponse;
use bank_api::v1::{self, AccountsQuery, List, NewAccount, PatchAccount, RemoveQuery};
use bank_core::command::{After, Command, SetAccount};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::AccountId;
use bank_core::model::{Account, Dimension};
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;
use bankd_store::read::money::{self, Figures};
use bankd_store::read::past;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::historical::{self, Then};
use super::json::{self, cleared};
use super::lists;
use super::natural::Natural;
use super::pages::Turn;
use super::path::Path;
use super::view::Lookup as _;
use super::view::View;
use crate::error::Failure;

/// `GET /api/v1/accounts`: those in view, by name; by number with those that were removed, because a removed one and a
/// later one can have one name.
pub(super) async fn list(call: Call) -> Handled {
    let AccountsQuery {
        at,
        recorded,
        removed,
        limit,
        after,
    } = call.query()?;
    let turn = Turn::of(&call, limit, after)?;
    let then = historical::then(&call, at.as_deref(), recorded).await?;
    let view = historical::view(then.as_ref(), &call);
    let directory = view.directory();
    let known = directory.all_accounts();
    let wanted = known.filter(|a| (removed || !a.deleted) && view.saw_account(a));
    let mut accounts: Vec<&Account> = wanted.collect();
    let page = if removed {
        accounts.sort_by_key(|account| account.id.0);
        turn.by(accounts, |row| row.id.0)
    } else {
        accounts.sort_by_cached_key(|account| Natural(account.name.clone()));
        turn.by(accounts, |row| Natural(row.name.clone()))
    };
    let (accounts, next) = page.map_err(|refusal| call.refused(&refusal))?;
    let ids = accounts.iter().map(|a| a.id).collect();
    let figures = figures_then(&call, ids, then.as_ref()).await?;
    let rows = accounts.iter().zip(&figures);
    let items = rows.map(|(account, figures)| shaped(directory, account, figures, view));
    ok(&List {
        items: items.collect(),
        next,
    })
}

/// `GET /api/v1/accounts/{name}`, by name or number.
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let then = historical::requested(&call).await?;
    let view = historical::view(then.as_ref(), &call);
    let account = view.account(&name)?;
    let figures = figures_then(&call, vec![account.id], then.as_ref()).await?;
    let figures = figures.first().copied().unwrap_or_default();
    ok(&shaped(view.directory(), account, &figures, view))
}

/// An account with every figure of ledger.md 2.5.
fn shaped(directory: &Directory, account: &Account, figures: &Figures, view: &View) -> v1::Account {
    let bank = &directory.bank;
    let used = figures.used_hundredths();
    v1::Account {
        allocated: Some(json::sum(figures.allocated(), bank)),
        capacity: Some(json::sum(figures.capacity(), bank)),
        used: Some(json::sum(figures.used, bank)),
        used_percent: used.map(money::hundredths),
        ..lists::account(directory, account, &figures.active(), Some(view))
    }
}

/// `POST /api/v1/accounts`
pub(super) async fn add(call: Call) -> Handled {
    let command = added(&call)?;
    Ok(call.write(command, render_added).await?.into_response())
}

/// Whether the lists of an account name a project: it is an account of that project.
pub(super) fn lists_project(account: &Account, project: &str) -> bool {
    let mut rows = account.constraints.iter();
    rows.any(|row| row.dimension == Dimension::Project && row.allow && row.value == project)
}

/// The new account that a body asks for.
pub(super) fn added(call: &Call) -> Result<Command, Failure> {
    let new: NewAccount = call.json()?;
    let given = [
        (Dimension::Project, Some(new.projects)),
        (Dimension::User, Some(new.users)),
        (Dimension::Machine, Some(new.machines)),
    ];
    let overflow = lists::read_overflow(new.overflow.as_deref()).map_err(|r| call.refused(&r))?;
    let lists = lists::given(given, Some(new.constraints));
    Ok(Command::AddAccount(SetAccount {
        lists: lists.map_err(|r| call.refused(&r))?,
        parent: new.parent.map(cleared),
        share: new.share,
        overflow,
        discrete: new.discrete,
        priority: new.priority,
        fallback: new.fallback.map(cleared),
        description: new.description,
        ..json::no_change(&new.name)
    }))
}

/// `PATCH /api/v1/accounts/{name}`, by name or number.
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    let patch: PatchAccount = call.json()?;
    let old = match call.view.account(&name) {
        Ok(old) => old,
        Err(unknown) => return call.answered_or(unknown).await,
    };
    let given = [
        (Dimension::Project, patch.projects),
        (Dimension::User, patch.users),
        (Dimension::Machine, patch.machines),
    ];
    let overflow = lists::read_overflow(patch.overflow.as_deref()).map_err(|r| call.refused(&r))?;
    // Only the lists in the request: another request may change the others at the same time.
    let lists = lists::given(given, patch.constraints);
    let command = Command::SetAccount(SetAccount {
        lists: lists.map_err(|r| call.refused(&r))?,
        parent: patch.parent.map(cleared),
        share: patch.share,
        overflow,
        discrete: patch.discrete,
        priority: patch.priority,
        fallback: patch.fallback.map(cleared),
        description: patch.description,
        ..json::no_change(&old.name)
    });
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/accounts/{name}`, by name or number.
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    // The ledger finds a removed account only by its name, and answers a repeat.
    let known = call.view.account(&name).map(|a| a.name.clone());
    let name = known.unwrap_or(name);
    let RemoveQuery { dry_run, force } = call.query()?;
    let command = if force {
        Command::After(After::RemoveAccount(name))
    } else {
        Command::RemoveAccount(name)
    };
    let done = call.write_or_try(command, removed, dry_run).await?;
    Ok(done.into_response())
}

/// The figures of accounts now.
pub(super) async fn figures(
    call: &Call,
    accounts: Vec<AccountId>,
) -> Result<Vec<Figures>, Failure> {
    let now = call.now();
    call.ask(move |connection| money::figures(connection, &accounts, now))
        .await
}

/// The figures of accounts at an instant, or now.
pub(super) async fn figures_then(
    call: &Call,
    accounts: Vec<AccountId>,
    then: Option<&Then>,
) -> Result<Vec<Figures>, Failure> {
    match then.map(|then| then.as_of) {
        None => figures(call, accounts).await,
        Some(as_of) => {
            call.ask(move |connection| past::figures(connection, &accounts, as_of))
                .await
        }
    }
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Account(account, figures) => {
            let shape = lists::account(decided.directory, account, figures, None);
            Some(new_state(shape, decided))
        }
        _ => None,
    })
}

fn render_added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn render(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}
