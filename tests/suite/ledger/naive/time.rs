//! What time does by itself: liens expire, instances close, cycles bring money, windows begin and
//! end; each boundary is a transaction of its own, effective when it was due.

use super::journal::Entry;
use super::money::of_people;
use super::{Answer, Cycle, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::{AddCycle, SetCycle};
use bank_core::model::{Every, Phase};
use bank_core::time::{MICROS, Timestamp, Window};
use chrono::{DateTime, Datelike, Months, NaiveDate, Utc};

/// What is due, in the order in which it is done at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Instance(usize),
    Cycle(usize),
    Window(usize),
}

impl Naive {
    /// Does all that is due by now, the earliest first.
    pub(super) fn settle(&mut self) {
        // What a site does not let happen waits, and with it what comes after it.
        let mut stuck = Vec::new();
        while let Some((at, due)) = self.next_due(&stuck) {
            match due {
                Due::Instance(n) => self.instance_is_due(n, at),
                Due::Cycle(n) if self.is_stuck(n) => stuck.push(due),
                Due::Cycle(n) => self.run(n),
                Due::Window(id) => self.cross(id, at),
            }
        }
    }

    fn is_stuck(&self, n: usize) -> bool {
        let cycle = &self.cycles[n];
        let alone = self.check_alone(cycle.account, &cycle.period(), None);
        alone.is_err()
    }

    fn next_due(&self, stuck: &[Due]) -> Option<(Timestamp, Due)> {
        let mut all: Vec<(Timestamp, Due)> = Vec::new();
        for (n, instance) in self.instances.iter().enumerate() {
            all.extend(instance.due.map(|at| (at, Due::Instance(n))));
        }
        for (n, cycle) in self.cycles.iter().enumerate() {
            if cycle.is_active && !cycle.is_gone {
                all.push((cycle.boundary(cycle.number), Due::Cycle(n)));
            }
        }
        for (id, allocation) in self.allocations.iter().enumerate() {
            let boundary = match allocation.phase {
                Phase::Future => allocation.window.start,
                Phase::Active => allocation.window.end,
                Phase::Expired => None,
            };
            all.extend(boundary.map(|at| (at, Due::Window(id))));
        }
        all.retain(|(at, due)| *at <= self.now && !stuck.contains(due));
        all.into_iter().min()
    }

    /// A lien expires; an instance without one closes.
    fn instance_is_due(&mut self, n: usize, at: Timestamp) {
        self.begin("boundary", at);
        if self.instances[n].lien.is_some() {
            self.end_lien(n, "expired");
            self.instances[n].lien_expired = true;
            // One that was ended waited for a record, and is closed.
            let is_open = self.instances[n].closed.is_none();
            self.instances[n].due = is_open.then(|| at.plus(self.policy.close_grace));
        } else {
            self.instances[n].closed = Some(at);
            self.instances[n].expired = Some(at);
            self.instances[n].due = None;
        }
    }

    /// The boundaries of an allocation that have passed.
    pub(super) fn catch_up(&mut self, id: usize) {
        let next = |own: &Self| match own.allocations[id].phase {
            Phase::Future => own.allocations[id].window.start,
            Phase::Active => own.allocations[id].window.end,
            Phase::Expired => None,
        };
        while let Some(at) = next(self).filter(|at| *at <= self.now) {
            self.cross(id, at);
        }
    }

    fn cross(&mut self, id: usize, at: Timestamp) {
        let to = match self.allocations[id].phase {
            Phase::Future => Phase::Active,
            _ => Phase::Expired,
        };
        self.become_phase(id, to, at);
    }

    /// An allocation begins or ceases to be active: its amount is active money, or no more.
    pub(super) fn become_phase(&mut self, id: usize, to: Phase, at: Timestamp) {
        let from = std::mem::replace(&mut self.allocations[id].phase, to);
        if from != to && (from, to) != (Phase::Active, Phase::Expired) {
            self.allocations[id].since = at;
        }
        let (kind, sign) = match (from, to) {
            (Phase::Active, Phase::Active) => return,
            (_, Phase::Active) => ("activate", 1),
            (Phase::Active, _) => ("expire", -1),
            _ => return,
        };
        let active = sign * self.amount(id);
        self.begin("boundary", at);
        self.enter(Entry {
            kind,
            allocation: id,
            active,
            ..Entry::default()
        });
    }

