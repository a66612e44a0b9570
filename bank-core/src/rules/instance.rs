//! Instances: made, found, closed (decisions.md 11 and 13).

use crate::amount::Amount;
use crate::command::{Close, Create, Repeat, Request, UsageReport};
use crate::effects::{
    Closed, Created, Delta, Effects, EntryKind, InstanceChange, Outcome, RecordEvent,
};
use crate::ids::{InstanceId, Next};
use crate::model::{Closing, Facts, Instance, LienState, Mode};
use crate::postings::{About, Postings};
use crate::refusal::{Refusal, short};
use crate::rules::quote::promise_tid;
use crate::rules::{charge, same};
use crate::select::{self, Names};
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};

/// Makes or finds an instance and keeps what the document says. It holds nothing. One that happened
/// before the newest use closed was overtaken by its end: it begins nothing.
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

/// Keeps what a document says of an object that was changed, and journals it (nami.md 1.1). It
/// makes the instance where there is none; of a use that is over nothing is kept.
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

/// Journals what the scheduler says that it costs (nami.md 4.2).
pub(super) fn remark_asserted(postings: &mut Postings, request: &Request) {
    if !request.asserted.is_empty() {
        postings.remark(&format!("asserted={}", request.asserted));
    }
}

/// The earlier of an instance's first reserve and the start that its documents tell: from when on
/// it can have been used (nami.md 1.4).
pub(super) fn note_start(instance: &mut Instance, at: Option<Timestamp>) {
    if at.is_some() && instance.record.is_none() {
        // A known start replaces the bound of the creation.
        instance.earliest = None;
    }
    let earlier = |at: Timestamp| instance.began.map_or(at, |known| known.min(at));
    instance.began = at.map(earlier).or(instance.began);
}

/// Closes the open instance of an object and releases its lien. Nothing is charged, and nothing is
/// said where nothing was open at the event time (nami.md 9, case 11): a close that comes late is
/// about an earlier use of the id, not about the one that has begun since.
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

/// Closes an instance whose lien has ended; its record goes to the writers.
pub(super) fn close_instance(
    postings: &mut Postings,
    instance: &mut Instance,
    at: Timestamp,
    by: Closing,
    ctx: &Context<'_>,
) {
    instance.closed = Some((at, by));
    instance.due = None;
    if ctx.directory.policy.records && instance.record.is_some() {
        postings.records.push(RecordEvent::Closed {
            instance: Box::new(instance.clone()),
            amount: reported(instance, ctx),
            created: ctx.now,
        });
    }
}

/// What an instance's records say it cost: shadow charges are 0 in mode `track`, and have their
/// price in `notional` (usage-records.md 6.1).
fn reported(instance: &Instance, ctx: &Context<'_>) -> Amount {
    let names = Names::on(&instance.key.machine, false).or_of(&instance.facts);
    let payer = names.numbers(ctx.directory);
    let of_now = || ctx.directory.mode(payer.project, payer.machine);
    if instance.mode.unwrap_or_else(of_now) == Mode::Track {
        return instance.billed;
    }
    let sum = i128::from(instance.billed.0).saturating_add(i128::from(instance.shadow_billed.0));
    Amount::clamped(sum)
}

/// An instance whose project lies in the caller's scope: a document that names a project of the
/// caller's cannot reach an object of another's (http-auth.md 4).
pub(super) fn in_scope<'a>(
    instance: &'a Instance,
    ctx: &Context<'_>,
) -> Result<&'a Instance, Refusal> {
    let name = &instance.facts.project;
    let project = ctx.directory.any_project_named(name).map(|p| p.id);
    if ctx.may_touch(project, name) {
        return Ok(instance);
    }
    // Whose it is, is not for the caller.
    Err(Refusal::NotAllowed {
        what: format!(
            "{} {}",
            instance.key.object_type.word(),
            instance.key.object_id
        ),
    })
}

/// An open instance without a lien waits so long for its next document, seven days by default; one
/// whose lien expired waits no longer than the grace (decisions.md 13).
pub(super) fn wait_for_more(instance: &mut Instance, at: Timestamp, idle: Seconds) {
    if instance.is_open() && instance.lien.is_none() && !instance.lien_expired {
        // A document that comes late does not make the wait shorter.
        let due = at.plus(idle);
        instance.due = Some(instance.due.map_or(due, |known| known.max(due)));
    }
}

/// Ends an instance's lien, if it has one, and gives back what is left of it.
pub(super) fn end_lien(
    postings: &mut Postings,
    instance: &mut Instance,
    state: LienState,
) -> Result<(), Refusal> {
    let about = About::instance(instance);
    let Some(mut lien) = instance.lien.take() else {
        return Ok(());
    };
    let kind = match state {
        LienState::Expired => EntryKind::LienExpire,
        LienState::Replaced => EntryKind::LienReplace,
        _ => EntryKind::LienRelease,
    };
    let about = About {
        lien: Some(lien.id),
        ..about
    };
    let empty = lien.remaining() == 0;
    let left = lien.portions.iter().filter(|p| !p.amount.is_zero());
    // An empty lien leaves one entry of 0, so that the journal shows its end.
    let marker = lien.portions.iter().take(usize::from(empty));
    for portion in left.chain(marker) {
        let delta = Delta::of_lien(portion.amount.negate()?.0, lien.shadow);
        postings.post(kind, portion.allocation, delta, &about)?;
    }
    if state == LienState::Expired {
        lien.lapsed = Amount::clamped(lien.remaining());
    }
    lien.portions.clear();
    lien.state = state;
    postings.liens.push(lien);
    Ok(())
}

