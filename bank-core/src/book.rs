//! A ledger in memory: the plainest store there is, for tests and the model.

mod attention;
mod past;
mod period;
mod reference;
mod times;
mod uses;

use crate::amount::Amount;
use crate::command::{AsNamed, Chunk, Identity};
use crate::directory::{Bank, Directory, Policy};
use crate::effects::{
    AssignedUse, Effects, Moved, RefusedReserve, Shortage, Transaction, UsageRow, UseRow,
};
use crate::history::Changed;
use crate::history::Paid;
use crate::ids::{AccountId, AllocationId, Next, ProposalId, TxId, UNBILLED};
use crate::invariant::{self, Portions, Proof};
use crate::ledger::{Ledger, Named};
use crate::model::{Account, Allocation, Instance, InstanceKey, Lien, LienState, Proposal, Quote};
use crate::need::{INSTANCES_MAX, MovedBy, Need};
use crate::reservation::ReservationTime;
use crate::terms::Span;
use crate::time::{Timestamp, Window};
use crate::view::{Already, MovedBefore, View};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

/// The whole ledger in memory.
#[derive(Clone, Debug)]
pub struct Book {
    directory: Arc<Directory>,
    /// Every allocation, by number.
    pub allocations: BTreeMap<i64, Allocation>,
    /// Every instance, by number, without its lien.
    pub instances: BTreeMap<i64, Instance>,
    /// Every lien, by number.
    pub liens: BTreeMap<i64, Lien>,
    /// The open lien of each instance that has one, by their numbers.
    open: BTreeMap<i64, i64>,
    /// Every quote, by TID.
    pub quotes: BTreeMap<String, Quote>,
    /// Every usage row.
    pub usages: Vec<UsageRow>,
    /// The journal.
    pub journal: Vec<Transaction>,
    /// The billed windows of instances, by number.
    pub windows: BTreeMap<i64, Vec<Span>>,
    /// The time of reservations and of their jobs.
    pub times: Vec<ReservationTime>,
    /// The transaction that removed each account that is gone.
    pub removals: BTreeMap<AccountId, TxId>,
    /// What each transaction changed of the reference data.
    pub changed: BTreeMap<TxId, Changed>,
    /// Finished uses by source, id and start.
    pub uses: BTreeMap<(String, String, Timestamp), UseRow>,
    /// Their records that others replaced, likewise.
    earlier: BTreeMap<(String, String, Timestamp), Vec<String>>,
    /// When a start of each object was refused last.
    pub refused: BTreeMap<InstanceKey, Timestamp>,
    /// The latest shortage of each object and project.
    pub shortages: BTreeMap<(InstanceKey, String), Shortage>,
    /// Proposals by number.
    pub proposals: BTreeMap<ProposalId, Proposal>,
    /// The amounts that callers moved.
    pub moved: Vec<Moved>,
    next: Next,
}

impl Book {
    /// A new bank: no rate, and the suspense account with its one allocation.
    pub fn new(bank: Bank, policy: Policy) -> Book {
        let mut directory = Directory::new(bank, policy);
        directory.put_account(suspense_account());
        let allocation = suspense_allocation();
        Book {
            directory: Arc::new(directory),
            allocations: BTreeMap::from([(allocation.id.0, allocation)]),
            instances: BTreeMap::new(),
            liens: BTreeMap::new(),
            open: BTreeMap::new(),
            quotes: BTreeMap::new(),
            usages: Vec::new(),
            journal: Vec::new(),
            windows: BTreeMap::new(),
            times: Vec::new(),
            removals: BTreeMap::new(),
            changed: BTreeMap::new(),
            uses: BTreeMap::new(),
            earlier: BTreeMap::new(),
            refused: BTreeMap::new(),
            shortages: BTreeMap::new(),
            proposals: BTreeMap::new(),
            moved: Vec::new(),
            next: Next {
                allocation: 2,
                ..Next::default()
            },
        }
    }

    /// The reference data.
    pub fn reference(&self) -> &Directory {
        &self.directory
    }

