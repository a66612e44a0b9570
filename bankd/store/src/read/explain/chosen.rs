//! Compares the amounts taken with the payment order: the reason why each allocation paid, or did
//! not.

use bank_core::effects::EntryKind;
use bank_core::ids::{AccountId, AllocationId};
use bank_core::model::{Account, Allocation};
use bank_core::select::{self, Candidate};
use bank_core::time::Timestamp;
use rusqlite::Connection;
use std::collections::BTreeSet;

use super::super::super::{Error, allocation};
use super::super::journal::Entry;
use super::super::past::{self, AsOf};
use super::inputs::{Inputs, Taken};
use super::{Step, Why};

impl Inputs<'_> {
    /// The considered allocations, and the reason why each paid or did not.
    pub(super) fn steps(&self, connection: &Connection, before: AsOf) -> Result<Vec<Step>, Error> {
        let mut candidates: Vec<Candidate> = if self.billed {
            select::billable(self.then, &self.payer)
        } else {
            let user = self.payer.user.and_then(|id| self.then.user(id));
            let user = user.map_or("", |u| u.name.as_str());
            select::candidates(self.then, &self.payer, user).unwrap_or_default()
        };
        if let Some(leaving) = &self.leaving {
            candidates.retain(|c| !leaving.takes_all_of(c.account));
        }
        let taken = self.taken();
        let mut accounts: Vec<AccountId> = candidates.iter().map(|c| c.account).collect();
        accounts.extend(self.own.map(|c| c.account));
        accounts.extend(taken.iter().map(|t| t.account));
        accounts.sort_unstable();
        accounts.dedup();
        let mut standing: Vec<Allocation> = Vec::new();
        for account in &accounts {
            let then = past::allocations(connection, *account, before)?;
            standing.extend(then.into_iter().map(|(allocation, _)| allocation));
        }
        let came = if self.is_in_time() {
            self.came_after(connection, &standing)?
        } else {
            Vec::new()
        };
        if let Some(leaving) = &self.leaving {
            standing.retain(|a| !leaving.takes(a.id, a.account));
        }
        // Where the account that the job had then is not written down: of those that it can have been,
        // the first that leaves the least untold.
        let mut owns: Vec<Option<Candidate>> = vec![self.own];
        if self.is_guessed && self.own.is_some() {
            let paid = taken.iter().filter_map(|t| self.then.account(t.account));
            owns.extend(paid.map(|account| Some(Candidate::only(account))));
            owns.push(None);
        }
        let listed = owns
            .into_iter()
            .map(|own| self.steps_with(own, &candidates, (&standing, &came), &taken));
        let unrecorded =
            |steps: &Vec<Step>| steps.iter().filter(|s| s.why == Why::Unrecorded).count();
        Ok(listed.min_by_key(unrecorded).unwrap_or_default())
    }

    /// Money that allocations without a start received after the usage: it does not pay for the
    /// usage.
    fn came_after(
        &self,
        connection: &Connection,
        standing: &[Allocation],
    ) -> Result<Vec<(AllocationId, i64)>, Error> {
        let open = standing.iter().filter(|a| a.window.start.is_none());
        let came = |a: &Allocation| {
            let came = allocation::came_into(connection, a.id, self.at, self.tx)?;
            Ok((a.id, came.0))
        };
        open.map(came).collect()
    }

    /// The considered allocations, with an account of the job's own that pays before all others.
    fn steps_with(
        &self,
        own: Option<Candidate>,
        candidates: &[Candidate],
        (standing, came): (&[Allocation], &[(AllocationId, i64)]),
        taken: &[Taken],
    ) -> Vec<Step> {
        let mut candidates = candidates.to_vec();
        let own: Vec<Candidate> = own.into_iter().collect();
        let mut order = select::paying_order(&own, standing, self.at);
        let mut rest = select::paying_order(&candidates, standing, self.at);
        if self.billed && !self.holds() && rest.is_empty() {
            candidates = select::anybody(self.then, &self.payer);
            rest = select::paying_order(&candidates, standing, self.at);
        }
        rest.retain(|id| !order.contains(id));
        order.extend(rest);
        if self.billed && !self.holds() && !self.shadow {
            order = select::in_time(&order, standing, self.at, true);
        }
        for one in own {
            candidates.retain(|c| c.account != one.account);
            candidates.push(one);
        }
        let chosen = Chosen {
            inputs: self,
            candidates,
            standing: standing.to_vec(),
            came: came.to_vec(),
            taken: taken.to_vec(),
        };
        chosen.steps(&order)
    }
}

