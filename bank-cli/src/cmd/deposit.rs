//! `bank deposit` and `bank withdraw`.

use std::fmt::Write as _;

use bank_api::v1::{Allocation, AllocationQuery, NewDeposit, NewWithdrawal, Receipt};
use ureq::http::Method;

use super::Sent;
use crate::{
    cli::{DepositArgs, WithdrawArgs},
    context::Context,
    fail::Failure,
    out::Form,
    when,
};

pub(super) fn deposit(context: &Context, args: DepositArgs) -> Result<String, Failure> {
    let body = NewDeposit {
        start: context.time(args.start.as_ref())?,
        end: context.time(args.end.as_ref())?,
        effective: context.time(args.effective.as_ref())?,
        name: args.name,
        amount: args.amount,
        allocation: args.allocation,
        credit_limit: args.limit,
        new: args.new,
        allow_past: args.allow_past,
        no_tree: args.no_tree,
        note: args.note,
    };
    match context.send_or_propose(Method::POST, &["deposits"], &body, &args.write)? {
        Sent::Done(receipt) => {
            let text = receipt_text(context, &receipt, ("deposited", "to"))?;
            if receipt.created {
                warn_of_debts(context, &receipt);
            }
            Ok(text)
        }
        Sent::Proposed(message) => Ok(message),
    }
}

/// Warns of allocations below zero, which a deposit with another window does not pay.
fn warn_of_debts(context: &Context, receipt: &Receipt) {
    let query = AllocationQuery {
        account: Some(receipt.account.clone()),
        state: Some("active".to_owned()),
        ..AllocationQuery::default()
    };
    // The deposit is done: that its surroundings cannot be read is no failure of it.
    let Ok(list) = context.all::<Allocation>(&["allocations"], &query) else {
        return;
    };
    for owing in &list.items {
        let Some(debt) = owing.amount.strip_prefix('-') else {
            continue;
        };
        let (id, account, unit) = (owing.id, &owing.account, &owing.unit);
        crate::out::warn(&format!(
            "allocation {id} is {} {unit} below zero, and this deposit does not pay that: \
             `bank deposit {account} {debt} -i {id}` does",
            context.form.amount(debt)
        ));
    }
}

pub(super) fn withdraw(context: &Context, args: WithdrawArgs) -> Result<String, Failure> {
    let body = NewWithdrawal {
        name: args.name,
        amount: args.amount,
        allocation: args.allocation,
        no_credit: args.no_credit,
        note: args.note,
    };
    match context.send_or_propose(Method::POST, &["withdrawals"], &body, &args.write)? {
        Sent::Done(receipt) => receipt_text(context, &receipt, ("withdrew", "from")),
        Sent::Proposed(message) => Ok(message),
    }
}

fn receipt_text(
    context: &Context,
    receipt: &Receipt,
    words: (&str, &str),
) -> Result<String, Failure> {
    let sentence = sentence(&context.form, context.now_us, receipt, words);
    let (transaction, dry_run) = (receipt.transaction, receipt.dry_run);
    let text = context.done(receipt, &sentence, transaction, dry_run, &receipt.warnings)?;
    Ok(match transaction.filter(|_| !context.is_json()) {
        Some(id) => format!("{}   undo: bank undo {id}\n", text.trim_end()),
        None => text,
    })
}

/// `deposited 250,000.000 SU to chem as allocation 118 (from … until …, exclusive), not yet active`
fn sentence(
    form: &Form,
    now_us: i64,
    receipt: &Receipt,
    (verb, preposition): (&str, &str),
) -> String {
    let Receipt { unit, account, .. } = receipt;
    let amount = form.amount(&receipt.amount);
    let mut out = format!("{verb} {amount} {unit} {preposition} {account}");
    for (part, mark) in receipt
        .parts
        .iter()
        .zip([":"].into_iter().chain(std::iter::repeat(",")))
    {
        let word = if part.created { "as" } else { "in" };
        let amount = form.amount(&part.amount);
        let _ = write!(out, "{mark} {amount} to {} {word} ", part.account);
        let _ = match part.allocation {
            Some(id) => write!(out, "allocation {id}"),
            None => write!(out, "a new allocation"),
        };
    }
    let word = if receipt.created { " as" } else { "," };
    match receipt.allocation {
        Some(id) => {
            let _ = write!(out, "{word} allocation {id}");
        }
        None if receipt.created => out.push_str(" as a new allocation"),
        None => {}
    }
    let window = window(form, receipt);
    if !window.is_empty() {
        let _ = write!(out, " ({window})");
    }
    let made = receipt.allocation.is_some() || receipt.created || !receipt.parts.is_empty();
    if !receipt.active && made {
        let over = receipt
            .until
            .as_deref()
            .and_then(when::read)
            .is_some_and(|us| us <= now_us);
        out.push_str(if over {
            ", no longer active"
        } else {
            ", not yet active"
        });
    }
    // What cannot be spent yet changes nothing today.
    let counts = receipt.active || !receipt.created;
    if let Some(available) = receipt.available_after.as_ref().filter(|_| counts) {
        let _ = write!(out, "; {} {unit} available", form.amount(available));
    }
    out
}

fn window(form: &Form, receipt: &Receipt) -> String {
    let day = |time: &String| when::date(time, form.zone);
    match (&receipt.start, &receipt.until) {
        (None, None) => String::new(),
        (Some(start), None) => format!("from {}", day(start)),
        (None, Some(until)) => format!("until {}, exclusive", day(until)),
        (Some(start), Some(until)) => {
            format!("from {} until {}, exclusive", day(start), day(until))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::test_form;

    #[test]
    fn a_receipt_is_one_sentence() {
        let receipt = Receipt {
            transaction: Some(1_048_731),
            account: "chem".into(),
            allocation: Some(118),
            amount: "250000.000".into(),
            unit: "SU".into(),
            start: Some("2026-12-31T23:00:00Z".into()),
            until: Some("2027-12-31T23:00:00Z".into()),
            created: true,
            ..Receipt::default()
        };
        assert_eq!(
            sentence(&test_form(), 0, &receipt, ("deposited", "to")),
            "deposited 250,000.000 SU to chem as allocation 118 (from 2027-01-01 until 2028-01-01, \
             exclusive), not yet active"
        );
        let plain = Receipt {
            start: None,
            until: None,
            created: false,
            active: true,
            available_after: Some("-5.000".into()),
            ..receipt
        };
        assert_eq!(
            sentence(&test_form(), 0, &plain, ("withdrew", "from")),
            "withdrew 250,000.000 SU from chem, allocation 118; −5.000 SU available"
        );
    }
}
