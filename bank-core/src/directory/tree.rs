//! Accounts below accounts, and the machines that belong to projects (ledger.md 1.2, 2.1).

use super::Directory;
use crate::ids::{AccountId, MachineId, ProjectId};
use crate::model::Account;

/// The maximum depth of the tree of accounts.
pub const DEPTH_MAX: usize = 16;

impl Directory {
    /// The accounts directly below an account, by number.
    pub fn children_of(&self, account: AccountId) -> impl Iterator<Item = &Account> {
        let below = self.children.get(&account).into_iter().flatten();
        below.filter_map(|id| self.account(*id))
    }

    /// Puts an account below its parent, and no longer below the one it had.
    pub(super) fn relink(&mut self, account: &Account) {
        let old = self.account(account.id).and_then(|a| a.link);
        if let Some(of) = old.and_then(|l| self.children.get_mut(&l.parent)) {
            of.remove(&account.id);
        }
        if let (Some(link), false) = (account.link, account.deleted) {
            let of = self.children.entry(link.parent).or_default();
            of.insert(account.id);
        }
    }

    /// The accounts above an account, nearest first; one that was removed ends the line.
    pub fn above(&self, account: AccountId) -> Vec<&Account> {
        let mut line: Vec<&Account> = Vec::new();
        let mut next = self.account(account);
        while let Some(parent) = next.and_then(|a| self.parent_of(a)) {
            let seen = parent.id == account || line.iter().any(|a| a.id == parent.id);
            if seen || line.len() >= DEPTH_MAX {
                break;
            }
            line.push(parent);
            next = Some(parent);
        }
        line
    }

    /// The account directly above, unless it was removed.
    pub fn parent_of(&self, account: &Account) -> Option<&Account> {
        let parent = self.account(account.link?.parent)?;
        (!parent.deleted).then_some(parent)
    }

    /// The depth of the tree below an account: 0 for one without children.
    pub fn height(&self, account: AccountId) -> usize {
        let mut level = vec![account];
        let mut height = 0;
        while height <= DEPTH_MAX {
            level = level
                .iter()
                .flat_map(|id| self.children_of(*id).map(|a| a.id))
                .collect();
            if level.is_empty() {
                break;
            }
            height = height.saturating_add(1);
        }
        height
    }

    /// Whether a machine belongs to a project.
    pub fn is_member_machine(&self, project: ProjectId, machine: MachineId) -> bool {
        self.project(project)
            .is_some_and(|p| p.machines.contains(&machine))
    }

    /// Whether any account's lists look at more than project, user and machine.
    pub fn looks_at_traits(&self) -> bool {
        !self.accounts_by_traits.is_empty()
    }
}
