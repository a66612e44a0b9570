//! Which use of an object's id a charge is about.

use super::Naive;
use bank_core::command::Charge;
use bank_core::time::{Seconds, Timestamp};

impl Naive {
    /// The use that ended after an instant, and after the open one began.
    pub(super) fn ended_after(&self, uses: &[usize], at: Timestamp) -> Option<usize> {
        let newest = &self.instances[*uses.first()?];
        let is_later = |n: &&usize| {
            let i = &self.instances[**n];
            let is_before = newest.closed.is_some() || newest.opened < i.opened;
            i.is_ended && is_before && i.closed.is_some_and(|closed| at < closed)
        };
        uses.iter().find(is_later).copied()
    }

    /// The use that was open then, the newest first; else one that had just closed; else one that
    /// was open during the window; else the one that is open now.
    pub(super) fn charged(&self, charge: &Charge, at: Timestamp) -> Option<usize> {
        let request = &charge.request;
        let uses = self.uses(&request.whose.machine, &request.object_id);
        let earlier = |n: &&usize| !self.begins_after(charge, **n);
        let find = |is: &dyn Fn(Timestamp, Option<Timestamp>) -> bool| {
            let own = |n: &&usize| is(self.instances[**n].opened, self.instances[**n].closed);
            uses.iter().filter(earlier).find(own).copied()
        };
        let grace = self.policy.close_grace;
        let is_meant = |n: &usize| {
            let is_foreign = charge.terms.source.is_some() && self.is_collected(*n);
            !is_foreign || self.speaks_of(charge, *n, at)
        };
        let open = uses.iter().find(|n| self.instances[**n].closed.is_none());
        if let Some(over) = open.and_then(|open| self.over_before(charge, (&uses, *open), at)) {
            return Some(over).filter(is_meant);
        }
        if charge.terms.newest {
            let newest = uses.first().copied();
            return newest.filter(|n| !self.begins_after(charge, *n) && is_meant(n));
        }
        // The first of its documents came later than that, overtaken by others.
        let begun = |n: &&usize| {
            let i = &self.instances[**n];
            let is_over = i.closed.is_some_and(|c| c.plus(grace) < at);
            i.began.is_some_and(|began| began <= at) && !is_over
        };
        find(&|opened, closed| opened <= at && closed.is_none_or(|c| at < c))
            .or_else(|| find(&|_, closed| closed.is_some_and(|c| c <= at && at <= c.plus(grace))))
            .or_else(|| {
                let window = charge.terms.window?;
                find(&|opened, closed| {
                    opened < window.end && closed.is_none_or(|c| window.start < c)
                })
            })
            .or_else(|| uses.iter().filter(earlier).find(begun).copied())
            .or_else(|| find(&|_, closed| closed.is_none()))
            .or_else(|| self.charged_long_after(charge, &uses, at))
            .or_else(|| {
                let is_by_person = !charge.is_checked && charge.terms.source.is_none();
                let is_named = request.whose.project.is_some() || request.whose.user.is_some();
                let has_usage = |n: &&usize| self.has_used(**n);
                let charged = uses.iter().find(has_usage).copied();
                charged.filter(|_| is_by_person && !is_named)
            })
            .filter(is_meant)
            .or_else(|| {
                let facts = &request.facts;
                facts.start.or(facts.end)?;
                charge.terms.source.as_ref()?;
                let collected = |n: &&usize| self.is_collected(**n) && is_meant(n);
                uses.iter().find(collected).copied()
            })
    }

    /// When a use begins whose first document is this charge: with the time charged, not before the close
    /// of the use before.
    pub(super) fn opens(&self, charge: &Charge, at: Timestamp) -> Timestamp {
        if let Some(window) = charge.terms.window {
            return window.start.min(at);
        }
        let request = &charge.request;
        let uses = self.uses(&request.whose.machine, &request.object_id);
        let closed = uses.iter().filter_map(|n| self.instances[*n].closed).max();
        let start = at.minus(charge.duration.unwrap_or(Seconds(0)));
        closed.map_or(start, |closed| start.max(closed)).min(at)
    }

    /// A scheduler's document with a start after the close of a use, and not with the start of that use.
    fn begins_after(&self, charge: &Charge, n: usize) -> bool {
        let i = &self.instances[n];
        let (start, closed) = (charge.request.facts.start, i.closed);
        let is_after = start.is_some() && closed.is_some() && start > closed;
        let is_again = closed.is_some() && self.runs_again(charge, n);
        charge.is_checked && (is_after && i.facts.start != start || is_again)
    }

    /// A document that begins after the end of those before it.
    pub(super) fn runs_again(&self, charge: &Charge, n: usize) -> bool {
        let (i, start) = (&self.instances[n], charge.request.facts.start);
        i.facts.end.is_some_and(|end| start > Some(end)) && i.facts.start != start
    }

