//! Deposits and withdrawals.

use axum::response::IntoResponse;
use bank_api::v1::{NewDeposit, NewWithdrawal, Receipt};
use bank_core::amount::Amount;
use bank_core::command::{Command, Deposit, Withdraw};
use bank_core::directory::Directory;
use bank_core::effects::{Deposited, Outcome, Withdrawn};
use bank_core::ids::AllocationId;
use bank_core::model::Phase;
use bank_core::refusal::Refusal;
use bank_core::time::Window;

use super::call::{Call, Done, Handled, rendered};
use super::shape::{self, read_amount, read_bound};
use super::{account, allocation};
use crate::answer::Answer;
use crate::writer::Decided;
use crate::http::error::Failure;

/// `POST /api/v1/deposits`
pub(super) async fn deposit(call: Call) -> Handled {
    call.admin()?;
    let new: NewDeposit = call.json()?;
    let name = new.name.clone();
    let command = read_deposit(new, call.directory()).map_err(|r| call.refused(&r))?;
    let mut done = call
        .write(Command::Deposit(command), render_deposit)
        .await?;
    if done.is_dry_run() && done.get("created") == Some(&true.into()) {
        // Its number was never given out.
        done.set("allocation", serde_json::Value::Null);
    }
    show_figures(&call, &mut done).await?;
    Ok(done.into_response())
}

/// `POST /api/v1/withdrawals`
pub(super) async fn withdraw(call: Call) -> Handled {
    call.admin()?;
    let new: NewWithdrawal = call.json()?;
    let name = new.name.clone();
    let precision = call.directory().bank.precision;
    let amount = read_amount(&new.amount, precision).map_err(|r| call.refused(&r))?;
    let command = Command::Withdraw(Withdraw {
        name: new.name,
        amount,
        allocation: new.allocation.map(AllocationId),
        no_credit: new.no_credit,
        note: new.note.unwrap_or_default(),
    });
    let mut done = call.write(command, render_withdrawal).await?;
    show_allocation(&call, &mut done).await?;
    show_figures(&call, &mut done).await?;
    Ok(done.into_response())
}

fn read_deposit(new: NewDeposit, directory: &Directory) -> Result<Deposit, Refusal> {
    let precision = directory.bank.precision;
    let start = new.start.as_deref();
    let start = start.map(|text| read_bound(text, "start", "-infinity"));
    let end = new.end.as_deref();
    let end = end.map(|text| read_bound(text, "end", "infinity"));
    let limit = new.credit_limit.as_deref();
    let limit = limit.map(|text| read_amount(text, precision));
    Ok(Deposit {
        amount: read_amount(&new.amount, precision)?,
        name: new.name,
        allocation: new.allocation.map(AllocationId),
        window: Window {
            start: start.transpose()?.flatten(),
            end: end.transpose()?.flatten(),
        },
        credit_limit: limit.transpose()?,
        always_new: new.new,
        allow_past: new.allow_past,
        note: new.note.unwrap_or_default(),
    })
}

/// The account's figures afterwards. They belong to the moment: a repeat that is answered later
/// does not tell them.
async fn show_figures(call: &Call, done: &mut Done) -> Result<(), Failure> {
    let fresh = done.is_accepted() && done.is_fresh() && !done.is_dry_run();
    let name = done.get("account").and_then(|name| name.as_str());
    let found = name.and_then(|name| call.directory().account_named(name));
    let Some(id) = found.map(|a| a.id).filter(|_| fresh) else {
        return Ok(());
    };
    let figures = account::figures(call, vec![id]).await?;
    let figures = figures.first().copied().unwrap_or_default();
    let bank = &call.directory().bank;
    done.set("amount_after", shape::sum(figures.amount, bank));
    done.set("available_after", shape::sum(figures.available(), bank));
    Ok(())
}

/// The window of the one allocation that a withdrawal took from.
async fn show_allocation(call: &Call, done: &mut Done) -> Result<(), Failure> {
    let id = done.get("allocation").and_then(serde_json::Value::as_i64);
    let Some(id) = id.map(AllocationId) else {
        return Ok(());
    };
    let found = allocation::find(call, id).await?;
    let window = found.window;
    done.set("active", window.contains(call.now()));
    done.set("start", window.start.map(shape::time));
    done.set("until", window.end.map(shape::time));
    Ok(())
}

fn render_deposit(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Deposited(deposited) => Some(deposit_receipt(directory, deposited)),
        _ => None,
    })
}

fn deposit_receipt(directory: &Directory, deposited: &Deposited) -> Receipt {
    let allocation = &deposited.allocation;
    let account = directory.account(allocation.account);
    Receipt {
        transaction: Some(deposited.tx.0),
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        allocation: Some(allocation.id.0),
        active: allocation.phase == Phase::Active,
        start: allocation.window.start.map(shape::time),
        until: allocation.window.end.map(shape::time),
        created: deposited.created,
        ..receipt(directory, deposited.amount)
    }
}

fn render_withdrawal(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Withdrawn(withdrawn) => Some(withdrawal_receipt(directory, withdrawn)),
        _ => None,
    })
}

fn withdrawal_receipt(directory: &Directory, withdrawn: &Withdrawn) -> Receipt {
    let account = directory.account(withdrawn.account);
    let allocation = match withdrawn.parts.as_slice() {
        [(only, _)] => Some(only.0),
        _ => None,
    };
    Receipt {
        transaction: Some(withdrawn.tx.0),
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        allocation,
        // Several are all active: an inactive one pays only where it is named alone.
        active: allocation.is_none(),
        ..receipt(directory, withdrawn.amount)
    }
}

fn receipt(directory: &Directory, amount: Amount) -> Receipt {
    Receipt {
        amount: shape::amount(amount, &directory.bank),
        unit: directory.bank.unit.clone(),
        ..Receipt::default()
    }
}
