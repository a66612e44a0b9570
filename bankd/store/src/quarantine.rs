//! Removal from the quarantine, and the read options of collectors' files. `sources` adds rows to
//! the quarantine, in the transaction of their import.

use super::sqlite::SqliteStore;
use super::{Error, seal};
use rusqlite::{OptionalExtension as _, params};

impl SqliteStore {
    /// Removes the given rows of the quarantine; returns how many existed.
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
        seal::renew(&self.connection, "quarantine_total", &[&1])?;
        Ok(removed)
    }

    /// Removes all quarantine rows of a collector; returns how many existed.
    pub fn discard_of(&self, source: &str) -> Result<u64, Error> {
        let sql = "UPDATE quarantine_total SET
                       held = held - (SELECT count(*) FROM quarantine WHERE source = ?1),
                       bytes = bytes
                           - (SELECT coalesce(sum(bytes), 0) FROM quarantine WHERE source = ?1)";
        self.connection.prepare_cached(sql)?.execute([source])?;
        let sql = "DELETE FROM quarantine WHERE source = ?1";
        let gone = self.connection.prepare_cached(sql)?.execute([source])?;
        seal::renew(&self.connection, "quarantine_total", &[&1])?;
        Ok(u64::try_from(gone).unwrap_or(0))
    }

    /// Stores the last read options of a collector's files, as JSON. Does nothing for a collector
    /// without data in the bank.
    pub fn keep_reading(&self, source: &str, options: &str) -> Result<(), Error> {
        let sql = "INSERT INTO source_reading (source, options)
                   SELECT id, ?2 FROM source WHERE name = ?1
                   ON CONFLICT (source) DO UPDATE SET options = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(params![source, options])?;
        let sql = "SELECT id FROM source WHERE name = ?1";
        let mut number = self.connection.prepare_cached(sql)?;
        let number: Option<i64> = number.query_row([source], |r| r.get(0)).optional()?;
        match number {
            Some(number) => seal::renew(&self.connection, "source_reading", &[&number]),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bank::NewBank;
    use super::super::{QuarantineRow, SourceSeen, read};
    use super::*;
    use bank_core::directory::Policy;
    use bank_core::time::Timestamp;

    fn store(folder: &tempfile::TempDir) -> SqliteStore {
        let new = NewBank::of_test();
        let path = folder.path().join("bank.db");
        SqliteStore::create(&path, &new, Policy::default()).unwrap()
    }

    fn rows(numbers: std::ops::Range<u64>) -> Vec<QuarantineRow> {
        let row = |line| QuarantineRow {
            source: if line % 2 == 0 { "even" } else { "odd" }.to_owned(),
            place: "day.log".to_owned(),
            line,
            body: format!("line {line:05}").into_bytes(),
            ..QuarantineRow::default()
        };
        numbers.map(row).collect()
    }

    /// Rows, bytes and dropped as they are kept, after a look that rows and bytes are true.
    fn totals(store: &SqliteStore) -> (i64, i64, i64) {
        let row = |sql: &str| {
            let row = store
                .connection
                .query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get::<_, i64>(2)?)));
            row.unwrap()
        };
        let kept: (i64, i64, i64) = row("SELECT held, bytes, dropped FROM quarantine_total");
        let there = row("SELECT count(*), coalesce(sum(bytes), 0), 0 FROM quarantine");
        assert_eq!((kept.0, kept.1), (there.0, there.1));
        kept
    }

    #[test]
    fn the_oldest_go_first_and_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        store.quarantine(&rows(1..11), Timestamp(7)).unwrap();
        assert_eq!(totals(&store), (10, 100, 0));
        store.bound_quarantine(8, 1_000).unwrap();
        assert_eq!(totals(&store), (8, 80, 2));
        store.bound_quarantine(100, 59).unwrap();
        assert_eq!(totals(&store), (5, 50, 5));
        let left = read::quarantine::list(&store.connection, None, 0, 100).unwrap();
        let lines: Vec<u64> = left.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [6, 7, 8, 9, 10]);
        // The newest row remains with any bounds.
        store.bound_quarantine(0, 0).unwrap();
        assert_eq!(totals(&store), (1, 10, 9));
    }

    #[test]
    fn a_line_is_in_it_once_and_a_body_without_a_line_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        store.quarantine(&rows(1..4), Timestamp(7)).unwrap();
        store.quarantine(&rows(2..6), Timestamp(8)).unwrap();
        assert_eq!(totals(&store), (5, 50, 0));
        let mut other = rows(2..3);
        other[0].body = b"line 2 after it was mended".to_vec();
        store.quarantine(&other, Timestamp(9)).unwrap();
        assert_eq!(totals(&store).0, 6);
        let without = [rows(0..1), rows(0..1)].concat();
        store.quarantine(&without, Timestamp(9)).unwrap();
        assert_eq!(totals(&store).0, 8);
    }

    #[test]
    fn what_is_discarded_is_no_longer_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        store.quarantine(&rows(1..11), Timestamp(7)).unwrap();
        assert_eq!(store.discard(&[1, 1, 4, 99]).unwrap(), 2);
        assert_eq!(totals(&store), (8, 80, 0));
        assert_eq!(store.discard_of("even").unwrap(), 4);
        assert_eq!(store.discard_of("nobody").unwrap(), 0);
        assert_eq!(totals(&store), (4, 40, 0));
    }

    /// A command for a record that has left must act on no other one.
    #[test]
    fn a_number_is_never_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let numbers = || {
            let all = read::quarantine::list(&store.connection, None, 0, 100).unwrap();
            all.rows.iter().map(|row| row.id).collect::<Vec<_>>()
        };
        store.quarantine(&rows(1..3), Timestamp(7)).unwrap();
        store.discard(&[2]).unwrap();
        store.quarantine(&rows(3..4), Timestamp(8)).unwrap();
        assert_eq!(numbers(), [1, 3]);
        store.discard(&[1, 3]).unwrap();
        store.quarantine(&rows(4..5), Timestamp(9)).unwrap();
        assert_eq!(numbers(), [4]);
    }

    #[test]
    fn the_last_way_of_reading_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let known = read::quarantine::reading(&store.connection, "s").unwrap();
        assert_eq!(known, read::quarantine::Reading::default());
        // A collector without data has no stored read options.
        store.keep_reading("s", "{}").unwrap();
        let rows = read::sources::list(&store.connection, None).unwrap();
        assert!(rows.is_empty(), "{rows:?}");
        let seen = SourceSeen {
            name: "s".to_owned(),
            records: 1,
            ..SourceSeen::default()
        };
        store.saw(&seen, Timestamp(7)).unwrap();
        store.keep_reading("s", "{}").unwrap();
        store.keep_reading("s", "{\"tz\":\"UTC\"}").unwrap();
        let known = read::quarantine::reading(&store.connection, "s").unwrap();
        assert_eq!(known.options, "{\"tz\":\"UTC\"}");
    }
}
