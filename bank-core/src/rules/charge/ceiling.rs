//! The plausibility ceiling: what a scheduler reports of an object cannot be more than the time that
//! has passed since it began (nami.md 1.4).
//!
//! Σ reported seconds ≤ (latest event − start) + the machine's flush interval. The latest event is that of
//! any charge so far: one that was overtaken is measured with those that came before it. The latest document, if
//! it has an `EndTime`, is measured up to that end. The start is the earlier of the first reserve and the `StartTime`. If
//! neither came before the first charge, it is the begin of the time that this charge reports, but not
//! before the creation and the latest refused start; a charge that was overtaken moves it back. Totals have a
//! ceiling only where a reserve or a `StartTime` is known.

use super::find::is_of_later_run;
use crate::command::Charge;
use crate::model::{Closing, Instance};
use crate::refusal::Refusal;
use crate::rules::instance::{SKEW, by_either_clock, note_start};
use crate::rules::lien::flush_interval;
use crate::terms::Excess;
use crate::time::{MICROS, Seconds, Timestamp};
use crate::view::Context;

/// The billed part of the seconds that a charge reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plausible {
    /// The seconds that the charge reports.
    pub(super) reported: Seconds,
    /// The seconds that count; none for a total that is older than the last one and changes nothing.
    pub(super) counts: Option<Seconds>,
    /// The seconds beyond the ceiling, billed or not.
    pub(super) disputed: Seconds,
    /// The ceiling itself, if some seconds exceed it.
    pub(super) ceiling: Seconds,
    /// The document repeats time that is billed already: it adds nothing.
    pub(super) repeats: bool,
    /// A scheduler's document repeats billed time, or was overtaken by a later one.
    pub(super) is_past: bool,
}

