//! An instance: one use of a scheduler's object, with its facts and its lien (decisions.md 11 and 13).

use crate::amount::Amount;
use crate::command::Request;
use crate::effects::{Delta, EntryKind, RecordEvent};
use crate::ids::{InstanceId, Next};
use crate::model::{Closing, Facts, Instance, LienState, Mode};
use crate::postings::{About, Postings};
use crate::refusal::{Refusal, short};
use crate::select::{self, Names};
use crate::time::{Seconds, Timestamp};
use crate::usage::kept;
use crate::view::{Context, View};

/// The most that the clock of a caller may be ahead of the bank's.
pub(super) const SKEW: Seconds = Seconds(300);

/// The later of an instant of a use by the bank's clock and the end in its documents, which is by the scheduler's clock. A
/// clock that is ahead by more than [`SKEW`] is wrong, or the end is a planned one.
pub(super) fn by_either_clock(at: Timestamp, instance: &Instance) -> Timestamp {
    let stated = instance.facts.end.filter(|end| *end <= at.plus(SKEW));
    stated.map_or(at, |end| end.max(at))
}

/// Journals the price in the scheduler's document (nami.md 4.2).
pub(super) fn remark_asserted(postings: &mut Postings, request: &Request) {
    if !request.asserted.is_empty() {
        postings.remark(&format!("asserted={}", request.asserted));
    }
}

/// Keeps the earlier of an instance's first reserve and the start in its documents: the earliest possible
/// time of usage (nami.md 1.4).
pub(super) fn note_start(instance: &mut Instance, at: Option<Timestamp>) {
    if at.is_some() && instance.record.is_none() {
        // A known start replaces the bound of the creation.
        instance.earliest = None;
    }
    let earlier = |at: Timestamp| instance.began.map_or(at, |known| known.min(at));
    instance.began = at.map(earlier).or(instance.began);
}

/// Closes an instance whose lien has ended, and sends its record to the writers.
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

/// The cost in an instance's records: shadow charges are 0 in mode `track`, and have their price in
/// `notional` (usage-records.md 6.1).
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

/// An instance whose project is in the caller's scope: a document with a project of the caller cannot reach
/// an object of another project (http-auth.md 4).
pub(super) fn in_scope<'a>(
    instance: &'a Instance,
    ctx: &Context<'_>,
) -> Result<&'a Instance, Refusal> {
    let name = &instance.facts.project;
    let project = ctx.directory.any_project_named(name).map(|p| p.id);
    if ctx.may_touch(project, name) {
        return Ok(instance);
    }
    // The caller must not learn the owner.
    Err(Refusal::NotAllowed {
        what: format!(
            "{} {}",
            instance.key.object_type.word(),
            instance.key.object_id
        ),
    })
}

/// Sets the wait of an open instance without a lien for its next document, seven days by default. If its lien
/// expired, it waits no longer than the grace (decisions.md 13).
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

/// The same for a lien of an earlier project and user of the instance: the journal names these.
pub(super) fn end_lien_of(
    (project, user): (&str, &str),
    postings: &mut Postings,
    instance: &mut Instance,
    state: LienState,
) -> Result<(), Refusal> {
    let facts = &mut instance.facts;
    let project = std::mem::replace(&mut facts.project, project.to_owned());
    let user = std::mem::replace(&mut facts.user, user.to_owned());
    let ended = end_lien(postings, instance, state);
    (instance.facts.project, instance.facts.user) = (project, user);
    ended
}

/// A new use of an object's id.
pub(super) fn new_instance(
    postings: &mut Postings,
    view: &View,
    request: &Request,
    at: Timestamp,
) -> Instance {
    let last = view.instances.iter().map(|i| i.number).max().unwrap_or(0);
    let id = InstanceId(Next::take(&mut postings.next.instance));
    Instance::new(id, request.key(), last.saturating_add(1), at)
}

/// Keeps the facts of a document with the instance; facts that are missing in the document stay. Returns
/// whether anything is new.
pub(super) fn keep_facts(facts: &mut Facts, request: &Request, ctx: &Context<'_>) -> bool {
    let new = &request.facts;
    let payer = select::find(ctx.directory, &request.whose);
    let mut usage = new.usage.clone();
    usage.complete_from(&facts.usage);
    let user = request.whose.user.as_deref().map(short);
    let mut changed = put(&mut facts.usage, usage);
    // A request without a project means that of the instance, not the user's default.
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
        let named = kept::reservation(&facts.other).map(str::to_owned);
        facts.other.clone_from(&new.other);
        // A job stays in its reservation if a later document does not repeat the name.
        let named = named.filter(|_| kept::reservation(&new.other).is_none());
        let pair = named.map(|name| (kept::RESERVATION.to_owned(), name));
        facts.other.extend(pair);
        changed = true;
    }
    changed
}

/// Takes a value over; returns whether it differs.
fn put<T: PartialEq>(old: &mut T, new: T) -> bool {
    let changed = *old != new;
    *old = new;
    changed
}

/// Takes a value over if there is one; returns whether it differs.
fn put_known<T: PartialEq>(old: &mut Option<T>, new: Option<T>) -> bool {
    new.is_some() && put(old, new)
}

/// Takes a text over unless it is empty; returns whether it differs.
fn keep(old: &mut String, new: &String) -> bool {
    let changed = !new.is_empty() && old != new;
    if changed {
        old.clone_from(new);
    }
    changed
}

/// The accounts that may pay for a request, if any; `facts` are those of the instance, so that a later
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

/// The time of an event: as the caller reports it, never later than now (ledger.md 2.8).
pub(super) fn event_time(given: Option<Timestamp>, ctx: &Context<'_>) -> Timestamp {
    given.map_or(ctx.now, |at| at.min(ctx.now))
}
