//! The naive reference at work: reserve, charge and delete.

use super::naive::{Fit, GRACE, IDLE, Instance, Naive, UNBILLED};
use super::naive::{billable, is_fast, is_shadow, rounded, short, usable};
use super::reply::refused;
use super::script::{Then, WHO, job_id};
use bank_core::time::{Seconds, Timestamp};

impl Naive {
    fn uses(&self, who: usize, job: u8) -> Vec<usize> {
        let (machine, id) = (WHO[who].2, job_id(who, job));
        let all = self.instances.iter().enumerate().rev();
        let own = all.filter(|(_, i)| i.machine == machine && i.id == id);
        own.map(|(n, _)| n).take(4).collect()
    }

    fn new_instance(&mut self, who: usize, job: u8, at: Timestamp) -> usize {
        self.instances.push(Instance {
            machine: WHO[who].2,
            id: job_id(who, job),
            opened: at,
            closed: None,
            account: None,
            lien: None,
            halves: 0,
            billed: 0,
            due: at.plus(IDLE),
            lien_expired: false,
        });
        self.instances.len() - 1
    }

    pub(super) fn reserve(&mut self, who: usize, job: u8, halves: i64, seconds: i64) -> String {
        let before = self.clone();
        let answer = self.place(who, job, rounded(halves), seconds);
        if answer.starts_with("refused") {
            *self = before;
        }
        answer
    }

    fn place(&mut self, who: usize, job: u8, cost: i64, seconds: i64) -> String {
        let newest = self.uses(who, job).first().copied();
        let open = newest.filter(|n| self.instances[*n].closed.is_none());
        let n = open.unwrap_or_else(|| self.new_instance(who, job, self.now));
        let shadow = is_shadow(who);
        self.release(n, shadow);
        self.instances[n].due = self.now.plus(IDLE);
        self.instances[n].lien_expired = false;
        let fits = match usable(who) {
            Err(code) => return refused(code),
            Ok(_) if is_fast(who) && self.x_is_blocked => return refused("account_blocked"),
            Ok(fits) => fits,
        };
        let order = self.order(&fits, self.now);
        if cost == 0 || is_fast(who) {
            if !shadow {
                let first = order.first().map(|id| self.allocations[*id].account);
                self.instances[n].account = Some(first.unwrap_or(fits[0].0));
            }
            return "lien 0".to_owned();
        }
        let mut left = cost;
        let mut parts = Vec::new();
        for id in &order {
            let take = self.free(*id, shadow).max(0).min(left);
            if take > 0 {
                parts.push((*id, take));
                left -= take;
            }
        }
        let is_short = left > 0;
        if is_short && !shadow {
            return short(cost, self.available(&fits, false));
        }
        if is_short {
            parts = order.first().map(|id| (*id, cost)).into_iter().collect();
        }
        let mut text = if shadow && !parts.is_empty() {
            format!("lien 0, shadow {cost}")
        } else {
            format!("lien {}", if shadow { 0 } else { cost })
        };
        let end = self.now.plus(Seconds(seconds)).plus(GRACE);
        let outlives =
            |(id, _): &(usize, i64)| self.allocations[*id].window.end.is_some_and(|e| e < end);
        if parts.iter().any(outlives) {
            text += ", outlives_allocation";
        }
        if is_short {
            text += ", would_refuse insufficient_funds";
        }
        self.hold(n, parts, end, shadow);
        text
    }

    fn hold(&mut self, n: usize, parts: Vec<(usize, i64)>, end: Timestamp, shadow: bool) {
        let Some((first, _)) = parts.first() else {
            return;
        };
        self.instances[n].account = Some(self.allocations[*first].account);
        for (id, part) in &parts {
            let held = if shadow { [0, *part] } else { [*part, 0] };
            self.enter(*id, |e| [e.held, e.shadow_held] = held);
        }
        self.instances[n].lien = Some(parts);
        self.instances[n].due = end;
    }

    /// The use that was open then, else the newest closed at most the grace before, else the one
    /// that is open now: usage from before its first document is still its own.
    fn charged(&self, who: usize, job: u8, at: Timestamp) -> Option<usize> {
        let uses = self.uses(who, job);
        let i = |n: &usize| &self.instances[*n];
        let then = uses
            .iter()
            .find(|n| i(n).opened <= at && i(n).closed.is_none_or(|c| at < c));
        let within = |n: &&usize| i(n).closed.is_some_and(|c| c <= at && at <= c.plus(GRACE));
        let now = || uses.iter().find(|n| i(n).closed.is_none());
        then.or_else(|| uses.iter().find(within))
            .or_else(now)
            .copied()
    }

