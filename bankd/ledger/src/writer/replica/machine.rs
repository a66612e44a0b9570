//! The store as the machine that entries of the log change.

use super::body;
use bankd_cluster::{Entry, Machine, Position};
use bankd_store::SqliteStore;
use bankd_store::replica::{Place, schema};

pub(in super::super) struct StoreMachine<'s> {
    store: &'s mut SqliteStore,
    node: String,
    /// Whether an entry was applied.
    pub(in super::super) is_changed: bool,
}

impl<'s> StoreMachine<'s> {
    pub(in super::super) fn new(store: &'s mut SqliteStore, node: &str) -> Self {
        Self {
            store,
            node: node.to_owned(),
            is_changed: false,
        }
    }
}

impl Machine for StoreMachine<'_> {
    fn position(&mut self) -> Result<Position, String> {
        let place = self.store.place().map_err(|error| error.to_string())?;
        let place = place.ok_or("the file is no longer a node of a cluster")?;
        Ok(Position {
            position: place.position,
            epoch: place.epoch,
        })
    }

    fn hash(&self) -> Vec<u8> {
        self.store.last_hash().to_vec()
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), String> {
        let changes = body::of_entry(entry)?;
        let ours = schema();
        if changes.schema > ours {
            return Err(format!(
                "the writer migrated the bank to schema version {}, and this program has {ours}: install the version of \
                 the writer on this machine and start it. It goes on here by itself",
                changes.schema
            ));
        }
        if changes.schema < ours {
            return Err(format!(
                "the writer has schema version {}, this program {ours}: install the same version of bankd on all nodes",
                changes.schema
            ));
        }
        let place = Place {
            node: self.node.clone(),
            position: entry.position,
            epoch: entry.epoch,
        };
        self.is_changed = true;
        let applied = self.store.apply(&changes, &place);
        applied.map_err(|error| match error {
            bankd_store::Error::Diverged(text) => format!(
                "this node differs from the writer: {text}. Make the node again with `bankd cluster join`"
            ),
            other => other.to_string(),
        })
    }

    fn opening(&self) -> Vec<u8> {
        body::opening()
    }
}
