//! After the fact: transfers, refunds, corrections, reversals, settlements.

use axum::response::IntoResponse;
use bank_api::v1::{
    AccountAfter, Correction, CorrectionPart, NewAdjustment, NewRefund, NewReversal, NewSettlement,
    NewTransfer, Transfer, TransferPart,
};
use bank_core::amount::Amount;
use bank_core::command::{self, Adjust, After, Command, Reverse, Settle};
use bank_core::effects::{Outcome, Refunded, Transferred};
use bank_core::ids::{AccountId, AllocationId, TxId};
use bank_core::model::{Figures, ObjectType};
use bank_core::refusal::Refusal;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::approval::write_or_propose;
use super::call::{Call, Handled, rendered};
use super::json::{self, read_amount, read_time};
use super::path::Path;
use crate::error::Failure;

/// `POST /api/v1/transfers`: for administrators, for operators between accounts of their projects, and
/// for managers inside one of theirs.
pub(super) async fn transfer(call: Call) -> Handled {
    write_or_propose(&call, transferred(&call)?, render_transfer).await
}

/// The transfer that a body asks for.
pub(super) fn transferred(call: &Call) -> Result<Command, Failure> {
    let new: NewTransfer = call.json()?;
    Ok(Command::After(After::Transfer(command::Transfer {
        amount: amount(call, &new.amount)?,
        from: new.from,
        to: new.to,
        allocation: new.allocation.map(AllocationId),
        note: new.note.unwrap_or_default(),
    })))
}

/// `POST /api/v1/refunds`
pub(super) async fn refund(call: Call) -> Handled {
    write_or_propose(&call, refunded(&call)?, render).await
}

/// The refund that a body asks for.
pub(super) fn refunded(call: &Call) -> Result<Command, Failure> {
    let new: NewRefund = call.json()?;
    let until = new.reissue_until.as_deref();
    let until = until.map(|text| read_time(text, "reissue_until"));
    let amount = new.amount.as_deref().map(|text| amount(call, text));
    Ok(Command::After(After::Refund(command::Refund {
        amount: amount.transpose()?,
        object_id: new.job,
        machine: new.machine,
        object_type: object_type(call, new.kind.as_deref())?,
        number: new.number,
        account: new.account,
        reissue_until: until.transpose().map_err(|r| call.refused(&r))?,
        note: new.note.unwrap_or_default(),
    })))
}

/// `POST /api/v1/adjustments`
pub(super) async fn adjust(call: Call) -> Handled {
    write_or_propose(&call, adjusted(&call)?, render).await
}

/// The adjustment that a body asks for.
pub(super) fn adjusted(call: &Call) -> Result<Command, Failure> {
    let new: NewAdjustment = call.json()?;
    let amount = amount(call, &new.amount)?;
    if amount.is_zero() {
        let what = "an adjustment must not be 0: use a positive or a negative amount";
        return Err(Failure::new("bad_amount", what));
    }
    Ok(Command::After(After::Adjust(Adjust {
        amount,
        name: new.account,
        allocation: new.allocation.map(AllocationId),
        note: new.note,
    })))
}

/// `POST /api/v1/reversals`
pub(super) async fn reverse(call: Call) -> Handled {
    write_or_propose(&call, reversed(&call)?, render).await
}

/// The reversal that a body asks for.
pub(super) fn reversed(call: &Call) -> Result<Command, Failure> {
    let new: NewReversal = call.json()?;
    Ok(Command::After(After::Reverse(Reverse {
        transaction: TxId(new.transaction),
        allow_debt: new.allow_debt,
        note: new.note.unwrap_or_default(),
    })))
}

/// `POST /api/v1/settlements`
pub(super) async fn settle(call: Call) -> Handled {
    let new: NewSettlement = call.json()?;
    let command = After::Settle(Settle {
        object_type: object_type(&call, new.kind.as_deref())?,
        object_id: new.job,
        machine: new.machine,
        number: new.number,
        project: new.project,
        note: new.note.unwrap_or_default(),
    });
    write(&call, command).await
}

/// `POST /api/v1/accounts/{name}/undelete`
pub(super) async fn undelete(Path(name): Path<String>, call: Call) -> Handled {
    write(&call, After::RestoreAccount(name)).await
}

async fn write(call: &Call, command: After) -> Handled {
    let done = call.write(Command::After(command), render).await?;
    Ok(done.into_response())
}

fn amount(call: &Call, text: &str) -> Result<Amount, Failure> {
    let precision = call.directory().bank.precision;
    read_amount(text, precision).map_err(|r| call.refused(&r))
}

fn object_type(call: &Call, word: Option<&str>) -> Result<Option<ObjectType>, Failure> {
    let read = |word: &str| {
        ObjectType::parse(word).ok_or(Refusal::bad_value("type", "job or reservation"))
    };
    word.map(read).transpose().map_err(|r| call.refused(&r))
}

