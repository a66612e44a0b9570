//! The selection of the use, among those of an object's id, for a charge.

use super::{delivered, source};
use crate::command::{Charge, Request};
use crate::model::{Closing, Instance};
use crate::rules::instance::{SKEW, by_either_clock};
use crate::rules::same;
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};

/// The instance of a charge. A document with an end before the open use began belongs to the closed use that contains
/// the end, and one with an earlier start to the closed use with this start. Else it is the newest one open at the event time, else the newest one closed at most the
/// grace before. Else the newest one that was open at some time of the charged window, else the newest one
/// that had begun by its documents, else the one that is open now (nami.md 1.4). If none exists for a
/// scheduler's document, it is the closed use that contains the end in the document, or that has its start. Else it is the newest
/// use if its lien expired and the start, or user and project, are the same. For a charge by hand without project and user, it
/// is the newest charged use. A use that closed before the start in a
/// document does not match, unless that is its own start. A caller that delivers in order means the newest
/// one.
pub(super) fn charged_instance<'a>(
    view: &'a View,
    charge: &Charge,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Option<&'a Instance> {
    if let Some(whole) = &charge.terms.finished {
        return source::finished_instance(view, charge, whole);
    }
    if let Some(message) = &charge.terms.delivered {
        return delivered::instance(view, message);
    }
    let grace = ctx.directory.policy.close_grace;
    // A use that a collector has charged is complete: another use of the id is no part of it.
    let is_meant = |i: &&Instance| {
        let is_foreign = charge.terms.source.is_some() && same::collector(i, view).is_some();
        !is_foreign || same::is_of(charge, at, i, grace)
    };
    if let Some(over) = over_before(view, charge, at) {
        return Some(over).filter(is_meant);
    }
    if charge.terms.newest {
        let newest = view.instances.first();
        return newest.filter(|i| !begins_after(charge, i) && is_meant(i));
    }
    let just_closed = |i: &&Instance| {
        i.closed
            .is_some_and(|(closed, _)| closed <= at && at <= closed.plus(grace))
    };
    let in_window = |i: &&Instance| {
        let window = charge.terms.window;
        window.is_some_and(|w| i.opened < w.end && i.closed.is_none_or(|(c, _)| w.start < c))
    };
    let uses = view.instances.iter().filter(|i| !begins_after(charge, i));
    let open_then = uses.clone().find(|i| i.was_open(at));
    let closed_then = || uses.clone().find(just_closed);
    let used_then = || uses.clone().find(in_window);
    // The first of its documents came later than that, overtaken by others.
    let in_use = |i: &&Instance| {
        let ended = |(closed, _): (Timestamp, Closing)| closed.plus(grace);
        let over = i.closed.map(ended).is_some_and(|ended| ended < at);
        i.began.is_some_and(|began| began <= at) && !over
    };
    let begun_then = || uses.clone().find(in_use);
    let open_now = || view.instances.iter().find(|i| i.is_open());
    open_then
        .or_else(closed_then)
        .or_else(used_then)
        .or_else(begun_then)
        .or_else(open_now)
        .or_else(|| over_since_long(view, charge, at))
        .or_else(|| named_by_id_only(view, charge))
        .filter(is_meant)
        .or_else(|| charged_by_collector(view, charge, is_meant))
}

/// The newest charged use, for a person who charges a job and names neither its project nor its user: those of a new job would
/// be unknown.
fn named_by_id_only<'a>(view: &'a View, charge: &Charge) -> Option<&'a Instance> {
    let whose = &charge.request.whose;
    let is_by_person = !charge.is_checked && charge.terms.source.is_none();
    let is_named = whose.project.is_some() || whose.user.is_some();
    let mut charged = view.instances.iter().filter(|i| i.last_usage.is_some());
    charged.next().filter(|_| is_by_person && !is_named)
}

/// The use that a collector has charged, with the times in a scheduler's document.
fn charged_by_collector<'a>(
    view: &'a View,
    charge: &Charge,
    is_meant: impl Fn(&&Instance) -> bool,
) -> Option<&'a Instance> {
    let facts = &charge.request.facts;
    facts.start.or(facts.end)?;
    charge.terms.source.as_ref()?;
    let mut collected = view.instances.iter();
    collected.find(|i| same::collector(i, view).is_some() && is_meant(i))
}

/// Whether a scheduler's document describes a later use of the id: its start is after the close, or after the end
/// that the closed use has by its documents, which can wait and come together. By the scheduler's clock, the start of
/// the use itself can be there.
fn begins_after(charge: &Charge, instance: &Instance) -> bool {
    let Some((start, (closed, _))) = charge.request.facts.start.zip(instance.closed) else {
        return false;
    };
    let is_after = start > closed && instance.facts.start != Some(start);
    charge.is_checked && (is_after || is_of_later_run(charge, instance))
}

