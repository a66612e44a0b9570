//! How much of what a scheduler reports can have been used (nami.md 1.4, decision note 0023).

use super::Naive;
use super::found::stated_or;
use crate::ledger::reply::refused;
use bank_core::command::Charge;
use bank_core::terms::Excess;
use bank_core::time::{Seconds, Timestamp};

/// What counts of what a charge reports, in seconds.
#[derive(Clone, Copy)]
pub(super) struct Plausible {
    pub(super) reported: i64,
    /// None for a total that is older than the last one and changes nothing.
    pub(super) counts: Option<i64>,
    pub(super) disputed: i64,
    /// The time of the document is billed already.
    pub(super) repeats: bool,
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
        let reported = self.waiting(charge, n, reported);
        let all = Plausible {
            reported,
            counts: Some(reported),
            disputed: 0,
            repeats: false,
        };
        let instance = &self.instances[n];
        let nothing = Plausible {
            counts: None,
            ..all
        };
        if self.repeats_total(charge, reported, n) {
            return Ok(nothing);
        }
        if !charge.is_checked {
            return Ok(all);
        }
        if !charge.terms.total && self.repeats_end(charge, n, at) {
            return Ok(Plausible {
                repeats: true,
                ..nothing
            });
        }
        let is_overtaken = instance.used_until.is_some_and(|until| at < until);
        if charge.terms.total && is_overtaken && reported <= instance.seconds {
            return Ok(nothing);
        }
        let presumed = instance.earliest.filter(|_| !charge.terms.total);
        let Some(began) = [instance.began, presumed].into_iter().flatten().min() else {
            return Ok(all);
        };
        let latest = instance.used_until.map_or(at, |until| until.max(at));
        let stated_end = charge.request.facts.end;
        let stated = stated_end.filter(|_| !is_overtaken);
        let began = began.min(at);
        let starts = [charge.request.facts.start, instance.facts.start];
        let ahead = if starts.contains(&Some(began)) {
            300
        } else {
            0
        };
        let ahead = latest.plus(Seconds(ahead));
        let latest = stated.map_or(latest, |end| end.min(ahead));
        let passed = latest.seconds() - began.seconds();
        let flush = self.machine(&instance.machine);
        let is_whole = is_golds(charge) && charge.request.facts.start.and(stated_end).is_some();
        let flush = if is_whole && instance.seconds > 0 {
            0
        } else {
            flush.map_or(3600, |m| m.flush_seconds)
        };
        let before = if charge.terms.total {
            0
        } else {
            instance.seconds
        };
        let room = (passed + flush - before).max(0);
        if reported <= room {
            return Ok(all);
        }
        let counts = match self.policy.excess {
            Excess::Clip => room,
            Excess::Accept => reported,
            Excess::Refuse if is_golds(charge) => room,
            Excess::Refuse => return Err(refused("implausible_duration")),
        };
        Ok(Plausible {
            counts: Some(counts),
            disputed: reported - room,
            ..all
        })
    }

    /// When a use can have begun at the earliest, where no reserve came before its first charge: with the
    /// time that the charge reports, not before it was created or its start refused. Charges that were
    /// overtaken move it back.
    pub(super) fn presume(
        &mut self,
        charge: &Charge,
        n: usize,
        at: Timestamp,
        began: Option<Timestamp>,
    ) {
        if !charge.is_checked || charge.terms.window.is_some() {
            return;
        }
        let end = charge.request.facts.end.map_or(at, |end| end.min(at));
        let from = end.minus(charge.duration.unwrap_or(Seconds(0)));
        let i = &self.instances[n];
        let is_before = |began: &Timestamp| *began <= end;
        let earliest = if !i.is_charged && began.as_ref().is_some_and(is_before) {
            return;
        } else if let (false, Some(stated)) = (i.is_charged, i.began.filter(is_before)) {
            stated
        } else if !i.is_charged {
            let bounds = [i.earliest, self.refused_start(&i.machine, &i.id)];
            let mut bounds: Vec<_> = bounds.into_iter().flatten().filter(|b| *b <= end).collect();
            bounds.push(from);
            bounds.into_iter().max().unwrap()
        } else {
            let latest = i.used_until.unwrap();
            let counted = latest.minus(Seconds(i.seconds));
            let Some(known) = i.earliest.or(i.began.is_none().then_some(counted)) else {
                return;
            };
            let is_overtaken = at < latest && !charge.terms.total;
            if is_overtaken && i.began.is_none_or(|began| known < began) {
                known.min(from)
            } else {
                known
            }
        };
        self.instances[n].earliest = Some(earliest);
    }

    /// Adds the excess to the disputed seconds. A total replaces them, unless it is older and counts nothing.
    pub(super) fn dispute(&mut self, charge: &Charge, n: usize, plausible: &Plausible) {
        let instance = &mut self.instances[n];
        if !(charge.is_checked && charge.terms.total) {
            instance.disputed += plausible.disputed;
        } else if plausible.counts.is_some() {
            instance.disputed = plausible.disputed;
        }
    }

    /// The same total of the same resources again.
    fn repeats_total(&self, charge: &Charge, reported: i64, n: usize) -> bool {
        let (terms, instance) = (&charge.terms, &self.instances[n]);
        let is_plain = terms.total && terms.amount.is_none() && terms.finished.is_none();
        let mut usage = charge.request.facts.usage.clone();
        usage.complete_from(&instance.facts.usage);
        let is_same = reported == instance.seconds && usage == instance.facts.usage;
        is_plain && is_same && instance.used_until.is_some()
    }

    /// A second `end`, or an end that is not after what is billed.
    fn repeats_end(&self, charge: &Charge, n: usize, at: Timestamp) -> bool {
        let instance = &self.instances[n];
        let until = instance.used_until;
        let can_repeat = self.is_charged(n) && !self.runs_again(charge, n);
        let Some(until) = until.filter(|_| can_repeat) else {
            return false;
        };
        let is_reserved = instance.began.is_some() && instance.began != instance.facts.start;
        if charge.closes && instance.is_ended && !(instance.is_absorbed && is_reserved) {
            let known = until.max(instance.facts.end.unwrap_or(until));
            let is_later = charge.request.facts.end.is_some_and(|end| end > known);
            return instance.kept == 0 && !(is_golds(charge) && is_later);
        }
        let facts = &charge.request.facts;
        let known = &instance.facts;
        let (starts, ends) = (facts.start.zip(known.start), facts.end.zip(known.end));
        // It states the times of a later interval.
        if starts.is_some_and(|(new, old)| new > old) && ends.is_some_and(|(new, old)| new > old) {
            return false;
        }
        let Some(end) = facts.end else {
            return false;
        };
        let stated = facts.start.or(instance.facts.start).or(instance.began);
        let start = stated.or(instance.earliest).unwrap_or(at);
        let billed = start.plus(Seconds(instance.seconds));
        let first = instance.began.map_or(start, |began| began.min(start));
        let whole = first.plus(Seconds(instance.seconds));
        let whole = whole.plus(charge.duration.unwrap_or(Seconds(0)));
        let fills_a_gap = at < until && whole <= until;
        end <= stated_or(until, known.end) && end <= billed && !fills_a_gap
    }
}

/// A charge of Gold's gateway: it comes once, with all of the use where it states start and end.
fn is_golds(charge: &Charge) -> bool {
    charge.terms.source.as_deref() == Some("gold")
}
