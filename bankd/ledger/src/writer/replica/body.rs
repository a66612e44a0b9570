//! The body of an entry: what kind it is, for which schema, and the changeset, compressed.

use bankd_cluster::Entry;
use bankd_store::replica::{Changes, schema};

/// The first byte of every body.
const VERSION: u8 = 1;
/// zstd's fastest level: 880 bytes a command become about 180.
const LEVEL: i32 = 1;
/// Bytes of a changeset at most.
const ROWS_MAX: usize = 1 << 30;

const REFERENCE: u8 = 1;
const RECORDS: u8 = 2;

/// The body of an entry with changes.
///
/// # Errors
/// If it cannot be compressed.
pub(super) fn of_changes(changes: &Changes) -> std::io::Result<Vec<u8>> {
    let reference = if changes.is_reference { REFERENCE } else { 0 };
    let records = if changes.newest_record.is_some() {
        RECORDS
    } else {
        0
    };
    let mut body = vec![VERSION, reference | records];
    body.extend(changes.schema.to_be_bytes());
    body.extend(changes.newest_record.unwrap_or_default().to_be_bytes());
    if !changes.rows.is_empty() {
        body.extend(zstd::bulk::compress(&changes.rows, LEVEL)?);
    }
    Ok(body)
}

/// The body of an entry without changes, which begins an epoch.
pub fn opening() -> Vec<u8> {
    let mut body = vec![VERSION, 0];
    body.extend(schema().to_be_bytes());
    body.extend(0_i64.to_be_bytes());
    body
}

/// The changes in an entry.
///
/// # Errors
/// If its body is none that this program reads.
pub fn of_entry(entry: &Entry) -> Result<Changes, String> {
    read(&entry.body, (&entry.hash_before, &entry.hash_after))
}

/// The changes in a body.
fn read(body: &[u8], (hash_before, hash_after): (&[u8], &[u8])) -> Result<Changes, String> {
    let wrong = |what: &str| format!("its body {what}: it was written by another version of bankd");
    let (head, packed) = body
        .split_at_checked(18)
        .ok_or_else(|| wrong("is too short"))?;
    let [VERSION, flags, numbers @ ..] = head else {
        return Err(wrong("has an unknown format"));
    };
    let number = |from: usize| {
        let bytes = numbers
            .get(from..from.saturating_add(8))
            .unwrap_or_default();
        bytes.try_into().map_or(0, i64::from_be_bytes)
    };
    let rows = if packed.is_empty() {
        Vec::new()
    } else {
        let size = zstd::bulk::Decompressor::upper_bound(packed).unwrap_or(ROWS_MAX);
        if size > ROWS_MAX {
            return Err(wrong("is too large"));
        }
        zstd::bulk::decompress(packed, size).map_err(|_| wrong("cannot be decompressed"))?
    };
    Ok(Changes {
        rows,
        schema: number(0),
        hash_before: hash_before.to_vec(),
        hash_after: hash_after.to_vec(),
        is_reference: flags & REFERENCE != 0,
        newest_record: (flags & RECORDS != 0).then(|| number(8)),
    })
}
