//! The store as the rules write to it: usage records of everything that is appended are kept with it.

use super::RecordKeeper;
use bank_core::command::Chunk;
use bank_core::directory::Directory;
use bank_core::effects::{Effects, RefusedReserve, Shortage};
use bank_core::ledger::{Ledger, Named};
use bank_core::need::Need;
use bank_core::terms::is_of_idle_time;
use bank_core::time::Timestamp;
use bank_core::view::{Already, View};
use bankd_store::{self as store, SqliteStore};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The store, with the usage records of everything that is appended.
pub struct Recording<'a> {
    store: &'a mut SqliteStore,
    keep: RecordKeeper,
    /// The first transaction of what was appended last, but for corrections of reservations.
    pub(super) first_tx: Option<i64>,
    /// The last usage record.
    pub(super) newest: Option<i64>,
}

impl<'a> Recording<'a> {
    /// A store, and what makes records of events.
    pub fn new(store: &'a mut SqliteStore, keep: RecordKeeper) -> Self {
        Recording {
            store,
            keep,
            first_tx: None,
            newest: None,
        }
    }
}

impl Ledger for Recording<'_> {
    type Error = store::Error;

    fn remember(&mut self, shortage: &Shortage) -> Result<(), store::Error> {
        self.store.remember(shortage)
    }

    fn remember_refused(&mut self, refused: &RefusedReserve) -> Result<(), store::Error> {
        self.store.remember_refused(refused)
    }

    fn directory(&mut self) -> Result<Arc<Directory>, store::Error> {
        self.store.directory()
    }

    fn load(&mut self, need: &Need) -> Result<View, store::Error> {
        self.store.load(need)
    }

    fn load_due(&mut self, now: Timestamp) -> Result<Option<View>, store::Error> {
        self.store.load_due(now)
    }

    fn open_instances(&mut self, project: &str) -> Result<i64, store::Error> {
        self.store.open_instances(project)
    }

    fn open_instances_of(&mut self, named: Named<'_>) -> Result<i64, store::Error> {
        self.store.open_instances_of(named)
    }

    fn load_chunk(
        &mut self,
        chunk: &Chunk,
        unclaimed: &BTreeSet<String>,
    ) -> Result<(Vec<Already>, BTreeSet<String>), store::Error> {
        self.store.load_chunk(chunk, unclaimed)
    }

    fn append(&mut self, effects: &Effects) -> Result<(), store::Error> {
        self.store.append(effects)?;
        // The correction of a reservation that follows a command is not the command's own.
        let first = effects.transactions.first();
        if !first.is_some_and(|tx| is_of_idle_time(tx.op, &tx.reason)) {
            self.first_tx = first.map(|tx| tx.id.0);
        }
        if effects.records.is_empty() {
            return Ok(());
        }
        let directory = self.store.reference();
        for (event, counted) in self.store.counted(effects)? {
            let kept = (self.keep)(&directory, &event, counted);
            let id = self
                .store
                .keep_record(kept.created_at, kept.number, &kept.text)?;
            self.newest = Some(id);
        }
        Ok(())
    }
}
