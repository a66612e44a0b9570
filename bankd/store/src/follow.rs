//! How far followed files were taken in, as it was kept.

use super::sources::{FollowFile, FollowMark};
use super::sqlite::SqliteStore;
use super::{Error, seal};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

/// The mark of a followed file, by its collector and the path of the settings.
pub fn follow_mark(
    connection: &Connection,
    source: &str,
    path: &str,
) -> Result<Option<FollowMark>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT device, inode, head, head_length, offset, line, state FROM follow
         WHERE source = ?1 AND path = ?2",
    )?;
    let mark = statement.query_row([source, path], |r| {
        Ok(FollowMark {
            source: source.to_owned(),
            path: path.to_owned(),
            device: unsigned(r.get(0)?),
            inode: unsigned(r.get(1)?),
            head: r.get(2)?,
            head_length: unsigned(r.get(3)?),
            offset: unsigned(r.get(4)?),
            line: unsigned(r.get(5)?),
            state: r.get(6)?,
            files: None,
        })
    });
    let Some(mut mark) = mark.optional()? else {
        return Ok(None);
    };
    mark.files = Some(files(connection, source, path)?);
    Ok(Some(mark))
}

/// The files beside a followed one.
fn files(connection: &Connection, source: &str, path: &str) -> Result<Vec<FollowFile>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT file, why, device, inode, size, written, length, line, print, is_raw
         FROM follow_file WHERE source = ?1 AND path = ?2 ORDER BY number",
    )?;
    let rows = statement.query_map([source, path], |r| {
        Ok(FollowFile {
            file: r.get(0)?,
            why: r.get(1)?,
            device: unsigned(r.get(2)?),
            inode: unsigned(r.get(3)?),
            size: unsigned(r.get(4)?),
            written: r.get(5)?,
            length: unsigned(r.get(6)?),
            line: unsigned(r.get(7)?),
            print: r.get(8)?,
            is_raw: r.get(9)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl SqliteStore {
    /// Keeps the files beside a followed one instead of those that were kept.
    pub(super) fn follow_files(
        &self,
        mark: &FollowMark,
        files: &[FollowFile],
        now: Timestamp,
    ) -> Result<(), Error> {
        let place = [&mark.source, &mark.path];
        self.connection
            .prepare_cached("DELETE FROM follow_file WHERE source = ?1 AND path = ?2")?
            .execute(place)?;
        for (number, file) in (1_i64..).zip(files) {
            self.connection
                .prepare_cached(
                    "INSERT INTO follow_file (source, path, number, file, why, device, inode, size,
                         written, length, line, print, is_raw, at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                )?
                .execute(params![
                    mark.source,
                    mark.path,
                    number,
                    file.file,
                    file.why,
                    signed(file.device),
                    signed(file.inode),
                    signed(file.size),
                    file.written,
                    signed(file.length),
                    signed(file.line),
                    file.print,
                    file.is_raw,
                    now.0,
                ])?;
            let key: [&dyn rusqlite::ToSql; 3] = [&mark.source, &mark.path, &number];
            seal::renew(&self.connection, "follow_file", &key)?;
        }
        Ok(())
    }
}

fn unsigned(number: i64) -> u64 {
    u64::from_ne_bytes(number.to_ne_bytes())
}

fn signed(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}
