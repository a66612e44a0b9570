//! `bank transfer`, `bank refund`, `bank adjust`, `bank undo` and `bank settle`.

use std::fmt::Write as _;

use bank_api::v1::{
    Correction, NewAdjustment, NewRefund, NewReversal, NewSettlement, NewTransfer, Transfer,
};
use bank_picture::figure;
use serde::Serialize;
use ureq::http::Method;

use super::Sent;
use crate::{
    cli::{AdjustArgs, ProposeArgs, RefundArgs, SettleArgs, TransferArgs, UndoArgs},
    context::Context,
    fail::Failure,
    out::Form,
};

pub(super) fn transfer(context: &Context, args: TransferArgs) -> Result<String, Failure> {
    let body = NewTransfer {
        from: args.from,
        to: args.to,
        amount: args.amount,
        allocation: args.allocation,
        note: args.note,
    };
    let sent = context.send_or_propose(Method::POST, &["transfers"], &body, &args.write)?;
    let done: Transfer = match sent {
        Sent::Done(done) => done,
        Sent::Proposed(message) => return Ok(message),
    };
    let sentence = transferred(&context.form, &done);
    context.done(
        &done,
        &sentence,
        done.transaction,
        done.dry_run,
        &done.warnings,
    )
}

pub(super) fn refund(context: &Context, args: RefundArgs) -> Result<String, Failure> {
    let body = NewRefund {
        reissue_until: context.time(args.reissue_until.as_ref())?,
        job: args.job,
        machine: args.machine,
        kind: args.kind,
        number: args.number,
        amount: args.amount,
        account: args.account,
        note: args.note,
    };
    send_or_propose(context, "refunds", &body, &args.write)
}

pub(super) fn adjust(context: &Context, args: AdjustArgs) -> Result<String, Failure> {
    let body = NewAdjustment {
        account: Some(args.name),
        allocation: args.allocation,
        amount: args.amount,
        note: args.note,
    };
    send_or_propose(context, "adjustments", &body, &args.write)
}

pub(super) fn undo(context: &Context, args: UndoArgs) -> Result<String, Failure> {
    let body = NewReversal {
        transaction: args.transaction,
        allow_debt: args.allow_debt,
        note: args.note,
    };
    send_or_propose(context, "reversals", &body, &args.write)
}

pub(super) fn settle(context: &Context, args: SettleArgs) -> Result<String, Failure> {
    let project = args.project.clone();
    let body = NewSettlement {
        job: args.job,
        machine: args.machine,
        kind: args.kind,
        number: args.number,
        project: args.project,
        note: args.note,
    };
    let done: Correction = context.send(Method::POST, &["settlements"], &body, &args.write)?;
    let sentence = format!("{} paid by {project}", sentence(&context.form, &done));
    correction_text(context, &done, &sentence)
}

fn send_or_propose(
    context: &Context,
    route: &str,
    body: &impl Serialize,
    args: &ProposeArgs,
) -> Result<String, Failure> {
    match context.send_or_propose(Method::POST, &[route], body, args)? {
        Sent::Done(done) => correction_text(context, &done, &sentence(&context.form, &done)),
        Sent::Proposed(message) => Ok(message),
    }
}

/// What a correction did, with its warnings.
pub(super) fn correction_text(
    context: &Context,
    done: &Correction,
    sentence: &str,
) -> Result<String, Failure> {
    context.done(
        done,
        sentence,
        done.transaction,
        done.dry_run,
        &done.warnings,
    )
}

/// `moved 250 SU from F to G; 500 SU and 7,782 SU available`
fn transferred(form: &Form, done: &Transfer) -> String {
    let Transfer { unit, from, to, .. } = done;
    format!(
        "moved {} {unit} from {from} to {to}; {} {unit} available in {from}, {} {unit} in {to}",
        form.amount(&done.amount),
        form.amount(&done.from_available),
        form.amount(&done.to_available)
    )
}

/// `refunded 25 SU of job 1632 (allocation 2: 15, allocation 3: 10); 25 SU left to refund`
pub(super) fn sentence(form: &Form, done: &Correction) -> String {
    let Correction { unit, subject, .. } = done;
    let amount = form.amount(&done.amount);
    let mut out = match done.kind.as_str() {
        "refund" => format!("refunded {amount} {unit} of job {subject}"),
        "adjust" => format!("adjusted {subject} by {amount} {unit}"),
        "settle" => format!("settled {amount} {unit} of job {subject}"),
        _ => match done.reverses {
            Some(of) => format!("undid transaction {of} ({subject})"),
            None => format!("undid {subject}"),
        },
    };
    let parts: Vec<String> = done
        .parts
        .iter()
        .map(|part| {
            format!(
                "allocation {}: {}",
                part.allocation,
                form.amount(&part.amount)
            )
        })
        .collect();
    if !parts.is_empty() {
        let _ = write!(out, " ({})", parts.join(", "));
    }
    if let Some(left) = done.left.as_ref().filter(|left| !figure::is_zero(left)) {
        let _ = write!(out, "; {} {unit} left to refund", form.amount(left));
    }
    if let Some(debt) = done.debt.as_ref().filter(|debt| !figure::is_zero(debt)) {
        let _ = write!(out, "; {} {unit} of it debt,", form.amount(debt));
    }
    out
}

#[cfg(test)]
mod tests {
    use bank_api::v1::CorrectionPart;

    use super::*;
    use crate::out::test_form;

    #[test]
    fn a_correction_is_one_sentence() {
        let part = |allocation, amount: &str| CorrectionPart {
            allocation,
            amount: amount.into(),
        };
        let refund = Correction {
            kind: "refund".into(),
            subject: "1632".into(),
            amount: "25.000".into(),
            unit: "SU".into(),
            parts: vec![part(2, "15.000"), part(3, "10.000")],
            left: Some("25.000".into()),
            ..Correction::default()
        };
        assert_eq!(
            sentence(&test_form(), &refund),
            "refunded 25.000 SU of job 1632 (allocation 2: 15.000, allocation 3: 10.000); \
             25.000 SU left to refund"
        );
        let undo = Correction {
            kind: "reverse".into(),
            subject: "deposit".into(),
            reverses: Some(7),
            parts: vec![part(2, "-5.000")],
            left: None,
            ..refund
        };
        assert_eq!(
            sentence(&test_form(), &undo),
            "undid transaction 7 (deposit) (allocation 2: −5.000)"
        );
    }
}
