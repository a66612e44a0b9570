//! Deposit, withdraw, transfer, adjust, and changes of allocations (ledger.md 2.1 to 2.3, 2.10).

use super::{Answer, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::{Adjust, Deposit, SetAllocation, Transfer, Withdraw};
use bank_core::model::Phase;
use bank_core::time::{Timestamp, Window};

impl Naive {
    pub(super) fn deposit(&mut self, deposit: &Deposit) -> Answer {
        let account = self.account_or_project(&deposit.name)?;
        of_people(account)?;
        let (amount, window) = (deposit.amount.0, deposit.window);
        let limit = deposit.credit_limit.map_or(0, |l| l.0);
        let has_new_limit = limit > 0 && self.equal(account, window, limit).is_none();
        let is_change = deposit.always_new || has_new_limit;
        let is_nothing = amount == 0 && (deposit.credit_limit.is_none() || !is_change);
        if amount < 0 || limit < 0 || is_nothing {
            return Err(refused("bad_amount"));
        }
        if !is_proper(&window) {
            return Err(refused("bad_window"));
        }
        let named = match deposit.allocation {
            Some(_) if deposit.credit_limit.is_some() || deposit.always_new => {
                return Err(refused("bad_value"));
            }
            Some(_) if window != Window::ALWAYS => return Err(refused("bad_value")),
            Some(id) => Some(self.own_allocation(account, id.0)?),
            None => None,
        };
        let at = deposit.effective.unwrap_or(self.now);
        if at > self.now {
            return Err(refused("bad_value"));
        }
        if window.is_over(at) && !deposit.allow_past {
            return Err(refused("window_in_past"));
        }
        let is_alone = named.is_some() || deposit.credit_limit.is_some() || deposit.no_tree;
        let parts = if is_alone {
            vec![(account, amount)]
        } else {
            self.spread(account, amount)
        };
        let mut landing = Vec::new();
        for (account, part) in parts {
            let equal = || self.equal(account, window, limit);
            let known = named.or_else(|| (!deposit.always_new).then(equal).flatten());
            let id = if let Some(id) = known {
                let own = &self.allocations[id];
                if own.opened.max(own.since) > at {
                    return Err(refused("bad_value"));
                }
                id
            } else {
                let id = self.open_checked(account, window, limit)?;
                let own = &mut self.allocations[id];
                (own.opened, own.since) = (at, at);
                own.phase = Phase::of(&window, at);
                id
            };
            landing.push((id, part, known.is_none()));
        }
        self.begin("deposit", at);
        for (id, part, _) in &landing {
            self.move_by_hand("deposit", *id, *part);
            self.allocations[*id].deposited += *part;
        }
        let new = landing.iter().filter(|(_, _, is_new)| *is_new && limit > 0);
        let limits: Vec<(usize, i64, i64)> = new.map(|(id, ..)| (*id, 0, limit)).collect();
        self.tx().limits = limits;
        let mut answer = String::new();
        for (id, _, is_new) in landing {
            self.catch_up(id);
            self.unblock(self.allocations[id].account);
            let (new, deposited) = (
                if is_new { "new: " } else { "" },
                self.allocations[id].deposited,
            );
            answer = format!("{new}amount {}, deposited {deposited}", self.amount(id));
        }
        Ok(answer)
    }

    /// What a deposit brings to an account and to those below it: children by number, each before
    /// its parent; where the shares make 100 the last child takes the rest.
    fn spread(&self, account: usize, amount: i64) -> Vec<(usize, i64)> {
        let parts = self.spread_below(account, amount);
        if parts.is_empty() {
            return vec![(account, amount)];
        }
        parts
    }

    fn spread_below(&self, account: usize, amount: i64) -> Vec<(usize, i64)> {
        let children = self.children_of(account);
        let children: Vec<usize> = children
            .into_iter()
            .filter(|child| self.accounts[*child].share > 0)
            .collect();
        let sum: i64 = children.iter().map(|c| self.accounts[*c].share).sum();
        let mut left = amount;
        let mut parts = Vec::new();
        for child in &children {
            let is_last = sum == 100 && children.last() == Some(child);
            let part = if is_last {
                left
            } else {
                amount * self.accounts[*child].share / 100
            };
            left -= part;
            parts.extend(self.spread_below(*child, part));
        }
        if left > 0 {
            parts.push((account, left));
        }
        parts
    }

    /// A new allocation, where the site lets it lie beside the others (ledger.md 2.1 g).
    fn open_checked(
        &mut self,
        account: usize,
        window: Window,
        limit: i64,
    ) -> Result<usize, String> {
        self.check_alone(account, &window, None)?;
        Ok(self.open_allocation(account, window, limit))
    }

    pub(super) fn check_alone(
        &self,
        account: usize,
        window: &Window,
        but: Option<usize>,
    ) -> Result<(), String> {
        let mut others = self
            .of_account(account)
            .into_iter()
            .filter(|id| Some(*id) != but);
        let meets = |other: &Window| {
            let starts_in = |one: &Window, two: &Window| match one.start {
                Some(start) => two.contains(start),
                None => two.start.is_none(),
            };
            starts_in(window, other) || starts_in(other, window)
        };
        if self.policy.discrete && others.any(|id| meets(&self.allocations[id].window)) {
            return Err(refused("allocation_overlap"));
        }
        Ok(())
    }

    pub(super) fn own_allocation(&self, account: usize, number: i64) -> Result<usize, String> {
        let id = self.allocation(number)?;
        if self.allocations[id].account == account {
            return Ok(id);
        }
        Err(refused("not_found"))
    }

    /// The allocations that money is taken from: the one named, else the active ones.
    fn sources(&self, account: usize, named: Option<i64>) -> Result<Vec<usize>, String> {
        match named {
            Some(number) => Ok(vec![self.own_allocation(account, number)?]),
            None => Ok(self.active_of(account)),
        }
    }

    pub(super) fn withdraw(&mut self, withdraw: &Withdraw) -> Answer {
        let account = self.account_or_project(&withdraw.name)?;
        let amount = withdraw.amount.0;
        if amount <= 0 {
            return Err(refused("bad_amount"));
        }
        let sources = self.sources(account, withdraw.allocation.map(|id| id.0))?;
        let there: Vec<(usize, i64)> = sources
            .into_iter()
            .map(|id| {
                let credit = if withdraw.no_credit {
                    self.allocations[id].limit
                } else {
                    0
                };
                (id, (self.free(id, false) - credit).max(0))
            })
            .collect();
        let parts = take(&there, amount).map_err(|available| short(amount, available))?;
        self.begin("withdraw", self.now);
        for (id, part) in parts {
            self.move_by_hand("withdraw", id, -part);
        }
        Ok(format!("withdrawn {amount}"))
    }

    /// What is moved by hand on an allocation that is not active now has no active part (case 14).
    fn move_by_hand(&mut self, kind: &'static str, id: usize, amount: i64) {
        self.move_amount(kind, id, amount);
        if self.allocations[id].phase != Phase::Active {
            self.tx().entries.last_mut().unwrap().active = 0;
        }
    }

    /// Parts of an account's own money.
    fn own_parts(&self, sources: Vec<usize>, amount: i64) -> Result<Vec<(usize, i64)>, String> {
        let there: Vec<(usize, i64)> = sources
            .into_iter()
            .map(|id| (id, self.own_money(id)))
            .collect();
        take(&there, amount).map_err(|available| short(amount, available))
    }

    pub(super) fn transfer(&mut self, transfer: &Transfer) -> Answer {
        let from = self.account_or_project(&transfer.from)?;
        let to = self.account_or_project(&transfer.to)?;
        let amount = transfer.amount.0;
        if amount <= 0 {
            return Err(refused("bad_amount"));
        }
        if from == to {
            return Err(refused("same_account"));
        }
        of_people(to)?;
        let sources = self.sources(from, transfer.allocation.map(|id| id.0))?;
        let parts = self.own_parts(sources, amount)?;
        self.begin("transfer", self.now);
        for (id, part) in parts {
            let window = self.allocations[id].window;
            let target = match self.equal(to, window, 0) {
                Some(known) => known,
                None => self.open_checked(to, window, 0)?,
            };
            for (kind, id, part) in [("transfer_out", id, -part), ("transfer_in", target, part)] {
                self.move_by_hand(kind, id, part);
            }
        }
        self.unblock(to);
        Ok(format!("moved {amount}"))
    }

    pub(super) fn adjust(&mut self, adjust: &Adjust) -> Answer {
        let name = adjust.name.as_deref().unwrap();
        let account = self.account_or_project(name)?;
        let amount = adjust.amount.0;
        if amount == 0 {
            return Err(refused("bad_amount"));
        }
        of_people(account)?;
        let named = adjust.allocation.map(|id| id.0);
        let parts = if amount < 0 {
            let sources = self.sources(account, named)?;
            let taken = self.own_parts(sources, -amount)?;
            taken.into_iter().map(|(id, part)| (id, -part)).collect()
        } else if let Some(number) = named {
            vec![(self.own_allocation(account, number)?, amount)]
        } else {
            let known = self.equal(account, Window::ALWAYS, 0);
            let id = match known {
                Some(known) => known,
                None => self.open_checked(account, Window::ALWAYS, 0)?,
            };
            vec![(id, amount)]
        };
        self.begin("adjust", self.now);
        for (id, part) in parts {
            self.move_and_expire("adjust", id, part);
        }
        self.unblock(account);
        Ok(format!("adjusted {amount}"))
    }

    /// An end that is not cut backwards (case 87); one that is over moves to the future only.
    pub(super) fn not_backwards(
        &self,
        end: Option<Timestamp>,
        old: &super::Allocation,
    ) -> Option<Timestamp> {
        if old.phase == Phase::Expired && end.is_some_and(|end| end <= self.now) {
            return old.window.end;
        }
        end.map(|end| end.max(self.now))
    }

    pub(super) fn set_allocation(&mut self, set: &SetAllocation) -> Answer {
        let id = self.allocation(set.id.0)?;
        let old = self.allocations[id];
        let mut window = Window {
            start: set.start.unwrap_or(old.window.start),
            end: set.end.unwrap_or(old.window.end),
        };
        if set.end.is_some() {
            window.end = self.not_backwards(window.end, &old);
        }
        if !is_proper(&window) {
            return Err(refused("bad_window"));
        }
        let limit = set.credit_limit.map_or(old.limit, |l| l.0);
        if limit < 0 {
            return Err(refused("bad_amount"));
        }
        if (window, limit) != (old.window, old.limit) {
            self.check_alone(old.account, &window, Some(id))?;
            self.begin("allocation_set", self.now);
            self.tx().was = Some((id, (old.window, old.limit), (window, limit)));
            self.reshape(id, window, limit);
        }
        let outlives = |lien: &&super::Lien| {
            let on = lien.portions.iter().any(|(on, _)| *on == id);
            on && window.end.is_some_and(|end| lien.end > end)
        };
        let open = self.liens.iter().filter(|l| l.state == "open");
        let mut outliving: Vec<usize> = open.filter(outlives).map(|l| l.instance).collect();
        outliving.sort_unstable();
        let name = |n: &usize| format!(", outlives_allocation {}", self.instances[*n].id);
        let answer: String = outliving.iter().map(name).collect();
        Ok(format!("changed{answer}"))
    }

    /// Another window and limit; what they make of it follows at once.
    pub(super) fn reshape(&mut self, id: usize, window: Window, limit: i64) {
        self.allocations[id].window = window;
        self.allocations[id].limit = limit;
        self.become_phase(id, Phase::of(&window, self.now), self.now);
    }
}

/// The suspense account holds what a project has to pay, and nothing else (note 0022).
pub(super) fn of_people(account: usize) -> Result<(), String> {
    if account == UNBILLED {
        return Err(refused("in_use"));
    }
    Ok(())
}

pub(super) fn is_proper(window: &Window) -> bool {
    window
        .start
        .zip(window.end)
        .is_none_or(|(start, end)| start < end)
}

/// An amount in parts of what is there, in order; or how much is there.
pub(super) fn take(there: &[(usize, i64)], amount: i64) -> Result<Vec<(usize, i64)>, i64> {
    let mut left = amount;
    let mut parts = Vec::new();
    for (id, free) in there {
        let part = left.min(*free);
        if part > 0 {
            parts.push((*id, part));
            left -= part;
        }
    }
    if left > 0 {
        return Err(there.iter().map(|(_, free)| free).sum());
    }
    Ok(parts)
}

pub(super) fn short(needed: i64, available: i64) -> String {
    let text = refused("insufficient_funds");
    format!("{text}: needed {needed}, available {available}")
}
