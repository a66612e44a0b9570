//! Reserves that come after the end of the use they belong to: absorbed, nothing is held.

use crate::command::{AfterEnd, Reserve};
use crate::effects::{Effects, InstanceChange, Outcome, Reserved};
use crate::model::{Closing, Instance};
use crate::postings::Postings;
use crate::time::Timestamp;
use crate::view::{Context, View};

/// The closed instance of a late start: one that was still open when the start happened. Or one that `end`
/// closed within the grace and whose end is not before the start. Without a start in the document only the
/// newest use can match (decisions.md 13). A use without any reserve waits for it as long as an open use
/// without a lien waits for its next document.
pub(super) fn absorbing<'a>(
    reserve: &Reserve,
    view: &'a View,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Option<&'a Instance> {
    let newest = view.instances.first()?;
    if !newest.is_open() && newest.was_open(at) {
        return Some(newest);
    }
    let is_document = reserve.after_end != AfterEnd::Begins;
    if let Some(later) = ended_after(at, newest, view).filter(|_| is_document) {
        return Some(later);
    }
    let started = reserve.request.facts.start;
    let takes = |i: &&Instance| {
        let Some((closed, Closing::End)) = i.closed else {
            return false;
        };
        // A stated start needs no grace: it belongs to the use that began before it and ended after it.
        let contains = |start| i.began.is_some_and(|began| began <= start);
        let policy = &ctx.directory.policy;
        let within = at < closed.plus(policy.close_grace)
            || started.is_some_and(contains)
            || (started.is_none() && at < closed.plus(policy.idle) && lacks_reserve(i, view, ctx));
        let end = i.facts.end.unwrap_or(closed);
        let once = match reserve.after_end {
            AfterEnd::Begins => false,
            AfterEnd::AbsorbedOnce => !i.absorbed,
            AfterEnd::Absorbed => true,
        };
        within && once && started.is_none_or(|started| started <= end)
    };
    match started {
        Some(_) => view.instances.iter().find(takes),
        None => Some(newest).filter(takes),
    }
}

/// The use that ended after an event. An open use that began before it is over too: documents that were overtaken began it.
fn ended_after<'a>(at: Timestamp, newest: &Instance, view: &'a View) -> Option<&'a Instance> {
    let is_later = |i: &&Instance| {
        let is_ended = matches!(i.closed, Some((closed, Closing::End)) if at < closed);
        is_ended && (!newest.is_open() || newest.opened < i.opened)
    };
    view.instances.iter().find(is_later)
}

/// Whether the reserve of a closed use neither came nor was refused.
fn lacks_reserve(i: &Instance, view: &View, ctx: &Context<'_>) -> bool {
    let is_uncharged = i.record.is_none() || i.earliest.is_none();
    let closed = i.closed.map_or(ctx.now, |(closed, _)| closed);
    let is_recent = |refused: Timestamp| closed < refused.plus(ctx.directory.policy.idle);
    !is_uncharged && !i.is_reserved() && !view.refused.is_some_and(is_recent)
}

/// Marks the instance if only one start may belong to it, and holds nothing.
pub(super) fn absorb(reserve: &Reserve, over: &Instance, view: &View) -> Effects {
    let mut postings = Postings::new(view);
    let instance = Instance {
        absorbed: over.absorbed || reserve.after_end == AfterEnd::AbsorbedOnce,
        ..over.clone()
    };
    let id = instance.id;
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: false,
        standing_changed: true,
    });
    postings.finish(Outcome::Reserved(Reserved {
        absorbed: true,
        ..Reserved::nothing(id)
    }))
}
