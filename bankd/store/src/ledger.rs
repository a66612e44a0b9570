//! The store's interface for the rules: reads the rows of a command and writes its effects.

use super::sqlite::SqliteStore;
use super::{Error, append, load, refused, uses};
use bank_core::command::Chunk;
use bank_core::directory::Directory;
use bank_core::effects::{Effects, RefusedReserve, Shortage};
use bank_core::ledger::{Ledger, Named};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use bank_core::view::{Already, View};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Ledger for SqliteStore {
    type Error = Error;

    fn directory(&mut self) -> Result<Arc<Directory>, Error> {
        Ok(Arc::clone(&self.directory))
    }

    fn load(&mut self, need: &Need) -> Result<View, Error> {
        let memory = (&mut self.recent, &mut self.live);
        load::view(&self.connection, memory, need, self.next)
    }

    fn load_due(&mut self, now: Timestamp) -> Result<Option<View>, Error> {
        if self.next_due.is_none_or(|due| due > now) {
            return Ok(None);
        }
        let cycles = self.directory.cycles_due(now);
        let view = load::due(&self.connection, &mut self.recent, now, self.next, cycles)?;
        if view.is_none() {
            self.next_due = load::next_due(&self.connection, &self.directory)?;
        }
        Ok(view)
    }

    fn open_instances(&mut self, project: &str) -> Result<i64, Error> {
        let sql = "SELECT COUNT(*) FROM instance
                   WHERE due_at IS NOT NULL AND closed_at IS NULL AND project = ?1";
        Ok(self.connection.query_row(sql, [project], |r| r.get(0))?)
    }

    fn open_instances_of(&mut self, named: Named<'_>) -> Result<i64, Error> {
        let (sql, name) = match named {
            Named::User(user) => (
                "SELECT COUNT(*) FROM instance
                 WHERE due_at IS NOT NULL AND closed_at IS NULL AND user = ?1",
                user,
            ),
            Named::Machine(machine) => (
                "SELECT COUNT(*) FROM instance
                 WHERE due_at IS NOT NULL AND closed_at IS NULL AND machine = ?1",
                machine,
            ),
        };
        Ok(self.connection.query_row(sql, [name], |r| r.get(0))?)
    }

    fn load_chunk(
        &mut self,
        chunk: &Chunk,
        unclaimed: &BTreeSet<String>,
    ) -> Result<(Vec<Already>, BTreeSet<String>), Error> {
        let already = uses::of_chunk(&self.connection, chunk)?;
        let mut charged = BTreeSet::new();
        for machine in unclaimed {
            if uses::is_charged(&self.connection, machine, &chunk.source)? {
                charged.insert(machine.clone());
            }
        }
        Ok((already, charged))
    }

    fn append(&mut self, effects: &Effects) -> Result<(), Error> {
        append::append(self, effects)
    }

    fn remember(&mut self, shortage: &Shortage) -> Result<(), Error> {
        uses::write_shortage(&self.connection, shortage)
    }

    fn remember_refused(&mut self, row: &RefusedReserve) -> Result<(), Error> {
        refused::write(&self.connection, row)
    }
}
