//! Earlier transactions, for the commands after the fact.

use super::Book;
use crate::amount::Amount;
use crate::directory::Directory;
use crate::effects::{DirectoryRow, Entry, EntryKind, Reshaped, Shape, Transaction};
use crate::history::{
    Change, Changed, PastRecord, PastTx, Placed, UNDO_DEPTH_MAX, billed, came_in, rests, standing,
};
use crate::ids::{AllocationId, EntryId, InstanceId, TxId};
use crate::model::{Allocation, Instance, Lien};
use crate::need::Need;
use crate::time::Timestamp;
use crate::view::View;
use std::collections::BTreeMap;

impl Changed {
    /// Adds a row that a transaction writes, before it is in the directory.
    pub(super) fn note(&mut self, row: &DirectoryRow, directory: &Directory) {
        match row {
            DirectoryRow::Record(after) => self.records.push(PastRecord {
                before: directory.records.ever(&after.kind, &after.key).cloned(),
                after: after.clone(),
            }),
            DirectoryRow::MemberGone(project, user) => {
                let members = directory.members_of(*project).into_iter();
                self.ended
                    .extend(members.filter(|member| member.user == *user));
            }
            _ => self.others = true,
        }
    }
}

impl Book {
    /// The allocation of an entry.
    pub fn allocation_of(&self, id: EntryId) -> Option<AllocationId> {
        let newest_first = self.journal.iter().rev().flat_map(|tx| &tx.entries);
        let mut found = newest_first.filter(|entry| entry.id == id);
        found.next()?.allocation
    }

    /// Amounts that came into allocations without a start after an instant.
    pub(super) fn came_after(
        &self,
        own: &[Allocation],
        at: Timestamp,
    ) -> Vec<(AllocationId, Amount)> {
        let open = own.iter().filter(|a| a.window.start.is_none());
        let came = |a: &Allocation| {
            let later = self.journal.iter().filter(|tx| tx.at_effective > at);
            let entries = later.flat_map(|tx| &tx.entries);
            let own = entries.filter(|e| e.allocation == Some(a.id) && e.is_beside_usage());
            let change = |e: &Entry| Change {
                id: e.id,
                takes_back: e.takes_back,
                amount: e.delta.amount,
            };
            let changes: Vec<Change> = own.map(change).collect();
            let came = Amount::clamped(came_in(&changes));
            (came > Amount::ZERO).then_some((a.id, came))
        };
        open.filter_map(came).collect()
    }

    /// Adds what a command after the fact asks for.
    pub(super) fn add_past(&self, need: &Need, view: &mut View) {
        if let (Some(id), true) = (need.allocation, need.whole_account) {
            let account = self.allocations.get(&id.0).map(|a| a.account);
            let own = self.allocations.values();
            let own: Vec<AllocationId> = own
                .filter(|a| Some(a.account) == account)
                .map(|a| a.id)
                .collect();
            self.add_allocations(own, view);
        }
        if let Some(query) = &need.object {
            let uses = self.instances.values().rev();
            let uses = uses.filter(|i| i.key.object_id == query.object_id);
            view.instances = query.pick(uses.map(|i| self.with_lien(i)).collect());
        }
        let removal = need.removal_of.and_then(|id| self.removals.get(&id));
        if let Some(id) = need.transaction.or(removal.copied()) {
            self.add_transaction(id, view);
            if need.windows {
                self.add_windows(view);
            }
        }
        if need.object.is_some() || need.history || !view.past.is_empty() {
            self.add_history(need.history_of, view);
        }
        let on: Vec<AllocationId> = view
            .allocations
            .iter()
            .filter(|a| {
                Some(a.account) == need.holders_on
                    || (need.holders && Some(a.id) == need.allocation)
            })
            .map(|a| a.id)
            .collect();
        self.add_holders(view, |l| {
            l.portions.iter().any(|p| on.contains(&p.allocation))
        });
    }

    fn add_allocations(&self, ids: Vec<AllocationId>, view: &mut View) {
        for id in ids {
            if view.allocation(id).is_none() {
                view.allocations.extend(self.allocations.get(&id.0));
            }
        }
    }

    fn add_holders(&self, view: &mut View, wanted: impl Fn(&Lien) -> bool) {
        for instance in self.instances.values().map(|i| self.with_lien(i)) {
            let Some(lien) = instance.lien.as_ref().filter(|l| wanted(l)) else {
                continue;
            };
            let on = lien.portions.iter().map(|p| p.allocation).collect();
            self.add_allocations(on, view);
            view.holders.push(instance);
        }
    }

    /// What a transaction changed of the reference data, records by kind and key.
    fn changed(&self, id: TxId) -> Changed {
        let mut changed = self.changed.get(&id).cloned().unwrap_or_default();
        let records = &mut changed.records;
        records.sort_by_cached_key(|past| (past.after.kind.clone(), past.after.key.clone()));
        changed
    }

