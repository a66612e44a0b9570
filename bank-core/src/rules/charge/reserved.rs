//! Reservations whose scheduler reports all of their time: each pays for the processors that none of its own
//! jobs used (decision 0171). A charge of the reservation or of a job adds rows of time, and the price of the
//! idle part follows, whatever the order of charges.

use super::falling::Reduced;
use super::owner::Owner;
use super::{Bill, LienUse, Short, is_late, mode, payer};
use crate::amount::Amount;
use crate::command::{Charge, Request, Whose};
use crate::decimal::Decimal;
use crate::effects::{Billing, Effects, Outcome};
use crate::exact::{Fraction, to_amount};
use crate::history::bills;
use crate::ids::{InstanceId, Next, TxId, UsageId};
use crate::model::{Facts, Instance, ObjectType, ReservationCharge};
use crate::postings::Postings;
use crate::price::{Price, Priced, price};
use crate::refusal::Refusal;
use crate::reservation::{
    Part, ReservationKey, ReservationTime, TimeChange, before, charge_of, counted_span, days,
    in_force, parts, whole_days,
};
use crate::rules::fallback;
use crate::rules::promise::Binding;
use crate::terms::{self, Shortfall, Span};
use crate::time::{Seconds, Timestamp};
use crate::usage::{IdleTime, Usage, kept, text};
use crate::view::{Context, View};
use std::collections::BTreeMap;

/// The reservation that the time of an object belongs to, if the bank computes its idle part.
fn reservation(instance: &Instance, ctx: &Context<'_>) -> Option<ReservationKey> {
    let machine = ctx.directory.any_machine_named(&instance.key.machine)?;
    if machine.reservation_charge != ReservationCharge::Reported {
        return None;
    }
    let name = match instance.key.object_type {
        ObjectType::Reservation => instance.key.object_id.as_str(),
        ObjectType::Job => kept::reservation(&instance.facts.other)?,
    };
    Some(ReservationKey {
        machine: instance.key.machine.clone(),
        reservation: name.to_owned(),
    })
}

/// Whether a charge is of a reservation that pays for its idle time. An amount that the caller gives has no idle
/// part.
pub(super) fn pays_for_idle_time(charge: &Charge, instance: &Instance, ctx: &Context<'_>) -> bool {
    let is_reservation = instance.key.object_type == ObjectType::Reservation;
    is_reservation && charge.terms.amount.is_none() && reservation(instance, ctx).is_some()
}

/// The rows of time that a charge adds, and those that it takes back: a total and an amended record replace
/// all earlier rows of the object.
pub(super) fn times(
    charge: &Charge,
    (length, windows): (Option<Seconds>, Vec<Span>),
    instance: &Instance,
    (tx, at): (TxId, Timestamp),
    view: &View,
    ctx: &Context<'_>,
) -> Vec<ReservationTime> {
    let Some(length) = length else {
        return Vec::new();
    };
    let is_job = instance.key.object_type == ObjectType::Job;
    let counts = is_job || pays_for_idle_time(charge, instance, ctx);
    let key = reservation(instance, ctx).filter(|_| counts);
    let usage = &instance.facts.usage;
    let processors = usage.processors.unwrap_or_default();
    let priced = || Usage {
        counted: None,
        idle: None,
        ..fallback::priced(instance, ctx).into_owned()
    };
    let facts = (!is_job).then(|| text::write(&priced()));
    let new = |span: Span| {
        Some(ReservationTime {
            tx,
            instance: instance.id,
            key: key.clone()?,
            span,
            processors,
            facts: facts.clone(),
            back: false,
            exact: 0,
            idle: Some(0),
            at,
        })
    };
    let spans = spans(charge, &instance.facts, windows, length, at).into_iter();
    let proper = spans.filter(|span| span.start < span.end);
    let mut added: Vec<ReservationTime> = proper.filter_map(new).collect();
    let terms = &charge.terms;
    let mut taken = Vec::new();
    if terms.total || terms.finished.is_some() {
        for old in in_force(&view.times, instance.id) {
            let equal = |time: &ReservationTime| {
                ReservationTime {
                    tx: old.tx,
                    exact: old.exact,
                    idle: old.idle,
                    at: old.at,
                    ..time.clone()
                } == *old
            };
            match added.iter().position(equal) {
                Some(place) => {
                    added.remove(place);
                }
                None => taken.push(ReservationTime {
                    exact: 0,
                    idle: Some(0),
                    ..old.taken_back(tx)
                }),
            }
        }
    }
    added.extend(taken);
    added
}