    /// Violations of the invariants of ledger.md 7.
    pub fn findings(&self) -> Vec<String> {
        let (mut proof, mut portions) = (Proof::default(), Portions::default());
        for tx in &self.journal {
            for entry in &tx.entries {
                proof.entry(
                    entry,
                    entry.takes_back.and_then(|of| self.allocation_of(of)),
                );
            }
            proof.traces(&tx.traces);
        }
        for lien in self.liens.values() {
            for portion in &lien.portions {
                portions.add(portion.allocation, portion.amount, lien.shadow);
            }
        }
        let allocations: Vec<Allocation> = self.allocations.values().copied().collect();
        let mut findings = invariant::check(&allocations, &proof, &portions);
        let accounts = self.directory.all_accounts();
        findings.extend(proof.check_accounts(accounts.map(|a| (a.id, !a.deleted))));
        findings.extend(self.corrections());
        findings
    }

    /// The amounts that a caller moved on a day.
    fn moved_before(&self, by: &MovedBy) -> MovedBefore {
        let day = self.moved.iter().filter(|m| m.day == by.day);
        let mut before = MovedBefore::default();
        for moved in day.filter(|m| m.human == by.human) {
            let amount = i128::from(moved.amount.0);
            before.by_human = before.by_human.saturating_add(amount);
            if moved.actor == by.actor {
                before.by_actor = before.by_actor.saturating_add(amount);
            }
        }
        before
    }

    /// The billed windows of the instances in view.
    fn add_windows(&self, view: &mut View) {
        let of = |i: &Instance| Some((i.id, self.windows.get(&i.id.0)?.clone()));
        view.windows = view.instances.iter().filter_map(of).collect();
    }

    /// Assigns a finished use to a project and user; the facts from its source stay.
    fn give(&mut self, row: &AssignedUse) {
        let Identity {
            source, id, start, ..
        } = row.identity.clone();
        let Some(known) = self.uses.get_mut(&(source, id, start)) else {
            return;
        };
        let report = Arc::make_mut(&mut known.report);
        report.named = AsNamed {
            account: Some(report.account().to_owned()),
            user: Some(report.login().to_owned()),
        };
        let whose = &mut report.request.whose;
        whose.project = Some(row.project.clone());
        whose.user = row.user.clone().or(whose.user.take());
        if let Some(pi) = &row.pi {
            report.pi.clone_from(pi);
        }
        known.given = true;
        known.amount = row.amount.or(known.amount);
        known.on = row.on.or(known.on);
    }

    fn keep_shortage(&mut self, shortage: &Shortage) {
        let of = (shortage.key.clone(), shortage.project.clone());
        self.shortages.insert(of, shortage.clone());
    }

    /// The quotes that a command names.
    fn add_quotes(&self, need: &Need, view: &mut View) {
        let named = need.tid.as_ref().and_then(|tid| self.quotes.get(tid));
        view.quote = named.cloned();
        if need.newest_quote {
            let newest = self.quotes.values().max_by_key(|q| q.id);
            view.newest_quote = newest.and_then(|q| q.window.start);
        }
        if let Some(id) = need.quote {
            view.quote = self.quotes.values().find(|q| q.id == id).cloned();
        }
    }

    /// Adds the requested lien with its instance, or the requested instance, and returns the account that pays
    /// for it.
    fn add_lien(&self, need: &Need, view: &mut View) -> Option<AccountId> {
        let lien = need.lien.and_then(|id| self.liens.get(&id.0));
        let id = lien.map(|lien| lien.instance).or(need.use_of)?;
        let own = self.instances.get(&id.0);
        view.instances = own.map(|i| self.with_lien(i)).into_iter().collect();
        view.liens.extend(lien.cloned());
        own.and_then(|i| i.account)
    }

    /// The payments of allocations for instances, by number: the entries of their usage rows.
    fn paid(&self, instances: &[Instance]) -> Vec<Paid> {
        let mut paid: Vec<Paid> = Vec::new();
        for instance in instances {
            let own = self.usages.iter().filter(|u| u.instance == instance.id);
            let ids: Vec<_> = own.map(|u| Some(u.id)).collect();
            let entries = self.journal.iter().flat_map(|tx| &tx.entries);
            for entry in entries.filter(|e| e.usage.is_some() && ids.contains(&e.usage)) {
                Paid::count(&mut paid, instance.id, entry.allocation, &entry.delta);
            }
        }
        paid.sort_by_key(|row| (row.instance, row.allocation));
        paid
    }

    fn with_lien(&self, instance: &Instance) -> Instance {
        let open = self.open.get(&instance.id.0);
        Instance {
            lien: open.and_then(|id| self.liens.get(id)).cloned(),
            ..instance.clone()
        }
    }
}

