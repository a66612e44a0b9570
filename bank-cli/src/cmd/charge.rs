//! `bank charge`: a job billed by hand.

use std::fmt::Write as _;

use bank_api::v1::{Charged, NewCharge, PaidPart};
use bank_picture::figure;
use ureq::http::Method;

use super::once::once;
use crate::{
    cli::{ChargeArgs, ObjectArgs, UsageArgs},
    context::Context,
    fail::Failure,
    out::Form,
    when,
};

pub(super) fn run(context: &Context, args: ChargeArgs) -> Result<String, Failure> {
    let object: ObjectArgs = args.object;
    let usage: UsageArgs = object.usage;
    let duration = args.duration.as_deref().map(when::seconds).transpose()?;
    let window = args.start.is_some() && args.end.is_some();
    if duration.is_none() && !window && args.amount.is_none() {
        return Err(Failure::usage("the duration is missing")
            .hint("--duration TIME, or --start TIME --end TIME, or --amount AMOUNT"));
    }
    let body = NewCharge {
        job: object.job,
        kind: object.kind,
        project: object.project,
        user: object.user,
        machine: object.machine,
        processors: usage.procs,
        nodes: usage.nodes,
        memory_mb: usage.memory,
        disk_mb: usage.disk,
        gres: once("--gres", usage.gres)?,
        attributes: once("--attribute", usage.attributes)?,
        qos: usage.qos,
        class: usage.class,
        group: usage.group,
        quote: object.quote,
        duration_s: duration,
        start: context.time(args.start.as_ref())?,
        end: context.time(args.end.as_ref())?,
        total: args.total,
        amount: args.amount,
        itemisation: args.itemisation,
        interim: args.interim,
        shortfall: args.shortfall,
    };
    let is_named = body.project.is_some();
    let charged = context.send(Method::POST, &["charges"], &body, &args.write);
    let charged: Charged = charged.map_err(|failure: Failure| {
        if failure.is("not_found") && !is_named {
            return failure.hint("a new job needs -A PROJECT and -u USER");
        }
        failure
    })?;
    let message = sentence(&context.form, &charged);
    context.done(
        &charged,
        &message,
        charged.transaction,
        charged.dry_run,
        &charged.warnings,
    )
}

/// `charged 3,600 SU for job 1632 to chem; balance 6,400 SU`
fn sentence(form: &Form, charged: &Charged) -> String {
    let Charged {
        kind, job, unit, ..
    } = charged;
    let (verb, preposition, amount) = match charged.amount.strip_prefix('-') {
        Some(back) => ("refunded", "to", form.amount(back)),
        None if charged.outcome == "notional" => ("recorded", "for", form.amount(&charged.amount)),
        None => ("charged", "to", form.amount(&charged.amount)),
    };
    let mut out = format!("{verb} {amount} {unit} for {kind} {job}");
    if let Some(account) = &charged.account {
        if charged.paid_by.len() > 1 {
            let part = |part: &PaidPart| {
                let amount = part.amount.strip_prefix('-').unwrap_or(&part.amount);
                format!("{} {preposition} {}", form.amount(amount), part.account)
            };
            let parts: Vec<String> = charged.paid_by.iter().map(part).collect();
            let _ = write!(out, ": {}; balance of {account}", parts.join(", "));
            let _ = write!(out, " {} {unit}", form.amount(&charged.balance));
        } else {
            let _ = write!(out, " {preposition} {account}");
            let balance = form.amount(&charged.balance);
            let _ = write!(out, "; balance {balance} {unit}");
        }
    }
    if !figure::is_zero(&charged.debt) && charged.outcome == "charged" {
        let _ = write!(out, ", debt {}", form.amount(&charged.debt));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::test_form;

    #[test]
    fn a_charge_is_one_sentence() {
        let part = |account: &str, amount: &str| PaidPart {
            account: account.into(),
            amount: amount.into(),
        };
        let charged = Charged {
            job: "1632".into(),
            kind: "job".into(),
            amount: "3600.000".into(),
            debt: "0.000".into(),
            outcome: "charged".into(),
            account: Some("chem".into()),
            balance: "6400.000".into(),
            unit: "SU".into(),
            ..Charged::default()
        };
        for (charged, message) in [
            (
                charged.clone(),
                "charged 3,600.000 SU for job 1632 to chem; balance 6,400.000 SU",
            ),
            (
                Charged {
                    amount: "-50.000".into(),
                    ..charged.clone()
                },
                "refunded 50.000 SU for job 1632 to chem; balance 6,400.000 SU",
            ),
            (
                Charged {
                    debt: "12.000".into(),
                    balance: "-12.000".into(),
                    ..charged.clone()
                },
                "charged 3,600.000 SU for job 1632 to chem; balance −12.000 SU, debt 12.000",
            ),
            (
                Charged {
                    paid_by: vec![part("chem", "3000.000"), part("pool", "600.000")],
                    balance: "0.000".into(),
                    ..charged.clone()
                },
                "charged 3,600.000 SU for job 1632: 3,000.000 to chem, 600.000 to pool; balance of chem 0.000 SU",
            ),
        ] {
            assert_eq!(sentence(&test_form(), &charged), message);
        }
    }
}
