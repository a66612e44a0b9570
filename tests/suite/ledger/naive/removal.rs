//! Accounts and allocations that go, with their money or without, and come back (ledger.md 2.11).

use super::journal::Entry;
use super::{Answer, Lien, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::RemoveAllocation;
use bank_core::model::{Overflow, Phase};

impl Naive {
    fn holders(&self, going: &[usize]) -> Vec<usize> {
        let on = |lien: &Lien| lien.portions.iter().any(|(id, _)| going.contains(id));
        let all = 0..self.instances.len();
        all.filter(|n| self.instances[*n].lien.is_some_and(|l| on(&self.liens[l])))
            .collect()
    }

    fn removable(&self, name: &str) -> Result<usize, String> {
        let account = self.account(name).ok_or_else(|| refused("not_found"))?;
        if account == UNBILLED {
            return Err(refused("in_use"));
        }
        Ok(account)
    }

    fn is_fallback(&self, name: &str) -> bool {
        let mut there = self.accounts.iter().filter(|a| !a.is_gone);
        let mut machines = self.machines.iter().filter(|m| !m.is_gone);
        there.any(|a| a.fallback.as_deref() == Some(name))
            || machines.any(|m| m.fallback.as_deref() == Some(name))
    }

    /// An account goes that nothing hangs on.
    pub(super) fn remove_account(&mut self, name: &str) -> Answer {
        let account = self.removable(name)?;
        let own = self.of_account(account);
        if !self.holders(&own).is_empty() {
            return Err(refused("live_liens"));
        }
        let holds =
            |id: &usize| self.allocations[*id].phase != Phase::Expired && self.amount(*id) != 0;
        if own.iter().any(holds) {
            return Err(refused("balance_not_zero"));
        }
        let has_child = !self.children_of(account).is_empty();
        if self.is_fallback(name) || has_child || self.has_cycle(account) {
            return Err(refused("in_use"));
        }
        let tx = self.begin("account_rm", self.now);
        self.tx().removes = Some(account);
        let gone = &mut self.accounts[account];
        (gone.is_gone, gone.removal) = (true, Some(tx));
        (gone.parent, gone.share, gone.overflow) = (None, 0, Overflow::No);
        Ok("removed".to_owned())
    }

    /// An account goes with everything in it.
    pub(super) fn remove_account_with_money(&mut self, name: &str) -> Answer {
        let account = self.removable(name)?;
        if self.is_fallback(name) || self.has_cycle(account) {
            return Err(refused("in_use"));
        }
        let own = self.of_account(account);
        let tx = self.begin("account_rm", self.now);
        self.tx().removes = Some(account);
        self.clear(&own, Some(account));
        let gone = &mut self.accounts[account];
        (gone.is_gone, gone.removal) = (true, Some(tx));
        Ok("removed".to_owned())
    }

    pub(super) fn remove_allocation(&mut self, remove: RemoveAllocation) -> Answer {
        let id = self.allocation(remove.id.0)?;
        let old = self.allocations[id];
        if self.accounts[old.account].is_gone {
            return Err(refused("not_found"));
        }
        if old.account == UNBILLED {
            return Err(refused("in_use"));
        }
        if !remove.force && !self.holders(&[id]).is_empty() {
            return Err(refused("live_liens"));
        }
        if !remove.force && self.amount(id) != 0 {
            return Err(refused("balance_not_zero"));
        }
        self.begin("allocation_rm", self.now);
        self.clear(&[id], None);
        let now = self.now;
        let gone = &mut self.allocations[id];
        gone.limit = 0;
        if gone.phase == Phase::Active {
            gone.phase = Phase::Expired;
            gone.window.end = Some(now);
            gone.window.start = gone.window.start.filter(|start| *start < now);
        }
        let after = (gone.window, gone.limit);
        self.tx().was = Some((id, (old.window, old.limit), after));
        Ok("removed".to_owned())
    }

    /// Liens go elsewhere, then the money goes.
    fn clear(&mut self, going: &[usize], gone: Option<usize>) {
        for n in self.holders(going) {
            self.move_away(n, going, gone);
        }
        for id in going {
            let amount = self.amount(*id);
            if amount != 0 {
                let is_active = self.allocations[*id].phase == Phase::Active;
                self.enter(Entry {
                    kind: "delete",
                    allocation: *id,
                    amount: -amount,
                    active: if is_active { -amount } else { 0 },
                    ..Entry::default()
                });
            }
        }
    }

    /// What a lien holds on allocations that go it holds on other money of its project, the rest on
    /// the suspense account.
    fn move_away(&mut self, n: usize, going: &[usize], gone: Option<usize>) {
        let lien = self.instances[n].lien.unwrap();
        if self.left_of(lien) == 0 {
            return;
        }
        let old = self.liens[lien].clone();
        self.end_lien(n, "released");
        let mut portions = old.portions.clone();
        portions.retain(|(id, _)| !going.contains(id));
        let moved = old.portions.iter().filter(|(id, _)| going.contains(id));
        let mut left: i64 = moved.map(|(_, part)| part).sum();
        let payer = self.find(&self.whose_is(n));
        let mut fits = self.billable(&payer, &self.instances[n].facts);
        fits.retain(|fit| Some(fit.account) != gone);
        for id in self.order(&fits, self.now) {
            let kept = portions.iter().position(|(known, _)| *known == id);
            let own = kept.map_or(0, |at| portions[at].1);
            let take = (self.free(id, old.is_shadow).max(0) - own).min(left);
            if take <= 0 || going.contains(&id) {
                continue;
            }
            left -= take;
            match kept {
                Some(at) => portions[at].1 += take,
                None => portions.push((id, take)),
            }
        }
        if left > 0 {
            match portions.iter_mut().find(|(id, _)| *id == 0) {
                Some((_, part)) => *part += left,
                None => portions.push((0, left)),
            }
        }
        self.hold_anew(n, &old, portions);
        let after = self.liens.len() - 1;
        self.tx().moved.push((old.portions, after));
    }

    fn hold_anew(&mut self, n: usize, old: &Lien, portions: Vec<(usize, i64)>) {
        let mut accounts = portions.iter().map(|(id, _)| self.allocations[*id].account);
        self.instances[n].account = accounts.find(|a| *a != UNBILLED);
        self.add_lien(Lien {
            state: "open",
            portions,
            ..old.clone()
        });
    }

    pub(super) fn restore_account(&mut self, name: &str) -> Answer {
        let known = self.accounts.iter().position(|a| a.name == name);
        let account = known.ok_or_else(|| refused("not_found"))?;
        if !self.accounts[account].is_gone {
            return Err(refused("already_exists"));
        }
        self.bring_back(account, self.accounts[account].removal.unwrap());
        Ok("undid account_rm".to_owned())
    }

    /// An account comes back with its lists, its money, and what its liens held.
    pub(super) fn bring_back(&mut self, account: usize, removal: usize) {
        self.begin("undo", self.now);
        self.tx().reverses = Some(removal);
        self.give_back_removed(removal);
        self.bring_liens_back(removal);
        self.accounts[account].is_gone = false;
    }

    pub(super) fn give_back_removed(&mut self, removal: usize) {
        for (at, entry) in self.journal[removal]
            .entries
            .clone()
            .into_iter()
            .enumerate()
        {
            if entry.kind == "delete" {
                self.move_amount("reverse", entry.allocation, -entry.amount);
                self.tx().entries.last_mut().unwrap().takes_back = Some((removal, at));
                self.expire_beside(entry.allocation, -entry.amount);
            }
        }
    }

    /// Liens that still hold where the removal put them hold here again, as much as is left.
    pub(super) fn bring_liens_back(&mut self, removal: usize) {
        for (before, after) in self.journal[removal].moved.clone() {
            let n = self.liens[after].instance;
            if self.instances[n].lien != Some(after) {
                continue;
            }
            let mut left = self.left_of(after);
            let old = self.liens[after].clone();
            self.end_lien(n, "released");
            let mut portions = Vec::new();
            for (id, part) in before.into_iter().filter(|(_, part)| *part > 0) {
                let part = part.min(left);
                left -= part;
                portions.push((id, part));
            }
            self.hold_anew(n, &old, portions);
        }
    }
}
