//! Accounts, with the figures of their active allocations.

use axum::extract::Path;
use axum::response::IntoResponse;
use bank_api::v1::{List, NewAccount, PatchAccount};
use bank_core::command::{Command, SetAccount};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::AccountId;
use bank_core::model::{Account, Dimension};

use super::call::{Call, Done, Handled, ok, removed, rendered, new_state};
use super::project::Empty;
use super::shape::{self, cleared};
use crate::answer::Answer;
use crate::writer::Decided;
use crate::http::error::Failure;
use crate::store::read::money::{self, Figures};

/// `GET /api/v1/accounts`: those in view, by name.
pub(super) async fn list(call: Call) -> Handled {
    call.query::<Empty>()?;
    let directory = call.directory();
    let seen = directory.accounts().filter(|a| call.view.sees_account(a));
    let mut accounts: Vec<&Account> = seen.collect();
    accounts.sort_by(|a, b| a.name.cmp(&b.name));
    let figures = figures(&call, accounts.iter().map(|a| a.id).collect()).await?;
    let rows = accounts.iter().zip(&figures);
    let bank = &directory.bank;
    let items =
        rows.map(|(account, figures)| shape::account(account, figures, bank, Some(&call.view)));
    ok(&List::whole(items.collect()))
}

/// `GET /api/v1/accounts/{name}`, by name or number.
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let account = call.view.account(&name)?;
    let figures = figures(&call, vec![account.id]).await?;
    let figures = figures.first().copied().unwrap_or_default();
    let bank = &call.directory().bank;
    ok(&shape::account(account, &figures, bank, Some(&call.view)))
}

/// `POST /api/v1/accounts`
pub(super) async fn add(call: Call) -> Handled {
    call.admin()?;
    let new: NewAccount = call.json()?;
    let given = [
        (Dimension::Project, Some(new.projects)),
        (Dimension::User, Some(new.users)),
        (Dimension::Machine, Some(new.machines)),
    ];
    let command = Command::AddAccount(SetAccount {
        constraints: shape::lists(&[], given),
        priority: new.priority,
        fallback: new.fallback.map(cleared),
        description: new.description,
        ..shape::no_change(&new.name)
    });
    Ok(call.write(command, render_added).await?.into_response())
}

/// `PATCH /api/v1/accounts/{name}`, by name or number.
pub(super) async fn set(Path(name): Path<String>, call: Call) -> Handled {
    call.admin()?;
    let patch: PatchAccount = call.json()?;
    let old = call.view.account(&name)?;
    let given = [
        (Dimension::Project, patch.projects),
        (Dimension::User, patch.users),
        (Dimension::Machine, patch.machines),
    ];
    let command = Command::SetAccount(SetAccount {
        constraints: shape::lists(&old.constraints, given),
        priority: patch.priority,
        fallback: patch.fallback.map(cleared),
        description: patch.description,
        ..shape::no_change(&old.name)
    });
    let mut done = call.write(command, render).await?;
    show_figures(&call, old.id, &mut done).await?;
    Ok(done.into_response())
}

/// `DELETE /api/v1/accounts/{name}`, by name or number.
pub(super) async fn remove(Path(name): Path<String>, call: Call) -> Handled {
    call.admin()?;
    // One that is gone already is known to the ledger by its name only: a repeat is answered there.
    let known = call.view.account(&name).map(|a| a.name.clone());
    let own = known.unwrap_or_else(|_| name.clone());
    let command = Command::RemoveAccount(own.clone());
    let mut done = call.write(command, removed).await?;
    done.set("name", own);
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

/// The figures belong to the moment, not to the stored answer.
async fn show_figures(call: &Call, account: AccountId, done: &mut Done) -> Result<(), Failure> {
    if !done.is_accepted() {
        return Ok(());
    }
    let figures = figures(call, vec![account]).await?;
    let figures = figures.first().copied().unwrap_or_default();
    let bank = &call.directory().bank;
    for (field, sum) in [
        ("amount", figures.amount),
        ("held", figures.held),
        ("balance", figures.balance()),
        ("credit_limit", figures.credit_limit),
        ("available", figures.available()),
    ] {
        done.set(field, shape::sum(sum, bank));
    }
    Ok(())
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    let none = Figures::default();
    rendered(decided, status, |outcome| match outcome {
        Outcome::Account(account) => {
            let shape = shape::account(account, &none, &directory.bank, None);
            Some(new_state(shape))
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
