//! Handles the machine's clock in the writer (decision 0016): checks it before every batch, journals steps
//! back, does not follow jumps, and keeps its state for a restart.

use super::{Thread, system};
use bank_core::clock::Look;
use bank_core::ledger;
use bank_core::rules::sweep::Stuck;
use bank_core::time::{Seconds, Timestamp};
use bankd_store::{self as store, Stamp};
use std::sync::PoisonError;

/// Time between two saves of the state while nothing happens.
const KEEP: Seconds = Seconds(300);

impl Thread {
    /// Looks at the clock. Nothing is written yet.
    pub(super) fn look(&mut self) -> Look {
        let reading = self.shared.clock.reading();
        let look = self.watch.look(reading, self.store.last_recorded());
        if let Some(downtime) = look.downtime {
            tracing::warn!(
                downtime_s = downtime.0,
                ledger_us = look.now.0,
                "the bank was down for a while; the ledger follows the clock"
            );
        }
        look
    }

    /// Whether there is nothing to write about the clock and no boundary to journal.
    pub(super) fn is_quiet(&self, look: &Look) -> bool {
        let due = self.store.next_due().is_some_and(|due| due <= look.now);
        let is_logged = look.held.is_some() == self.was_held;
        !due && self.settings_recorded
            && look.stepped_back.is_none()
            && is_logged
            && !self.is_time_to_keep()
    }

    /// Journals a step back, and logs once when the clock is held or released.
    pub(super) fn discipline(&mut self, look: &Look) -> Result<(), store::Error> {
        if let Some(shown) = look.stepped_back {
            let now = look.now;
            tracing::warn!(
                clock_us = shown.0,
                ledger_us = now.0,
                "the clock stepped back; the ledger's time stays until the clock reaches it"
            );
            self.store.stamp(Stamp { now, ..system() });
            ledger::stepped_back(&mut self.store, shown, now)?;
            self.keep()?;
        }
        if look.held.is_some() != self.was_held {
            self.was_held = look.held.is_some();
            if let Some(shown) = look.held {
                tracing::error!(
                    clock_us = shown.0,
                    ledger_us = look.now.0,
                    "the clock jumped ahead; nothing expires before `bank clock confirm`"
                );
            } else {
                tracing::info!("the ledger follows the clock again");
            }
            self.keep()?;
        }
        Ok(())
    }

    /// Journals the settings that decide the payer, before the first command with settings that differ from
    /// the last run.
    pub(super) fn settings(&mut self, look: &Look) -> Result<(), store::Error> {
        if self.settings_recorded {
            return Ok(());
        }
        let now = look.now;
        self.store.stamp(Stamp { now, ..system() });
        ledger::note_settings(&mut self.store, now)
    }

    /// Keeps what was seen where the last time is long ago.
    pub(super) fn keep_now_and_then(&mut self) -> Result<(), store::Error> {
        if self.is_time_to_keep() {
            self.keep()?;
        }
        Ok(())
    }

    /// Keeps what was seen.
    pub(super) fn keep(&mut self) -> Result<(), store::Error> {
        if let Some(seen) = self.watch.seen() {
            self.store.keep_seen(&seen)?;
            self.kept = Some(seen.reading.steady);
        }
        Ok(())
    }

    fn is_time_to_keep(&self) -> bool {
        let steady = self.watch.seen().map(|seen| seen.reading.steady);
        let due = |kept: Timestamp| steady.is_some_and(|now| now >= kept.plus(KEEP));
        self.kept.is_none_or(due)
    }

    /// Remembers what could not be journalled, and logs what is new among it.
    pub(super) fn note_stuck(&mut self, stuck: Vec<Stuck>) {
        for new in stuck.iter().filter(|s| !self.stuck.contains(s)) {
            self.stuck_total = self.stuck_total.saturating_add(1);
            tracing::error!(
                subject = ?new.subject,
                due_us = new.at.0,
                code = new.refusal.code(),
                "a boundary could not be journalled"
            );
        }
        self.stuck = stuck;
    }

    /// Publishes the state of the clock for readers.
    pub(super) fn publish_standing(&mut self, look: &Look) {
        if look.stepped_back.is_some() {
            self.steps_back = self.steps_back.saturating_add(1);
        }
        let seen = self.watch.seen().unwrap_or_default();
        let recorded = self.store.last_recorded();
        let locked = self.shared.standing.lock();
        let mut standing = locked.unwrap_or_else(PoisonError::into_inner);
        standing.now = seen.believed.max(recorded);
        standing.reading = seen.reading;
        standing.is_held = self.watch.is_held();
        standing.is_behind = seen.back_from.is_some();
        standing.steps_back = self.steps_back;
        standing.stuck_total = self.stuck_total;
        if standing.stuck != self.stuck {
            standing.stuck.clone_from(&self.stuck);
        }
    }
}
