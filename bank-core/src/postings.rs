//! The one place where entries are made: every change of a balance goes through `Postings`, so
//! that an allocation and the journal entry that explains it can never differ.

use crate::amount::Amount;
use crate::attention::Event;
use crate::effects::{
    Choice, Delta, Effects, Entry, EntryKind, InstanceChange, Outcome, Settings, Shape, Traces,
    Transaction, UsageRow,
};
use crate::effects::{DirectoryRow, RecordEvent};
use crate::ids::{AccountId, AllocationId, EntryId, InstanceId, LienId, Next, TxId, UsageId};
use crate::model::{Allocation, Instance, Lien, Phase, Quote};
use crate::period::PeriodClose;
use crate::refusal::Refusal;
use crate::reservation::ReservationTime;
use crate::terms::Span;
use crate::time::Timestamp;
use crate::view::View;

/// The project, user and machine on an entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) project: String,
    pub(crate) user: String,
    pub(crate) machine: String,
    pub(crate) lien: Option<LienId>,
    pub(crate) usage: Option<UsageId>,
    pub(crate) takes_back: Option<EntryId>,
    /// The reversal of a deposit, or the redo of one, counts as a deposit.
    pub(crate) deposit: bool,
    /// A refund to another allocation than the charged one, or its reversal: it is no use of its allocation.
    pub(crate) reissued: bool,
}

impl About {
    /// The names on an instance's entries.
    pub(crate) fn instance(instance: &Instance) -> About {
        About {
            project: instance.facts.project.clone(),
            user: instance.facts.user.clone(),
            machine: instance.key.machine.clone(),
            lien: None,
            usage: None,
            takes_back: None,
            deposit: false,
            reissued: false,
        }
    }
}

/// Working copies of the rows a command touches, and the journal it writes.
pub(crate) struct Postings {
    allocations: Vec<Allocation>,
    touched: Vec<AllocationId>,
    reshaped: Vec<AllocationId>,
    /// Allocations that are new, or whose window or limit changed.
    traced: Vec<AllocationId>,
    transactions: Vec<Transaction>,
    pub(crate) instances: Vec<InstanceChange>,
    pub(crate) liens: Vec<Lien>,
    pub(crate) usages: Vec<UsageRow>,
    pub(crate) quotes: Vec<Quote>,
    pub(crate) directory: Vec<DirectoryRow>,
    pub(crate) removals: Vec<(AccountId, TxId)>,
    pub(crate) records: Vec<RecordEvent>,
    pub(crate) relaid: Vec<Lien>,
    pub(crate) windows: Vec<(InstanceId, Vec<Span>)>,
    pub(crate) times: Vec<ReservationTime>,
    pub(crate) next: Next,
}

impl Postings {
    /// Starts from the rows that were loaded.
    pub(crate) fn new(view: &View) -> Self {
        Postings {
            allocations: view.allocations.clone(),
            touched: Vec::new(),
            reshaped: Vec::new(),
            traced: Vec::new(),
            transactions: Vec::new(),
            instances: Vec::new(),
            liens: Vec::new(),
            usages: Vec::new(),
            quotes: Vec::new(),
            directory: Vec::new(),
            removals: Vec::new(),
            records: Vec::new(),
            relaid: Vec::new(),
            windows: Vec::new(),
            times: Vec::new(),
            next: view.next,
        }
    }

    /// Begins a journal transaction; entries that follow belong to it.
    pub(crate) fn begin(&mut self, op: &'static str, at_effective: Timestamp) -> TxId {
        let id = TxId(Next::take(&mut self.next.tx));
        self.transactions.push(Transaction {
            id,
            op,
            at_effective,
            instance: None,
            corrects: None,
            reverses: None,
            reason: String::new(),
            entries: Vec::new(),
            traces: Traces::default(),
        });
        id
    }

    /// Begins a journal transaction about an instance.
    pub(crate) fn begin_for(
        &mut self,
        op: &'static str,
        at_effective: Timestamp,
        instance: InstanceId,
    ) -> TxId {
        let id = self.begin(op, at_effective);
        self.about_instance(instance);
        id
    }

