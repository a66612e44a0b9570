//! The source that charges a machine's usage, and finished uses as charges (decisions.md 19).

use crate::command::Charge;
use crate::model::{Instance, Machine, ObjectType};
use crate::refusal::Refusal;
use crate::rules::same;
use crate::terms::Whole;
use crate::view::{Context, View};

/// The source that charges the machine's jobs in place of the charge's own. Reservations are charged by the
/// documents of their scheduler, since collectors report jobs only.
pub(super) fn owner<'a>(charge: &Charge, ctx: &Context<'a>) -> Option<&'a str> {
    let own = charge.terms.source.as_ref()?;
    let of_scheduler = charge.terms.finished.is_none();
    if of_scheduler && charge.request.object_type == ObjectType::Reservation {
        return None;
    }
    let owner = machine(charge, ctx)?.source.as_ref()?;
    (owner != own).then_some(owner)
}

fn machine<'a>(charge: &Charge, ctx: &Context<'a>) -> Option<&'a Machine> {
    ctx.directory
        .any_machine_named(&charge.request.whose.machine)
}

/// The machine that the first source of finished usage claims, and that source: that source charges it from then on, until an
/// administrator changes it. A scheduler need not claim: no record charges a use that the scheduler has
/// charged ([`crate::rules`]).
pub(super) fn claimed(charge: &Charge, ctx: &Context<'_>) -> Option<(String, String)> {
    let unclaimed = machine(charge, ctx).filter(|own| own.source.is_none() && !own.deleted)?;
    charge.terms.finished.as_ref()?;
    // An unknown user or project must not decide the source of a machine.
    if charge.terms.track {
        return None;
    }
    Some((unclaimed.name.clone(), charge.terms.source.clone()?))
}

/// Refuses another project or user for a charge by hand beside a collector's record: the record states whose the use is,
/// and the next one of its source would take that charge back.
pub(super) fn check_owner(
    charge: &Charge,
    instance: &Instance,
    view: &View,
) -> Result<(), Refusal> {
    let collector = same::collector(instance, view);
    let Some(collector) = collector.filter(|_| charge.terms.is_by_hand()) else {
        return Ok(());
    };
    let (whose, facts) = (&charge.request.whose, &instance.facts);
    for (field, named, known) in [
        ("project", &whose.project, &facts.project),
        ("user", &whose.user, &facts.user),
    ] {
        let is_other = |named: &String| !known.is_empty() && named != known;
        if named.as_ref().is_some_and(is_other) {
            return Err(Refusal::bad_field(
                field,
                format!(
                    "{known}, as in the record of {collector}; to bill another {field}, refund this job and charge the \
                     other one under a name of its own"
                ),
            ));
        }
    }
    Ok(())
}

/// The word for it in the journal.
pub(super) fn op(charge: &Charge) -> &'static str {
    let amended = |whole: &Whole| whole.instance.is_some();
    if charge.terms.finished.as_ref().is_some_and(amended) {
        "adjust"
    } else {
        "charge"
    }
}

/// The instance of a finished use: that of the record before it, else the one of the same use, from any
/// source.
pub(super) fn finished_instance<'a>(
    view: &'a View,
    charge: &Charge,
    whole: &Whole,
) -> Option<&'a Instance> {
    let mut instances = view.instances.iter();
    let source = charge.terms.source.as_deref();
    match whole.instance {
        Some(id) => instances.find(|i| i.id == id),
        None => same::instance_of(&charge.request.facts, source, view),
    }
}
