//! The file of a node with an older schema than that of this program. It applies entries of that schema, and is
//! migrated at the entry with which the writer migrated (decision 0209).

use super::open::existing;
use super::replica::{Place, place, set_place};
use super::{Error, bank, load, migrate, version};
use bankd_changes::Recorded;
use std::path::{Path, PathBuf};

/// The file. It is not read by anything else meanwhile: the statements of this program are for the current schema.
pub struct Outdated {
    path: PathBuf,
    connection: Recorded,
    schema: i64,
    place: Place,
    bank: String,
    hash: Vec<u8>,
}

impl Outdated {
    /// Opens it; none if it has the current schema, or is no node of a cluster.
    ///
    /// # Errors
    /// If it cannot be read, or is of a later version.
    pub fn open(path: &Path) -> Result<Option<Outdated>, Error> {
        let connection = existing(path)?;
        let schema: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if schema >= migrate::current_version() {
            return Ok(None);
        }
        let Some(place) = place(&connection)? else {
            return Ok(None);
        };
        let own = bank::read(&connection)?.bank;
        let hash = load::tail(&connection, &own)?.hash;
        Ok(Some(Outdated {
            path: path.to_owned(),
            connection: Recorded::new(connection),
            schema,
            place,
            bank: own.uuid,
            hash,
        }))
    }

    /// Its schema version.
    pub fn schema(&self) -> i64 {
        self.schema
    }

    /// The UUID of the bank.
    pub fn bank(&self) -> &str {
        &self.bank
    }

    /// Its place in the log.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The hash of the journal's last transaction.
    pub fn last_hash(&self) -> &[u8] {
        &self.hash
    }

    /// Gives the node another name.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn rename(&mut self, node: &str) -> Result<(), Error> {
        node.clone_into(&mut self.place.node);
        set_place(&self.connection, &self.place)
    }

    /// Applies the rows of an entry of its schema, all or none. Counts of rows are made again by the migration.
    ///
    /// # Errors
    /// If the rows of this file differ from those of the writer: nothing is applied.
    pub fn apply(&mut self, rows: &[u8], hash_after: &[u8], place: &Place) -> Result<(), Error> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let applied = if rows.is_empty() {
            Ok(())
        } else {
            self.connection.apply(rows).map_err(Error::from)
        };
        let done = applied
            .and_then(|()| set_place(&self.connection, place))
            .and_then(|()| Ok(self.connection.execute_batch("COMMIT")?));
        if let Err(error) = done {
            let _ = self.connection.execute_batch("ROLLBACK");
            return Err(error);
        }
        self.place.clone_from(place);
        hash_after.clone_into(&mut self.hash);
        Ok(())
    }

    /// Brings it to the current schema.
    ///
    /// # Errors
    /// If a migration fails: those before it stay.
    pub fn migrate(self) -> Result<(), Error> {
        let Outdated {
            path, connection, ..
        } = self;
        drop(connection);
        let mut connection = existing(&path)?;
        migrate::migrate(&mut connection)?;
        version::seed(&mut connection)
    }
}
