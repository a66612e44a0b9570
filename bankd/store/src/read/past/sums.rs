//! Sums of an allocation's entries.

use super::super::super::Error;
use super::steps::{self, Step};
use bank_core::effects::{Delta, EntryKind};
use rusqlite::Connection;

/// Sums of an allocation's entries, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The remaining amount.
    pub amount: i64,
    /// Held by liens.
    pub held: i64,
    /// Deposits, less those that were taken back.
    pub deposited: i64,
    /// Charges less refunds of them.
    pub used: i64,
    /// Taken by shadow charges; zero or below.
    pub shadow: i64,
    /// Held by shadow liens.
    pub shadow_held: i64,
}

impl Sums {
    /// Takes in a step of an allocation's chain.
    pub(super) fn add(&mut self, connection: &Connection, step: &Step) -> Result<(), Error> {
        self.count(connection, step.entry, step.kind, &step.delta, step.is_use)
    }

    /// Takes in an entry.
    pub(crate) fn count(
        &mut self,
        connection: &Connection,
        entry: i64,
        kind: EntryKind,
        delta: &Delta,
        is_use: bool,
    ) -> Result<(), Error> {
        let add = |sum: &mut i64, part: i64| *sum = sum.saturating_add(part);
        add(&mut self.amount, delta.amount);
        add(&mut self.held, delta.held);
        add(&mut self.shadow, delta.shadow);
        add(&mut self.shadow_held, delta.shadow_held);
        if is_use && !steps::is_reissued(connection, entry, kind)? {
            add(&mut self.used, delta.amount.saturating_neg());
        }
        if delta.amount != 0 && steps::is_deposit(connection, entry, kind, delta.amount, is_use)? {
            add(&mut self.deposited, delta.amount);
        }
        Ok(())
    }
}
