//! Reports of one use: the same machine and job, and overlapping times (decisions.md 43).

use super::Naive;
use super::usage::Use;
use bank_core::command::{Charge, UsageReport};
use bank_core::model::Facts;
use bank_core::time::Timestamp;

/// Clocks of two reporters lie no further apart than this: µs.
const APART: i64 = 300_000_000;

/// How much two stretches have in common, in µs, where that is enough for one use.
fn common(a: (i64, i64), b: (i64, i64)) -> Option<i64> {
    let long = |(start, end): (i64, i64)| (start, end.max(start.saturating_add(1)));
    let (a, b) = (long(a), long(b));
    let both = a.1.min(b.1).saturating_sub(a.0.max(b.0));
    let shorter = a.1.saturating_sub(a.0).min(b.1.saturating_sub(b.0));
    (both > 0 && (both > APART || 2 * both >= shorter)).then_some(both)
}

fn of_finished(facts: &Facts) -> (i64, i64) {
    let start = facts.start.or(facts.end).map_or(0, |at| at.0);
    (start, facts.end.map_or(start, |at| at.0))
}

/// What a charge is about: its window, else its document, else the time before it.
fn of_charge(charge: &Charge, at: Timestamp) -> (i64, i64) {
    if let Some(window) = charge.terms.window {
        return (window.start.0, window.end.0);
    }
    let facts = &charge.request.facts;
    let end = facts.end.unwrap_or(at);
    let start = end.minus(charge.duration.unwrap_or_default());
    (facts.start.unwrap_or(start).0, end.0)
}

impl Naive {
    fn time_of(&self, n: usize) -> (i64, i64) {
        let i = &self.instances[n];
        let start = i.facts.start.or(i.began).unwrap_or(i.opened);
        let end = i.closed.map(|closed| i.facts.end.unwrap_or(closed));
        (start.0, end.map_or(i64::MAX, |end| end.0))
    }

    /// Records of an instance that count, the newest of each identity.
    fn records_of(&self, n: usize) -> impl Iterator<Item = &Use> {
        let of = |u: &Use| {
            let facts = &u.report.request.facts;
            (
                u.report.source.clone(),
                u.report.request.object_id.clone(),
                facts.start,
            )
        };
        let is_newest = move |(place, u): &(usize, &Use)| {
            let mut later = self.uses.iter().skip(place + 1);
            later.all(|other| of(other) != of(u))
        };
        let newest = self.uses.iter().enumerate().filter(is_newest);
        let newest = newest.map(|(_, u)| u);
        newest.filter(move |u| u.counts && u.instance == Some(n))
    }

    pub(super) fn is_collected(&self, n: usize) -> bool {
        self.records_of(n).next().is_some()
    }

    /// Ended, and billed to its end.
    pub(super) fn is_billed(&self, n: usize) -> bool {
        let i = &self.instances[n];
        let is_over = i.closed.is_some() && (i.is_ended || i.is_deleted);
        is_over && self.is_charged(n) && i.kept == 0
    }

    /// Whether a charge of it is not undone.
    pub(super) fn is_charged(&self, n: usize) -> bool {
        let i = &self.instances[n];
        i.used_until.is_some() && (i.seconds > 0 || (i.billed, i.shadow_billed) != (0, 0))
    }

    /// The use that a record is about; not one that its own source has charged another record on.
    pub(super) fn same_as(&self, report: &UsageReport) -> Option<usize> {
        let request = &report.request;
        let time = of_finished(&request.facts);
        let mut best: Option<(i64, usize)> = None;
        for n in self.uses(&request.whose.machine, &request.object_id) {
            let is_own = self
                .records_of(n)
                .next()
                .is_some_and(|u| u.report.source == report.source);
            if is_own {
                continue;
            }
            if let Some(both) = common(time, self.time_of(n))
                && best.is_none_or(|(most, _)| both > most)
            {
                best = Some((both, n));
            }
        }
        best.map(|(_, n)| n)
    }

    /// Whether a record that counts, of another source than this one, is about the same time on a use that
    /// is out of sight.
    fn is_counted(
        &self,
        (machine, id): (&str, &str),
        source: Option<&str>,
        time: (i64, i64),
    ) -> bool {
        let seen = self.uses(machine, id);
        let all = (0..self.instances.len()).filter(|n| !seen.contains(n));
        let own = |n: &usize| {
            let i = &self.instances[*n];
            i.machine == machine && i.id == id
        };
        let mut records = all.filter(own).flat_map(|n| self.records_of(n));
        records.any(|u| {
            let is_other = source != Some(u.report.source.as_str());
            is_other && common(time, of_finished(&u.report.request.facts)).is_some()
        })
    }

    /// The same of a record.
    pub(super) fn is_counted_elsewhere(&self, report: &UsageReport) -> bool {
        let request = &report.request;
        let key = (request.whose.machine.as_str(), request.object_id.as_str());
        self.is_counted(key, Some(&report.source), of_finished(&request.facts))
    }

    /// Whether a charge is about the use of an instance that a collector has charged.
    pub(super) fn speaks_of(&self, charge: &Charge, n: usize, at: Timestamp) -> bool {
        let facts = &charge.request.facts;
        let time = self.time_of(n);
        let is_stated = facts.start.is_some() || facts.end.is_some();
        if charge.terms.window.is_some() || is_stated {
            return common(of_charge(charge, at), time).is_some();
        }
        at <= Timestamp(time.1).plus(self.policy.close_grace)
    }

