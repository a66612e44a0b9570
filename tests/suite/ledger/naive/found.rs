//! Which use of an object's id a charge is about.

use super::Naive;
use bank_core::command::Charge;
use bank_core::time::Timestamp;

impl Naive {
    /// The use that was open then, the newest first; else one that had just closed; else one that
    /// was open during the window; else the one that is open now.
    pub(super) fn charged(&self, charge: &Charge, at: Timestamp) -> Option<usize> {
        let request = &charge.request;
        let uses = self.uses(&request.whose.machine, &request.object_id);
        let find = |is: &dyn Fn(Timestamp, Option<Timestamp>) -> bool| {
            let own = |n: &&usize| is(self.instances[**n].opened, self.instances[**n].closed);
            uses.iter().find(own).copied()
        };
        let grace = self.policy.close_grace;
        let is_meant = |n: &usize| {
            let is_foreign = charge.terms.source.is_some() && self.is_collected(*n);
            !is_foreign || self.speaks_of(charge, *n, at)
        };
        if charge.terms.newest {
            return uses.first().copied().filter(is_meant);
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
            .or_else(|| uses.iter().find(begun).copied())
            .or_else(|| find(&|_, closed| closed.is_none()))
            .or_else(|| self.charged_long_after(charge, &uses))
            .filter(is_meant)
            .or_else(|| {
                let facts = &request.facts;
                facts.start.or(facts.end)?;
                charge.terms.source.as_ref()?;
                let collected = |n: &&usize| self.is_collected(**n) && is_meant(n);
                uses.iter().find(collected).copied()
            })
    }

    /// A scheduler's document goes to the closed use with the end that it states, else to the newest use
    /// if that expired; not if it states a start after the close.
    fn charged_long_after(&self, charge: &Charge, uses: &[usize]) -> Option<usize> {
        let facts = &charge.request.facts;
        let fits = |n: &usize| {
            let closed = self.instances[*n].closed.unwrap();
            charge.is_checked && facts.start.is_none_or(|start| start <= closed)
        };
        let contains_end = |n: &&usize| {
            let i = &self.instances[**n];
            let began = i.began.map_or(i.opened, |began| began.min(i.opened));
            facts
                .end
                .is_some_and(|end| began < end && end <= i.closed.unwrap())
                && fits(n)
        };
        let newest = uses.first().copied();
        let expired = newest.filter(|n| {
            let i = &self.instances[*n];
            i.expired.is_some() && i.began.is_some() && fits(n)
        });
        uses.iter().find(contains_end).copied().or(expired)
    }
}
