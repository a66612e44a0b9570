//! Closed periods of a book, and what its accounts had: added up from the journal's beginning.

use super::Book;
use crate::amount::Amount;
use crate::effects::{Shape, Transaction};
use crate::ids::{AccountId, AllocationId, LienId};
use crate::model::Phase;
use crate::need::Need;
use crate::period::{ClosedPeriod, Closes, PeriodTotal};
use crate::time::{Timestamp, Window};
use crate::view::View;
use std::collections::BTreeMap;

impl Book {
    /// The closes in force.
    pub fn closes(&self) -> Closes {
        let mut standing: Vec<ClosedPeriod> = Vec::new();
        for tx in &self.journal {
            if let Some(close) = &tx.traces.closed {
                standing.push(ClosedPeriod {
                    tx: tx.id,
                    start: close.start,
                    end: close.end,
                });
            }
            standing.retain(|close| tx.traces.reopened != Some(close.tx));
        }
        Closes::new(standing)
    }

    /// Adds what a command about periods asks for.
    pub(super) fn add_periods(&self, need: &Need, view: &mut View) {
        if need.closed {
            view.closed = self.closes().last().copied();
        }
        if let Some(end) = need.totals_at {
            let accounts = self.directory.all_accounts();
            view.totals = accounts.map(|a| self.total(a.id, end)).collect();
        }
    }

    /// The totals of an account just before an instant.
    fn total(&self, account: AccountId, end: Timestamp) -> PeriodTotal {
        let mut total = PeriodTotal {
            account,
            amount: 0,
            held: 0,
            credit_limit: 0,
            liens: 0,
            projects: Vec::new(),
        };
        let before = |tx: &&Transaction| tx.at_effective < end;
        let mut liens: BTreeMap<LienId, i64> = BTreeMap::new();
        for own in self.allocations.values().filter(|a| a.account == account) {
            let last = Timestamp(end.0.saturating_sub(1));
            let shape = self.shape_before(own.id, end);
            let window = shape.map_or(Window::ALWAYS, |shape| shape.window);
            let is_active = Phase::of(&window, last) == Phase::Active;
            let entries = self.journal.iter().filter(before).flat_map(|t| &t.entries);
            let limit = shape.map_or(Amount::ZERO, |shape| shape.credit_limit);
            let mut there = own.last_entry.is_none();
            for entry in entries.filter(|e| e.allocation == Some(own.id)) {
                there = true;
                total.amount = total.amount.saturating_add(entry.delta.active);
                if !is_active {
                    continue;
                }
                total.held = total.held.saturating_add(entry.delta.held);
                if let Some(lien) = entry.lien {
                    let held = liens.entry(lien).or_default();
                    *held = held.saturating_add(entry.delta.held);
                }
            }
            if there && is_active {
                total.credit_limit = total.credit_limit.saturating_add(limit.0);
            }
        }
        let open = liens.values().filter(|held| **held > 0).count();
        total.liens = i64::try_from(open).unwrap_or(i64::MAX);
        total
    }

    /// The window and limit of an allocation just before an instant.
    fn shape_before(&self, id: AllocationId, end: Timestamp) -> Option<Shape> {
        let before = self.journal.iter().filter(|tx| tx.at_effective < end);
        let mut shapes = before.flat_map(|tx| &tx.traces.shapes).rev();
        shapes.find(|shape| shape.allocation == id).copied()
    }
}
