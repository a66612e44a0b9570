//! `bank reserve`: money held for a job, by hand.

use std::fmt::Write as _;

use bank_api::v1::{Held, NewReserve};
use bank_picture::figure;
use ureq::http::Method;

use super::once::once;
use crate::{
    cli::{ObjectArgs, ReserveArgs, UsageArgs},
    context::Context,
    fail::Failure,
    out::Form,
    when,
};

pub(super) fn run(context: &Context, args: ReserveArgs) -> Result<String, Failure> {
    let object: ObjectArgs = args.object;
    let usage: UsageArgs = object.usage;
    let body = NewReserve {
        job: object.job,
        kind: object.kind,
        project: object.project.or_else(|| context.project.clone()),
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
        wall_s: when::seconds(&args.wall)?,
        start: context.time(args.start.as_ref())?,
        end: context.time(args.end.as_ref())?,
    };
    let held: Held = context.send(Method::POST, &["reserves"], &body, &args.write)?;
    let message = sentence(&context.form, &held);
    context.done(
        &held,
        &message,
        held.transaction,
        held.dry_run,
        &held.warnings,
    )
}

/// `lien 7 holds 57,600 SU on chem for job 1632 until 2026-11-21 12:10:00, exclusive`
fn sentence(form: &Form, held: &Held) -> String {
    let Held {
        kind, job, unit, ..
    } = held;
    let Some(end) = &held.end else {
        return format!("nothing to hold for {kind} {job}");
    };
    let lien = match held.lien {
        Some(id) => format!("lien {id}"),
        None => "a lien".to_owned(),
    };
    let mut out = format!("{lien} holds {} {unit}", form.amount(&held.held));
    if !held.accounts.is_empty() && !figure::is_zero(&held.held) {
        let _ = write!(out, " on {}", held.accounts.join(", "));
    }
    let end = when::moment(end, form.zone);
    let _ = write!(out, " for {kind} {job} until {end}, exclusive");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::test_form;

    #[test]
    fn a_lien_is_one_sentence() {
        let held = Held {
            job: "1632".into(),
            kind: "job".into(),
            lien: Some(7),
            held: "57600.000".into(),
            unit: "SU".into(),
            accounts: vec!["chem".into(), "standby".into()],
            end: Some("2026-11-21T11:10:00Z".into()),
            ..Held::default()
        };
        assert_eq!(
            sentence(&test_form(), &held),
            "lien 7 holds 57,600.000 SU on chem, standby for job 1632 until 2026-11-21 12:10:00, \
             exclusive"
        );
        let none = Held {
            lien: None,
            end: None,
            ..held
        };
        assert_eq!(
            sentence(&test_form(), &none),
            "nothing to hold for job 1632"
        );
    }
}
