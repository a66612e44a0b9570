//! Whose a use is after its charge was undone or done again.

use super::history::{Place, is_charge};
use super::journal::Entry;
use super::{Naive, UNBILLED};

impl Naive {
    /// The account of an undone charge pays no more if no charge in force is of it, and a charge that is done again and names
    /// the use chooses its own. A lien chooses in any case.
    pub(super) fn choose_payer(
        &mut self,
        n: usize,
        (root, is_undone): (usize, bool),
        before: &str,
    ) {
        if self.instances[n].lien.is_some() {
            return;
        }
        let payer = |e: &Entry| {
            let is_real = is_charge(e.kind) && e.kind != "charge_notional" && e.amount < 0;
            let account = self.allocations[e.allocation].account;
            (is_real && account != UNBILLED).then_some(account)
        };
        let entries = &self.journal[root].entries;
        let chosen = if is_undone {
            let own = self.instances[n].account;
            let is_own = own.is_some() && entries.iter().any(|e| payer(e) == own);
            let others = self.in_force(n, root).into_iter();
            let others = others.filter_map(|(tx, at)| payer(&self.journal[tx].entries[at]));
            let others: Vec<usize> = others.collect();
            let is_left = is_own && !others.iter().any(|other| Some(*other) == own);
            is_left.then(|| others.last().copied())
        } else {
            let first = entries.iter().find(|e| is_charge(e.kind));
            let is_named = self.instances[n].facts.project != before;
            first.and_then(payer).filter(|_| is_named).map(Some)
        };
        if let Some(account) = chosen {
            self.instances[n].account = account;
            self.instances[n].fallback_from = None;
        }
    }

    /// Where an amended record moved the use, it is back where it was, or moved once more; what that changed,
    /// if it did.
    pub(super) fn move_again(&mut self, n: usize, root: usize, is_undone: bool) -> Option<i64> {
        let (real, shadow, before, after) = self.journal[root].went_back.clone()?;
        let sign = if is_undone { 1 } else { -1 };
        let instance = &mut self.instances[n];
        instance.billed += sign * real;
        instance.shadow_billed += sign * shadow;
        let owner = if is_undone { before } else { after };
        (instance.facts.project, instance.facts.user) = owner;
        (instance.account, instance.fallback_from) = (None, None);
        Some(sign * (real + shadow))
    }

    /// The use is for the project of the last charge in force: one that named it and is taken back does so no more, and
    /// one that is done again does so unless a later one stands.
    pub(super) fn name_last(&mut self, n: usize, root: usize, is_undone: bool) {
        let mut own = self.journal[root].entries.iter();
        let owner = |e: &Entry| (e.project.clone(), e.user.clone());
        let Some(own) = own.find(|e| is_charge(e.kind)).map(owner) else {
            return;
        };
        let others = self.in_force(n, root);
        let last = others.last();
        let named = match last {
            _ if is_undone && own.0 != self.instances[n].facts.project => None,
            Some((tx, at)) if is_undone => Some(owner(&self.journal[*tx].entries[*at])),
            Some((tx, _)) if *tx > root => None,
            _ => Some(own).filter(|_| !is_undone),
        };
        if let Some(owner) = named {
            let facts = &mut self.instances[n].facts;
            (facts.project, facts.user) = owner;
        }
    }

    /// The charges of other transactions that are neither undone nor given back for the owner of a later record.
    fn in_force(&self, n: usize, root: usize) -> Vec<Place> {
        let owner = |e: &Entry| (e.project.clone(), e.user.clone());
        let mut kept = self.rows(n);
        kept.retain(|place| place.0 != root && self.is_effective(*place));
        let moved = kept.iter().filter(|(tx, at)| {
            let is_back = !is_charge(self.journal[*tx].entries[*at].kind)
                || self.journal[*tx].entries[*at].shadow > 0;
            is_back && self.journal[*tx].went_back.is_some()
        });
        let moved: Vec<Place> = moved.copied().collect();
        kept.retain(|(tx, at)| {
            let own = &self.journal[*tx].entries[*at];
            let is_given = moved.iter().any(|(later, back)| {
                later > tx && owner(&self.journal[*later].entries[*back]) == owner(own)
            });
            is_charge(own.kind) && own.shadow <= 0 && !is_given
        });
        kept
    }
}
