//! Known runs of samples of an object, so that windows of samples that overlap are counted once.

use super::Error;
use super::sqlite::SqliteStore;
use rusqlite::params;

/// A stored use of an object. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRun {
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// Samples are all that is known of it.
    pub is_sampled: bool,
    /// The digest of its record ([`digest`](super::digest)).
    pub digest: Vec<u8>,
}

impl SqliteStore {
    /// The stored uses of an object by a source that lie in a half-open time or begin with it, in the order of their
    /// starts.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn known_runs(
        &self,
        (source, id): (&str, &str),
        (from, to): (i64, i64),
    ) -> Result<Vec<KnownRun>, Error> {
        let sql = "SELECT u.start_at, u.end_at, ' ' || u.flags || ' ' LIKE '% sampled %', u.digest
            FROM source s JOIN usage_identity u ON u.source = s.id
            WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at < max(?4, ?3 + 1)
                AND u.end_at IS NOT NULL AND u.became <> 'unused'
            ORDER BY u.start_at DESC";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![source, id, from, to])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let run = KnownRun {
                start: row.get(0)?,
                end: row.get(1)?,
                is_sampled: row.get(2)?,
                digest: row.get(3)?,
            };
            // Runs of an object follow each other: those before this one ended before it.
            if run.end <= from && run.start != from {
                break;
            }
            found.push(run);
        }
        found.reverse();
        Ok(found)
    }
}