    pub(super) fn charge(
        &mut self,
        who: usize,
        job: u8,
        halves: i64,
        then: Then,
        at: Timestamp,
    ) -> String {
        let known = self.charged(who, job, at);
        let n = known.unwrap_or_else(|| self.new_instance(who, job, at));
        let late = self.instances[n].closed.is_some();
        let shadow = is_shadow(who);
        self.instances[n].halves += halves;
        let amount = rounded(self.instances[n].halves) - self.instances[n].billed;
        self.instances[n].billed += amount;
        let (first, debt) = if shadow {
            (self.debit_shadow(who, n, amount, at), 0)
        } else {
            self.debit(who, n, amount, at)
        };
        let paying = first.map(|id| self.allocations[id].account);
        if then != Then::Stays {
            self.release(n, shadow);
        }
        if !late {
            let instance = &mut self.instances[n];
            if then == Then::Closes {
                instance.closed = Some(at.max(instance.opened));
            } else if instance.lien.is_none() && !instance.lien_expired {
                instance.due = at.plus(IDLE);
            }
        }
        let unbilled = paying == Some(UNBILLED);
        if !shadow && !unbilled && self.instances[n].account.is_none() {
            self.instances[n].account = paying;
        }
        if is_fast(who) && self.active_of(5) < 0 {
            self.x_is_blocked = true;
        }
        let said = if WHO[who].1 == "T" { 0 } else { amount };
        let owed = (debt > 0).then(|| format!("debt {debt}"));
        let said = [
            Some(format!("charged {said}")),
            owed,
            unbilled.then(|| "unbilled".to_owned()),
            shadow.then(|| "shadow".to_owned()),
            late.then(|| "late".to_owned()),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        let balance = paying.map_or(0, |account| self.balance_of(account));
        format!("{}, balance {balance}", said.join(", "))
    }

    /// Own lien, then free money, then debt; the suspense account where there is nobody. Gives
    /// the first allocation and the debt.
    fn debit(&mut self, who: usize, n: usize, amount: i64, at: Timestamp) -> (Option<usize>, i64) {
        let mut left = amount;
        let mut first = self.instances[n].lien.as_ref().map(|l| l[0].0);
        let mut paid_by_lien = None;
        let mut lien = self.instances[n].lien.take();
        for (id, part) in lien.iter_mut().flatten() {
            let take = left.min(*part);
            if take > 0 {
                *part -= take;
                left -= take;
                paid_by_lien = paid_by_lien.or(Some(*id));
                self.enter(*id, |e| (e.amount, e.held) = (-take, -take));
            }
        }
        self.instances[n].lien = lien;
        first = paid_by_lien.or(first);
        let own: Vec<Fit> = self.instances[n]
            .account
            .map(|a| (a, [1; 3]))
            .into_iter()
            .collect();
        let mut order = self.order(&own, at);
        order.extend(self.order(&billable(who), at));
        let mut paid = None;
        for id in &order {
            let take = self.free(*id, false).max(0).min(left);
            if take > 0 {
                left -= take;
                paid = paid.or(Some(*id));
                self.enter(*id, |e| e.amount = -take);
            }
        }
        self.money -= amount;
        let first = paid_by_lien.or(paid).or(first).or(order.first().copied());
        let Some(first) = first else {
            self.enter(0, |e| e.amount = -amount);
            return (Some(0), 0);
        };
        self.enter(first, |e| e.amount = -left);
        (Some(first), left)
    }

    /// Own shadow lien; the rest on its first part, else on the first allocation in order.
    fn debit_shadow(&mut self, who: usize, n: usize, amount: i64, at: Timestamp) -> Option<usize> {
        let mut left = amount;
        let mut first = None;
        let mut lien = self.instances[n].lien.take();
        for (id, part) in lien.iter_mut().flatten() {
            let take = left.min(*part);
            *part -= take;
            left -= take;
            first = first.or(Some(*id));
            self.enter(*id, |e| (e.shadow, e.shadow_held) = (-take, -take));
        }
        self.instances[n].lien = lien;
        let first = first.or_else(|| self.order(&billable(who), at).first().copied());
        if let Some(id) = first {
            self.enter(id, |e| e.shadow = -left);
        }
        first
    }

    pub(super) fn delete(&mut self, who: usize, job: u8) -> String {
        let uses = self.uses(who, job);
        let Some(n) = uses
            .into_iter()
            .find(|n| self.instances[*n].closed.is_none())
        else {
            return "nothing open".to_owned();
        };
        let shadow = is_shadow(who);
        let released = self.release(n, shadow);
        self.instances[n].closed = Some(self.now.max(self.instances[n].opened));
        format!("closed, released {}", if shadow { 0 } else { released })
    }
}
