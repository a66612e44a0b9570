//! How much a charge bills (ledger.md 2.8, decisions.md 7 and 8).

use super::ceiling::Plausible;
use super::price::{Price, Priced};
use super::{Naive, seconds_of};
use crate::ledger::reply::refused;
use bank_core::command::Charge;
use bank_core::terms::Overlap;
use bank_core::time::{MICROS, Seconds, Timestamp};

/// How far a caller's clock may be ahead.
const SKEW: Seconds = Seconds(300);

/// What a charge counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// Stretches of time: when each began, and its seconds.
    pieces: Vec<(Timestamp, i64)>,
    pub(super) seconds: i64,
    /// The seconds of a window that are billed now.
    pub(super) used: Vec<i64>,
    is_window: bool,
    /// A total that is older than the last one: nothing new.
    is_nothing: bool,
    /// What counts of what was reported, where that is not all.
    part: Option<(i64, i64)>,
}

/// What a charge comes to.
pub(super) struct Billed {
    pub(super) amount: i64,
    /// What it added to the exact sum, and the fee in that, where a minimum or maximum made of it another amount, or
    /// where it has a fee.
    pub(super) bounded: Option<(i128, i128)>,
}

impl Billed {
    fn plain(amount: i64) -> Billed {
        Billed {
            amount,
            bounded: None,
        }
    }
}

impl Naive {
    /// What no instance needs to be known for.
    pub(super) fn check_charge(charge: &Charge) -> Result<(), String> {
        let terms = &charge.terms;
        if terms.amount.is_some_and(|amount| amount.0 < 0) {
            return Err(refused("negative_charge"));
        }
        if let Some(window) = terms.window {
            if terms.total {
                return Err(refused("bad_value"));
            }
            if window.start >= window.end {
                return Err(refused("bad_window"));
            }
        }
        let is_timed = terms.window.is_some() || charge.duration.is_some();
        if !is_timed && terms.amount.is_none() {
            return Err(refused("missing_field"));
        }
        if charge.request.facts.usage.has_negative() {
            return Err(refused("negative_charge"));
        }
        Ok(())
    }

    /// The time that is priced.
    pub(super) fn measure(
        &self,
        charge: &Charge,
        n: usize,
        at: Timestamp,
        plausible: &Plausible,
    ) -> Result<Measured, String> {
        let instance = &self.instances[n];
        if let Some(window) = charge.terms.window {
            if window.end > self.now.plus(SKEW) {
                return Err(refused("bad_value"));
            }
            let whole: Vec<i64> = seconds_of(window).collect();
            let mut rest = whole.clone();
            let billed = self.billed_seconds(n);
            rest.retain(|second| !billed.contains(second));
            let is_billed = rest.len() < whole.len();
            let splits = charge.terms.amount.is_some() && !rest.is_empty();
            if is_billed && (splits || self.policy.overlap == Overlap::Reject) {
                return Err(refused("overlap"));
            }
            return Ok(Measured {
                pieces: runs(&rest),
                seconds: i64::try_from(rest.len()).unwrap(),
                used: rest,
                is_window: true,
                ..Measured::default()
            });
        }
        let Some(duration) = plausible.counts else {
            return Ok(Measured {
                is_nothing: true,
                ..Measured::default()
            });
        };
        // It began when it can have begun at the earliest (decision note 0009); of a finished use
        // that is known.
        let mut earliest = at.minus(Seconds(duration));
        if instance.opened <= at {
            earliest = earliest.max(instance.opened);
        }
        let whole = charge.terms.finished.as_ref();
        let is_first = whole.is_some() && !charge.terms.total;
        let billed = if is_first { instance.seconds } else { 0 };
        let began = whole.map_or(earliest, |whole| whole.began.plus(Seconds(billed)));
        let reported = plausible.reported;
        let before = if charge.terms.total {
            instance.seconds
        } else {
            0
        };
        Ok(Measured {
            pieces: vec![(began, duration)],
            seconds: duration - before,
            part: (duration < reported).then_some((duration, reported)),
            ..Measured::default()
        })
    }

    /// The seconds that the uses of an id have billed.
    pub(super) fn billed_seconds(&self, n: usize) -> Vec<i64> {
        let i = &self.instances[n];
        let all = self.uses(&i.machine, &i.id);
        all.into_iter().flat_map(|n| self.billed_by(n)).collect()
    }

    /// The seconds that a use has billed: those of windows, and from the start in the documents on those that no window
    /// states.
    fn billed_by(&self, n: usize) -> Vec<i64> {
        let i = &self.instances[n];
        let mut all = i.used.clone();
        let Some(start) = i.facts.start.map(Timestamp::seconds) else {
            return all;
        };
        let latest = start + i.seconds;
        let end = i.facts.end.map_or(latest, |end| end.seconds().min(latest));
        let left = usize::try_from(i.seconds)
            .unwrap_or(0)
            .saturating_sub(i.used.len());
        let free = (start..end).filter(|second| !i.used.contains(second));
        all.extend(free.take(left));
        all
    }

    /// Adds to the instance's exact sum; what is billed now is the rounded sum less what was billed
    /// before.
    pub(super) fn bill(&mut self, charge: &Charge, n: usize, measured: &Measured) -> Billed {
        let before = self.instances[n].billed + self.instances[n].shadow_billed;
        let is_total = charge.terms.total;
        if let Some(amount) = charge.terms.amount {
            if measured.is_nothing || (measured.is_window && measured.pieces.is_empty()) {
                return Billed::plain(0);
            }
            let share = |(counts, all): (i64, i64)| amount.0 * counts / all;
            let amount = measured.part.map_or(amount.0, share);
            let instance = &mut self.instances[n];
            if is_total {
                (instance.metered, instance.once) = (Naive::exact(amount), 0);
                return Billed::plain(amount - before);
            }
            instance.metered += Naive::exact(amount);
            return Billed::plain(amount);
        }
        let facts = self.priced_facts(n);
        let instance = &self.instances[n];
        let known = instance.metered + instance.once;
        let fee_before = instance.once;
        let (mut metered, mut once) = if is_total {
            (0, 0)
        } else {
            (instance.metered, instance.once)
        };
        let mut last: Option<Price> = None;
        for (began, seconds) in &measured.pieces {
            let price = self.price(&Priced {
                facts: &facts,
                machine: &charge.request.whose.machine,
                seconds: *seconds,
                at: instance.rates_at.unwrap_or(*began),
            });
            metered += price.metered;
            once = once.max(price.once);
            last = Some(price);
        }
        let Some(price) = last else {
            return Billed::plain(0);
        };
        let billed = self.rounded(price.bounded(metered + once));
        let instance = &mut self.instances[n];
        (instance.metered, instance.once) = (metered, once);
        // Only a total that falls gives money back.
        let floor = if is_total { i64::MIN } else { 0 };
        let amount = (billed - before).max(floor);
        let added = metered + once - known;
        // Rounding makes no more than one credit of difference.
        let is_other = (Naive::exact(amount) - added).abs() > Naive::exact(1) && amount >= 0;
        Billed {
            amount,
            bounded: (is_other || once > fee_before).then_some((added, once - fee_before)),
        }
    }
}

/// Seconds in order as stretches without gaps.
fn runs(seconds: &[i64]) -> Vec<(Timestamp, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for second in seconds {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == *second => *length += 1,
            _ => runs.push((*second, 1)),
        }
    }
    let at = |second: i64| Timestamp(second * MICROS);
    runs.into_iter()
        .map(|(start, length)| (at(start), length))
        .collect()
}
