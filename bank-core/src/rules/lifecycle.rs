//! The life of a scheduler's object: create, modify, close, repeat (decisions.md 11 and 13).

use crate::amount::Amount;
use crate::command::{Close, Create, Repeat, Request, UsageReport};
use crate::effects::{Closed, Created, Effects, EntryKind, InstanceChange, Outcome};
use crate::model::{Closing, Instance, LienState};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::instance::{
    end_lien, event_time, in_scope, keep_facts, mode_of, new_instance, remark_asserted, usable,
    wait_for_more, would_refuse,
};
use crate::rules::quote::promise_tid;
use crate::rules::{charge, same};
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};

/// Makes or finds an instance and keeps the document's facts. It holds nothing. A create that happened before
/// the newest use closed was overtaken by its end: it begins nothing.
pub(super) fn create(create: &Create, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let request = &create.request;
    request.check_object()?;
    let at = event_time(request.event_time, ctx);
    let mut postings = Postings::new(view);
    let newest = view.instances.first();
    if let Some(over) = newest.filter(|i| i.closed.is_some_and(|(closed, _)| at < closed)) {
        let (instance, tid) = (in_scope(over, ctx)?.id, None);
        return Ok(postings.finish(Outcome::Created(Created { instance, tid })));
    }
    let mut instance = match newest.filter(|i| i.is_open()) {
        Some(known) => in_scope(known, ctx)?.clone(),
        None => new_instance(&mut postings, view, request, at),
    };
    let mode = mode_of(&instance, request, ctx);
    keep_facts(&mut instance.facts, request, ctx);
    if instance.record.is_none() && instance.began.is_none() {
        let earlier = |known: Timestamp| known.min(at);
        instance.earliest = Some(instance.earliest.map_or(at, earlier));
    }
    let refused = usable(request, &instance.facts, ctx).err();
    wait_for_more(&mut instance, at, ctx.directory.policy.idle);
    postings.begin_for("create", at, instance.id);
    remark_asserted(&mut postings, request);
    if let Some(refusal) = refused {
        if !mode.is_shadow() {
            return Err(refusal);
        }
        would_refuse(&mut postings, &About::instance(&instance), &refusal, ctx);
    }
    let created = Created {
        instance: instance.id,
        tid: promise_tid(create, &instance, view, &mut postings, ctx)?,
    };
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: true,
        standing_changed: true,
    });
    Ok(postings.finish(Outcome::Created(created)))
}

/// Keeps the facts of a document about a changed object, and journals it (nami.md 1.1). It makes the instance
/// if there is none; for a finished use nothing is kept.
pub(super) fn modify(
    request: &Request,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    request.check_object()?;
    let at = event_time(request.event_time, ctx);
    let mut postings = Postings::new(view);
    let open = view.instances.first().filter(|i| i.is_open());
    let grace = ctx.directory.policy.close_grace;
    let over = view.instances.iter().find(|i| {
        let ended = i.closed.map(|(closed, _)| closed.plus(grace));
        ended.is_some_and(|ended| at <= ended)
    });
    let mut instance = match open.or(over) {
        Some(known) => in_scope(known, ctx)?.clone(),
        None => new_instance(&mut postings, view, request, at),
    };
    let facts_changed = instance.is_open() && keep_facts(&mut instance.facts, request, ctx);
    wait_for_more(&mut instance, at, ctx.directory.policy.idle);
    postings.begin_for("modify", at, instance.id);
    remark_asserted(&mut postings, request);
    postings.note(EntryKind::Modify, &About::instance(&instance));
    let id = instance.id;
    postings.instances.push(InstanceChange {
        instance,
        facts_changed,
        standing_changed: true,
    });
    Ok(postings.finish(Outcome::Modified(id)))
}

/// Closes the open instance of an object and releases its lien. Nothing is charged. Nothing is recorded if
/// nothing was open at the event time (nami.md 9, case 11): a late close belongs to an earlier use of the id,
/// not to a newer one.
pub(super) fn close(close: &Close, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    close_one(close, true, view, ctx)
}

/// Closes a use for which a record reports no usage, and releases its lien. The scheduler may have ended the
/// use before, so that its lien waits for this record.
pub(super) fn close_unused(
    report: &UsageReport,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let facts = &report.request.facts;
    let close = Close {
        key: report.request.key(),
        by: Closing::Delete,
        event_time: facts.end,
    };
    let same = same::instance_of(facts, Some(&report.source), view);
    let Some(waits) = same.filter(|i| !i.is_open() && i.lien.is_some()) else {
        return close_one(&close, false, view, ctx);
    };
    let mut instance = in_scope(waits, ctx)?.clone();
    let mut postings = Postings::new(view);
    postings.begin_for("delete", event_time(close.event_time, ctx), instance.id);
    let released = held(&instance)?;
    end_lien(&mut postings, &mut instance, LienState::Released)?;
    (instance.due, instance.kept) = (None, Seconds(0));
    Ok(closed(postings, instance, close.by, released))
}

fn close_one(
    close: &Close,
    waits: bool,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let mut postings = Postings::new(view);
    let at = event_time(close.event_time, ctx);
    // A use outside of the caller's scope is treated as missing.
    let open_then = |i: &&Instance| i.is_open() && i.opened <= at && in_scope(i, ctx).is_ok();
    let Some(open) = view.instances.iter().find(open_then) else {
        let none = Closed {
            instance: None,
            by: close.by,
            released: Amount::ZERO,
        };
        return Ok(postings.finish(Outcome::Closed(none)));
    };
    let mut instance = open.clone();
    postings.begin_for("delete", at, instance.id);
    let released = held(&instance)?;
    if waits && instance.kept > Seconds(0) {
        // Another source charges the use.
        charge::hold(&mut postings, &mut instance, ctx)?;
    } else {
        end_lien(&mut postings, &mut instance, LienState::Released)?;
    }
    charge::close_and_wait(&mut postings, &mut instance, (at, close.by), ctx);
    let released = released.minus(held(&instance)?)?;
    Ok(closed(postings, instance, close.by, released))
}

/// The effects of a command that closes an instance.
fn closed(mut postings: Postings, instance: Instance, by: Closing, released: Amount) -> Effects {
    let outcome = Closed {
        instance: Some(instance.id),
        by,
        released,
    };
    postings.instances.push(InstanceChange {
        instance,
        facts_changed: false,
        standing_changed: true,
    });
    postings.finish(Outcome::Closed(outcome))
}

/// The real money that the lien of an instance holds.
fn held(instance: &Instance) -> Result<Amount, Refusal> {
    let lien = instance.lien.as_ref().filter(|l| !l.shadow);
    Ok(Amount::from_sum(
        lien.map_or(0, crate::model::Lien::remaining),
    )?)
}

/// Journals that the newest use of an object's id was charged by a message that came before: nothing
/// moves (decisions.md 22).
pub(super) fn repeated(
    repeat: &Repeat,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let key = &repeat.key;
    let unknown = || Refusal::not_found(key.object_type.word(), &key.object_id);
    let newest = view.instances.first().ok_or_else(unknown)?;
    let instance = in_scope(newest, ctx).map_err(|_| unknown())?;
    let mut postings = Postings::new(view);
    postings.begin_for("repeat", ctx.now, instance.id);
    postings.remark(&format!("repeat_of={}", repeat.of));
    Ok(postings.finish(Outcome::Repeated(instance.id)))
}
