//! How much of what a scheduler reports can have been used (nami.md 1.4, decision note 0023).

use super::Naive;
use crate::ledger::reply::refused;
use bank_core::command::Charge;
use bank_core::terms::Excess;
use bank_core::time::Timestamp;

/// How far the clocks of scheduler and bank may lie apart, in seconds.
const SLACK: i64 = 300;

/// What counts of what a charge reports, in seconds.
pub(super) struct Plausible {
    pub(super) reported: i64,
    /// None for a total that is older than the last one and changes nothing.
    pub(super) counts: Option<i64>,
    pub(super) disputed: i64,
}

impl Naive {
    pub(super) fn plausible(
        &self,
        charge: &Charge,
        n: usize,
        at: Timestamp,
    ) -> Result<Plausible, String> {
        let window = charge
            .terms
            .window
            .map(|w| w.end.seconds() - w.start.seconds());
        let reported = window.or(charge.duration.map(|d| d.0)).unwrap_or(0);
        let all = Plausible {
            reported,
            counts: Some(reported),
            disputed: 0,
        };
        let instance = &self.instances[n];
        if !charge.is_checked {
            return Ok(all);
        }
        let is_overtaken = instance.used_until.is_some_and(|until| at < until);
        if charge.terms.total && is_overtaken && reported <= instance.seconds {
            return Ok(Plausible {
                counts: None,
                ..all
            });
        }
        let Some(began) = instance.began else {
            return Ok(all);
        };
        let latest = instance.used_until.map_or(at, |until| until.max(at));
        let passed = latest.seconds() - began.min(at).seconds();
        let flush = self.machine(&instance.machine);
        let flush = flush.map_or(3600, |m| m.flush_seconds);
        let before = if charge.terms.total {
            0
        } else {
            instance.seconds
        };
        let room = (passed + flush + SLACK - before).max(0);
        if reported <= room {
            return Ok(all);
        }
        let counts = match self.policy.excess {
            Excess::Clip => room,
            Excess::Accept => reported,
            Excess::Refuse => return Err(refused("implausible_duration")),
        };
        Ok(Plausible {
            counts: Some(counts),
            disputed: reported - room,
            ..all
        })
    }
}
