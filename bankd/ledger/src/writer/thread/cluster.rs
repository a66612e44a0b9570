//! The writer thread in a cluster: it follows another node, or writes and appends each commit to the log before it
//! answers (decision 0200).
//!
//! One thread does both, with the one read-write connection: no change of the role can overtake a command.

use super::super::replica::{LOOK, RETRY, Role, StoreMachine, Undone};
use super::super::{Task, full};
use super::Thread;
use crate::hooks;
use bankd_cluster::{Fault, Lease};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time after which a writer of a cluster looks at its role, if no task arrives.
const ROLE: Duration = Duration::from_millis(50);

impl Thread {
    /// The next task. A node of a cluster waits a moment only, to look at its role.
    pub(super) fn next(&self, tasks: &Receiver<Task>) -> Result<Task, RecvTimeoutError> {
        if self.replica.is_some() {
            return tasks.recv_timeout(ROLE);
        }
        tasks.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Gives the lease up at the end of a writer.
    pub(super) fn retire(&mut self) {
        if let Some(replica) = &mut self.replica {
            replica.retire();
        }
    }

    /// Commits the open database transaction: in a cluster, once its entry is durable in the log. A client may wait for
    /// it.
    pub(super) fn commit(&mut self, has_command: bool) -> Result<(), Undone> {
        let Some(replica) = &mut self.replica else {
            return Ok(self.store.commit()?);
        };
        let changes = self.store.changes()?;
        let here = self.store.place()?.unwrap_or_default();
        if changes.rows.is_empty() {
            // Nothing that others contain: a quote, a repeat, or rows of this machine.
            return Ok(self.store.commit_here()?);
        }
        let place = replica.append(&here, &changes).map_err(Undone::Log)?;
        if has_command {
            hooks::point("logged");
        }
        self.store.commit_at(&place)?;
        replica.cluster.committed(place.position);
        Ok(())
    }

    /// One turn of a node that does not write; false when the thread ends.
    pub(super) fn follow(&mut self, tasks: &Receiver<Task>) -> bool {
        let Some(replica) = &mut self.replica else {
            return true;
        };
        let wait = replica.next_look.saturating_duration_since(Instant::now());
        match tasks.recv_timeout(wait) {
            Ok(Task::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
            Ok(task) => {
                self.shared
                    .depth
                    .fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
                let cause = replica.cluster.refusal();
                full::fail(task, cause);
                if Instant::now() < replica.next_look {
                    return true;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let followed = self.look_at_log();
        if let Some(replica) = &mut self.replica {
            replica.next_look = Instant::now() + followed;
        }
        true
    }

    /// Applies what is new, and becomes the writer if nobody is; returns how long to wait before the next look.
    fn look_at_log(&mut self) -> Duration {
        let Some(replica) = &mut self.replica else {
            return RETRY;
        };
        if replica.cluster.is_stopped() {
            return RETRY;
        }
        let mut machine = StoreMachine::new(&mut self.store, replica.node.name());
        let read = Instant::now();
        let followed = replica.node.follow(&mut machine);
        let newest = machine.is_changed;
        let cluster = Arc::clone(&replica.cluster);
        // Also what was applied before a failure.
        if newest {
            self.shared.note(None);
            self.publish();
        }
        let place = self.store.place().ok().flatten();
        let position = place.map_or(0, |place| place.position);
        cluster.applied(position);
        match followed {
            Ok(followed) => {
                cluster.followed(read, &followed);
                if followed.is_behind {
                    return Duration::ZERO;
                }
                if self.may_lead(followed.lease.as_ref()) {
                    self.lead();
                }
                LOOK
            }
            Err(fault) => {
                cluster.faulted(&fault);
                RETRY
            }
        }
    }

    fn may_lead(&self, lease: Option<&Lease>) -> bool {
        let replica = self.replica.as_ref();
        replica.is_some_and(|replica| replica.node.may_lead(lease))
    }

    /// Becomes the writer, if the lease is free.
    fn lead(&mut self) {
        let Some(replica) = &mut self.replica else {
            return;
        };
        let mut machine = StoreMachine::new(&mut self.store, replica.node.name());
        let taken = Instant::now();
        let lease = match replica.node.lead(&mut machine) {
            Ok(Some(lease)) => lease,
            Ok(None) => return,
            Err(fault) => {
                replica.cluster.faulted(&fault);
                return;
            }
        };
        let cluster = Arc::clone(&replica.cluster);
        if let Err(error) = self.store.lead() {
            tracing::error!(%error, "this node cannot write");
            cluster.faulted(&Fault::Stopped(error.to_string()));
            return;
        }
        let position = self
            .store
            .place()
            .ok()
            .flatten()
            .map_or(0, |place| place.position);
        cluster.committed(position);
        cluster.lead(&lease, taken);
        self.shared.note(None);
        self.publish();
        if let Err(cause) = self.open_epoch() {
            tracing::error!(cause, "the first transaction of this writer failed");
        }
    }

    /// The first transaction of a writer: what the settings name.
    fn open_epoch(&mut self) -> Result<(), String> {
        let now = self.store.ledger_now(self.shared.clock.now());
        self.store.begin().map_err(|error| error.to_string())?;
        let done = match &mut self.replica {
            Some(replica) => (replica.on_lead)(&mut self.store, now).map_err(Undone::from),
            None => Ok(()),
        };
        let done = done.and_then(|()| self.commit(false));
        done.map_err(|undone| {
            self.store.rollback();
            match undone {
                Undone::Store(error) => error.to_string(),
                Undone::Log(cause) => cause.to_string(),
            }
        })
    }

    /// Whether this thread writes: alone, or as the writer of the cluster. One that lost its lease follows.
    pub(super) fn is_writing(&mut self) -> bool {
        let Some(replica) = &self.replica else {
            return true;
        };
        if replica.cluster.role() == Role::Writer {
            return true;
        }
        if self.store.is_recording()
            && let Err(error) = self.store.follow()
        {
            replica.cluster.faulted(&Fault::Stopped(error.to_string()));
        }
        false
    }
}
