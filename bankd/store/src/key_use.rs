//! When keys and tokens were used last: beside the ledger, and replaced.

use super::{Error, SqliteStore, seal};
use rusqlite::params;

impl SqliteStore {
    /// When each key and token was used last, in seconds of the authentication clock.
    pub fn key_uses(&self) -> Result<Vec<(String, i64)>, Error> {
        let mut statement = self
            .connection
            .prepare("SELECT key, used_s FROM key_use ORDER BY key")?;
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores the last use of keys and tokens; returns the number of new or updated rows. An
    /// unknown key is skipped.
    pub fn keep_uses(&self, uses: &[(String, i64)]) -> Result<u64, Error> {
        let mut kept = 0_u64;
        for (key, used_s) in uses {
            let sql = "INSERT INTO key_use (key, used_s)
                       SELECT id, ?2 FROM auth_key WHERE id = ?1
                       ON CONFLICT (key) DO UPDATE SET used_s = ?2 WHERE used_s < ?2";
            let mut statement = self.connection.prepare_cached(sql)?;
            let changed = statement.execute(params![key, used_s])?;
            seal::renew(&self.connection, "key_use", &[key])?;
            kept = kept.saturating_add(u64::try_from(changed).unwrap_or(0));
        }
        Ok(kept)
    }
}
