//! Deposits and withdrawals.

use bank_api::v1::{NewDeposit, NewWithdrawal, Receipt, ReceiptPart};
use bank_core::amount::Amount;
use bank_core::command::{Command, Deposit, Withdraw};
use bank_core::directory::Directory;
use bank_core::effects::{Deposited, Landed, Outcome, Withdrawn};
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Figures, Phase};
use bank_core::refusal::Refusal;
use bank_core::time::Window;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::approval::write_or_propose;
use super::call::{Call, Handled, rendered};
use super::json::{self, read_amount, read_bound, read_time};
use crate::error::Failure;

/// `POST /api/v1/deposits`
pub(super) async fn deposit(call: Call) -> Handled {
    write_or_propose(&call, deposited(&call)?, render_deposit).await
}

/// The deposit that a body asks for.
pub(super) fn deposited(call: &Call) -> Result<Command, Failure> {
    let command = read_deposit(call.json()?, call.directory());
    command.map(Command::Deposit).map_err(|r| call.refused(&r))
}

/// `POST /api/v1/withdrawals`
pub(super) async fn withdraw(call: Call) -> Handled {
    write_or_propose(&call, withdrawn(&call)?, render_withdrawal).await
}

/// The withdrawal that a body asks for.
pub(super) fn withdrawn(call: &Call) -> Result<Command, Failure> {
    let new: NewWithdrawal = call.json()?;
    let precision = call.directory().bank.precision;
    let amount = read_amount(&new.amount, precision).map_err(|r| call.refused(&r))?;
    Ok(Command::Withdraw(Withdraw {
        name: new.name,
        amount,
        allocation: new.allocation.map(AllocationId),
        no_credit: new.no_credit,
        note: new.note.unwrap_or_default(),
    }))
}

pub(super) fn read_deposit(new: NewDeposit, directory: &Directory) -> Result<Deposit, Refusal> {
    let precision = directory.bank.precision;
    let start = new.start.as_deref();
    let start = start.map(|text| read_bound(text, "start", "-infinity"));
    let end = new.end.as_deref();
    let end = end.map(|text| read_bound(text, "end", "infinity"));
    let effective = new.effective.as_deref();
    let effective = effective.map(|text| read_time(text, "effective"));
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
        no_tree: new.no_tree,
        effective: effective.transpose()?,
    })
}

fn render_deposit(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Deposited(deposited) => Some(deposit_receipt(decided, deposited)),
        _ => None,
    })
}

fn deposit_receipt(decided: &Decided<'_>, deposited: &Deposited) -> Receipt {
    let allocation = &deposited.allocation;
    // A new one that was decided only never got its number.
    let exists = !(deposited.created && decided.dry_run);
    let several = deposited.parts.len() > 1;
    let landed = deposited.parts.iter().filter(|_| several);
    Receipt {
        allocation: (exists && !several).then_some(allocation.id.0),
        active: allocation.phase == Phase::Active,
        start: allocation.window.start.map(json::time),
        until: allocation.window.end.map(json::time),
        created: deposited.created && !several,
        parts: landed.map(|part| receipt_part(decided, part)).collect(),
        ..receipt(
            decided,
            deposited.account,
            deposited.amount,
            &deposited.figures,
        )
    }
}

fn receipt_part(decided: &Decided<'_>, part: &Landed) -> ReceiptPart {
    let account = decided.directory.account(part.allocation.account);
    let exists = !(part.created && decided.dry_run);
    ReceiptPart {
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        allocation: exists.then_some(part.allocation.id.0),
        amount: json::amount(part.amount, &decided.directory.bank),
        created: part.created,
    }
}

fn render_withdrawal(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Withdrawn(withdrawn) => Some(withdrawal_receipt(decided, withdrawn)),
        _ => None,
    })
}

fn withdrawal_receipt(decided: &Decided<'_>, withdrawn: &Withdrawn) -> Receipt {
    let only = withdrawn.only.as_ref();
    let window = only.map(|a| a.window).unwrap_or_default();
    Receipt {
        allocation: only.map(|a| a.id.0),
        // With several accounts, all are active: an inactive one pays only if it is named alone.
        active: only.is_none_or(|a| a.phase == Phase::Active),
        start: window.start.map(json::time),
        until: window.end.map(json::time),
        ..receipt(
            decided,
            withdrawn.account,
            withdrawn.amount,
            &withdrawn.figures,
        )
    }
}

fn receipt(decided: &Decided<'_>, account: AccountId, amount: Amount, after: &Figures) -> Receipt {
    let bank = &decided.directory.bank;
    let account = decided.directory.account(account);
    Receipt {
        transaction: decided.transaction,
        account: account.map(|a| a.name.clone()).unwrap_or_default(),
        amount: json::amount(amount, bank),
        unit: bank.unit.clone(),
        amount_after: Some(json::sum(after.amount, bank)),
        available_after: Some(json::sum(after.available(), bank)),
        dry_run: decided.dry_run,
        ..Receipt::default()
    }
}