/// Whether a document has a start after the end in the documents before it: the scheduler has run the job again.
pub(super) fn is_of_later_run(charge: &Charge, instance: &Instance) -> bool {
    let start = charge.request.facts.start;
    let is_after = |(start, end): (Timestamp, Timestamp)| end < start;
    start.zip(instance.facts.end).is_some_and(is_after) && instance.facts.start != start
}

/// Whether a scheduler's total counts a later run only: totals begin at 0 again with each run. A total that is longer
/// than its run also has the earlier ones.
pub(super) fn starts_again(charge: &Charge, instance: &Instance, at: Timestamp) -> bool {
    let facts = &charge.request.facts;
    let until = facts.end.map_or(at, |end| end.min(at));
    let run = facts
        .start
        .map(|start| start.plus(charge.duration.unwrap_or(Seconds(0))));
    let is_in_run = run.is_some_and(|over| over <= until);
    // A reserve of the later run can have stated its start.
    let is_later = facts.start > instance.facts.end && instance.facts.end.is_some();
    let is_total = charge.is_checked && charge.terms.total && instance.is_charged();
    is_total && is_in_run && is_later && instance.is_open()
}

/// The closed use that a scheduler's document belongs to, however late the document comes.
fn over_since_long<'a>(view: &'a View, charge: &Charge, at: Timestamp) -> Option<&'a Instance> {
    if !charge.is_checked {
        return None;
    }
    let Request { facts, whose, .. } = &charge.request;
    let newest = view.instances.first();
    let is_expired = |i: &&Instance| matches!(i.closed, Some((_, Closing::Expiry)));
    // A scheduler that restarts its ids has other jobs of the same id.
    let is_same = |named: Option<&String>, known: &str| named.is_none_or(|named| named == known);
    let is_its = |i: &&Instance| {
        let has_names = is_same(whose.user.as_ref(), &i.facts.user)
            && is_same(whose.project.as_ref(), &i.facts.project);
        // Its scheduler can change the account of a running job.
        has_names || (facts.start.is_some() && facts.start == i.facts.start)
    };
    let expired = newest.filter(is_expired).filter(is_its);
    // If the start of the use is unknown, nothing bounds what is added to it.
    let expired = expired.filter(|i| i.began.is_some() && !begins_after(charge, i));
    let with_end = with_end(view, charge);
    with_end
        .or_else(|| with_start(view, charge, at))
        .or(expired)
}

/// The closed use that a scheduler's document belongs to which is not about the open use: its end is before that one began, or
/// it has the start of the closed use. It comes late, or again.
fn over_before<'a>(view: &'a View, charge: &Charge, at: Timestamp) -> Option<&'a Instance> {
    let facts = Some(&charge.request.facts).filter(|_| charge.is_checked)?;
    let open = view.instances.iter().find(|i| i.is_open())?;
    // By the scheduler's clock, if it states the start.
    let began = open.facts.start.unwrap_or_else(|| first_used(open));
    let is_earlier = facts.end.is_some_and(|end| end <= began);
    let with_end = with_end(view, charge).filter(|_| is_earlier);
    let starts_before = facts.start < open.facts.start;
    with_end.or_else(|| with_start(view, charge, at).filter(|_| starts_before))
}

/// The closed use that contains the end in a document.
fn with_end<'a>(view: &'a View, charge: &Charge) -> Option<&'a Instance> {
    let end = charge.request.facts.end?;
    let contains_end = |i: &&Instance| {
        let over = i.closed.map(|(closed, _)| by_either_clock(closed, i));
        let within = first_used(i) < end && over.is_some_and(|over| end <= over);
        within && !begins_after(charge, i)
    };
    view.instances.iter().find(contains_end)
}

/// The closed use with the start in a document: that of an `end` which comes again and states no end, a planned one, or the
/// same. Another end would be that of a longer use.
fn with_start<'a>(view: &'a View, charge: &Charge, at: Timestamp) -> Option<&'a Instance> {
    let facts = &charge.request.facts;
    let start = facts.start?;
    let is_planned = facts.end.is_none_or(|end| end > at.plus(SKEW));
    let has_start = |i: &&Instance| {
        let is_same = i.facts.start == Some(start) && i.closed.is_some();
        is_same && (is_planned || i.facts.end == facts.end)
    };
    view.instances.iter().find(has_start)
}

/// When a use began at the latest.
fn first_used(instance: &Instance) -> Timestamp {
    let opened = instance.opened;
    instance.began.map_or(opened, |began| began.min(opened))
}