/// A choice with all that it was made of.
struct Chosen<'a> {
    inputs: &'a Inputs<'a>,
    candidates: Vec<Candidate>,
    standing: Vec<Allocation>,
    /// Money that arrived after the usage.
    came: Vec<(AllocationId, i64)>,
    taken: Vec<Taken>,
}

impl Chosen<'_> {
    /// The considered allocations: in payment order, then those that paid out of order, then those
    /// that did not match.
    fn steps(&self, order: &[AllocationId]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        // Which of them have a step: two of one allocation may be of one amount.
        let mut listed: BTreeSet<usize> = BTreeSet::new();
        let carries_all = self.lien_carries_all(order);
        for (n, taken) in self.taken.iter().enumerate() {
            if taken.from_lien > 0 || (carries_all && taken.whole > 0) {
                steps.push(self.step(taken.allocation, taken, Why::Lien));
                listed.insert(n);
            }
        }
        let beside = self.taken.iter().filter(|_| !carries_all);
        let mut left: i128 = beside.map(|t| t.whole - t.from_lien).sum();
        for id in order {
            let by_lien = steps.iter().find(|s| s.allocation == Some(*id));
            let turn = |(_, t): &(usize, &Taken)| {
                let kinds = [EntryKind::ChargeDebt, EntryKind::ChargeFallback];
                t.allocation == *id && !kinds.contains(&t.kind)
            };
            let took = self.taken.iter().enumerate().find(turn);
            left -= took.map_or(0, |(_, t)| t.whole - t.from_lien);
            if by_lien.is_some() {
                continue;
            }
            let step = match took {
                Some((_, took)) if took.whole > 0 => Some(self.step(*id, took, Why::Turn)),
                _ => self.passed(*id, left),
            };
            if let (Some(step), took) = (step, took) {
                steps.push(step);
                listed.extend(took.map(|(n, _)| n));
            }
        }
        for (n, taken) in self.taken.iter().enumerate() {
            if listed.contains(&n) {
                continue;
            }
            let why = match taken.kind {
                EntryKind::ChargeDebt => Why::Debt,
                EntryKind::ChargeFallback => Why::Fallback,
                _ if order.contains(&taken.allocation) => Why::Turn,
                // A used-up lien, or one on allocations that cannot pay now, still has a position.
                _ if taken.by_lien => Why::Lien,
                _ if self.inputs.holds() && self.is_suspense(taken.account) => Why::Suspense,
                _ if self.steps_in(taken.account) => Why::Fallback,
                _ => Why::Unrecorded,
            };
            let mut step = self.step(taken.allocation, taken, why);
            if step.why == Why::Debt {
                // Its money is taken by then.
                let own = steps.iter().filter(|s| s.allocation == step.allocation);
                let given: i128 = own.map(|s| s.taken - s.from_lien).sum();
                step.free = (step.free - given).max(0);
            }
            steps.push(step);
        }
        self.without_window(&mut steps);
        for (id, account) in self.inputs.leaving.iter().flat_map(|l| &l.going) {
            steps.insert(0, nothing(*account, Some(*id), None, Why::Removed));
        }
        let unfit = select::unfit(self.inputs.then, &self.inputs.payer, self.inputs.billed);
        for (account, list) in unfit {
            if steps.iter().all(|s| s.account != account) {
                let why = list.map_or(Why::NotNamed, Why::List);
                steps.push(nothing(account, None, None, why));
            }
        }
        steps
    }

    /// Whether the allocations of the lien carry the whole of a shadow charge, also the part that the lien
    /// did not hold.
    fn lien_carries_all(&self, order: &[AllocationId]) -> bool {
        let by_lien = |t: &Taken| {
            t.by_lien && (t.from_lien > 0 || order.first().is_some_and(|id| *id != t.allocation))
        };
        self.inputs.shadow && self.inputs.billed && self.taken.iter().any(by_lien)
    }

    /// Whether an account is the fallback of one that was looked at.
    fn steps_in(&self, account: AccountId) -> bool {
        let then = self.inputs.then;
        let machine = self.inputs.payer.machine;
        let fallback = |c: &Candidate| then.fallback_of(then.account(c.account)?, machine);
        let mut found = self.candidates.iter().filter_map(fallback);
        found.any(|fallback| fallback.id == account)
    }

    fn is_suspense(&self, account: AccountId) -> bool {
        let suspense = self.inputs.then.suspense();
        suspense.is_some_and(|suspense| suspense.id == account)
    }

    fn candidate(&self, account: AccountId) -> Option<Candidate> {
        let mut candidates = self.candidates.iter();
        candidates.find(|c| c.account == account).copied()
    }

    /// The amount that an allocation could pay: zero if it was created after the usage, and without
    /// money that arrived after the usage.
    fn free(&self, id: AllocationId) -> i128 {
        if self.is_later(id) {
            return 0;
        }
        let came = self.came.iter().find(|(own, _)| *own == id);
        let came = came.map_or(0, |(_, came)| i128::from(*came));
        (self.free_at_all(id) - came).max(0)
    }

    /// Whether an allocation was created after the usage, so that it does not pay.
    fn is_later(&self, id: AllocationId) -> bool {
        let found = self.standing.iter().find(|a| a.id == id);
        self.inputs.is_in_time() && found.is_some_and(|a| a.is_later_than(self.inputs.at))
    }

    /// The free amount of an allocation, regardless of arrival time.
    fn free_at_all(&self, id: AllocationId) -> i128 {
        let shadow = self.inputs.shadow;
        let found = self.standing.iter().find(|a| a.id == id);
        let before = found.map_or(0, |a| a.free(shadow));
        let earlier = self.inputs.earlier.iter();
        let earlier = earlier.filter(|e| e.allocation == Some(id.0));
        let real = |e: &Entry| i128::from(e.delta_amount) - i128::from(e.delta_held);
        let also = |e: &Entry| i128::from(e.delta_shadow) - i128::from(e.delta_shadow_held);
        let given: i128 = earlier
            .map(|e| real(e) + if shadow { also(e) } else { 0 })
            .sum();
        before + given
    }

    fn step(&self, id: AllocationId, taken: &Taken, why: Why) -> Step {
        Step {
            lien: None,
            account: taken.account,
            allocation: Some(id),
            candidate: self.candidate(taken.account),
            free: self.free(id),
            taken: taken.whole,
            from_lien: taken.from_lien,
            why,
        }
    }

    /// The reason why an allocation paid nothing, with its turn at a remaining amount.
    fn passed(&self, id: AllocationId, left: i128) -> Option<Step> {
        let allocation = self.standing.iter().find(|a| a.id == id)?;
        let account = self.inputs.then.account(allocation.account);
        let free = self.free(id);
        let is = |test: fn(&Account) -> bool| account.is_some_and(test);
        let ends = |until: Timestamp| allocation.window.end.is_some_and(|end| end < until);
        let why = if !self.inputs.billed && !self.inputs.shadow && is(|a| a.blocked) {
            Why::Blocked
        } else if self.inputs.until.is_some_and(ends) {
            Why::EndsBefore
        } else if left <= 0 {
            Why::NotNeeded
        } else if free <= 0 && self.free_at_all(id) > 0 {
            Why::CameAfter
        } else if free <= 0 {
            Why::NoMoney
        } else if is(|a| a.discrete) {
            Why::Indivisible
        } else if self.taken.iter().any(|taken| self.steps_in(taken.account)) {
            Why::TooLittle
        } else {
            Why::Unrecorded
        };
        Some(Step {
            lien: None,
            account: allocation.account,
            allocation: Some(id),
            candidate: self.candidate(allocation.account),
            free,
            taken: 0,
            from_lien: 0,
            why,
        })
    }

    fn without_window(&self, steps: &mut Vec<Step>) {
        for candidate in &self.candidates {
            if steps.iter().all(|s| s.account != candidate.account) {
                let why = Why::NoWindow;
                steps.push(nothing(candidate.account, None, Some(*candidate), why));
            }
        }
    }
}

fn nothing(
    account: AccountId,
    allocation: Option<AllocationId>,
    candidate: Option<Candidate>,
    why: Why,
) -> Step {
    Step {
        lien: None,
        account,
        allocation,
        candidate,
        free: 0,
        taken: 0,
        from_lien: 0,
        why,
    }
}