/// The account of usage that nobody could be billed for: number 1 of every bank.
pub fn suspense_account() -> Account {
    Account {
        id: AccountId(1),
        name: UNBILLED.to_owned(),
        priority: 0,
        fallback: None,
        blocked: false,
        deleted: false,
        description: "usage that no project could be billed for".to_owned(),
        constraints: Vec::new(),
        link: None,
        discrete: false,
    }
}

/// Its one unbounded allocation.
pub fn suspense_allocation() -> Allocation {
    let (id, account) = (AllocationId(1), AccountId(1));
    Allocation::empty(id, account, Window::ALWAYS, Amount::ZERO, Timestamp(0))
}

impl Ledger for Book {
    type Error = Infallible;

    fn directory(&mut self) -> Result<Arc<Directory>, Infallible> {
        Ok(Arc::clone(&self.directory))
    }

    fn load(&mut self, need: &Need) -> Result<View, Infallible> {
        let mut view = View {
            next: self.next,
            ..View::default()
        };
        let mut accounts = need.accounts.clone();
        if let Some(key) = &need.instance {
            let own = self.instances.values().rev().filter(|i| i.key == *key);
            view.instances = own.take(INSTANCES_MAX).map(|i| self.with_lien(i)).collect();
            accounts.extend(view.instances.iter().filter_map(|i| i.account));
            let wanted = need
                .refused
                .filter(|refused| refused.is_wanted(&view.instances));
            view.refused = wanted.and_then(|_| self.refused.get(key).copied());
        }
        if let Some((machine, source)) = &need.charges_on {
            view.machine_charged = self.is_charged(machine, source);
        }
        if let Some(identity) = &need.identity {
            self.add_known(identity, &mut view);
            accounts.extend(view.instances.iter().filter_map(|i| i.account));
        }
        self.add_others(need, &mut view);
        accounts.extend(self.add_lien(need, &mut view));
        if need.paid {
            view.paid = self.paid(&view.instances);
        }
        if need.windows {
            self.add_windows(&mut view);
        }
        let portions = view.instances.iter().filter_map(|i| i.lien.as_ref());
        let on: Vec<AllocationId> = portions
            .flat_map(|l| &l.portions)
            .map(|p| p.allocation)
            .chain(need.allocation)
            .chain(view.paid.iter().map(|p| p.allocation))
            .collect();
        let in_time = |a: &Allocation| need.ending_after.is_none_or(|at| !a.window.is_over(at));
        let wanted =
            |a: &&Allocation| (accounts.contains(&a.account) && in_time(a)) || on.contains(&a.id);
        view.allocations = self.allocations.values().filter(wanted).copied().collect();
        if let Some(at) = need.came_after {
            view.came_after = self.came_after(&view.allocations, at);
        }
        self.add_quotes(need, &mut view);
        if need.liens {
            let touches = |l: &&Lien| {
                l.portions
                    .iter()
                    .any(|p| view.allocations.iter().any(|a| a.id == p.allocation))
            };
            view.liens = self.liens.values().filter(touches).cloned().collect();
        }
        self.add_attention(need, &mut view);
        self.add_past(need, &mut view);
        self.add_times(need, &mut view);
        self.add_periods(need, &mut view);
        self.add_proposals(need, &mut view);
        if let Some(by) = &need.moved {
            view.moved = self.moved_before(by);
        }
        if let Some(by) = &need.moved_by_proposer {
            view.moved_by_proposer = self.moved_before(by);
        }
        Ok(view)
    }

    fn load_due(&mut self, now: Timestamp) -> Result<Option<View>, Infallible> {
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let mut view = View {
            next: self.next,
            ..View::default()
        };
        let instances = self.instances.values().filter(|i| due(i.due));
        view.instances = instances.map(|i| self.with_lien(i)).collect();
        let windows = self
            .allocations
            .values()
            .filter(|a| due(a.next_boundary()))
            .copied();
        view.allocations = windows.collect();
        view.cycles = self.directory.cycles_due(now);
        if view.instances.is_empty() && view.allocations.is_empty() && view.cycles.is_empty() {
            return Ok(None);
        }
        let of_cycles = Directory::accounts_of_cycles(&view.cycles);
        for allocation in self.allocations.values() {
            let known = view.allocation(allocation.id).is_some();
            if of_cycles.contains(&allocation.account) && !known {
                view.allocations.push(*allocation);
            }
        }
        let liens = view.instances.iter().filter_map(|i| i.lien.as_ref());
        let on: Vec<AllocationId> = liens
            .flat_map(|l| &l.portions)
            .map(|p| p.allocation)
            .collect();
        for allocation in on.iter().filter_map(|id| self.allocations.get(&id.0)) {
            if view.allocation(allocation.id).is_none() {
                view.allocations.push(*allocation);
            }
        }
        Ok(Some(view))
    }

