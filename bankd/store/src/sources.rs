//! Collectors: their figures, their unreadable records, raw lines, and the positions of followed
//! files. Written in the transaction of the data.

use super::sqlite::SqliteStore;
use super::{Error, seal};
use bank_api::reason::bounded;
use bank_core::time::{Seconds, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

/// Rows that the quarantine holds; the oldest go first.
pub(super) const QUARANTINE_ROWS: u64 = 100_000;

/// Default of the bytes that the quarantine holds.
pub(super) const QUARANTINE_BYTES: u64 = 256 << 20;

/// Activity of a collector since its last report; counts are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceSeen {
    /// Its name.
    pub name: String,
    /// The format of its records; empty for the API.
    pub format: String,
    /// The machine of records that name none; empty for none.
    pub machine: String,
    /// The latest end of a use.
    pub last_event: Option<Timestamp>,
    /// Records of its input.
    pub records: u64,
    /// Jobs among them.
    pub jobs: u64,
    /// Those that are not charged, by their reader's word.
    pub skipped: u64,
    /// Those that could not be read or taken.
    pub rejected: u64,
}

/// A change of the expectations for a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChange {
    /// How long it may be silent.
    SilentAfter {
        /// Its name.
        name: String,
        /// Silence limit, 0 for ever; none: the value of the settings.
        after: Option<Seconds>,
    },
    /// Hides it until its next contact.
    Remove {
        /// Its name.
        name: String,
    },
}

/// Something that could not be read or taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuarantineRow {
    /// The collector.
    pub source: String,
    /// The client that sent it.
    pub peer: String,
    /// File or route.
    pub place: String,
    /// Which line or record, from 1; 0 where there are none.
    pub line: u64,
    /// Why, in words for whoever mends it.
    pub reason: String,
    /// The record, unchanged.
    pub body: Vec<u8>,
}

/// How far a followed file was taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowMark {
    /// The collector.
    pub source: String,
    /// The file as the settings name it.
    pub path: String,
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// SHA-256 over the first and the last of the bytes taken in.
    pub head: Vec<u8>,
    /// How many of the first bytes that are.
    pub head_length: u64,
    /// Bytes taken in.
    pub offset: u64,
    /// Lines taken in.
    pub line: u64,
    /// Further state of its follower.
    pub state: String,
    /// The files beside it; none where they are as they were kept before.
    pub files: Option<Vec<FollowFile>>,
}

/// A file beside a followed one, and how much of it is dealt with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowFile {
    /// Its name.
    pub file: String,
    /// `read`, or why it is not.
    pub why: String,
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// Its size when it was looked at last.
    pub size: u64,
    /// When it had been written then, in nanoseconds since 1970.
    pub written: i64,
    /// Bytes dealt with.
    pub length: u64,
    /// Lines dealt with.
    pub line: u64,
    /// SHA-256 over the first and the last of the bytes dealt with.
    pub print: Vec<u8>,
    /// Length and fingerprint are those of the compressed file.
    pub is_raw: bool,
}

/// Raw lines, compressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawBlock {
    /// How many.
    pub lines: u64,
    /// How long they are together.
    pub bytes: u64,
    /// One zstd frame of them, each behind its length.
    pub body: Vec<u8>,
}

