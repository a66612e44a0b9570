//! One report of finished usage: its machine, the source that charges it, and its times.

use crate::command::UsageReport;
use crate::effects::KnownUse;
use crate::model::{Instance, Machine, ReservationCharge};
use crate::refusal::Refusal;
use crate::rules::instance::SKEW;
use crate::select;
use crate::view::Context;

/// The machine of a report, if it exists in the bank or did.
pub(super) fn machine<'a>(report: &UsageReport, ctx: &Context<'a>) -> Option<&'a Machine> {
    ctx.directory
        .any_machine_named(&report.request.whose.machine)
}

/// The source that charges the machine instead of the report's own: the one that is set. If none is set
/// and the machine has charges, its scheduler.
pub(super) fn foreign(
    report: &UsageReport,
    is_charged: impl FnOnce() -> bool,
    ctx: &Context<'_>,
) -> Option<String> {
    match &machine(report, ctx)?.source {
        Some(source) => Some(source.clone()).filter(|source| *source != report.source),
        // A tracked report claims no machine, charged or not: its price moves shadow totals only.
        None => (!report.track && is_charged()).then(|| "its scheduler".to_owned()),
    }
}

/// Whether the time of a job counts against a reservation that pays for its idle part: rows of time belong to
/// instances.
pub(super) fn uses_reservation(report: &UsageReport, machine: Option<&Machine>) -> bool {
    let is_reported = |m: &Machine| m.reservation_charge == ReservationCharge::Reported;
    machine.is_some_and(is_reported) && !report.reservation().is_empty()
}

/// An amended report in the names of the owner to whom a person gave the use, by a settlement or an assignment: its source
/// does not take it from them unless it names another owner than before. None for any other use.
pub(super) fn of_owner(
    report: &UsageReport,
    known: &KnownUse,
    instance: Option<&Instance>,
    ctx: &Context<'_>,
) -> Option<UsageReport> {
    let (project, user) = match instance {
        Some(instance) => (&instance.facts.project, &instance.facts.user),
        None => (&known.project, &known.user),
    };
    let is_given = known.given && report.as_named() == known.named;
    // After the undo of a settlement or an assignment, the use waits again.
    if !is_given || !select::is_payer(ctx.directory, project) {
        return None;
    }
    let mut report = report.clone();
    report.named = report.as_named();
    report.request.whose.project = Some(project.clone());
    report.request.whose.user = Some(user.clone()).filter(|name| !name.is_empty());
    if report.pi.is_empty() {
        report.pi.clone_from(&known.pi);
    }
    Some(report)
}

/// Refuses a report of a use that is not over.
pub(super) fn check_times(report: &UsageReport, ctx: &Context<'_>) -> Result<(), Refusal> {
    let facts = &report.request.facts;
    let latest = ctx.now.plus(SKEW);
    for (field, at) in [("start", facts.start), ("end", facts.end)] {
        if at.is_some_and(|at| at > latest) {
            return Err(Refusal::BadValue {
                field,
                expected: "a time that has passed",
            });
        }
    }
    Ok(())
}
