//! One report of finished usage: its machine, the source that charges it, and its times.

use crate::command::UsageReport;
use crate::model::{Machine, ReservationCharge};
use crate::refusal::Refusal;
use crate::time::Seconds;
use crate::view::Context;

/// The most that the clock of a source may be ahead of the bank's.
const SKEW: Seconds = Seconds(300);

/// The machine of a report, if it exists in the bank.
pub(super) fn machine<'a>(report: &UsageReport, ctx: &Context<'a>) -> Option<&'a Machine> {
    ctx.directory.machine_named(&report.request.whose.machine)
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