    /// The windows and limits that a transaction changed.
    fn reshaped(&self, tx: &Transaction) -> Vec<Reshaped> {
        let change = |after: &Shape| {
            let before = self.journal.iter().filter(|t| t.id < tx.id);
            let mut before = before.flat_map(|t| &t.traces.shapes).rev();
            Reshaped {
                before: before.find(|s| s.allocation == after.allocation).copied(),
                after: *after,
            }
        };
        tx.traces.shapes.iter().map(change).collect()
    }

    fn transaction(&self, id: TxId) -> Option<&Transaction> {
        self.journal.iter().find(|tx| tx.id == id)
    }

    fn add_transaction(&self, id: TxId, view: &mut View) {
        let mut next = Some(id);
        while let Some(tx) = next.and_then(|id| self.transaction(id)) {
            if view.past.len() >= UNDO_DEPTH_MAX {
                break;
            }
            let by = self.journal.iter().find(|t| t.reverses == Some(tx.id));
            view.past.push(PastTx {
                id: tx.id,
                op: tx.op.to_owned(),
                at_effective: tx.at_effective,
                instance: tx.instance,
                reverses: tx.reverses,
                reversed_by: by.map(|t| t.id),
                reason: tx.reason.clone(),
                entries: tx.entries.clone(),
                reshaped: self.reshaped(tx),
                changed: self.changed(tx.id),
            });
            next = tx.reverses;
        }
        let removed = self.removals.iter().find(|(_, tx)| **tx == id);
        view.removed = removed.map(|(account, _)| *account);
        let Some(target) = view.past.first().cloned() else {
            return;
        };
        let own = target.instance.and_then(|id| self.instances.get(&id.0));
        let own: Vec<Instance> = own.map(|i| self.with_lien(i)).into_iter().collect();
        view.instances.extend(own);
        let on = target.entries.iter().filter_map(|e| e.allocation).collect();
        self.add_allocations(on, view);
        if target.op.ends_with("_rm") {
            let held = |e: &&Entry| e.kind == EntryKind::Lien;
            let liens = target.entries.iter().filter(held);
            let liens: Vec<_> = liens.filter_map(|e| e.lien).collect();
            self.add_holders(view, |l| liens.contains(&l.id));
        }
    }

    fn add_history(&self, named: Option<InstanceId>, view: &mut View) {
        let Some(id) = view.requested_instance(named).map(|i| i.id) else {
            return;
        };
        view.usages = self
            .usages
            .iter()
            .filter(|u| u.instance == id)
            .cloned()
            .collect();
        view.history = self.history_of(id);
        let on = view.history.iter().filter_map(|(_, e)| e.allocation);
        self.add_allocations(on.collect(), view);
    }

    /// The entries that bill an instance, or take that back.
    fn history_of(&self, id: InstanceId) -> Vec<Placed> {
        let own = self.journal.iter().filter(|tx| tx.instance == Some(id));
        own.flat_map(|tx| tx.entries.iter().map(|e| (tx.id, e.clone())))
            .filter(|(_, e)| e.usage.is_some())
            .collect()
    }

    /// Violations of the rules of corrections (ledger.md 7).
    pub(super) fn corrections(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let mut opposites: BTreeMap<TxId, TxId> = BTreeMap::new();
        for tx in &self.journal {
            let id = tx.id.0;
            let moved = tx
                .entries
                .iter()
                .filter(|e| matches!(e.kind, EntryKind::TransferOut | EntryKind::TransferIn));
            let sum: i128 = moved.map(|e| i128::from(e.delta.amount)).sum();
            if sum != 0 {
                findings.push(format!("transaction {id}: its transfers add up to {sum}"));
            }
            let Some(of) = tx.reverses else { continue };
            if self.transaction(of).is_none() || opposites.insert(of, tx.id).is_some() {
                findings.push(format!(
                    "transaction {id}: reverses none, or one that is reversed"
                ));
            }
        }
        for instance in self.instances.values() {
            findings.extend(self.corrected(instance));
        }
        findings
    }

    fn corrected(&self, instance: &Instance) -> Vec<String> {
        let mut findings = Vec::new();
        let id = instance.id.0;
        let history = self.history_of(instance.id);
        let kept = standing(&history);
        let (column, sum) = (instance.billed.0, billed(&history));
        if i128::from(column) != sum {
            findings.push(format!(
                "instance {id}: billed {column}; its entries add up to {sum}"
            ));
        }
        for rest in rests(&history) {
            let refunds = kept.iter().filter(|(_, e)| {
                e.kind == EntryKind::Refund && e.takes_back == Some(rest.entry.id)
            });
            let refunds: i128 = refunds.map(|(_, e)| i128::from(e.delta.amount)).sum();
            if refunds > i128::from(rest.entry.delta.amount).saturating_neg() {
                let entry = rest.entry.id.0;
                findings.push(format!("entry {entry}: its refunds exceed it: {refunds}"));
            }
        }
        findings
    }
}
