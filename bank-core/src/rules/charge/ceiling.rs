//! The plausibility ceiling: what a scheduler reports of an object cannot be more than the time that
//! has passed since it began (nami.md 1.4).
//!
//! Σ reported seconds ≤ (latest event − the earlier of first reserve and start) + the machine's flush
//! interval + 300 s. The latest event is that of any charge so far: one that was overtaken is
//! measured with those that came before it. A document with an `EndTime` is measured up to that end.
//! Where nothing tells when the object began there is none.

use crate::command::Charge;
use crate::model::{Closing, Instance};
use crate::refusal::Refusal;
use crate::rules::lien::flush_interval;
use crate::terms::Excess;
use crate::time::{MICROS, Seconds, Timestamp};
use crate::view::Context;

/// How far the clocks of scheduler and bank may lie apart.
const SLACK: Seconds = Seconds(300);

/// What is billed of the seconds that a charge reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plausible {
    /// What the charge reports.
    pub(super) reported: Seconds,
    /// What counts; none for a total that is older than the last one and changes nothing.
    pub(super) counts: Option<Seconds>,
    /// What lies beyond the ceiling, billed or not.
    pub(super) disputed: Seconds,
    /// The ceiling itself, where something lies beyond it.
    pub(super) ceiling: Seconds,
    /// The document repeats time that is billed already: it adds nothing.
    pub(super) repeats: bool,
}

/// Holds what a charge reports against the ceiling.
pub(super) fn check(
    charge: &Charge,
    reported: Seconds,
    instance: &Instance,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Result<Plausible, Refusal> {
    let whole = Plausible {
        reported,
        counts: Some(reported),
        disputed: Seconds(0),
        ceiling: Seconds(0),
        repeats: false,
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
    if !total && repeats_end(charge, instance, at) {
        return Ok(Plausible {
            counts: None,
            repeats: true,
            ..whole
        });
    }
    let newer = instance.used_until.is_some_and(|until| at < until);
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
        Excess::Clip => Ok(Plausible {
            counts: Some(Seconds(room)),
            ..disputed
        }),
        Excess::Accept => Ok(disputed),
        Excess::Refuse => Err(Refusal::Implausible {
            reported: reported.0,
            room,
        }),
    }
}

/// Whether a total equals the last one of the same resources: its price is billed, whatever the
/// rates have become.
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
/// that is billed already.
fn repeats_end(charge: &Charge, instance: &Instance, at: Timestamp) -> bool {
    if instance.record.is_none() {
        return false;
    }
    let is_ended = matches!(instance.closed, Some((_, Closing::End)));
    if charge.closes && is_ended {
        return true;
    }
    let facts = &charge.request.facts;
    let Some(end) = facts.end else {
        return false;
    };
    let start = facts.start.or(instance.facts.start).or(instance.began);
    let billed_until = start.unwrap_or(at).plus(instance.charged);
    instance.used_until.is_some_and(|until| end <= until) && end <= billed_until
}

/// The most seconds that the object can have been used by now.
fn ceiling(
    charge: &Charge,
    instance: &Instance,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Option<Seconds> {
    // What was used at an instant began before it, whatever the documents say.
    let began = instance.began?.min(at);
    let until = instance.used_until.map_or(at, |until| until.max(at));
    // No use lasts beyond the end that its document states.
    let until = charge.request.facts.end.map_or(until, |end| end.min(until));
    let passed = until.0.saturating_sub(began.0);
    // A second that has begun counts.
    let passed = passed.saturating_add(MICROS.saturating_sub(1));
    let passed = Seconds(passed.div_euclid(MICROS));
    let flush = flush_interval(&instance.key.machine, ctx);
    Some(passed.plus(flush).plus(SLACK))
}

impl Plausible {
    /// What the journal says of it; nothing where all of it is plausible.
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
