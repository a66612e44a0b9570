//! Writes changes beside the ledger into the store: each goes to the part of it that keeps such rows,
//! and a change of a notice is counted too.

use super::Thread;
use crate::writer::change::Change;
use bank_core::time::Timestamp;
use bankd_store::{self as store, FollowMark, QuarantineRow};

impl Thread {
    /// Returns the number of affected rows.
    pub(super) fn change(&mut self, change: &Change, now: Timestamp) -> Result<u64, store::Error> {
        match change {
            Change::Discard(ids) => self.store.discard(ids),
            Change::DiscardOf(source) => self.store.discard_of(source),
            Change::Notice(change) => {
                self.shared.meter.delivered(change);
                self.store.change_notice(change, now)
            }
            Change::Source(change) => self.store.change_source(change).map(u64::from),
            Change::Schedule(change) => self.store.change_schedule(change, now),
            Change::Partner(change) => self.store.change_partner(change),
            Change::Number(names) => self.store.number_names(names),
            Change::Session(change) => self.store.change_session(change),
            Change::Uses(uses) => self.store.keep_uses(uses),
            Change::Spend((client, signer), (nonce, created_s)) => {
                let spent = (&**nonce, *created_s);
                self.store.spend_nonce((client, signer), spent, now)?;
                Ok(1)
            }
            Change::Mark(waypoint) => self.store.place_waypoint(waypoint).map(u64::from),
            Change::Block(made) => self.store.place_block(made).map(u64::from),
            Change::Reading { source, options } => {
                self.store.keep_reading(source, options).map(|()| 1)
            }
        }
    }

    /// Writes what could not be read, and marks.
    pub(super) fn aside(
        &self,
        rows: &[QuarantineRow],
        marks: &[FollowMark],
        now: Timestamp,
    ) -> Result<(), store::Error> {
        self.store.quarantine(rows, now)?;
        for mark in marks {
            self.store.mark(mark, now)?;
        }
        Ok(())
    }
}
