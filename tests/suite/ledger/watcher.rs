//! The invariants of ledger.md 7, looked at after every operation: what is new in the journal is
//! added to sums that begin at nothing, and the book must hold what they say.

use bank_core::book::Book;
use bank_core::effects::{Billing, Entry, EntryKind, Transaction};
use bank_core::history::is_charge;
use bank_core::ids::EntryId;
use bank_core::invariant::{self, Portions, Proof};
use bank_core::model::Allocation;
use std::collections::BTreeMap;

/// The entry at the end of a chain of entries that take each other back.
#[derive(Clone, Copy, Debug)]
enum Root {
    /// A charge; what was charged.
    Charge(EntryId),
    /// A refund, of that charge where it names one.
    Refund(Option<EntryId>),
    /// Anything else.
    Other,
}

/// What the journal says so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Watcher {
    seen: usize,
    used: usize,
    proof: Proof,
    roots: BTreeMap<EntryId, Root>,
    /// Charged, and given or taken back since.
    charges: BTreeMap<EntryId, (i64, i64)>,
    /// By instance: real and shadow money.
    billed: BTreeMap<i64, [i64; 2]>,
}

impl Watcher {
    /// What breaks an invariant; nothing where all is well.
    pub(super) fn look(&mut self, book: &Book) -> Vec<String> {
        let mut findings = Vec::new();
        let mut touched = Vec::new();
        for tx in &book.journal[self.seen..] {
            conserved(tx, &mut findings);
            self.proof.traces(&tx.traces);
            for entry in &tx.entries {
                let of = entry.takes_back.and_then(|of| book.allocation_of(of));
                self.proof.entry(entry, of);
                self.add(tx, entry, &mut findings);
            }
            touched.extend(tx.instance.map(|i| i.0));
        }
        for usage in &book.usages[self.used..] {
            // Shadow money of a project without any allocation has no entry.
            if usage.billing == Billing::Shadow {
                self.billed.entry(usage.instance.0).or_default()[1] += usage.amount.0;
            }
        }
        self.seen = book.journal.len();
        self.used = book.usages.len();
        self.compare(book, &mut findings);
        for id in touched {
            let instance = &book.instances[&id];
            let held = [instance.billed.0, instance.shadow_billed.0];
            let own = self.billed.get(&id).copied().unwrap_or_default();
            if held != own {
                findings.push(format!("instance {id}: billed {held:?}, journal {own:?}"));
            }
        }
        findings
    }

    fn add(&mut self, tx: &Transaction, entry: &Entry, findings: &mut Vec<String>) {
        if let Some(id) = entry.allocation {
            let own = self.proof.sums(id);
            if own.held < 0 || own.shadow_held < 0 {
                findings.push(format!("entry {}: less than nothing is held", entry.id.0));
            }
        }
        let root = self.root(entry);
        self.roots.insert(entry.id, root);
        if is_charge(entry.kind) {
            self.charges.insert(entry.id, (-entry.delta.amount, 0));
        } else if let Root::Charge(of) | Root::Refund(Some(of)) = root {
            // A total that fell into a refund names the refund, and moves nothing there (decision 0275).
            if entry.delta.amount == 0 && !self.charges.contains_key(&of) {
                return;
            }
            let (charged, back) = self.charges.get_mut(&of).unwrap();
            *back += entry.delta.amount;
            if *back < 0 || back > charged {
                let text = format!("charge {}: {charged} charged, {back} given back", of.0);
                findings.push(text);
            }
        }
        self.bill(tx, entry, root);
    }

    fn root(&self, entry: &Entry) -> Root {
        let before = entry.takes_back.and_then(|of| self.roots.get(&of)).copied();
        match entry.kind {
            EntryKind::Refund => Root::Refund(entry.takes_back),
            EntryKind::Reverse => before.unwrap_or(Root::Other),
            kind if is_charge(kind) => Root::Charge(entry.id),
            _ => Root::Other,
        }
    }

    /// Charges less reversals and the refunds of falling totals; a refund of a charge leaves it.
    fn bill(&mut self, tx: &Transaction, entry: &Entry, root: Root) {
        let Some(instance) = tx.instance.filter(|_| entry.usage.is_some()) else {
            return;
        };
        let own = self.billed.entry(instance.0).or_default();
        if !matches!(root, Root::Refund(Some(_))) {
            own[0] -= entry.delta.amount;
        }
    }

    fn compare(&mut self, book: &Book, findings: &mut Vec<String>) {
        let mut portions = Portions::default();
        for lien in book.liens.values() {
            for portion in &lien.portions {
                portions.add(portion.allocation, portion.amount, lien.shadow);
            }
        }
        let allocations: Vec<Allocation> = book.allocations.values().copied().collect();
        findings.extend(invariant::check(&allocations, &self.proof, &portions));
    }
}

/// Transfers come to nothing in each transaction, and so do the kinds that move no money.
fn conserved(tx: &Transaction, findings: &mut Vec<String>) {
    const STILL: [&str; 10] = [
        "activate",
        "expire",
        "modify",
        "lien",
        "lien_replace",
        "lien_release",
        "lien_expire",
        "charge_notional",
        "quote_use",
        "would_refuse",
    ];
    let moved = |e: &&Entry| matches!(e.kind, EntryKind::TransferOut | EntryKind::TransferIn);
    let moved = tx.entries.iter().filter(moved);
    let moved: i64 = moved.map(|e| e.delta.amount).sum();
    if moved != 0 {
        findings.push(format!("transaction {}: transfers add to {moved}", tx.id.0));
    }
    for entry in &tx.entries {
        if STILL.contains(&entry.kind.word()) && entry.delta.amount != 0 {
            let kind = entry.kind.word();
            findings.push(format!("entry {}: {kind} moves money", entry.id.0));
        }
    }
}