    fn open_instances(&mut self, project: &str) -> Result<i64, Infallible> {
        let open = self
            .instances
            .values()
            .filter(|i| i.is_open() && i.facts.project == project);
        Ok(i64::try_from(open.count()).unwrap_or(i64::MAX))
    }

    fn open_instances_of(&mut self, named: Named<'_>) -> Result<i64, Infallible> {
        let has_it = |i: &&Instance| match named {
            Named::User(user) => i.facts.user == user,
            Named::Machine(machine) => i.key.machine == machine,
        };
        let open = self.instances.values().filter(|i| i.is_open());
        Ok(i64::try_from(open.filter(has_it).count()).unwrap_or(i64::MAX))
    }

    fn load_chunk(
        &mut self,
        chunk: &Chunk,
        unclaimed: &BTreeSet<String>,
    ) -> Result<(Vec<Already>, BTreeSet<String>), Infallible> {
        let already = chunk.reports.iter().map(|report| {
            let key = report.request.key();
            let identity = report.identity();
            Already {
                known: self.known(&identity),
                has_instance: self.is_used(&key),
                others: {
                    let mut others = self.others_of(&key);
                    others.retain(|other| other.source != chunk.source);
                    others
                },
            }
        });
        let already = already.collect();
        let source = &chunk.source;
        let charged = unclaimed
            .iter()
            .filter(|machine| self.is_charged(machine, source));
        Ok((already, charged.cloned().collect()))
    }

    fn append(&mut self, effects: &Effects) -> Result<(), Infallible> {
        self.next = effects.next;
        self.journal.extend(effects.transactions.iter().cloned());
        for allocation in &effects.allocations {
            self.allocations.insert(allocation.id.0, *allocation);
        }
        for change in &effects.instances {
            let mut bare = Instance {
                lien: None,
                ..change.instance.clone()
            };
            // The quantity that a policy counted belongs to the charge.
            bare.facts.usage.counted = None;
            self.instances.insert(bare.id.0, bare);
        }
        for (id, spans) in &effects.windows {
            self.windows.insert(id.0, spans.clone());
        }
        self.times.extend(effects.times.iter().cloned());
        for lien in effects.liens.iter().chain(&effects.relaid) {
            self.liens.insert(lien.id.0, lien.clone());
            if lien.state == LienState::Open {
                self.open.insert(lien.instance.0, lien.id.0);
            } else if self.open.get(&lien.instance.0) == Some(&lien.id.0) {
                self.open.remove(&lien.instance.0);
            }
        }
        for quote in &effects.quotes {
            self.quotes.insert(quote.tid.clone(), quote.clone());
        }
        self.usages.extend(effects.usages.iter().cloned());
        self.removals.extend(effects.removals.iter().copied());
        for row in &effects.uses {
            self.take_use(row);
        }
        let of_given = |row: &&mut UseRow| row.instance.is_some() && row.instance == effects.given;
        self.uses
            .values_mut()
            .filter(of_given)
            .for_each(|row| row.given = true);
        for row in &effects.assigned {
            self.give(row);
        }
        if let Some(row) = &effects.returned {
            self.give_back(row);
        }
        for proposal in &effects.proposals {
            self.proposals.insert(proposal.id, proposal.clone());
        }
        self.moved.extend(effects.moved.clone());
        for shortage in &effects.shortages {
            self.keep_shortage(shortage);
        }
        let tx = effects.transactions.first().map(|tx| tx.id);
        let directory = Arc::make_mut(&mut self.directory);
        for row in &effects.directory {
            if let Some(tx) = tx {
                let changed = self.changed.entry(tx).or_default();
                changed.note(row, directory);
            }
            directory.put(row);
        }
        Ok(())
    }

    fn remember(&mut self, shortage: &Shortage) -> Result<(), Infallible> {
        self.keep_shortage(shortage);
        Ok(())
    }

    fn remember_refused(&mut self, refused: &RefusedReserve) -> Result<(), Infallible> {
        if refused.is_start {
            self.refused.insert(refused.key.clone(), refused.at);
        }
        Ok(())
    }
}
