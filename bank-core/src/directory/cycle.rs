//! Cycles in the directory.

use super::Directory;
use crate::ids::AccountId;
use crate::model::Cycle;
use crate::time::Timestamp;

impl Directory {
    /// Adds or replaces a cycle.
    pub fn put_cycle(&mut self, cycle: Cycle) {
        self.cycles.insert(cycle.id, cycle);
    }

    /// A cycle by name, removed or not.
    pub fn any_cycle_named(&self, name: &str) -> Option<&Cycle> {
        self.cycles.values().find(|c| c.name == name)
    }

    /// A cycle by name, unless it was removed.
    pub fn cycle_named(&self, name: &str) -> Option<&Cycle> {
        self.any_cycle_named(name).filter(|c| !c.deleted)
    }

    /// Every cycle that was not removed, by number.
    pub fn cycles(&self) -> impl Iterator<Item = &Cycle> {
        self.cycles.values().filter(|c| !c.deleted)
    }

    /// Cycles with a boundary at or before an instant, by number.
    pub fn cycles_due(&self, now: Timestamp) -> Vec<Cycle> {
        let due = self
            .cycles()
            .filter(|c| c.due().is_some_and(|at| at <= now));
        due.cloned().collect()
    }

    /// The cycle with the earliest boundary, and that boundary.
    pub fn next_cycle(&self) -> Option<(Timestamp, &Cycle)> {
        let due = self.cycles().filter_map(|c| Some((c.due()?, c)));
        due.min_by_key(|(at, c)| (*at, c.id))
    }

    /// The accounts of cycles, without doubles.
    pub fn accounts_of_cycles(cycles: &[Cycle]) -> Vec<AccountId> {
        let mut accounts: Vec<AccountId> = cycles.iter().map(|c| c.account).collect();
        accounts.sort_unstable();
        accounts.dedup();
        accounts
    }

    pub(super) fn next_cycle_id(&self) -> i64 {
        let last = self.cycles.last_key_value().map(|(id, _)| id.0);
        last.unwrap_or(0).saturating_add(1)
    }
}