    /// One period of a cycle: new money, and the share of what is free of the one before.
    fn run(&mut self, n: usize) {
        let cycle = self.cycles[n].clone();
        let at = cycle.boundary(cycle.number);
        let window = cycle.period();
        let lasts = |id: &usize| self.allocations[*id].window.end.is_none_or(|end| end >= at);
        let before = cycle.last.filter(lasts);
        let share = before.map_or(0, |id| self.own_money(id) * cycle.rollover / 100);
        let id = self.open_allocation(cycle.account, window, 0);
        // It begins now, however late it is.
        self.allocations[id].phase = Phase::Active;
        (self.allocations[id].opened, self.allocations[id].since) = (at, at);
        self.allocations[id].deposited = cycle.amount + share;
        self.begin("cycle", at);
        self.move_amount("deposit", id, cycle.amount);
        if let Some(before) = before.filter(|_| share > 0) {
            let was_active = self.allocations[before].phase == Phase::Active;
            self.enter(Entry {
                kind: "cycle_reset",
                allocation: before,
                amount: -share,
                active: if was_active { -share } else { 0 },
                ..Entry::default()
            });
            self.move_amount("cycle_reset", id, share);
        }
        self.unblock(cycle.account);
        self.cycles[n].number += 1;
        self.cycles[n].last = Some(id);
    }

    /// A flag goes when the journal, as it stands, says that the account is not below zero.
    /// Not the suspense account: it has nothing else.
    pub(super) fn block(&mut self, account: usize) {
        let is_blocked = self.accounts[account].is_blocked;
        if account != UNBILLED && !is_blocked && self.figures(account)[0] < 0 {
            self.accounts[account].is_blocked = true;
            self.tx().changed_block = true;
        }
    }

    pub(super) fn unblock(&mut self, account: usize) {
        let own = self.of_account(account).into_iter();
        let active = own.filter(|id| self.allocations[*id].phase == Phase::Active);
        let sum: i64 = active.map(|id| self.amount(id)).sum();
        if sum >= 0 && self.accounts[account].is_blocked {
            self.accounts[account].is_blocked = false;
            self.tx().changed_block = true;
        }
    }

    pub(super) fn add_cycle(&mut self, add: &AddCycle) -> Answer {
        if self.cycle(&add.name).is_ok() {
            return Err(refused("already_exists"));
        }
        let account = self.account_or_project(&add.account)?;
        of_people(account)?;
        if add.amount.0 <= 0 {
            return Err(refused("bad_amount"));
        }
        if !(0..=100).contains(&add.rollover) {
            return Err(refused("bad_value"));
        }
        let cycle = Cycle {
            name: add.name.clone(),
            account,
            months: months(add.every),
            amount: add.amount.0,
            rollover: add.rollover,
            start: add
                .start
                .unwrap_or_else(|| next_period(add.every, self.now)),
            number: 0,
            last: None,
            is_active: true,
            is_gone: false,
        };
        if cycle.boundary(1) <= self.now {
            return Err(refused("window_in_past"));
        }
        self.check_alone(account, &cycle.period(), None)?;
        // A cycle that was removed gives its number to the one of its name.
        match self.cycles.iter().position(|c| c.name == add.name) {
            Some(known) => self.cycles[known] = cycle,
            None => self.cycles.push(cycle),
        }
        self.begin("cycle_add", self.now);
        Ok("done".to_owned())
    }

    pub(super) fn set_cycle(&mut self, set: &SetCycle) -> Answer {
        let n = self.cycle(&set.name)?;
        let now = self.now;
        let before = self.cycles[n].clone();
        let cycle = &mut self.cycles[n];
        if let Some(every) = set.every.filter(|every| months(*every) != cycle.months) {
            cycle.start = cycle.boundary(cycle.number);
            (cycle.number, cycle.months) = (0, months(every));
        }
        if let Some(amount) = set.amount {
            if amount.0 <= 0 {
                return Err(refused("bad_amount"));
            }
            cycle.amount = amount.0;
        }
        if let Some(rollover) = set.rollover {
            if !(0..=100).contains(&rollover) {
                return Err(refused("bad_value"));
            }
            cycle.rollover = rollover;
        }
        if let Some(active) = set.active {
            // What passed while it was off is left out.
            while active && !cycle.is_active && cycle.boundary(cycle.number) <= now {
                cycle.number += 1;
                cycle.last = None;
            }
            cycle.is_active = active;
        }
        if self.cycles[n] != before {
            self.begin("cycle_set", self.now);
        }
        Ok("done".to_owned())
    }