/// A new use of an object's id.
pub(super) fn new_instance(
    postings: &mut Postings,
    view: &View,
    request: &Request,
    at: Timestamp,
) -> Instance {
    let last = view.instances.iter().map(|i| i.number).max().unwrap_or(0);
    Instance {
        id: InstanceId(Next::take(&mut postings.next.instance)),
        key: request.key(),
        number: last.saturating_add(1),
        opened: at,
        closed: None,
        account: None,
        fallback_from: None,
        facts: Facts::default(),
        exact_sum: 0,
        once_sum: 0,
        billed: Amount::ZERO,
        shadow_billed: Amount::ZERO,
        charged: Seconds(0),
        processor_seconds: 0,
        record: None,
        last_usage: None,
        rates_at: None,
        quote: None,
        absorbed: false,
        lien_expired: false,
        due: None,
        began: None,
        earliest: None,
        used_until: None,
        disputed: Seconds(0),
        mode: None,
        kept: Seconds(0),
        lien: None,
    }
}

/// Keeps what a document says with the instance; what it does not say stays. Says whether anything
/// is new.
pub(super) fn keep_facts(facts: &mut Facts, request: &Request, ctx: &Context<'_>) -> bool {
    let new = &request.facts;
    let payer = select::find(ctx.directory, &request.whose);
    let mut usage = new.usage.clone();
    usage.complete_from(&facts.usage);
    let user = request.whose.user.as_deref().map(short);
    let mut changed = put(&mut facts.usage, usage);
    // Who names no project means the one that the instance has, not the user's default.
    if request.whose.project.is_some() || facts.project.is_empty() {
        changed |= keep(&mut facts.project, &payer.project_name);
    }
    changed |= user.is_some_and(|user| put(&mut facts.user, user));
    changed |= keep(&mut facts.group, &new.group);
    changed |= keep(&mut facts.state, &new.state);
    changed |= put_known(&mut facts.wall, new.wall);
    changed |= put_known(&mut facts.start, new.start);
    changed |= put_known(&mut facts.end, new.end);
    changed |= put_known(&mut facts.submit, new.submit);
    changed |= put_known(&mut facts.exit_code, new.exit_code);
    if !new.other.is_empty() && facts.other != new.other {
        facts.other.clone_from(&new.other);
        changed = true;
    }
    changed
}

/// Takes a value over; says whether it is another one.
fn put<T: PartialEq>(old: &mut T, new: T) -> bool {
    let changed = *old != new;
    *old = new;
    changed
}

/// Takes a value over where there is one; says whether it is another one.
fn put_known<T: PartialEq>(old: &mut Option<T>, new: Option<T>) -> bool {
    new.is_some() && put(old, new)
}

/// Takes a text over unless it is empty; says whether it is another one.
fn keep(old: &mut String, new: &String) -> bool {
    let changed = !new.is_empty() && old != new;
    if changed {
        old.clone_from(new);
    }
    changed
}

/// Who would pay for a request, if anybody may; `facts` are those of the instance, so that a later
/// document need not repeat them.
pub(super) fn usable(
    request: &Request,
    facts: &Facts,
    ctx: &Context<'_>,
) -> Result<(select::Payer, Vec<select::Candidate>), Refusal> {
    let payer = select::resolve(ctx.directory, ctx.scope, &request.whose)?;
    let payer = payer.knowing(ctx.directory, &facts.usage, &facts.group);
    let user = request.whose.user.as_deref().unwrap_or_default();
    let candidates = select::candidates(ctx.directory, &payer, user)?;
    Ok((payer, candidates))
}

/// The mode of a use's first charge, else the one that a request falls under.
pub(super) fn mode_of(instance: &Instance, request: &Request, ctx: &Context<'_>) -> Mode {
    let of_now = || {
        let payer = Names::of(&request.whose).numbers(ctx.directory);
        ctx.directory.mode(payer.project, payer.machine)
    };
    instance.mode.unwrap_or_else(of_now)
}

/// Journals what strict enforcement would have refused, with its figures (decisions.md 18).
pub(super) fn would_refuse(
    postings: &mut Postings,
    about: &About,
    refusal: &Refusal,
    ctx: &Context<'_>,
) {
    let mut text = format!("would_refuse={}", refusal.code());
    if let Refusal::InsufficientFunds {
        needed, available, ..
    } = refusal
    {
        let precision = ctx.directory.bank.precision;
        let (needed, available) = (needed.display(precision), available.display(precision));
        text = format!("{text} needed={needed} available={available}");
    }
    postings.remark(&text);
    postings.note(EntryKind::WouldRefuse, about);
}

/// When something happened: what the caller says, never later than now (ledger.md 2.8).
pub(super) fn event_time(given: Option<Timestamp>, ctx: &Context<'_>) -> Timestamp {
    given.map_or(ctx.now, |at| at.min(ctx.now))
}
