//! The greatest idempotency key of each client, remembered, so that a new key needs no look into the tables.

use super::{Error, uuid};
use foldhash::HashMap;
use rusqlite::{Connection, OptionalExtension};

/// Maximum number of clients whose greatest key is cached.
pub(super) const CLIENTS_MAX: usize = 1000;

/// The greatest stored key of each client, or an upper bound: a key beyond it was never used and
/// needs no lookup. Keys that begin with the time (`UUIDv7`) are nearly always beyond it.
///
/// There is one writer, and a rollback or removal can only make the cached value too high.
#[derive(Debug, Default)]
pub(super) struct Greatest(pub(super) HashMap<String, String>);

impl Greatest {
    /// Whether a key is greater than all stored keys of a client.
    pub(super) fn is_below(
        &mut self,
        connection: &Connection,
        client: &str,
        key: &str,
    ) -> Result<bool, Error> {
        if let Some(greatest) = self.0.get(client) {
            return Ok(greatest.as_str() < key);
        }
        let sql = "SELECT key FROM idempotency WHERE client = ?1 ORDER BY key DESC LIMIT 1";
        let own = connection
            .prepare_cached(sql)?
            .query_row([client], |r| r.get::<_, String>(0))
            .optional()?;
        // Beside transactions: that of all clients.
        let sql = "SELECT max(place) FROM answer";
        let place: Option<i64> = connection.query_row(sql, [], |r| r.get(0))?;
        let greatest = own.max(place.map(uuid::bound));
        let is_below = greatest.as_deref().is_none_or(|greatest| greatest < key);
        if self.0.len() >= CLIENTS_MAX {
            self.0.clear();
        }
        self.0
            .insert(client.to_owned(), greatest.unwrap_or_default());
        Ok(is_below)
    }

    /// A key is kept from now on.
    pub(super) fn keep(&mut self, client: &str, key: &str) {
        if let Some(greatest) = self.0.get_mut(client)
            && greatest.as_str() < key
        {
            greatest.clear();
            greatest.push_str(key);
        }
    }
}