    pub(super) fn remove_cycle(&mut self, name: &str) -> Answer {
        let n = self.cycle(name)?;
        self.cycles[n].is_gone = true;
        self.begin("cycle_rm", self.now);
        Ok("removed".to_owned())
    }

    /// On demand only what is due, and time has done all of that.
    pub(super) fn run_cycle(&mut self, name: &str) -> Answer {
        self.cycle(name)?;
        Err(refused("cycle_not_due"))
    }

    fn cycle(&self, name: &str) -> Result<usize, String> {
        let found = self
            .cycles
            .iter()
            .position(|c| c.name == name && !c.is_gone);
        found.ok_or_else(|| refused("not_found"))
    }

    pub(super) fn has_cycle(&self, account: usize) -> bool {
        let mut there = self.cycles.iter().filter(|c| !c.is_gone);
        there.any(|c| c.account == account)
    }

    pub(super) fn confirm_clock(&mut self, shown: Timestamp) -> Answer {
        if shown <= self.now {
            return Err(refused("no_clock_jump"));
        }
        self.begin("clock_confirm", self.now);
        Ok("done".to_owned())
    }

    /// What was charged to an expired allocation is active money no more: it is corrected at the
    /// boundary, in a transaction of its own. A charge that is booked after the boundary and counts from before it, and one
    /// that gives money back, corrects it itself.
    pub(super) fn correct_expiries(&mut self, tx: usize, gives_back: bool, at: Timestamp) {
        let mut taken: Vec<(usize, i64)> = Vec::new();
        for entry in &self.journal[tx].entries {
            match taken.iter_mut().find(|(id, _)| *id == entry.allocation) {
                Some((_, sum)) => *sum += entry.active,
                None => taken.push((entry.allocation, entry.active)),
            }
        }
        let is_expired = |id: usize| self.allocations[id].phase == Phase::Expired;
        taken.retain(|(id, sum)| *sum != 0 && is_expired(*id));
        let booked = self.journal[tx].at;
        let is_between = |id: usize| {
            let end = self.allocations[id].window.end;
            end.is_some_and(|end| at < end && end <= booked)
        };
        let (at_once, later): (Vec<_>, Vec<_>) = taken
            .into_iter()
            .partition(|(id, _)| gives_back || is_between(*id));
        for (id, sum) in at_once {
            self.expire_again(id, -sum);
        }
        for (id, sum) in later {
            self.begin("boundary", self.allocations[id].window.end.unwrap());
            self.expire_again(id, -sum);
        }
    }

    fn expire_again(&mut self, allocation: usize, active: i64) {
        self.enter(Entry {
            kind: "expire",
            allocation,
            active,
            ..Entry::default()
        });
    }
}

impl Cycle {
    fn boundary(&self, number: u32) -> Timestamp {
        let start = DateTime::<Utc>::from_timestamp_micros(self.start.0).unwrap();
        let at = start.checked_add_months(Months::new(number * self.months));
        Timestamp(at.unwrap().timestamp_micros())
    }

    fn period(&self) -> Window {
        Window {
            start: Some(self.boundary(self.number)),
            end: Some(self.boundary(self.number + 1)),
        }
    }
}

fn months(every: Every) -> u32 {
    match every {
        Every::Month => 1,
        Every::Quarter => 3,
        Every::Year => 12,
    }
}

/// The first instant of the next calendar period.
fn next_period(every: Every, now: Timestamp) -> Timestamp {
    let today = DateTime::<Utc>::from_timestamp_micros(now.0).unwrap();
    let begun = today.month0() / months(every) * months(every);
    let first = NaiveDate::from_ymd_opt(today.year(), begun + 1, 1).unwrap();
    let next = first
        .checked_add_months(Months::new(months(every)))
        .unwrap();
    let days = next.signed_duration_since(NaiveDate::default()).num_days();
    Timestamp(days * 86_400 * MICROS)
}