/// Holds what a charge reports against the ceiling.
pub(super) fn check(
    charge: &Charge,
    reported: Seconds,
    instance: &Instance,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Result<Plausible, Refusal> {
    let newer = instance.used_until.is_some_and(|until| at < until);
    let whole = Plausible {
        reported,
        counts: Some(reported),
        disputed: Seconds(0),
        ceiling: Seconds(0),
        repeats: false,
        is_past: charge.is_checked && newer,
    };
    let total = charge.terms.total;
    if repeats_total(charge, reported, instance) {
        return Ok(Plausible {
            counts: None,
            ..whole
        });
    }
    if !charge.is_checked {
        return Ok(whole);
    }
    if !total && repeats_end(charge, reported, instance, at) {
        return Ok(Plausible {
            counts: None,
            repeats: true,
            is_past: true,
            ..whole
        });
    }
    if total && newer && reported <= instance.charged {
        return Ok(Plausible {
            counts: None,
            ..whole
        });
    }
    let before = if total { 0 } else { instance.charged.0 };
    let Some(ceiling) = ceiling(charge, instance, at, ctx) else {
        return Ok(whole);
    };
    let room = ceiling.0.saturating_sub(before).max(0);
    let beyond = Seconds(reported.0.saturating_sub(room));
    if beyond.0 <= 0 {
        return Ok(whole);
    }
    let disputed = Plausible {
        disputed: beyond,
        ceiling,
        ..whole
    };
    match ctx.directory.policy.excess {
        Excess::Accept => Ok(disputed),
        Excess::Refuse if !charge.terms.is_golds() => Err(Refusal::Implausible {
            reported: reported.0,
            room,
        }),
        Excess::Clip | Excess::Refuse => Ok(Plausible {
            counts: Some(Seconds(room)),
            ..disputed
        }),
    }
}

/// Whether a total equals the last one of the same resources: its price is billed, even if the rates have
/// changed.
fn repeats_total(charge: &Charge, reported: Seconds, instance: &Instance) -> bool {
    let terms = &charge.terms;
    if !terms.total || terms.amount.is_some() || terms.finished.is_some() {
        return false;
    }
    let mut usage = charge.request.facts.usage.clone();
    usage.complete_from(&instance.facts.usage);
    instance.record.is_some() && reported == instance.charged && usage == instance.facts.usage
}

/// Whether a document adds nothing: a second `end` of a use, or an end that is not after the time
/// that is billed already. Gold's second charge of an ended use adds something if it states a later end. If all charges
/// of the use are undone, nothing of it is billed.
fn repeats_end(charge: &Charge, reported: Seconds, instance: &Instance, at: Timestamp) -> bool {
    if !instance.is_charged() || is_of_later_run(charge, instance) {
        return false;
    }
    let is_ended = matches!(instance.closed, Some((_, Closing::End)));
    let facts = &charge.request.facts;
    let is_later = facts.end > instance.facts.end.max(instance.used_until);
    // The use had a reserve, so the start that came after its end was that of another run, which ends now.
    let is_of_absorbed = instance.absorbed && instance.is_reserved();
    // The kept part of an ended use that belongs to another source is still to be billed.
    if charge.closes && is_ended && !is_of_absorbed {
        return instance.kept.0 == 0 && !(is_later && charge.terms.is_golds());
    }
    let Some(end) = facts.end.filter(|_| !is_next(charge, instance)) else {
        return false;
    };
    let stated = facts.start.or(instance.facts.start).or(instance.began);
    let start = stated.or(instance.earliest).unwrap_or(at);
    // The start can be that of a part of the use.
    let first = instance.began.map_or(start, |began| began.min(start));
    let is_billed = |until: Timestamp| {
        // One that was overtaken may be about time that the later ones left out.
        let has_room = first.plus(instance.charged).plus(reported) <= until;
        end <= by_either_clock(until, instance) && !(at < until && has_room)
    };
    end <= start.plus(instance.charged) && instance.used_until.is_some_and(is_billed)
}

/// Whether a document begins and ends later than the one before it. Some schedulers report the times of each interval, and
/// deliver several documents together.
fn is_next(charge: &Charge, instance: &Instance) -> bool {
    let (new, known) = (&charge.request.facts, &instance.facts);
    known.start.is_some() && known.end.is_some() && new.start > known.start && new.end > known.end
}

/// Keeps the start that a charge states, and when the use can have begun at the earliest, if its first
/// charge came before any reserve. `refused` is the latest refused start of the object.
pub(super) fn note_starts(
    instance: &mut Instance,
    charge: &Charge,
    reported: Seconds,
    refused: Option<Timestamp>,
    at: Timestamp,
) {
    let began = instance.began;
    note_start(instance, charge.request.facts.start);
    let until = charge.request.facts.end.map_or(at, |end| end.min(at));
    let from = until.minus(reported);
    if !charge.is_checked || charge.terms.window.is_some() {
        return;
    }
    if instance.record.is_none() {
        // By the times of the events: a resume that overtook this charge is not the start.
        let is_before = |began: &Timestamp| *began <= until;
        if began.as_ref().is_some_and(is_before) {
            return;
        }
        let bounds = [instance.earliest, refused].into_iter().flatten();
        let presumed = || {
            bounds
                .filter(|bound| *bound <= until)
                .fold(from, Timestamp::max)
        };
        let stated = instance.began.filter(is_before);
        instance.earliest = Some(stated.unwrap_or_else(presumed));
        return;
    }
    let Some(latest) = instance.used_until else {
        return;
    };
    let counted = || {
        instance
            .began
            .is_none()
            .then(|| latest.minus(instance.charged))
    };
    let Some(earliest) = instance.earliest.or_else(counted) else {
        return;
    };
    let is_stated = instance.began.is_some_and(|began| began <= earliest);
    // Only a charge from before another one can be about earlier time.
    let is_overtaken = at < latest && !is_stated && !charge.terms.total;
    instance.earliest = Some(if is_overtaken {
        earliest.min(from)
    } else {
        earliest
    });
}

/// The start from which a charge is measured.
fn start(charge: &Charge, instance: &Instance) -> Option<Timestamp> {
    let presumed = instance.earliest.filter(|_| !charge.terms.total);
    instance.began.into_iter().chain(presumed).min()
}

/// The most seconds that the object can have been used by now.
fn ceiling(
    charge: &Charge,
    instance: &Instance,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Option<Seconds> {
    // Usage at an instant began before it, even if the documents differ.
    let began = start(charge, instance)?.min(at);
    let until = instance.used_until.map_or(at, |until| until.max(at));
    // No use lasts beyond the end that its latest document states. One that was overtaken states the end of
    // its part only.
    let is_latest = instance.used_until.is_none_or(|until| until <= at);
    let stated = charge.request.facts.end.filter(|_| is_latest);
    // The scheduler's clock can be ahead: its end is compared with its own start.
    let starts = [charge.request.facts.start, instance.facts.start];
    let is_stated = starts.contains(&Some(began));
    let ahead = if is_stated { SKEW } else { Seconds(0) };
    let until = stated.map_or(until, |end| end.min(until.plus(ahead)));
    let passed = until.0.saturating_sub(began.0);
    // A second that has begun counts.
    let passed = passed.saturating_add(MICROS.saturating_sub(1));
    let passed = Seconds(passed.div_euclid(MICROS));
    // Gold's clients report a whole use with its start and end, also where some of it was billed before.
    let facts = &charge.request.facts;
    let is_whole = facts.start.and(facts.end).is_some() && charge.terms.is_golds();
    if is_whole && instance.charged > Seconds(0) {
        return Some(passed);
    }
    Some(passed.plus(flush_interval(&instance.key.machine, ctx)))
}

impl Plausible {
    /// Of a correction, which reports no time.
    pub(super) fn nothing() -> Plausible {
        Plausible {
            reported: Seconds(0),
            counts: Some(Seconds(0)),
            disputed: Seconds(0),
            ceiling: Seconds(0),
            repeats: false,
            is_past: false,
        }
    }

    /// The remark for the journal; empty if all of it is plausible.
    pub(super) fn remark(&self) -> String {
        let Plausible {
            disputed, ceiling, ..
        } = self;
        if self.repeats {
            return format!("repeated_s={} not_billed", self.reported.0);
        }
        if disputed.0 == 0 {
            return String::new();
        }
        let (disputed, ceiling) = (disputed.0, ceiling.0);
        let done = if self.counts == Some(self.reported) {
            "billed"
        } else {
            "not_billed"
        };
        format!("disputed_s={disputed} ceiling_s={ceiling} {done}")
    }
}
