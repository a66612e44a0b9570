//! What there is in a bank, as lines of text: the same of the book in memory and of the naive
//! reference, so that a difference can be read.

use super::fixture::show_time;
use super::memory::Memory;
use bank_core::effects::{Delta, Transaction};
use bank_core::model::{Allocation, Figures, Phase};
use bank_core::time::{Timestamp, Window};

/// An allocation with its sums.
pub(super) struct SeenAllocation<'a> {
    pub(super) number: i64,
    pub(super) account: &'a str,
    pub(super) window: Window,
    pub(super) phase: Phase,
    pub(super) limit: i64,
    pub(super) deposited: i64,
    pub(super) used: i64,
    /// Amount, held, shadow, shadow held.
    pub(super) sums: [i64; 4],
}

impl SeenAllocation<'_> {
    pub(super) fn line(&self) -> String {
        let side = |at: Option<Timestamp>| at.map(show_time).unwrap_or_default();
        let (start, end) = (side(self.window.start), side(self.window.end));
        let [amount, held, shadow, shadow_held] = self.sums;
        format!(
            "allocation {} of {} [{start},{end}) {} L={} deposited {} used {} amount {amount} \
             held {held} shadow {shadow}/{shadow_held}",
            self.number,
            self.account,
            self.phase.word(),
            self.limit,
            self.deposited,
            self.used
        )
    }
}

/// An account with its figures over what is active.
pub(super) struct SeenAccount<'a> {
    pub(super) name: &'a str,
    pub(super) amount: i128,
    pub(super) held: i128,
    pub(super) available: i128,
    /// The sum of the active parts of its entries.
    pub(super) active: i64,
    pub(super) is_blocked: bool,
    pub(super) is_gone: bool,
}

impl SeenAccount<'_> {
    pub(super) fn line(&self) -> String {
        format!(
            "account {} amount {} held {} available {} active {} blocked {} gone {}",
            self.name,
            self.amount,
            self.held,
            self.available,
            self.active,
            self.is_blocked,
            self.is_gone
        )
    }
}

/// An instance with what it was billed.
pub(super) struct SeenInstance<'a> {
    pub(super) machine: &'a str,
    pub(super) id: &'a str,
    pub(super) project: &'a str,
    pub(super) opened: Timestamp,
    pub(super) closed: Option<Timestamp>,
    pub(super) due: Option<Timestamp>,
    pub(super) account: Option<&'a str>,
    pub(super) billed: i64,
    pub(super) shadow_billed: i64,
    pub(super) seconds: i64,
    pub(super) disputed: i64,
    /// The exact sum in trillionths, and what counts once.
    pub(super) exact: (i128, i128),
}

impl SeenInstance<'_> {
    pub(super) fn line(&self) -> String {
        let side = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), show_time);
        format!(
            "job {} on {} of {} opened {} closed {} due {} account {} billed {} shadow {} \
             used {} s disputed {} s exact {:?}",
            self.id,
            self.machine,
            self.project,
            show_time(self.opened),
            side(self.closed),
            side(self.due),
            self.account.unwrap_or("-"),
            self.billed,
            self.shadow_billed,
            self.seconds,
            self.disputed,
            self.exact
        )
    }
}

/// A lien with what is left on each allocation.
pub(super) fn lien_line(number: i64, state: &str, end: Timestamp, left: &[(i64, i64)]) -> String {
    let left: Vec<&(i64, i64)> = left.iter().filter(|(_, part)| *part != 0).collect();
    format!("lien {number} {state} until {} on {left:?}", show_time(end))
}

/// A transaction with the entries that change something.
pub(super) fn tx_line<'a>(
    op: &str,
    at: Timestamp,
    entries: impl Iterator<Item = (&'a str, i64, Delta)>,
) -> String {
    let changing = entries.filter(|(_, _, delta)| *delta != Delta::default());
    let shown = changing.map(|(kind, on, d)| {
        format!(
            "{kind} {on} {:+}/{:+} active {:+} shadow {:+}/{:+}",
            d.amount, d.held, d.active, d.shadow, d.shadow_held
        )
    });
    let shown: Vec<String> = shown.collect();
    format!("{op} at {}: {}", show_time(at), shown.join(", "))
}

/// Everything in the book but its journal.
pub(super) fn of_book(memory: &Memory) -> Vec<String> {
    let directory = memory.book.reference();
    let name_of = |id| directory.account(id).map_or("?", |a| a.name.as_str());
    let mut lines = Vec::new();
    let mut number = 1;
    while let Some(account) = directory.account(bank_core::ids::AccountId(number)) {
        let own = || {
            memory
                .book
                .allocations
                .values()
                .filter(|a| a.account == account.id)
        };
        let figures = Figures::of(own());
        let entries = memory.book.journal.iter().flat_map(|tx| &tx.entries);
        let of_account = entries.filter(|e| e.account == Some(account.id));
        let seen = SeenAccount {
            name: &account.name,
            amount: figures.amount,
            held: figures.held,
            available: figures.available(),
            active: of_account.map(|e| e.delta.active).sum(),
            is_blocked: account.blocked,
            is_gone: account.deleted,
        };
        lines.push(seen.line());
        number += 1;
    }
    for a in memory.book.allocations.values() {
        lines.push(allocation_line(a, name_of(a.account)));
    }
    for i in memory.book.instances.values() {
        let seen = SeenInstance {
            machine: &i.key.machine,
            id: &i.key.object_id,
            project: &i.facts.project,
            opened: i.opened,
            closed: i.closed.map(|(at, _)| at),
            due: i.due,
            account: i.account.map(name_of),
            billed: i.billed.0,
            shadow_billed: i.shadow_billed.0,
            seconds: i.charged.0,
            disputed: i.disputed.0,
            exact: (i.exact_sum, i.once_sum),
        };
        lines.push(seen.line());
    }
    for l in memory.book.liens.values() {
        let left: Vec<(i64, i64)> = l
            .portions
            .iter()
            .map(|p| (p.allocation.0, p.amount.0))
            .collect();
        lines.push(lien_line(l.id.0, l.state.word(), l.end, &left));
    }
    lines
}

fn allocation_line(a: &Allocation, account: &str) -> String {
    let seen = SeenAllocation {
        number: a.id.0,
        account,
        window: a.window,
        phase: a.phase,
        limit: a.credit_limit.0,
        deposited: a.deposited.0,
        used: a.used.0,
        sums: [a.amount.0, a.held.0, a.shadow.0, a.shadow_held.0],
    };
    seen.line()
}

/// The journal of the book from a transaction on.
pub(super) fn journal_of_book(memory: &Memory, from: usize) -> Vec<String> {
    let shown = |tx: &Transaction| {
        let entries = tx.entries.iter().map(|e| {
            let on = e.allocation.map_or(0, |a| a.0);
            (e.kind.word(), on, e.delta)
        });
        tx_line(tx.op, tx.at_effective, entries)
    };
    memory.book.journal[from..].iter().map(shown).collect()
}
