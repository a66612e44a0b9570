//! The quarantine as it is emptied, and how collectors' files are read. What comes into it stands in
//! `sources`, in the transaction of what it came with.

use super::Error;
use super::sources::id_of;
use super::sqlite::SqliteStore;
use rusqlite::params;

impl SqliteStore {
    /// Removes some of what is in the quarantine; says how many there were.
    pub fn discard(&self, ids: &[i64]) -> Result<u64, Error> {
        let mut removed = 0_u64;
        for id in ids {
            let sql = "UPDATE quarantine_total SET held = held - 1, bytes = bytes
                         - (SELECT bytes FROM quarantine WHERE id = ?1)
                       WHERE EXISTS (SELECT 1 FROM quarantine WHERE id = ?1)";
            self.connection.prepare_cached(sql)?.execute([id])?;
            let sql = "DELETE FROM quarantine WHERE id = ?1";
            let gone = self.connection.prepare_cached(sql)?.execute([id])?;
            removed = removed.saturating_add(u64::try_from(gone).unwrap_or(0));
        }
        Ok(removed)
    }

    /// Removes all that is in the quarantine of a collector; says how many there were.
    pub fn discard_of(&self, source: &str) -> Result<u64, Error> {
        let sql = "UPDATE quarantine_total SET
                       held = held - (SELECT count(*) FROM quarantine WHERE source = ?1),
                       bytes = bytes
                           - (SELECT coalesce(sum(bytes), 0) FROM quarantine WHERE source = ?1)";
        self.connection.prepare_cached(sql)?.execute([source])?;
        let sql = "DELETE FROM quarantine WHERE source = ?1";
        let gone = self.connection.prepare_cached(sql)?.execute([source])?;
        Ok(u64::try_from(gone).unwrap_or(0))
    }

    /// Keeps how the files of a collector were read last, as JSON.
    pub fn keep_reading(&self, source: &str, options: &str) -> Result<(), Error> {
        let source = id_of(&self.connection, source)?;
        let sql = "INSERT INTO source_reading (source, options) VALUES (?1, ?2)
                   ON CONFLICT (source) DO UPDATE SET options = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(params![source, options])?;
        Ok(())
    }
}
