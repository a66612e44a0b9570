//! How far followed files were taken in, as it was kept.

use super::Error;
use super::sources::FollowMark;
use rusqlite::{Connection, OptionalExtension};

/// The mark of a followed file, by its collector and the path of the settings.
pub fn follow_mark(
    connection: &Connection,
    source: &str,
    path: &str,
) -> Result<Option<FollowMark>, Error> {
    let unsigned = |n: i64| u64::from_ne_bytes(n.to_ne_bytes());
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
        })
    });
    Ok(mark.optional()?)
}
