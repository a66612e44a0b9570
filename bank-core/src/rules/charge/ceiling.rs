//! The plausibility ceiling: what a scheduler reports of an object cannot be more than the time that
//! has passed since it began (nami.md 1.4).
//!
//! Σ reported seconds ≤ (latest event − the earlier of first reserve and start) + the machine's flush
//! interval + 300 s. The latest event is that of any charge so far: one that was overtaken is
//! measured with those that came before it. Where nothing tells when the object began there is none.

use crate::command::Charge;
use crate::model::Instance;
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
    };
    if !charge.is_checked {
        return Ok(whole);
    }
    let total = charge.terms.total;
    let newer = instance.used_until.is_some_and(|until| at < until);
    if total && newer && reported <= instance.charged {
        return Ok(Plausible {
            counts: None,
            ..whole
        });
    }
    let before = if total { 0 } else { instance.charged.0 };
    let Some(ceiling) = ceiling(instance, at, ctx) else {
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

/// The most seconds that the object can have been used by now.
fn ceiling(instance: &Instance, at: Timestamp, ctx: &Context<'_>) -> Option<Seconds> {
    // What was used at an instant began before it, whatever the documents say.
    let began = instance.began?.min(at);
    let until = instance.used_until.map_or(at, |until| until.max(at));
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
