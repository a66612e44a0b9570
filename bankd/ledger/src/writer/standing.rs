//! The state of the ledger's clock and of the node, for the rest of the daemon.

use super::{Cluster, Role, Shared, SubmitError, Writer};
use bank_core::clock::Reading;
use bank_core::rules::sweep::Stuck;
use bank_core::time::Timestamp;
use std::sync::{Arc, MutexGuard, PoisonError};

/// The clock, and the boundaries that could not be journalled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The ledger's present at the last look, at most a second ago.
    pub now: Timestamp,
    /// The machine's clocks at that time.
    pub reading: Reading,
    /// It jumped ahead, unseen: nothing is journalled for that time before it is confirmed.
    pub is_held: bool,
    /// It stepped back and has not caught up with what was recorded.
    pub is_behind: bool,
    /// Steps back since the start.
    pub steps_back: u64,
    /// Boundaries that no rule lets be journalled now.
    pub stuck: Vec<Stuck>,
    /// The number of stuck boundaries since the start.
    pub stuck_total: u64,
}

impl Writer {
    /// The state of this node in its cluster; none for a bank on a single machine.
    pub fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.shared.cluster.as_ref()
    }

    /// Whether this daemon writes: alone, or as the writer of its cluster. Work that is done once only runs there.
    pub fn is_writing(&self) -> bool {
        let cluster = self.shared.cluster.as_ref();
        cluster.is_none_or(|cluster| cluster.role() == Role::Writer)
    }

    /// Why no command is taken now; empty if commands are.
    pub fn obstacles(&self) -> impl Iterator<Item = &'static str> {
        let failed = self.shared.failure().map(|cause| match cause {
            SubmitError::Full => "the disk of the database is full",
            SubmitError::Moved => "a file of the database was moved or replaced",
            _ => "the last commit failed",
        });
        let cluster = self.shared.cluster.as_ref();
        let away = cluster.and_then(|cluster| cluster.obstacle());
        failed.into_iter().chain(away)
    }

    /// The state of the clock at the last look.
    pub fn standing(&self) -> Standing {
        self.lock_standing().clone()
    }

    /// The ledger's present: the machine's clock, never before what was recorded, and not where it
    /// jumped to before that was confirmed, also if nobody has looked since the jump.
    pub fn now(&self) -> Timestamp {
        let reading = self.shared.clock.reading();
        let standing = self.lock_standing();
        let has_jumped = reading.since(&standing.reading).is_some_and(|passed| {
            let expected = Timestamp(standing.now.0.saturating_add(passed));
            reading.clock > expected.plus(self.directory().policy.max_jump)
        });
        if standing.is_held || has_jumped {
            return standing.now;
        }
        reading.clock.max(standing.now)
    }

    /// Elapsed time, independent of clock changes: to measure idle time.
    pub fn steady(&self) -> Timestamp {
        self.shared.clock.reading().steady
    }

    fn lock_standing(&self) -> MutexGuard<'_, Standing> {
        let locked = self.shared.standing.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Notes the result of the last commit: why it failed, or none.
    pub(super) fn note(&self, failure: Option<SubmitError>) {
        let locked = self.failure.lock();
        *locked.unwrap_or_else(PoisonError::into_inner) = failure;
    }

    fn failure(&self) -> Option<SubmitError> {
        let locked = self.failure.lock();
        *locked.unwrap_or_else(PoisonError::into_inner)
    }
}