/// The time of a charge. The end in a document is that of the use, if it has passed. A finished use that is
/// assigned has its times in the facts of its instance.
fn spans(
    charge: &Charge,
    known: &Facts,
    windows: Vec<Span>,
    length: Seconds,
    at: Timestamp,
) -> Vec<Span> {
    let stated = &charge.request.facts;
    let is_stated = stated.start.is_some() || charge.terms.finished.is_none();
    let facts = if is_stated { stated } else { known };
    if charge.terms.window.is_some() {
        return windows;
    }
    let end = facts.end.filter(|end| *end <= at).unwrap_or(at);
    let whole = charge.terms.finished.as_ref().and(facts.start);
    vec![match whole {
        // Whatever a charge policy bills of it.
        Some(start) => {
            let (start, end) = (start.seconds(), end.seconds());
            before(end_of(end), Seconds(end.saturating_sub(start).max(0)))
        }
        None => before(end, length),
    }]
}

fn end_of(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

/// The change of a reservation's price by rows of time.
pub(super) struct Change {
    /// In trillionths, before the once-only part.
    pub(super) metered: i128,
    /// In processor-seconds, in billionths.
    pub(super) idle_seconds: i128,
}

/// The change by rows that are not in view yet.
pub(super) fn change_by(
    added: &[ReservationTime],
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> Option<Change> {
    let before: Vec<&ReservationTime> = view.times.iter().collect();
    let after: Vec<&ReservationTime> = before.iter().copied().chain(added).collect();
    change((&before, &after), added, instance, ctx)
}

/// The difference between the price of the idle part before and after rows were added, over the days of these
/// rows.
fn change(
    (before, after): (&[&ReservationTime], &[&ReservationTime]),
    added: &[ReservationTime],
    instance: &Instance,
    ctx: &Context<'_>,
) -> Option<Change> {
    let start = added.iter().map(|time| time.span.start).min();
    let end = added.iter().map(|time| time.span.end).max();
    let mut sum = Change {
        metered: 0,
        idle_seconds: 0,
    };
    let Some((start, end)) = start.zip(end) else {
        return Some(sum);
    };
    for day in days(whole_days(Span { start, end })) {
        let (was, had) = idle_of_day(before, day, instance, ctx)?;
        let (is, has) = idle_of_day(after, day, instance, ctx)?;
        sum.metered = sum.metered.checked_add(is.checked_sub(was)?)?;
        sum.idle_seconds = sum.idle_seconds.checked_add(has.checked_sub(had)?)?;
    }
    Some(sum)
}

/// The price of the idle part of a reservation on a day, in trillionths, and its idle processor-seconds in
/// billionths. Each second counts at the rates in force then, or at those of a bound quote.
fn idle_of_day(
    times: &[&ReservationTime],
    day: Span,
    instance: &Instance,
    ctx: &Context<'_>,
) -> Option<(i128, i128)> {
    let in_day = |time: &&&ReservationTime| time.span.meets(&day);
    let times: Vec<&ReservationTime> = times.iter().filter(in_day).copied().collect();
    let is_own = |time: &&ReservationTime| time.facts.is_some() && time.instance == instance.id;
    if !times.iter().any(is_own) {
        return Some((0, 0));
    }
    let cuts = cuts(day, instance, ctx);
    let has_hours = ctx
        .directory
        .rates_at(day.start)
        .iter()
        .any(|rate| rate.when.is_some());
    let (mut metered, mut idle_seconds) = (0_i128, 0_i128);
    let mut groups: BTreeMap<Group<'_>, (Timestamp, i64)> = BTreeMap::new();
    let mut stretch = 0_usize;
    let mut last: Option<Part<'_>> = None;
    for part in parts(&times, day, &cuts) {
        if part.instance != instance.id {
            continue;
        }
        idle_seconds = idle_seconds.checked_add(part.idle_seconds())?;
        if part.idle == 0 && part.processors > 0 {
            continue;
        }
        // With rates by hours the place of each stretch counts, not its length alone.
        let follows = |last: Part<'_>| {
            last.span.end == part.span.start
                && (last.facts, last.processors, last.idle)
                    == (part.facts, part.processors, part.idle)
        };
        if has_hours && !last.is_some_and(follows) {
            stretch = stretch.checked_add(1)?;
        }
        last = Some(part);
        let epoch = cuts.partition_point(|cut| *cut <= part.span.start);
        let group = (part.facts, part.processors, part.idle, epoch, stretch);
        let own = groups.entry(group).or_insert((part.span.start, 0));
        own.1 = own.1.checked_add(part.seconds())?;
    }
    for ((facts, processors, idle, ..), (from, seconds)) in groups {
        let usage = text::read(facts, None)?;
        let usage = usage.idle_part(processors, idle)?;
        let price = priced(&usage, (from, Seconds(seconds)), instance, ctx)?;
        metered = metered.checked_add(price.metered)?;
    }
    Some((metered, idle_seconds))
}

/// Parts with one price: usage, processors, idle processors, the rates in force, and the stretch of time if
/// rates have hours.
type Group<'a> = (&'a str, i128, i128, usize, usize);

