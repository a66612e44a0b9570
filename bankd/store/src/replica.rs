//! A bank on several machines: the changes of a database transaction for the log, and entries of the log in place of
//! commands (decision 0200).
//!
//! The place in the log is written in the same database transaction as the rows of its entry. So a file contains
//! exactly the entries up to its place, whatever was killed when.

use super::sqlite::SqliteStore;
use super::{Error, bank, extent, load, seal, tally};
use rusqlite::{Connection, OptionalExtension as _};
use std::sync::Arc;

pub use super::migrate::current_version as schema;

/// The place of a file in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of this node.
    pub node: String,
    /// The last entry that the file contains; 0 for none.
    pub position: i64,
    /// The epoch of the writer of that entry.
    pub epoch: i64,
}

/// What a database transaction changed, for an entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The changeset; empty if no row differs.
    pub rows: Vec<u8>,
    /// The schema version of its tables.
    pub schema: i64,
    /// The hash of the journal's last transaction before.
    pub hash_before: Vec<u8>,
    /// The same afterwards.
    pub hash_after: Vec<u8>,
    /// Whether names, rates, keys or other reference data changed.
    pub is_reference: bool,
    /// The newest usage record, if there are new ones.
    pub newest_record: Option<i64>,
}

/// The place of a file in the log of its cluster; none for a bank on a single machine, also of an older version.
pub fn place(connection: &Connection) -> Result<Option<Place>, Error> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'place'";
    if connection
        .query_row(sql, [], |_| Ok(()))
        .optional()?
        .is_none()
    {
        return Ok(None);
    }
    let sql = "SELECT node, position, epoch FROM place WHERE id = 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([], |row| {
        let (node, position, epoch) = row.try_into()?;
        Ok(Place {
            node,
            position,
            epoch,
        })
    });
    Ok(found.optional()?)
}

pub(super) fn set_place(connection: &Connection, place: &Place) -> Result<(), Error> {
    let sql = "INSERT INTO place (id, node, position, epoch) VALUES (1, ?1, ?2, ?3)
               ON CONFLICT (id) DO UPDATE SET node = ?1, position = ?2, epoch = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute((&place.node, place.position, place.epoch))?;
    Ok(())
}

impl SqliteStore {
    /// The place in the log; none for a bank on a single machine.
    pub fn place(&self) -> Result<Option<Place>, Error> {
        place(&self.connection)
    }

    /// Makes this file a node of a cluster, at a place; or a bank on a single machine again.
    ///
    /// # Errors
    /// If the store fails.
    pub fn join(&mut self, place: Option<&Place>) -> Result<(), Error> {
        if let Some(place) = place {
            return set_place(&self.connection, place);
        }
        self.connection.execute("DELETE FROM place", [])?;
        Ok(())
    }

    /// Ends the writes of the open database transaction, and gives what it changed. Only a commit or a rollback may
    /// follow.
    ///
    /// # Errors
    /// If the store fails.
    pub fn changes(&mut self) -> Result<Changes, Error> {
        self.finish()?;
        let before = self.saved.as_ref();
        let is_reference = before.is_none_or(|saved| !saved.has(&self.directory));
        let records = before.map_or(0, |saved| saved.extent.record);
        Ok(Changes {
            rows: self.connection.changes()?,
            schema: schema(),
            hash_before: before.map_or_else(Vec::new, |saved| saved.last_hash.clone()),
            hash_after: self.last_hash.clone(),
            is_reference,
            newest_record: Some(self.extent.record).filter(|newest| *newest > records),
        })
    }

    /// Commits the open database transaction at its place in the log.
    ///
    /// # Errors
    /// If the store fails.
    pub fn commit_at(&mut self, place: &Place) -> Result<(), Error> {
        set_place(&self.connection, place)?;
        self.commit_here()
    }

    /// Whether changes are recorded.
    pub fn is_recording(&self) -> bool {
        self.is_replicated
    }

    /// The hash of the journal's last transaction.
    pub fn last_hash(&self) -> &[u8] {
        &self.last_hash
    }

    /// Applies an entry of another writer at its place, in a database transaction of its own.
    ///
    /// # Errors
    /// If the rows of this file differ from those of the writer: nothing is applied.
    pub fn apply(&mut self, changes: &Changes, place: &Place) -> Result<(), Error> {
        if self.last_hash != changes.hash_before {
            return Err(Error::Diverged(
                "the journal ends with another transaction than that of the writer".to_owned(),
            ));
        }
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        let applied = self.connection.apply(&changes.rows);
        let applied = applied.map_err(Error::from);
        let done = applied
            .and_then(|()| set_place(&self.connection, place))
            .and_then(|()| Ok(self.connection.prepare_cached("COMMIT")?.execute([])?));
        if let Err(error) = done {
            let _ = self.connection.execute_batch("ROLLBACK");
            return Err(error);
        }
        self.last_hash.clone_from(&changes.hash_after);
        if changes.is_reference {
            self.read_reference()?;
        }
        Ok(())
    }

    /// Follows another writer from now on: its triggers count every row.
    ///
    /// # Errors
    /// If the store fails.
    pub fn follow(&mut self) -> Result<(), Error> {
        self.is_replicated = false;
        tally::count_applied(&self.connection, true)
    }

    /// Writes itself from now on: forgets what it remembered, and reads how far the tables reach.
    ///
    /// # Errors
    /// If the store fails.
    pub fn lead(&mut self) -> Result<(), Error> {
        tally::count_applied(&self.connection, false)?;
        self.recent.forget();
        self.live.forget();
        self.greatest = super::greatest::Greatest::default();
        self.rollups = super::rollup::Rollups::default();
        self.read_reference()?;
        let tail = load::tail(&self.connection, &self.directory.bank)?;
        (self.last_hash, self.last_recorded) = (tail.hash, tail.recorded);
        self.next = load::next(&self.connection)?;
        self.extent = extent::read(&self.connection)?;
        self.written = self.extent;
        self.is_replicated = true;
        Ok(())
    }

    /// Record files begin anew on this machine, with the first record that no other node confirmed. In the open
    /// database transaction.
    ///
    /// # Errors
    /// If the store fails.
    pub fn move_sinks(&self) -> Result<(), Error> {
        let mut statement = self.connection.prepare(
            "UPDATE sink SET device = 0, inode = 0, length = 0, print = x'' RETURNING name",
        )?;
        let names = statement.query_map([], |row| row.get(0))?;
        let names: Vec<String> = names.collect::<Result<_, _>>()?;
        for name in &names {
            seal::renew(&self.connection, "sink", &[name])?;
        }
        Ok(())
    }

    /// Reads reference data again, and when something is due.
    fn read_reference(&mut self) -> Result<(), Error> {
        let policy = self.directory.policy;
        self.directory = Arc::new(bank::directory(&self.connection, policy)?);
        self.next_due = load::next_due(&self.connection, &self.directory)?;
        Ok(())
    }
}