    /// Whether a charge of a source bills nothing: others charge its machine, or have charged its use.
    pub(super) fn is_kept(&self, charge: &Charge, known: Option<usize>) -> bool {
        let request = &charge.request;
        let key = (request.whose.machine.as_str(), request.object_id.as_str());
        let at = self.happened(charge.terms.window.map(|w| w.end).or(request.event_time));
        let is_counted = || self.is_counted(key, None, of_charge(charge, at));
        let is_collected = || match known {
            Some(n) => self.is_collected(n) || (!self.is_charged(n) && is_counted()),
            None => is_counted(),
        };
        self.is_foreign(charge) || (charge.terms.source.is_some() && is_collected())
    }

    /// Whether a charge by hand names another owner than the records of the use.
    pub(super) fn is_of_other(&self, charge: &Charge, n: usize) -> bool {
        let (whose, facts) = (&charge.request.whose, &self.instances[n].facts);
        let is_other = |named: &Option<String>, known: &str| {
            named
                .as_ref()
                .is_some_and(|n| !known.is_empty() && n != known)
        };
        let is_named =
            is_other(&whose.project, &facts.project) || is_other(&whose.user, &facts.user);
        Naive::is_by_hand(charge) && is_named && self.is_collected(n)
    }

    /// A person submitted it.
    pub(super) fn is_by_hand(charge: &Charge) -> bool {
        let terms = &charge.terms;
        terms.source.is_none() && terms.finished.is_none() && !terms.assigned
    }

    /// What a first record bills is what was not billed before; a scheduler bills what it reported
    /// while another source charged its machine.
    pub(super) fn waiting(&self, charge: &Charge, n: usize, reported: i64) -> i64 {
        let terms = &charge.terms;
        if terms.total || terms.amount.is_some() || terms.window.is_some() {
            return reported;
        }
        if terms.finished.is_some() {
            return (reported - self.instances[n].seconds).max(0);
        }
        let i = &self.instances[n];
        let kept = terms.source.as_ref().map_or(0, |_| i.kept);
        let is_repeated = charge.closes && i.is_ended && kept > 0;
        if is_repeated { kept } else { reported + kept }
    }

    /// Keeps what is reported, and bills nothing of it.
    pub(super) fn keep_only(&mut self, charge: &Charge, n: usize, at: Timestamp) -> String {
        let request = &charge.request;
        let is_late = self.instances[n].closed.is_some();
        self.begin("modify", at);
        if !self.is_billed(n) && !self.is_collected(n) {
            self.note_start(n, request.facts.start);
            self.keep(n, request);
            let key = (request.whose.machine.as_str(), request.object_id.as_str());
            if !is_late && !self.is_counted(key, None, of_charge(charge, at)) {
                self.add_kept(charge, n);
            }
        }
        if charge.closes && !is_late {
            self.hold_cost(n);
            let lien = self.instances[n].lien;
            let due = lien.map(|lien| self.liens[lien].end);
            let instance = &mut self.instances[n];
            instance.closed = Some(at.max(instance.opened));
            (instance.is_ended, instance.due) = (true, due);
        } else {
            if charge.releases && !is_late {
                self.hold_cost(n);
            }
            self.wait(n, at, charge.terms.idle.unwrap_or(self.policy.idle));
        }
        let late = if is_late { ", late" } else { "" };
        let balance = self.instances[n].account.map_or(0, |a| self.balance(a));
        format!("charged 0{late}, balance {balance}")
    }

    fn add_kept(&mut self, charge: &Charge, n: usize) {
        let window = charge.terms.window;
        let window = window.map(|w| w.end.seconds() - w.start.seconds());
        let reported = window.or(charge.duration.map(|d| d.0)).unwrap_or(0);
        let instance = &mut self.instances[n];
        if charge.terms.total {
            instance.kept = instance.kept.max(reported - instance.seconds);
        } else {
            instance.kept += reported;
        }
    }

    /// The lien holds the cost of the use and waits; returns the real credits that it releases.
    pub(super) fn hold_cost(&mut self, n: usize) -> i64 {
        let i = &self.instances[n];
        let Some(lien) = i.lien else { return 0 };
        let start = i.facts.start.or(i.began).unwrap_or(i.opened);
        let billed = i.billed + i.shadow_billed;
        let cost = (self.cost(n, i.seconds + i.kept, start) - billed).max(0);
        let bound = self.policy.record_wait;
        if cost.min(self.left_of(lien)) == 0 || bound.0 == 0 {
            return self.end_lien(n, "released");
        }
        let (mut left, mut back) = (cost, Vec::new());
        let is_shadow = self.liens[lien].is_shadow;
        for (allocation, part) in &mut self.liens[lien].portions {
            let stays = left.min(*part);
            left -= stays;
            if stays < *part {
                back.push((*allocation, *part - stays));
            }
            *part = stays;
        }
        self.enter_portions("lien_release", lien, &back, is_shadow, -1);
        let end = self.now.plus(bound);
        self.liens[lien].end = end;
        self.instances[n].due = Some(end);
        let sum: i64 = back.iter().map(|(_, part)| part).sum();
        if is_shadow { 0 } else { sum }
    }
}