    /// A total of a run after the end in the documents of an open use: totals are of one run, unless the total is
    /// longer than that run.
    pub(super) fn counts_anew(&self, charge: &Charge, n: usize, at: Timestamp) -> bool {
        let (i, facts) = (&self.instances[n], &charge.request.facts);
        let until = facts.end.map_or(at, |end| end.min(at));
        let (Some(start), Some(end), Some(total)) = (facts.start, i.facts.end, charge.duration)
        else {
            return false;
        };
        let is_open_total = charge.is_checked && charge.terms.total && i.closed.is_none();
        is_open_total && self.is_charged(n) && end < start && start.plus(total) <= until
    }

    /// The use is over where its documents end; its hold goes back.
    pub(super) fn end_run(&mut self, n: usize) {
        let i = &mut self.instances[n];
        let end = i.facts.end.unwrap();
        if i.facts.start > Some(end) {
            i.facts.start = i.began;
        }
        let end = end.max(i.opened);
        self.begin("delete", end);
        self.end_lien(n, "released");
        let i = &mut self.instances[n];
        (i.closed, i.is_ended, i.due) = (Some(end), true, None);
    }

    /// A scheduler's document goes to the closed use with the end that it states, else to the newest use
    /// if that expired and is of the same user and project; not to one that it begins after.
    fn charged_long_after(&self, charge: &Charge, uses: &[usize], at: Timestamp) -> Option<usize> {
        let (facts, whose) = (&charge.request.facts, &charge.request.whose);
        let fits = |n: &usize| charge.is_checked && !self.begins_after(charge, *n);
        let newest = uses.first().copied();
        let expired = newest.filter(|n| {
            let i = &self.instances[*n];
            let is_its_user = whose.user.as_ref().is_none_or(|u| *u == i.facts.user);
            let is_its_project = whose.project.as_ref().is_none_or(|p| *p == i.facts.project);
            let is_its_start = facts.start.is_some() && facts.start == i.facts.start;
            let is_its = is_its_start || (is_its_user && is_its_project);
            i.expired.is_some() && i.began.is_some() && fits(n) && is_its
        });
        let with_end = self.with_end(charge, uses).filter(|_| charge.is_checked);
        let with_start = self
            .with_start(charge, uses, at)
            .filter(|_| charge.is_checked);
        with_end.or(with_start).or(expired)
    }

    /// The closed use that a document with an end before the open use, or with an earlier start, is about.
    fn over_before(
        &self,
        charge: &Charge,
        (uses, open): (&[usize], usize),
        at: Timestamp,
    ) -> Option<usize> {
        let facts = &charge.request.facts;
        let i = &self.instances[open];
        let first = i.began.map_or(i.opened, |began| began.min(i.opened));
        let began = i.facts.start.unwrap_or(first);
        let is_earlier = facts.end.is_some_and(|end| end <= began);
        let own_start = i.facts.start.zip(facts.start);
        let starts_before = own_start.is_some_and(|(own, start)| start < own);
        let with_end = self.with_end(charge, uses).filter(|_| is_earlier);
        let with_start = self.with_start(charge, uses, at).filter(|_| starts_before);
        with_end.or(with_start).filter(|_| charge.is_checked)
    }

    /// The closed use that began at the start in a document without an end, with a planned one or with its own.
    fn with_start(&self, charge: &Charge, uses: &[usize], at: Timestamp) -> Option<usize> {
        let facts = &charge.request.facts;
        let start = facts.start?;
        let is_planned = facts.end.is_none_or(|end| end > at.plus(Seconds(300)));
        let has_start = |n: &&usize| {
            let i = &self.instances[**n];
            let is_own = is_planned || i.facts.end == facts.end;
            i.facts.start == Some(start) && i.closed.is_some() && is_own
        };
        uses.iter().find(has_start).copied()
    }

    /// The closed use that contains the end in a document.
    fn with_end(&self, charge: &Charge, uses: &[usize]) -> Option<usize> {
        let end = charge.request.facts.end?;
        let contains_end = |n: &&usize| {
            let i = &self.instances[**n];
            let began = i.began.map_or(i.opened, |began| began.min(i.opened));
            let is_over = i.closed.map(|closed| stated_or(closed, i.facts.end));
            let is_inside = began < end && is_over.is_some_and(|over| end <= over);
            is_inside && !self.begins_after(charge, **n)
        };
        uses.iter().find(contains_end).copied()
    }
}

/// The end in the documents of a use, which its scheduler writes by a clock of its own, at most five minutes ahead.
pub(super) fn stated_or(at: Timestamp, stated: Option<Timestamp>) -> Timestamp {
    let stated = stated.filter(|end| at < *end && *end <= at.plus(Seconds(300)));
    stated.unwrap_or(at)
}
