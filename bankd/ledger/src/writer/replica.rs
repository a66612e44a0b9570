//! A node of a cluster: its log, its state, and what it does with both (decision 0200). The thread is in
//! `thread/cluster.rs`.

mod body;
mod keeper;
mod machine;
mod state;

pub use body::{of_entry as entry_changes, opening as opening_body};
pub use keeper::Keeper;
pub(super) use machine::StoreMachine;
pub use state::{Cluster, Role, State};

use super::SubmitError;
use bankd_cluster::{Committed, Log, Node};
use bankd_store::replica::{Changes, Place};
use bankd_store::{self as store, SqliteStore};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at the log of a follower that is up to date.
pub(super) const LOOK: Duration = Duration::from_millis(20);
/// The same while the log cannot be reached.
pub(super) const RETRY: Duration = Duration::from_millis(250);

/// What runs each time this node becomes the writer, in the first transaction of its epoch.
pub type OnLead =
    Box<dyn FnMut(&mut SqliteStore, bank_core::time::Timestamp) -> Result<(), store::Error> + Send>;

/// The thread's part of a cluster.
pub struct Replica {
    pub(super) node: Node<Box<dyn Log>>,
    pub(super) cluster: Arc<Cluster>,
    pub(super) on_lead: OnLead,
    /// What follows begins at this instant at the earliest.
    pub(super) next_look: Instant,
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica")
            .field("cluster", &self.cluster)
            .finish_non_exhaustive()
    }
}

impl Replica {
    /// A node that begins as a follower.
    pub fn new(node: Node<Box<dyn Log>>, cluster: Arc<Cluster>, on_lead: OnLead) -> Self {
        Self {
            node,
            cluster,
            on_lead,
            next_look: Instant::now(),
        }
    }

    /// Gives the lease up at the end of a writer, so that another node writes at once.
    pub(super) fn retire(&mut self) {
        if self.cluster.role() != Role::Writer {
            return;
        }
        let name = self.node.name().to_owned();
        let given = self.node.log().hand_over(&name, self.cluster.epoch(), None);
        if let Err(error) = given {
            tracing::warn!(%error, "the lease of the writer expires by itself");
        }
    }

    /// Appends what a database transaction changed. The store commits at the place, or rolls back.
    pub(super) fn append(&mut self, here: &Place, changes: &Changes) -> Result<Place, SubmitError> {
        let from = bankd_cluster::Position {
            position: here.position,
            epoch: here.epoch,
        };
        let body = body::of_changes(changes).map_err(|error| {
            tracing::error!(%error, "an entry of the log cannot be made");
            SubmitError::Failed
        })?;
        let hashes = (changes.hash_before.clone(), changes.hash_after.clone());
        match self.node.commit(from, body, hashes) {
            Committed::At(at) => Ok(Place {
                node: here.node.clone(),
                position: at.position,
                epoch: at.epoch,
            }),
            Committed::Not => Err(SubmitError::NoLog),
            Committed::Moved => {
                self.cluster
                    .follow("another node writes, or the outcome of an entry is unknown");
                Err(SubmitError::Elsewhere)
            }
        }
    }
}

/// Why a database transaction was undone.
pub(super) enum Undone {
    /// The store failed.
    Store(store::Error),
    /// The log did not take it.
    Log(SubmitError),
}

impl From<store::Error> for Undone {
    fn from(error: store::Error) -> Self {
        Undone::Store(error)
    }
}
