//! The opposite of one transaction, whatever came after it (ledger.md 2.13, decision note 0014).

use super::history::{Place, is_charge};
use super::journal::Entry;
use super::money::is_proper;
use super::price::Priced;
use super::registered::is_registered;
use super::{Answer, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::Reverse;
use bank_core::time::Window;

impl Naive {
    pub(super) fn undo(&mut self, reverse: &Reverse) -> Answer {
        let target = usize::try_from(reverse.transaction.0 - 1).ok();
        let target = target.filter(|at| *at < self.journal.len());
        let target = target.ok_or_else(|| refused("not_found"))?;
        if self.journal.iter().any(|tx| tx.reverses == Some(target)) {
            return Err(refused("already_reversed"));
        }
        let mut chain = vec![target];
        while let Some(of) = self.journal[*chain.last().unwrap()].reverses {
            chain.push(of);
        }
        let root = *chain.last().unwrap();
        let again = target != root;
        let is_use = self.journal[root].instance.is_some();
        match self.journal[root].op {
            // An amended record is a charge by that word.
            "adjust" if is_use => self.undo_work(reverse, target, root, chain.len())?,
            "deposit" | "withdraw" | "transfer" | "adjust" => {
                self.undo_money(reverse, target, root)?;
            }
            "charge" | "refund" | "settle" => self.undo_work(reverse, target, root, chain.len())?,
            "account_rm" if !again => self.undo_removal(target)?,
            "allocation_rm" | "allocation_set" if !again => self.undo_change(reverse, target)?,
            op if is_registered(op) => self.undo_registered(target)?,
            _ => return Err(refused("not_reversible")),
        }
        Ok(format!("undid {}", self.journal[target].op))
    }

    /// The opposite entries, those that give first; what each allocation gets.
    fn oppose(&mut self, target: usize) -> Result<Vec<(usize, i64)>, String> {
        let entries = self.journal[target].entries.clone();
        let mut own: Vec<(usize, Entry)> = entries.into_iter().enumerate().collect();
        own.retain(|(_, e)| moves(e.kind));
        own.sort_by_key(|(_, e)| e.amount <= 0);
        self.begin("undo", self.now);
        self.tx().reverses = Some(target);
        let mut parts = Vec::new();
        for (at, entry) in own {
            self.check_there(entry.allocation)?;
            self.move_amount("reverse", entry.allocation, -entry.amount);
            let new = self.tx().entries.last_mut().unwrap();
            new.shadow = -entry.shadow;
            new.takes_back = Some((target, at));
            new.project.clone_from(&entry.project);
            new.user.clone_from(&entry.user);
            self.expire_beside(entry.allocation, -entry.amount);
            parts.push((entry.allocation, -entry.amount));
        }
        Ok(parts)
    }

    /// A removed account gets nothing back until it is there again.
    fn check_there(&self, allocation: usize) -> Result<(), String> {
        if self.accounts[self.allocations[allocation].account].is_gone {
            return Err(refused("not_reversible"));
        }
        Ok(())
    }

    /// Nothing may be left below zero by what it gives back; the suspense account is nothing else.
    fn check_cover(&self, parts: &[(usize, i64)], reverse: &Reverse) -> Result<(), String> {
        for (id, part) in parts {
            let is_suspense = self.allocations[*id].account == UNBILLED;
            if *part < 0 && !is_suspense && !reverse.allow_debt && self.free(*id, false) < 0 {
                return Err(format!(
                    "{}: {}",
                    refused("uncovered"),
                    self.free(*id, false)
                ));
            }
        }
        Ok(())
    }

    fn undo_money(&mut self, reverse: &Reverse, target: usize, root: usize) -> Result<(), String> {
        let parts = self.oppose(target)?;
        let mut all = parts.clone();
        for (id, before, after) in self.journal[target].limits.clone() {
            if self.allocations[id].limit == after {
                self.reshape(id, self.allocations[id].window, before);
                self.tx().limits.push((id, after, before));
                all.push((id, before - after));
            }
        }
        self.check_cover(&all, reverse)?;
        if self.journal[root].op == "deposit" {
            for (id, part) in &parts {
                self.allocations[*id].deposited += part;
            }
        }
        self.follow_blocks(target, &parts);
        Ok(())
    }

    fn undo_work(
        &mut self,
        reverse: &Reverse,
        target: usize,
        root: usize,
        depth: usize,
    ) -> Result<(), String> {
        let n = self.journal[target].instance.unwrap();
        // Work that was done again is taken back by taking the undo of its undo back: what hangs on
        // it hangs on the first.
        let is_undone = depth % 2 == 1;
        let work = if is_undone { root } else { target };
        let own = (0..self.journal[work].entries.len()).map(|at| (work, at));
        let places: Vec<Place> = own.collect();
        let hanging = self.refunds_on(n, &places);
        if hanging > 0 {
            return Err(format!("{}: {hanging} of them", refused("has_refunds")));
        }
        if places.iter().any(|place| !self.is_effective(*place)) {
            return Err(refused("already_reversed"));
        }
        let is_refund = is_undone && self.journal[root].op == "refund";
        if is_refund && self.is_fallen_into(root) {
            return Err(refused("not_reversible"));
        }
        if !is_undone {
            self.check_room(n, root)?;
            let has_fee = self.journal[root].exact.is_some_and(|(_, fee)| fee > 0);
            let is_billed_since = self.journal[root].is_whole && self.is_billed_after(n, target);
            if is_billed_since || has_fee && self.instances[n].once > 0 {
                return Err(refused("not_reversible"));
            }
        }
        if self.is_moved_after(n, (root, target)) {
            return Err(refused("not_reversible"));
        }
        let parts = self.oppose(target)?;
        self.check_cover(&parts, reverse)?;
        let (amount, seconds, is_shadow) = self.journal[target].usage.unwrap();
        self.tx().instance = Some(n);
        self.tx().usage = Some((-amount, -seconds, is_shadow));
        match self.journal[root].op {
            "charge" | "adjust" => {
                self.follow_quantities(n, root, is_undone);
                let back = self.move_again(n, root, is_undone);
                if back.is_none() {
                    let before = self.instances[n].facts.project.clone();
                    self.name_last(n, root, is_undone);
                    self.choose_payer(n, (root, is_undone), &before);
                }
                self.uncount(n, root, is_undone, back)?;
                if !is_undone && self.is_billed_after(n, target) && self.is_above_bounds(n, root) {
                    return Err(refused("not_reversible"));
                }
            }
            "settle" => {
                let wanted = |e: &&Entry| {
                    if is_undone {
                        e.kind == "reverse"
                    } else {
                        is_charge(e.kind)
                    }
                };
                let named = self.journal[root].entries.iter().find(wanted).unwrap();
                let account = self.allocations[named.allocation].account;
                let instance = &mut self.instances[n];
                instance.facts.project.clone_from(&named.project);
                instance.account = (!is_undone).then_some(account);
                instance.fallback_from = None;
            }
            _ => {}
        }
        self.follow_blocks(target, &parts);
        Ok(())
    }

    /// Whether the use pays more than its minimum or maximum price makes of all of it.
    fn is_above_bounds(&self, n: usize, root: usize) -> bool {
        let facts = self.priced_facts(n);
        let i = &self.instances[n];
        let price = self.price(&Priced {
            facts: &facts,
            machine: &i.machine,
            seconds: 1,
            at: i.rates_at.unwrap_or(self.journal[root].at),
        });
        let bounded = self.rounded(price.bounded(i.metered + i.once));
        price.has_bounds() && i.billed + i.shadow_billed > bounded
    }

    /// Whether a charge of the use, or a total that fell, came after a transaction and stands.
    fn is_billed_after(&self, n: usize, tx: usize) -> bool {
        let later = self.rows(n).into_iter().filter(|place| place.0 > tx);
        let mut later = later.filter(|place| self.is_effective(*place));
        later.any(|(tx, at)| {
            let entry = &self.journal[tx].entries[at];
            is_charge(entry.kind) || (entry.kind == "refund" && self.named(entry).is_none())
        })
    }

    /// Whether a settlement or an amended record gave the use to another project since, and stands.
    fn is_moved_after(&self, n: usize, (root, target): (usize, usize)) -> bool {
        let Some(own) = self.journal[root].entries.first() else {
            return false;
        };
        let is_other = |e: &Entry| (&e.project, &e.user) != (&own.project, &own.user);
        let mut later = self.journal.iter().enumerate().skip(target + 1);
        later.any(|(number, tx)| {
            let mut bills = tx.entries.iter().enumerate();
            let gives = tx.entries.iter().any(|e| e.amount > 0 || e.shadow > 0);
            let is_billed = bills
                .any(|(at, e)| is_charge(e.kind) && is_other(e) && self.is_effective((number, at)));
            tx.instance == Some(n) && tx.reverses.is_none() && gives && is_billed
        })
    }

    /// What was given back must be left to be given back again (ledger.md 2.4).
    fn check_room(&self, n: usize, root: usize) -> Result<(), String> {
        let rests = self.rests(n);
        let entry = |(tx, at): Place| &self.journal[tx].entries[at];
        let gave = self.journal[root].entries.iter();
        for own in gave.filter(|e| ["refund", "reverse"].contains(&e.kind)) {
            if self.named(own).is_some_and(|of| !self.is_effective(of)) {
                return Err(refused("already_reversed"));
            }
            let is_meant = |place: Place| match self.named(own) {
                Some(of) => place == of,
                None => entry(place).allocation == own.allocation,
            };
            let meant = rests.iter().filter(|(place, _)| is_meant(*place));
            let (mut places, left): (Vec<Place>, Vec<i64>) = meant.copied().unzip();
            let same = |e: &&Entry| match self.named(own) {
                Some(_) => e.takes_back == own.takes_back,
                None => self.named(e).is_none() && e.allocation == own.allocation,
            };
            let gave = self.journal[root].entries.iter();
            let gave = gave.filter(|e| ["refund", "reverse"].contains(&e.kind));
            let again: i64 = gave.filter(same).map(|e| e.amount).sum();
            // A move takes refunds of the project that had the use back, and gives them again.
            let moved = self.journal[root].entries.iter();
            let moved: Vec<&Entry> = moved
                .filter(|e| e.kind == "reverse" && e.amount < 0)
                .collect();
            let refunded: i64 = moved
                .iter()
                .filter(|e| self.named(own).is_none() && e.allocation == own.allocation)
                .map(|e| -e.amount)
                .sum();
            if left.iter().sum::<i64>() + refunded < again {
                let of_moved = |e: &&Entry| e.takes_back.and_then(|of| entry(of).takes_back);
                places.extend(moved.iter().filter_map(of_moved));
                let hanging = self.refunds_on(n, &places);
                return Err(format!("{}: {hanging} of them", refused("has_refunds")));
            }
        }
        Ok(())
    }

    /// What got money back may not be blocked any more (note 0022), and what loses the money that cleared its block is
    /// blocked again.
    fn follow_blocks(&mut self, target: usize, parts: &[(usize, i64)]) {
        for (id, part) in parts {
            let account = self.allocations[*id].account;
            if *part > 0 {
                self.unblock(account);
            } else if self.journal[target].changed_block {
                self.block(account);
            }
        }
    }

    /// The instance counts what it did without the charge; its windows can be billed again. Done
    /// again they must not have been billed since.
    fn uncount(
        &mut self,
        n: usize,
        root: usize,
        is_undone: bool,
        back: Option<i64>,
    ) -> Result<(), String> {
        let (amount, seconds, is_shadow) = self.tx().usage.unwrap();
        let known = self.billed_seconds(n);
        let windows = self.journal[root].seconds.clone();
        // What a bound made of a charge is not what it added (note 0022).
        let added = self.journal[root].exact;
        let sign = if is_undone { -1 } else { 1 };
        let fee = added.map_or(0, |(_, fee)| fee * sign);
        let exact = added.map(|(all, fee)| (all - fee) * sign);
        let exact = exact.or(back.map(|back| Naive::exact(amount + back)));
        let instance = &mut self.instances[n];
        let billed = if is_shadow {
            &mut instance.shadow_billed
        } else {
            &mut instance.billed
        };
        *billed += amount;
        instance.metered += exact.unwrap_or(Naive::exact(amount));
        instance.once = instance.once.max(fee);
        instance.seconds += seconds;
        let disputed = self.journal[root].disputed;
        instance.disputed += if is_undone { -disputed } else { disputed };
        instance.disputed = instance.disputed.max(0);
        if (instance.billed, instance.shadow_billed) == (0, 0) && amount < 0 {
            // Nothing is billed any more: what counts once may count again.
            instance.metered = if exact.is_some() { instance.metered } else { 0 };
            instance.once = 0;
        }
        if is_undone {
            instance.used.retain(|second| !windows.contains(second));
        } else if windows.iter().any(|second| known.contains(second)) {
            return Err(refused("overlap"));
        } else {
            instance.used.extend(windows);
        }
        Ok(())
    }

    /// How many transactions gave back what these entries charged: refunds that point at them, and
    /// totals that fell below them.
    fn refunds_on(&self, n: usize, places: &[Place]) -> usize {
        let entry = |(tx, at): Place| &self.journal[tx].entries[at];
        let (_, gave) = self.rests_and_refunds(n);
        let shadow_before = |place: Place| {
            let own = entry(place);
            let is_of = |of: &Place| {
                let charged = entry(*of);
                let is_shadow = charged.kind == "charge_notional" && self.is_effective(*of);
                is_shadow && *of < place && charged.allocation == own.allocation
            };
            own.shadow > 0 && places.iter().any(is_of)
        };
        let hangs = |place: &Place| match (entry(*place).kind, self.named(entry(*place))) {
            ("refund", Some(of)) => places.contains(&of),
            ("refund", None) if !places.contains(place) => gave
                .iter()
                .any(|(refund, of)| refund == place && places.contains(of)),
            ("charge_notional", None) if !places.contains(place) => shadow_before(*place),
            _ => false,
        };
        let standing = self
            .rows(n)
            .into_iter()
            .filter(|place| self.is_effective(*place));
        let mut found: Vec<usize> = standing.filter(hangs).map(|(tx, _)| tx).collect();
        found.dedup();
        found.len()
    }

    fn undo_removal(&mut self, target: usize) -> Result<(), String> {
        let account = self.journal[target].removes.unwrap();
        let is_gone = self.accounts[account].is_gone;
        if !is_gone || self.accounts[account].removal != Some(target) {
            return Err(refused("not_reversible"));
        }
        self.bring_back(account, target);
        Ok(())
    }

    /// The window and limit of an allocation as they were; with a removal its money and liens.
    fn undo_change(&mut self, reverse: &Reverse, target: usize) -> Result<(), String> {
        let (id, before, after) = self.journal[target].was.unwrap();
        let old = self.allocations[id];
        self.check_there(id)?;
        let changed = || refused("not_reversible");
        if self.journal[target].op == "allocation_set" && before == after {
            return Err(changed());
        }
        let (was, set) = (before.0, after.0);
        let mut window = Window {
            start: field(old.window.start, was.start, set.start).ok_or_else(changed)?,
            end: field(old.window.end, was.end, set.end).ok_or_else(changed)?,
        };
        let limit = field(old.limit, before.1, after.1).ok_or_else(changed)?;
        if window.end != old.window.end {
            window.end = self.not_backwards(window.end, &old);
        }
        if !is_proper(&window) {
            return Err(refused("bad_window"));
        }
        self.check_alone(old.account, &window, Some(id))?;
        let free_before = self.free(id, false);
        self.begin("undo", self.now);
        self.tx().reverses = Some(target);
        self.allocations[id].limit = limit;
        if self.journal[target].op == "allocation_rm" {
            self.give_back_removed(target);
            self.bring_liens_back(target);
        }
        self.reshape(id, window, limit);
        let free = self.free(id, false);
        if free < 0 && free < free_before && !reverse.allow_debt {
            return Err(format!("{}: {free}", refused("uncovered")));
        }
        Ok(())
    }
}

/// What a change made of a field goes back to what it was; none where something else changed it
/// since (note 0021).
fn field<T: Copy + PartialEq>(now: T, before: T, after: T) -> Option<T> {
    if before == after {
        return Some(now);
    }
    (now == after).then_some(before)
}

/// Whether an entry is one that an opposite takes back: not what time does, nor what liens hold.
fn moves(kind: &str) -> bool {
    let beside = [
        "activate",
        "expire",
        "lien",
        "lien_expire",
        "lien_release",
        "lien_replace",
    ];
    !beside.contains(&kind)
}