fn render_transfer(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::Transferred(transferred) => Some(transfer_shape(decided, transferred)),
        _ => None,
    })
}

fn transfer_shape(decided: &Decided<'_>, done: &Transferred) -> Transfer {
    let bank = &decided.directory.bank;
    let part = |(from, to, amount): &(AllocationId, AllocationId, Amount)| TransferPart {
        from: from.0,
        to: to.0,
        amount: json::amount(*amount, bank),
    };
    Transfer {
        transaction: decided.transaction,
        from: account(decided, done.from).unwrap_or_default(),
        to: account(decided, done.to).unwrap_or_default(),
        amount: json::amount(done.amount, bank),
        unit: bank.unit.clone(),
        parts: done.parts.iter().map(part).collect(),
        from_available: json::sum(done.from_figures.available(), bank),
        to_available: json::sum(done.to_figures.available(), bank),
        accounts: vec![
            after(decided, done.from, &done.from_figures),
            after(decided, done.to, &done.to_figures),
        ],
        dry_run: decided.dry_run,
        warnings: Vec::new(),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| {
        let shape = match outcome {
            Outcome::Refunded(done) => refund_shape(decided, done),
            Outcome::Adjusted(done) => Correction {
                kind: "adjust".to_owned(),
                subject: account(decided, done.account).unwrap_or_default(),
                accounts: vec![after(decided, done.account, &done.figures)],
                ..correction(decided, done.amount, &done.parts)
            },
            Outcome::Reversed(done) => {
                let sum = done.parts.iter().map(|(_, a)| i128::from(a.0)).sum();
                Correction {
                    kind: "reverse".to_owned(),
                    subject: done.op.clone(),
                    reverses: done.reversed.map(|tx| tx.0),
                    accounts: afters(decided, &done.figures),
                    ..correction(decided, Amount::clamped(sum), &done.parts)
                }
            }
            Outcome::Settled(done) => Correction {
                kind: "settle".to_owned(),
                subject: job(decided),
                debt: Some(json::amount(done.debt, &decided.directory.bank)),
                ..correction(decided, done.amount, &done.parts)
            },
            _ => return None,
        };
        Some(shape)
    })
}

fn refund_shape(decided: &Decided<'_>, done: &Refunded) -> Correction {
    let bank = &decided.directory.bank;
    let mut shape = Correction {
        kind: "refund".to_owned(),
        subject: job(decided),
        left: Some(json::amount(done.left, bank)),
        accounts: afters(decided, &done.figures),
        ..correction(decided, done.amount, &done.parts)
    };
    if !done.forgiven.is_zero() {
        let forgiven = json::amount(done.forgiven, bank);
        shape.warnings.push(format!(
            "{forgiven} {} reduced the ended debt of expired allocations and cannot be spent or reissued",
            bank.unit
        ));
    }
    if !done.expired.is_zero() {
        let expired = json::amount(done.expired, bank);
        shape.warnings.push(format!(
            "{expired} {} went back to allocations that have expired and cannot be spent; \
             --reissue-until makes a new one",
            bank.unit
        ));
    }
    shape
}

fn afters(decided: &Decided<'_>, figures: &[(AccountId, Figures)]) -> Vec<AccountAfter> {
    let accounts = figures.iter();
    let accounts = accounts.map(|(id, figures)| after(decided, *id, figures));
    accounts.collect()
}

fn correction(
    decided: &Decided<'_>,
    amount: Amount,
    parts: &[(AllocationId, Amount)],
) -> Correction {
    let bank = &decided.directory.bank;
    let part = |(id, amount): &(AllocationId, Amount)| CorrectionPart {
        allocation: id.0,
        amount: json::amount(*amount, bank),
    };
    Correction {
        transaction: decided.transaction,
        amount: json::amount(amount, bank),
        unit: bank.unit.clone(),
        parts: parts.iter().map(part).collect(),
        dry_run: decided.dry_run,
        ..Correction::default()
    }
}

fn job(decided: &Decided<'_>) -> String {
    match decided.command {
        Command::After(After::Refund(refund)) => refund.object_id.clone(),
        Command::After(After::Settle(settle)) => settle.object_id.clone(),
        _ => String::new(),
    }
}

fn after(decided: &Decided<'_>, id: AccountId, figures: &Figures) -> AccountAfter {
    let bank = &decided.directory.bank;
    AccountAfter {
        account: account(decided, id).unwrap_or_default(),
        amount: json::sum(figures.amount, bank),
        available: json::sum(figures.available(), bank),
    }
}

fn account(decided: &Decided<'_>, id: AccountId) -> Option<String> {
    let account = decided.directory.account(id)?;
    Some(account.name.clone())
}