impl SqliteStore {
    /// Adds the activity of a collector; creates the collector if needed.
    pub fn saw(&self, seen: &SourceSeen, now: Timestamp) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO source (name, format, machine, first_contact, last_contact, last_event,
                 records, jobs, skipped, rejected)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (name) DO UPDATE SET
                 format = CASE ?2 WHEN '' THEN format ELSE ?2 END,
                 machine = CASE ?3 WHEN '' THEN machine ELSE ?3 END,
                 first_contact = CASE first_contact WHEN 0 THEN ?4 ELSE first_contact END,
                 last_contact = max(last_contact, ?4),
                 last_event = max(coalesce(last_event, ?5), coalesce(?5, last_event)),
                 removed = 0, records = records + ?6, jobs = jobs + ?7, skipped = skipped + ?8,
                 rejected = rejected + ?9",
        )?;
        statement.execute(params![
            seen.name,
            seen.format,
            seen.machine,
            now.0,
            seen.last_event.map(|t| t.0),
            count(seen.records),
            count(seen.jobs),
            count(seen.skipped),
            count(seen.rejected),
        ])?;
        seal_source(&self.connection, &seen.name)
    }

    /// Changes the expectations for a collector; false if no collector has that name.
    pub fn change_source(&self, change: &SourceChange) -> Result<bool, Error> {
        let changed = match change {
            SourceChange::SilentAfter { name, after } => {
                let sql = "UPDATE source SET silent_after_s = ?2 WHERE name = ?1";
                let mut statement = self.connection.prepare_cached(sql)?;
                statement.execute(params![name, after.map(|s| s.0)])?
            }
            SourceChange::Remove { name } => {
                let sql = "UPDATE source SET removed = 1 WHERE name = ?1";
                self.connection.prepare_cached(sql)?.execute([name])?
            }
        };
        let (SourceChange::SilentAfter { name, .. } | SourceChange::Remove { name }) = change;
        seal_source(&self.connection, name)?;
        Ok(changed > 0)
    }

    /// Adds rows to the quarantine, a line of a file once. Beyond the limits the oldest rows are
    /// removed and counted.
    pub fn quarantine(&self, rows: &[QuarantineRow], now: Timestamp) -> Result<(), Error> {
        for row in rows {
            let bytes = count(u64::try_from(row.body.len()).unwrap_or(u64::MAX));
            let is_new = self
                .connection
                .prepare_cached(
                    "INSERT INTO quarantine (at, source, peer, place, line, reason, bytes, body)
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE ?5 = 0 OR NOT EXISTS (
                         SELECT 1 FROM quarantine WHERE source = ?2 AND place = ?4 AND line = ?5
                             AND bytes = ?7 AND body = ?8)",
                )?
                .execute(params![
                    now.0,
                    row.source,
                    row.peer,
                    row.place,
                    count(row.line),
                    bounded(row.reason.as_str()),
                    bytes,
                    row.body,
                ])?
                > 0;
            if !is_new {
                continue;
            }
            let id = self.connection.last_insert_rowid();
            seal::renew(&self.connection, "quarantine", &[&id])?;
            self.connection
                .prepare_cached("UPDATE quarantine_total SET held = held + 1, bytes = bytes + ?1")?
                .execute([bytes])?;
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.bound_quarantine(QUARANTINE_ROWS, self.quarantine_bytes)
    }

    /// Removes the oldest rows of the quarantine until it is within its limits; the newest one
    /// remains.
    pub(super) fn bound_quarantine(&self, rows: u64, bytes: u64) -> Result<(), Error> {
        let sql = "SELECT held > ?1 OR bytes > ?2 FROM quarantine_total";
        let bounds = (count(rows), count(bytes));
        let is_full = || -> Result<bool, Error> {
            let mut statement = self.connection.prepare_cached(sql)?;
            Ok(statement.query_row(bounds, |r| r.get(0))?)
        };
        while is_full()? {
            let gone = self
                .connection
                .prepare_cached(
                    "DELETE FROM quarantine WHERE id = (SELECT min(id) FROM quarantine)
                         AND id < (SELECT max(id) FROM quarantine)
                     RETURNING bytes",
                )?
                .query_row([], |r| r.get::<_, i64>(0))
                .optional()?;
            let Some(gone) = gone else { break };
            self.connection
                .prepare_cached(
                    "UPDATE quarantine_total SET held = held - 1, bytes = bytes - ?1,
                         dropped = dropped + 1",
                )?
                .execute([gone])?;
        }
        seal::renew(&self.connection, "quarantine_total", &[&1])
    }

    /// Keeps how far a followed file was taken in.
    pub fn mark(&self, mark: &FollowMark, now: Timestamp) -> Result<(), Error> {
        let signed = |n: u64| i64::from_ne_bytes(n.to_ne_bytes());
        self.connection
            .prepare_cached(
                "INSERT INTO follow (source, path, device, inode, head, head_length, offset, line,
                     state, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (source, path) DO UPDATE SET device = ?3, inode = ?4, head = ?5,
                     head_length = ?6, offset = ?7, line = ?8, state = ?9, at = ?10",
            )?
            .execute(params![
                mark.source,
                mark.path,
                signed(mark.device),
                signed(mark.inode),
                mark.head,
                count(mark.head_length),
                count(mark.offset),
                count(mark.line),
                mark.state,
                now.0,
            ])?;
        if let Some(files) = &mark.files {
            self.follow_files(mark, files, now)?;
        }
        seal::renew(&self.connection, "follow", &[&mark.source, &mark.path])
    }

    /// The number of the next block of lines: following writes belong to it.
    pub fn begin_block(&mut self) -> Result<i64, Error> {
        let sql = "SELECT coalesce(max(id), 0) + 1 FROM raw_block";
        let block = self
            .connection
            .prepare_cached(sql)?
            .query_row([], |r| r.get(0))?;
        self.block = Some(block);
        Ok(block)
    }

    /// Following writes belong to no block, or to an existing one; `place` is the line of a record
    /// with a command of its own.
    pub fn of_block(&mut self, block: Option<i64>, place: Option<u32>) {
        (self.block, self.place) = (block, place);
    }

    /// Stores raw lines under the number of [`begin_block`](SqliteStore::begin_block); `tx` is the
    /// transaction of their chunk.
    pub fn keep_raw(
        &self,
        id: i64,
        source: &str,
        tx: Option<i64>,
        block: &RawBlock,
    ) -> Result<(), Error> {
        let source = id_of(&self.connection, source)?;
        let sql = "INSERT INTO raw_block (id, source, tx, lines, bytes, body)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (lines, bytes) = (count(block.lines), count(block.bytes));
        statement.execute((id, source, tx, lines, bytes, &block.body))?;
        seal::renew(&self.connection, "raw_block", &[&id])
    }
}

/// The number of a collector; creates the collector if needed.
pub(super) fn id_of(connection: &Connection, name: &str) -> Result<i64, Error> {
    let sql = "SELECT id FROM source WHERE name = ?1";
    let known = connection
        .prepare_cached(sql)?
        .query_row([name], |r| r.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    let sql = "INSERT INTO source (name, format, machine, first_contact, last_contact)
               VALUES (?1, '', '', 0, 0)";
    let id = connection.prepare_cached(sql)?.insert([name])?;
    seal::renew(connection, "source", &[&id])?;
    Ok(id)
}

fn seal_source(connection: &Connection, name: &str) -> Result<(), Error> {
    let sql = "SELECT id FROM source WHERE name = ?1";
    let id: Option<i64> = connection
        .prepare_cached(sql)?
        .query_row([name], |r| r.get(0))
        .optional()?;
    match id {
        Some(id) => seal::renew(connection, "source", &[&id]),
        None => Ok(()),
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
