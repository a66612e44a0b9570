//! Accounts: their lists, their place below others, their fallbacks.

use super::{Account, Answer, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::SetAccount;
use bank_core::model::{Constraint, Dimension};

/// The longest line of accounts below one another.
const DEPTH: usize = 16;

impl Naive {
    /// The account that a person means: by its name, else the only one of a project.
    pub(super) fn account_or_project(&self, name: &str) -> Result<usize, String> {
        if let Some(account) = self.account(name) {
            return Ok(account);
        }
        self.project(name).ok_or_else(|| refused("not_found"))?;
        let is_for = |a: &Account| {
            let mut rows = a.lists.iter();
            rows.any(|c| c.allow && c.dimension == Dimension::Project && c.value == name)
        };
        let all = self.accounts.iter().enumerate();
        let own: Vec<usize> = all
            .filter(|(_, a)| !a.is_gone && is_for(a))
            .map(|(at, _)| at)
            .collect();
        match own.as_slice() {
            [] => Err(refused("not_found")),
            [only] => Ok(*only),
            _ => Err(refused("ambiguous")),
        }
    }

    /// The accounts below one, by number.
    pub(super) fn children_of(&self, account: usize) -> Vec<usize> {
        let all = self.accounts.iter().enumerate();
        all.filter(|(_, a)| a.parent == Some(account) && !a.is_gone)
            .map(|(at, _)| at)
            .collect()
    }

    pub(super) fn add_account(&mut self, set: &SetAccount) -> Answer {
        let known = self.accounts.iter().position(|a| a.name == set.name);
        let at = match known {
            Some(at) if !self.accounts[at].is_gone => return Err(refused("already_exists")),
            Some(at) => at,
            None => self.accounts.len(),
        };
        let new = Account {
            name: set.name.clone(),
            ..Account::default()
        };
        match known {
            // One that had money comes back by `undelete` only (note 0022).
            Some(at) if !self.of_account(at).is_empty() => return Err(refused("was_removed")),
            // Else it takes the number of the one that was removed.
            Some(at) => {
                let removal = self.accounts[at].removal;
                self.accounts[at] = Account { removal, ..new };
            }
            None => self.accounts.push(new),
        }
        self.change_account(at, set)?;
        Ok(self.registered("account_add", "done"))
    }

    pub(super) fn set_account(&mut self, set: &SetAccount) -> Answer {
        let at = self
            .account(&set.name)
            .ok_or_else(|| refused("not_found"))?;
        if at == UNBILLED {
            return Err(refused("in_use"));
        }
        let before = self.accounts[at].clone();
        self.change_account(at, set)?;
        if self.accounts[at] == before {
            return Ok("done".to_owned());
        }
        Ok(self.registered("account_set", "done"))
    }

    fn change_account(&mut self, at: usize, set: &SetAccount) -> Result<(), String> {
        let lists = set.lists.iter().flat_map(|(_, rows)| rows);
        for row in set.constraints.iter().flatten().chain(lists) {
            self.check_row(row)?;
        }
        if let Some(Some(fallback)) = &set.fallback {
            self.check_fallback(Some(at), fallback)?;
        }
        let account = &mut self.accounts[at];
        if let Some(rows) = &set.constraints {
            account.lists.clone_from(rows);
        }
        for (dimension, rows) in &set.lists {
            account.lists.retain(|row| row.dimension != *dimension);
            account.lists.extend(rows.iter().cloned());
        }
        account.priority = set.priority.unwrap_or(account.priority);
        account.is_discrete = set.discrete.unwrap_or(account.is_discrete);
        if let Some(fallback) = &set.fallback {
            account.fallback.clone_from(fallback);
        }
        self.link(at, set)
    }

    fn check_row(&self, row: &Constraint) -> Result<(), String> {
        let value = row.value.as_str();
        let is_known = match &row.dimension {
            _ if value == "ANY" => true,
            Dimension::Project | Dimension::User | Dimension::Machine if value == "MEMBERS" => true,
            Dimension::Project => self.project(value).is_some(),
            Dimension::User => self.user(value).is_some(),
            Dimension::Machine => self.machine_at(value).is_ok(),
            _ => true,
        };
        if is_known {
            Ok(())
        } else {
            Err(refused("not_found"))
        }
    }

    /// A place below another account: shares of one make 100 at most, and nothing comes under
    /// itself (ledger.md 2.1 e).
    fn link(&mut self, at: usize, set: &SetAccount) -> Result<(), String> {
        if set.parent.is_none() && set.share.is_none() && set.overflow.is_none() {
            return Ok(());
        }
        let parent = match &set.parent {
            Some(Some(name)) => Some(self.possible_parent(at, name)?),
            Some(None) => None,
            None => self.accounts[at].parent,
        };
        let Some(parent) = parent else {
            if set.share.is_some() || set.overflow.is_some() {
                return Err(refused("bad_value"));
            }
            let account = &mut self.accounts[at];
            (account.parent, account.share) = (None, 0);
            account.overflow = bank_core::model::Overflow::No;
            return Ok(());
        };
        let share = set.share.unwrap_or(self.accounts[at].share);
        let mut others = self.children_of(parent);
        others.retain(|child| *child != at);
        let sum: i64 = others.iter().map(|c| self.accounts[*c].share).sum();
        if share < 0 {
            return Err(refused("bad_value"));
        }
        if sum + share > 100 {
            return Err(refused("shares_over_100"));
        }
        let account = &mut self.accounts[at];
        (account.parent, account.share) = (Some(parent), share);
        account.overflow = set.overflow.unwrap_or(account.overflow);
        Ok(())
    }

    fn possible_parent(&self, at: usize, name: &str) -> Result<usize, String> {
        let known = self.account(name).filter(|a| *a != UNBILLED);
        let parent = known.ok_or_else(|| refused("not_found"))?;
        let mut line = vec![parent];
        while let Some(above) = line.last().and_then(|last| self.above(*last)) {
            line.push(above);
        }
        if line.contains(&at) {
            return Err(refused("cycle"));
        }
        if line.len() + self.height(at) > DEPTH {
            return Err(refused("bad_value"));
        }
        Ok(parent)
    }

    fn height(&self, account: usize) -> usize {
        let below = self.children_of(account);
        let heights = below.into_iter().map(|child| self.height(child) + 1);
        heights.max().unwrap_or(0)
    }

    /// A fallback is there, and is not the account itself.
    pub(super) fn check_fallback(&self, owner: Option<usize>, name: &str) -> Result<(), String> {
        let target = self.account(name).ok_or_else(|| refused("not_found"))?;
        if owner == Some(target) {
            return Err(refused("fallback_chain"));
        }
        Ok(())
    }

    /// Whether some fallback falls back itself (nami.md 5).
    pub(super) fn has_fallback_chain(&self) -> bool {
        let there = self.accounts.iter().filter(|a| !a.is_gone);
        let of_accounts = there.filter_map(|a| a.fallback.as_deref());
        let machines = self.machines.iter().filter(|m| !m.is_gone);
        let of_machines = machines.filter_map(|m| m.fallback.as_deref());
        let goes_on = |name: &str| {
            let target = self.account(name);
            target.is_some_and(|at| self.accounts[at].fallback.is_some())
        };
        of_accounts.chain(of_machines).any(goes_on)
    }

    /// The account that pays where this one is short: its own fallback, else that of the machine.
    pub(super) fn fallback_of(&self, account: usize, machine: Option<&str>) -> Option<usize> {
        let own = self.accounts[account].fallback.clone();
        let general = || machine.and_then(|name| self.machine(name)?.fallback.clone());
        let name = own.or_else(general)?;
        self.account(&name).filter(|f| *f != account)
    }
}