/// The instants of a day at which rates begin or end; none where a quote is bound.
fn cuts(day: Span, instance: &Instance, ctx: &Context<'_>) -> Vec<Timestamp> {
    if instance.rates_at.is_some() {
        return Vec::new();
    }
    let rates = ctx.directory.rates_at(day.start).iter();
    let edges = rates.flat_map(|rate| [rate.window.start, rate.window.end]);
    let inside = |edge: &Timestamp| day.start < *edge && *edge < day.end;
    let mut cuts: Vec<Timestamp> = edges.flatten().filter(inside).map(up_to_second).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The first whole second from an instant on: a second counts at one rate.
fn up_to_second(at: Timestamp) -> Timestamp {
    let down = Timestamp::from_seconds(at.seconds());
    if down < at { down.plus(Seconds(1)) } else { at }
}

fn priced(
    usage: &Usage,
    (from, duration): (Timestamp, Seconds),
    instance: &Instance,
    ctx: &Context<'_>,
) -> Option<Price> {
    let name = &instance.key.machine;
    let priced = Priced {
        usage,
        duration,
        machine: ctx.directory.any_machine_named(name).map(|m| m.id),
        machine_name: name,
        named: instance.facts.named(),
        at: instance.rates_at.unwrap_or(from),
        from,
    };
    price(&priced, ctx.directory.rates_at(priced.at))
}

/// Adds the rows of a charge. Those of a reservation have its addition to the exact sum in the first one, and the
/// journal has the idle part.
pub(super) fn note_idle(
    postings: &mut Postings,
    mut times: Vec<ReservationTime>,
    idle: Option<&Change>,
) {
    if let (Some(idle), Some(first)) = (idle, times.first_mut()) {
        first.exact = idle.metered;
        first.idle = Some(idle.idle_seconds);
        let whole = times.iter().map(ReservationTime::processor_seconds).sum();
        let [idle, whole] = [idle.idle_seconds, whole].map(Decimal::from_billionths);
        postings.remark(&terms::written_idle(idle, whole));
    }
    postings.times.extend(times);
}

/// The quantity that the usage row of a reservation's charge counts over its time: idle processors on average.
pub(super) fn counted(idle_seconds: i128, counted: Seconds) -> Option<Fraction> {
    let billionth = Fraction::new(1, 1_000_000_000)?;
    let seconds = Fraction::new(idle_seconds, i128::from(counted.0))?;
    seconds.times(billionth)
}

/// What a transaction about a reservation's time leaves to be billed and to be counted: of a job in it, or of a
/// reversal. None if there is neither, or if the price exceeds exact arithmetic.
fn owed(cause: &TimeChange, instance: &Instance, view: &View, ctx: &Context<'_>) -> Option<Change> {
    let is_cause = |time: &&ReservationTime| time.tx == cause.tx;
    let after: Vec<&ReservationTime> = view.times.iter().collect();
    let before: Vec<&ReservationTime> = after.iter().filter(|t| !is_cause(t)).copied().collect();
    let added: Vec<ReservationTime> = view.times.iter().filter(is_cause).cloned().collect();
    let change = change((&before, &after), &added, instance, ctx)?;
    // A charge of the reservation itself has billed its part.
    let own = added.iter().filter(|time| time.instance == instance.id);
    let billed = own.clone().map(|time| time.exact).sum::<i128>();
    let counted: Option<i128> = own.map(|time| time.idle).sum();
    let owed = Change {
        metered: change.metered.checked_sub(billed)?,
        idle_seconds: match counted {
            Some(counted) => change.idle_seconds.checked_sub(counted)?,
            None => 0,
        },
    };
    (owed.metered != 0 || owed.idle_seconds != 0).then_some(owed)
}

/// Whether a transaction about a reservation's time leaves something to be billed or counted.
pub(in crate::rules) fn owes(
    cause: &TimeChange,
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> bool {
    owed(cause, instance, view, ctx).is_some()
}

/// Bills what a transaction leaves to be billed, or gives it back, in a transaction that corrects it.
pub(in crate::rules) fn settle(
    cause: &TimeChange,
    id: InstanceId,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let nothing = || Postings::new(view).finish(Outcome::Swept);
    let known = view.instances.iter().find(|i| i.id == id);
    let Some((instance, owed)) = known.and_then(|i| Some((i, owed(cause, i, view, ctx)?))) else {
        return Ok(nothing());
    };
    let mut instance = instance.clone();
    let Some(amount) = billed_now(&mut instance, owed.metered, ctx) else {
        return Ok(nothing());
    };
    let span = counted_span(&view.times, id, cause.span);
    instance.facts.usage.idle = Some(IdleTime {
        processor_seconds: owed.idle_seconds,
        span: Some((span.start, span.end)),
    });
    let terms = terms::Terms {
        shortfall: Some(match ctx.directory.policy.shortfall {
            Shortfall::Reject => Shortfall::Debt,
            other => other,
        }),
        ..terms::Terms::default()
    };
    let charge = Charge {
        request: request(&instance),
        duration: Some(Seconds(0)),
        terms,
        ..Charge::default()
    };
    let mut bill = begin(&charge, cause, instance, amount, view, ctx);
    let mode = mode(&charge, &bill.instance, &bill.payer, ctx);
    if amount < Amount::ZERO {
        bill.give_back(view, &view.history, Seconds(0), ctx)?;
    } else if mode.is_shadow() {
        bill.in_shadow(ctx)?;
    } else {
        bill.for_real(ctx)?;
    }
    bill.finish(&charge, Seconds(0), mode, ctx)
}

/// A request about an instance that adds no facts.
fn request(instance: &Instance) -> Request {
    Request {
        object_type: instance.key.object_type,
        object_id: instance.key.object_id.clone(),
        whose: Whose {
            machine: instance.key.machine.clone(),
            for_reservation: true,
            ..Whose::default()
        },
        ..Request::default()
    }
}

/// Adds to the exact sum, and returns what is billed now: below zero to give back.
fn billed_now(instance: &mut Instance, owed: i128, ctx: &Context<'_>) -> Option<Amount> {
    let exact_sum = instance.exact_sum.checked_add(owed)?;
    let at = instance.used_until.unwrap_or(instance.opened);
    let bounds = priced(&instance.facts.usage, (at, Seconds(0)), instance, ctx)?;
    let sum = bounds.bounded(exact_sum.checked_add(instance.once_sum)?);
    let precision = ctx.directory.bank.precision;
    let rounded = to_amount(sum, precision, ctx.directory.policy.rounding)?;
    let before = instance.billed.plus(instance.shadow_billed).ok()?;
    instance.exact_sum = exact_sum;
    rounded.minus(before).ok()
}

/// The instant at which a correction counts.
pub(crate) fn counts_at(
    cause: &TimeChange,
    instance: &Instance,
    view: &View,
    now: Timestamp,
) -> Timestamp {
    let charged = charge_of(&view.times, instance.id, cause.span).map(|time| time.at);
    charged.or(instance.used_until).unwrap_or(now).min(now)
}

/// The owner that was charged for the changed time. Without the charge in the history it is that of the instance.
fn charged_owner(cause: &TimeChange, instance: &Instance, view: &View) -> Option<Owner> {
    let charge = charge_of(&view.times, instance.id, cause.span)?;
    let mut entries = view.history.iter();
    let (_, entry) = entries.find(|(tx, entry)| *tx == charge.tx && bills(entry.kind))?;
    Some(Owner::named(entry))
}

/// The bill of a correction. It counts when the changed time was charged, and corrects the transaction that
/// changed it.
fn begin(
    charge: &Charge,
    cause: &TimeChange,
    instance: Instance,
    amount: Amount,
    view: &View,
    ctx: &Context<'_>,
) -> Bill {
    let mut postings = Postings::new(view);
    let at = counts_at(cause, &instance, view, ctx.now);
    let tx = postings.begin_for("adjust", at, instance.id);
    postings.correct(cause.tx);
    postings.remark(terms::IDLE);
    Bill {
        usage: UsageId(Next::take(&mut postings.next.usage)),
        postings,
        tx,
        at,
        payer: payer(&instance, &charge.request, ctx),
        amount,
        unpriced: false,
        given: None,
        late: is_late(charge, &instance),
        left_pi: None,
        // It need not have one: a missing lien is no fault of it.
        lien: LienUse::Unused,
        short: Short::default(),
        reduced: Reduced {
            owner: charged_owner(cause, &instance, view),
            ..Reduced::default()
        },
        shortfall: super::shortfall(charge, ctx),
        outcome: Billing::Billed,
        would_refuse: None,
        first: None,
        facts_changed: false,
        binding: Binding::default(),
        before: instance.standing(),
        plausible: super::ceiling::Plausible::nothing(),
        claimed: None,
        assigned: false,
        came_after: view.came_after.clone(),
        gives_back: false,
        pays_for_idle: true,
        instance,
    }
}
