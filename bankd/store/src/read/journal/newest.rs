//! The end of the journal: the newest transactions with their entries, found backwards.

use super::{Entry, JournalRow, Span, read_entry, read_transaction, rows_of};
use crate::Error;
use crate::numbers::{first_entry_of, first_recorded_from, last_entry};
use crate::read::{Page, SCAN_MAX};
use rusqlite::Connection;

const TRANSACTIONS_BEFORE: &str = "SELECT id, at_effective, at_recorded, actor, client, origin, op,
    instance, reason FROM tx WHERE id < ?1 AND id >= ?2 ORDER BY id DESC";
const ENTRIES_BEFORE: &str = "SELECT id, tx, n, kind, account, allocation, lien, usage,
    delta_amount, delta_held, delta_active, delta_shadow, delta_shadow_held, amount_after,
    held_after, project, user, machine, instance FROM entry WHERE id < ?1 ORDER BY id DESC";

/// The newest rows that `keep` accepts, the oldest of them first. The cursor is the number of the
/// transaction before which more may be.
pub fn newest(
    connection: &Connection,
    span: &Span,
    before: Option<i64>,
    keep: impl Fn(&JournalRow) -> bool,
) -> Result<Page<JournalRow>, Error> {
    let first = match span.since.max(span.recorded_from) {
        Some(from) => first_recorded_from(connection, from)?,
        None => 1,
    };
    let first = first.max(span.after.saturating_add(1));
    let before = before.unwrap_or(i64::MAX);
    let mut transactions = connection.prepare_cached(TRANSACTIONS_BEFORE)?;
    let mut transactions = transactions.query([before, first])?;
    let mut entries = connection.prepare_cached(ENTRIES_BEFORE)?;
    let end = first_entry_of(connection, before, last_entry(connection)?)?;
    let mut entries = entries.query([end])?;
    let mut entry = entries.next()?.map(read_entry).transpose()?;
    let mut found: Vec<Vec<JournalRow>> = Vec::new();
    let (mut count, mut looked, mut last) = (0_usize, 0_usize, before);
    let mut more = false;
    while let Some(row) = transactions.next()? {
        let tx = read_transaction(row)?;
        more = count >= span.limit || looked >= SCAN_MAX;
        if more {
            break;
        }
        let id = tx.id;
        let mut own: Vec<Entry> = Vec::new();
        while let Some(one) = entry.take_if(|e| e.tx >= id) {
            looked += 1;
            if one.tx == id {
                own.push(one);
            }
            entry = entries.next()?.map(read_entry).transpose()?;
        }
        own.reverse();
        looked += 1;
        let rows = if span.holds(tx.at_effective) {
            rows_of(connection, &tx, own, &keep)?
        } else {
            Vec::new()
        };
        more = count > 0 && count.saturating_add(rows.len()) > span.limit;
        if more {
            break;
        }
        count += rows.len();
        found.push(rows);
        last = id;
    }
    Ok(Page {
        rows: found.into_iter().rev().flatten().collect(),
        next: more.then_some(last),
    })
}
