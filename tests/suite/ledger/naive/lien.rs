//! Liens: laid on allocations, ended, moved in time by hand (ledger.md 2.7).

use super::journal::Entry;
use super::money::{short, take};
use super::who::Fit;
use super::{Answer, Facts, Instance, Lien, Naive};
use crate::ledger::fixture::show_time;
use crate::ledger::reply::refused;
use bank_core::command::{ExtendLien, Whose};
use bank_core::directory::FallbackMode;
use bank_core::time::Timestamp;

/// What a lien is priced for a second time, where a fallback account pays.
pub(super) struct Again {
    pub(super) seconds: i64,
    pub(super) at: Timestamp,
    pub(super) is_given: bool,
    /// What the older lien held, where the new one comes on top of it.
    pub(super) kept: i64,
}

/// A lien to be placed for an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) n: usize,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) cost: i64,
}

impl Naive {
    /// How an amount lies on what is free, in order; or how much could.
    pub(super) fn lay(
        &self,
        fits: &[Fit],
        start: Timestamp,
        end: Timestamp,
        amount: i64,
        in_shadow: bool,
    ) -> Result<Vec<(usize, i64)>, i64> {
        let mut there = Vec::new();
        for id in self.order(fits, start) {
            let ends = self.allocations[id].window.end;
            if !self.policy.require_cover || ends.is_none_or(|e| e >= end) {
                there.push((id, self.free(id, in_shadow).max(0)));
            }
        }
        let is_discrete = |id: usize| self.accounts[self.allocations[id].account].is_discrete;
        if !there.iter().any(|(id, _)| is_discrete(*id)) {
            return take(&there, amount);
        }
        // One of a discrete account takes all that is left to place, or nothing (note 0013).
        let try_out = |amount: i64| {
            let (mut left, mut parts) = (amount, Vec::new());
            for (id, free) in &there {
                let part = left.min(*free);
                if part > 0 && (part == left || !is_discrete(*id)) {
                    parts.push((*id, part));
                    left -= part;
                }
            }
            (left == 0).then_some(parts)
        };
        let all: i64 = there.iter().map(|(_, free)| free).sum();
        let most = || (0..=all).rev().find(|n| try_out(*n).is_some()).unwrap_or(0);
        try_out(amount).ok_or_else(most)
    }

    /// The most that a lien could have of these accounts.
    pub(super) fn reach(
        &self,
        fits: &[Fit],
        at: Timestamp,
        until: Timestamp,
        in_shadow: bool,
    ) -> i64 {
        let without_end = i64::MAX / 2;
        let laid = self.lay(fits, at, until, without_end, in_shadow);
        laid.expect_err("nobody has that much")
    }