    /// Sets the instance of the current transaction.
    pub(crate) fn about_instance(&mut self, instance: InstanceId) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.instance = Some(instance);
        }
    }

    /// The booking time of a charge that counts from an instant: not before the changed allocations entered
    /// their phase (decision 0140).
    pub(crate) fn booking(&self, tx: TxId, at: Timestamp) -> Timestamp {
        let on = self
            .moved(tx)
            .filter_map(|e| self.allocation(e.allocation?));
        on.map(|a| a.since).fold(at, Timestamp::max)
    }

    /// Whether a transaction changes the amount of an allocation.
    pub(crate) fn moves_money(&self, tx: TxId) -> bool {
        self.moved(tx).next().is_some()
    }

    /// The entries of a transaction that move money.
    pub(crate) fn moved(&self, tx: TxId) -> impl Iterator<Item = &Entry> {
        let own = self.transactions.iter().filter(move |t| t.id == tx);
        own.flat_map(|t| &t.entries).filter(|e| e.delta.amount != 0)
    }

    /// The first entry of a usage row.
    pub(crate) fn first_of(&self, row: UsageId) -> Option<&Entry> {
        let mut all = self.transactions.iter().flat_map(|t| &t.entries);
        all.find(|e| e.usage == Some(row))
    }

    /// Books a transaction at another instant than the one that it counts from.
    pub(crate) fn book(&mut self, tx: TxId, at: Timestamp) {
        if let Some(tx) = self.transactions.iter_mut().find(|t| t.id == tx) {
            tx.at_effective = at;
        }
    }

    /// The instant at which a transaction is booked.
    pub(crate) fn booked(&self, tx: TxId) -> Option<Timestamp> {
        let mut own = self.transactions.iter().filter(|t| t.id == tx);
        own.next().map(|t| t.at_effective)
    }

    /// Sets the transaction that the current one corrects.
    pub(crate) fn correct(&mut self, corrected: TxId) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.corrects = Some(corrected);
        }
    }

    /// Sets the transaction that the current one reverses.
    pub(crate) fn reverse(&mut self, reversed: TxId) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.reverses = Some(reversed);
        }
    }

    /// Sets the period that the current transaction closes.
    pub(crate) fn close_period(&mut self, close: PeriodClose) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.traces.closed = Some(Box::new(close));
        }
    }

    /// Sets the close that the current transaction revokes.
    pub(crate) fn reopen_period(&mut self, closed_by: TxId) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.traces.reopened = Some(closed_by);
        }
    }

    /// Adds to the reason of the current transaction.
    pub(crate) fn remark(&mut self, text: &str) {
        let last = self.transactions.last_mut();
        let Some(tx) = last.filter(|_| !text.is_empty()) else {
            return;
        };
        if !tx.reason.is_empty() {
            tx.reason.push(' ');
        }
        tx.reason.push_str(text);
    }

    /// Adds text at the front of the reason of the transaction, but after a first word with the prefix
    /// `behind`. Text that the bank parses comes before text from outside.
    pub(crate) fn remark_ahead(&mut self, text: &str, behind: &str) {
        let last = self.transactions.last_mut();
        let Some(tx) = last.filter(|_| !text.is_empty()) else {
            return;
        };
        let (first, rest) = match tx.reason.split_once(' ') {
            _ if !tx.reason.starts_with(behind) => ("", tx.reason.as_str()),
            Some((first, rest)) => (first, rest),
            None => (tx.reason.as_str(), ""),
        };
        let parts = [first, text, rest];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        tx.reason = parts.join(" ");
    }

    /// Every allocation as it is now.
    pub(crate) fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// An allocation as it is now.
    pub(crate) fn allocation(&self, id: AllocationId) -> Option<&Allocation> {
        self.allocations.iter().find(|a| a.id == id)
    }

    /// Adds a new allocation with nothing in it.
    pub(crate) fn add_allocation(&mut self, allocation: Allocation) {
        self.touched.push(allocation.id);
        self.traced.push(allocation.id);
        self.allocations.push(allocation);
    }

    /// Changes the fields that entries do not contain: window, phase, limit.
    pub(crate) fn change(&mut self, id: AllocationId, change: impl FnOnce(&mut Allocation)) {
        if let Some(allocation) = self.allocations.iter_mut().find(|a| a.id == id) {
            let before = Shape::of(allocation);
            change(allocation);
            if Shape::of(allocation) != before {
                self.traced.push(id);
            }
            self.reshaped.push(id);
            if !self.touched.contains(&id) {
                self.touched.push(id);
            }
        }
    }

    /// Posts an entry on an allocation: the only line of the program that changes a balance.
    pub(crate) fn post(
        &mut self,
        kind: EntryKind,
        id: AllocationId,
        delta: Delta,
        about: &About,
    ) -> Result<(), Refusal> {
        let entry_id = EntryId(Next::take(&mut self.next.entry));
        let Some(place) = self.allocations.iter().position(|a| a.id == id) else {
            return Err(Refusal::not_found("allocation", &id.0.to_string()));
        };
        let deposits = about.deposit || kind.deposits(delta.amount);
        self.fits_account(place, &delta, deposits)?;
        let Some(allocation) = self.allocations.get_mut(place) else {
            return Err(Refusal::AmountOverflow);
        };
        allocation.amount = allocation.amount.plus(Amount(delta.amount))?;
        allocation.held = allocation.held.plus(Amount(delta.held))?;
        allocation.shadow = allocation.shadow.plus(Amount(delta.shadow))?;
        allocation.shadow_held = allocation.shadow_held.plus(Amount(delta.shadow_held))?;
        if about.usage.is_some() && !about.reissued {
            allocation.used = allocation.used.minus(Amount(delta.amount))?;
        }
        if deposits {
            allocation.deposited = allocation.deposited.plus(Amount(delta.amount))?;
        }
        let prev = allocation.last_entry.replace(entry_id);
        let entry = Entry {
            id: entry_id,
            prev,
            kind,
            account: Some(allocation.account),
            allocation: Some(id),
            lien: about.lien,
            usage: about.usage,
            takes_back: about.takes_back,
            delta,
            amount_after: allocation.amount,
            held_after: allocation.held,
            project: about.project.clone(),
            user: about.user.clone(),
            machine: about.machine.clone(),
        };
        self.push(entry);
        if !self.touched.contains(&id) {
            self.touched.push(id);
        }
        Ok(())
    }

    /// Refuses an amount that the account's sums cannot hold: what its allocations have and what was
    /// deposited into them, all together, are numbers of 64 bits (ledger.md 1.3). Only money that is added
    /// can make them larger than they are; what comes back adds to no deposits.
    fn fits_account(&self, place: usize, delta: &Delta, deposits: bool) -> Result<(), Refusal> {
        let Some(to) = self.allocations.get(place).filter(|_| delta.amount > 0) else {
            return Ok(());
        };
        let more = i128::from(delta.amount);
        let (mut amount, mut deposited) = (0_i128, if deposits { more } else { 0 });
        for own in self.allocations.iter().filter(|a| a.account == to.account) {
            let comes = if own.id == to.id { more } else { 0 };
            let after = i128::from(own.amount.0).saturating_add(comes);
            amount = amount.saturating_add(after.max(0));
            deposited = deposited.saturating_add(own.deposited.0.into());
        }
        Amount::from_sum(amount)?;
        if deposits {
            Amount::from_sum(deposited)?;
        }
        Ok(())
    }

    /// Posts an entry that no allocation belongs to, such as `would_refuse`.
    pub(crate) fn note(&mut self, kind: EntryKind, about: &About) {
        let id = EntryId(Next::take(&mut self.next.entry));
        self.push(Entry {
            id,
            prev: None,
            kind,
            account: None,
            allocation: None,
            lien: about.lien,
            usage: about.usage,
            takes_back: about.takes_back,
            delta: Delta::default(),
            amount_after: Amount::ZERO,
            held_after: Amount::ZERO,
            project: about.project.clone(),
            user: about.user.clone(),
            machine: about.machine.clone(),
        });
    }

    /// Records the input of the choice in the current transaction, if its entries do not contain it.
    pub(crate) fn choose(&mut self, choice: Choice) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.traces.choice = Some(Box::new(choice));
        }
    }

    /// Records the settings that hold from the current transaction on.
    pub(crate) fn settle_on(&mut self, settings: Settings) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.traces.settings = Some(Box::new(settings));
        }
    }

    /// Records the alert that the current transaction raises, clears or acknowledges.
    pub(crate) fn attend(&mut self, event: Event) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.traces.attention = Some(Box::new(event));
        }
    }

    /// The active effect of a change of an allocation's amount: none before its window
    /// (ledger.md 7); a charge to an expired one has its full effect, and a correction follows.
    pub(crate) fn active_part(&self, id: AllocationId, amount: i64) -> i64 {
        match self.allocation(id).map(|a| a.phase) {
            Some(Phase::Future) | None => 0,
            Some(Phase::Active | Phase::Expired) => amount,
        }
    }

    /// Changes the amount of an allocation. What is not active stays so.
    pub(crate) fn put(
        &mut self,
        kind: EntryKind,
        id: AllocationId,
        amount: Amount,
    ) -> Result<(), Refusal> {
        let phase = self.allocation(id).map(|a| a.phase);
        let is_active = phase == Some(Phase::Active);
        let delta = Delta {
            amount: amount.0,
            active: if is_active { amount.0 } else { 0 },
            ..Delta::default()
        };
        self.post(kind, id, delta, &About::default())
    }

    /// The amounts that a transaction took from expired allocations, with their ends.
    pub(crate) fn taken_from_expired(&self, tx: TxId) -> Vec<(AllocationId, Timestamp, i64)> {
        let mut taken: Vec<(AllocationId, Timestamp, i64)> = Vec::new();
        let of_tx = self
            .transactions
            .iter()
            .filter(|t| t.id == tx)
            .flat_map(|t| &t.entries);
        for entry in of_tx.filter(|e| e.delta.active != 0) {
            let allocation = entry.allocation.and_then(|id| self.allocation(id));
            let expired = allocation.filter(|a| a.phase == Phase::Expired);
            let Some((id, end)) = expired.and_then(|a| Some((a.id, a.window.end?))) else {
                continue;
            };
            let back = entry.delta.active.saturating_neg();
            match taken.iter_mut().find(|(known, ..)| *known == id) {
                Some((.., sum)) => *sum = sum.saturating_add(back),
                None => taken.push((id, end, back)),
            }
        }
        // An amount that a refund put there has expired at once, in the same transaction.
        taken.retain(|(.., sum)| *sum != 0);
        taken
    }

    /// Writes down the windows and limits that are new: beside the first entry about each.
    fn trace(&mut self) {
        for id in std::mem::take(&mut self.traced) {
            let Some(shape) = self.allocation(id).map(Shape::of) else {
                continue;
            };
            let mut all = self.transactions.iter_mut();
            let about = |tx: &&mut Transaction| tx.entries.iter().any(|e| e.allocation == Some(id));
            let Some(tx) = all.find(about) else { continue };
            if !tx.traces.shapes.contains(&shape) {
                tx.traces.shapes.push(shape);
            }
        }
    }

    /// Everything so far, with the answer.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Effects {
        self.trace();
        let touched = self.touched;
        let allocations = self
            .allocations
            .into_iter()
            .filter(|a| touched.contains(&a.id));
        Effects {
            given: None,
            returned: None,
            allocations: allocations.collect(),
            reshaped: self.reshaped,
            transactions: self.transactions,
            instances: self.instances,
            liens: self.liens,
            usages: self.usages,
            quotes: self.quotes,
            directory: self.directory,
            removals: self.removals,
            records: self.records,
            relaid: self.relaid,
            windows: self.windows,
            times: self.times,
            uses: Vec::new(),
            assigned: Vec::new(),
            proposals: Vec::new(),
            moved: None,
            shortages: Vec::new(),
            partners: crate::partner::Rows::default(),
            next: self.next,
            outcome,
        }
    }

    fn push(&mut self, entry: Entry) {
        if let Some(tx) = self.transactions.last_mut() {
            tx.entries.push(entry);
        }
    }
}