    /// Holds parts for an instance; says whether an allocation ends before the lien does.
    pub(super) fn hold(
        &mut self,
        placed: &Placed,
        parts: Vec<(usize, i64)>,
        is_shadow: bool,
    ) -> &'static str {
        let Some((first, _)) = parts.first().copied() else {
            return "";
        };
        let outlives = self.outlives(&parts, placed.end);
        self.instances[placed.n].account = Some(self.allocations[first].account);
        self.add_lien(Lien {
            instance: placed.n,
            state: "open",
            start: placed.start,
            end: placed.end,
            is_shadow,
            portions: parts,
            lapsed: 0,
        });
        outlives
    }

    fn outlives(&self, parts: &[(usize, i64)], end: Timestamp) -> &'static str {
        let ends = |(id, _): &(usize, i64)| self.allocations[*id].window.end;
        if parts.iter().filter_map(ends).any(|e| e < end) {
            return ", outlives_allocation";
        }
        ""
    }

    pub(super) fn add_lien(&mut self, lien: Lien) {
        let (n, number) = (lien.instance, self.liens.len());
        self.enter_portions("lien", number, &lien.portions, lien.is_shadow, 1);
        self.instances[n].lien = Some(number);
        self.liens.push(lien);
    }

    pub(super) fn enter_portions(
        &mut self,
        kind: &'static str,
        lien: usize,
        portions: &[(usize, i64)],
        is_shadow: bool,
        sign: i64,
    ) {
        for (allocation, part) in portions {
            let mut entry = Entry {
                kind,
                allocation: *allocation,
                lien: Some(lien),
                ..Entry::default()
            };
            let held = if is_shadow {
                &mut entry.shadow_held
            } else {
                &mut entry.held
            };
            *held = sign * part;
            self.enter(entry);
        }
    }

    pub(super) fn left_of(&self, lien: usize) -> i64 {
        self.liens[lien].portions.iter().map(|(_, left)| left).sum()
    }

    /// Ends the lien of an instance, if it has one; says what real money it gives back.
    pub(super) fn end_lien(&mut self, n: usize, state: &'static str) -> i64 {
        let Some(number) = self.instances[n].lien.take() else {
            return 0;
        };
        let left = self.left_of(number);
        let lien = &mut self.liens[number];
        lien.state = state;
        lien.lapsed = if state == "expired" { left } else { 0 };
        let (portions, is_shadow) = (std::mem::take(&mut lien.portions), lien.is_shadow);
        let kind = match state {
            "expired" => "lien_expire",
            "replaced" => "lien_replace",
            _ => "lien_release",
        };
        self.enter_portions(kind, number, &portions, is_shadow, -1);
        if is_shadow { 0 } else { left }
    }

    fn lien(&self, number: i64) -> Result<usize, String> {
        let at = usize::try_from(number - 1).ok();
        at.filter(|at| *at < self.liens.len())
            .ok_or_else(|| refused("not_found"))
    }

    /// Moves the end of an open lien; an expired one holds again, if there is money.
    pub(super) fn extend(&mut self, extend: &ExtendLien) -> Answer {
        let number = self.lien(extend.lien.0)?;
        if extend.end <= self.now {
            return Err(refused("window_in_past"));
        }
        let lien = self.liens[number].clone();
        let n = lien.instance;
        let instance = &self.instances[n];
        let is_waiting = instance.closed.is_none() && instance.lien.is_none();
        self.begin("lien_extend", self.now);
        let mut revived = "";
        match lien.state {
            "open" => {}
            "expired" if is_waiting => {
                self.revive(number, extend.end)?;
                revived = ", revived";
            }
            _ => return Err(refused("lien_ended")),
        }
        if lien.start >= extend.end {
            return Err(refused("bad_window"));
        }
        self.liens[number].end = extend.end;
        let instance = &mut self.instances[n];
        instance.lien_expired = false;
        instance.due = Some(extend.end);
        let outlives = self.outlives(&self.liens[number].portions, extend.end);
        let (left, end) = (self.left_of(number), show_time(extend.end));
        Ok(format!("lien {left} until {end}{revived}{outlives}"))
    }

    fn revive(&mut self, number: usize, end: Timestamp) -> Result<(), String> {
        let lien = self.liens[number].clone();
        let (n, cost) = (lien.instance, lien.lapsed);
        let instance = &self.instances[n];
        let mut fits = match (instance.fallback_from, instance.account) {
            (Some(_), Some(account)) => vec![Fit::only(account)],
            _ => self.usable(&self.whose_is(n), &self.instances[n].facts)?,
        };
        if !lien.is_shadow {
            fits = self.unblocked(fits)?;
        }
        let start = lien.start.max(self.now);
        let portions = match self.lay(&fits, start, end, cost, lien.is_shadow) {
            Ok(portions) => portions,
            Err(available) if !lien.is_shadow => return Err(short(cost, available)),
            Err(_) => {
                let first = self.order(&fits, start).first().copied();
                first.map(|id| (id, cost)).into_iter().collect()
            }
        };
        self.enter_portions("lien", number, &portions, lien.is_shadow, 1);
        let first = portions
            .first()
            .map(|(id, _)| self.allocations[*id].account);
        let instance = &mut self.instances[n];
        instance.account = first.or(instance.account);
        instance.lien = Some(number);
        let lien = &mut self.liens[number];
        (lien.state, lien.lapsed, lien.portions) = ("open", 0, portions);
        Ok(())
    }

    /// Whom an instance's own facts name.
    pub(super) fn whose_is(&self, n: usize) -> Whose {
        let Instance { machine, facts, .. } = &self.instances[n];
        let Facts { project, user, .. } = facts;
        Whose {
            project: Some(project.clone()),
            user: Some(user.clone()).filter(|user| !user.is_empty()),
            machine: machine.clone(),
            ..Whose::default()
        }
    }

    pub(super) fn release(&mut self, number: i64) -> Answer {
        let number = self.lien(number)?;
        if self.liens[number].state != "open" {
            return Err(refused("lien_ended"));
        }
        let n = self.liens[number].instance;
        self.begin("lien_rm", self.now);
        let released = self.end_lien(n, "released");
        self.instances[n].due = None;
        self.wait(n, self.now, self.policy.idle);
        Ok(format!("lien released, gave back {released}"))
    }
}

impl Naive {
    /// The shadow lien on the fallback account, if the bank decides that it pays and it can.
    pub(super) fn on_fallback(
        &mut self,
        placed: &Placed,
        again: &Again,
        first: Option<usize>,
    ) -> Option<String> {
        let Placed { n, start, end, .. } = *placed;
        let machine = self.instances[n].machine.clone();
        let fallback = first.and_then(|f| self.fallback_of(f, Some(&machine)));
        let fallback = fallback.filter(|_| self.policy.fallback == FallbackMode::Bank)?;
        let (from, account) = (self.instances[n].fallback_from, self.instances[n].account);
        self.instances[n].fallback_from = first;
        let mut cost = placed.cost;
        if !again.is_given {
            cost = self.cost(n, again.seconds, again.at) + again.kept;
        }
        if cost == 0 {
            self.instances[n].account = Some(fallback);
            return Some("lien 0, fallback".to_owned());
        }
        let only = self.unblocked(vec![Fit::only(fallback)]).ok();
        let parts = only.and_then(|only| self.lay(&only, start, end, cost, true).ok());
        let Some(parts) = parts else {
            (self.instances[n].fallback_from, self.instances[n].account) = (from, account);
            return None;
        };
        let outlives = self.hold(&Placed { cost, ..*placed }, parts, true);
        Some(format!("lien 0, shadow {cost}, fallback{outlives}"))
    }
}
