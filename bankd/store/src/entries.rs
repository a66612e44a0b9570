//! Journal entries for the rules and for verification, with the entries that they reverse.

use super::{Error, codec};
use bank_core::amount::Amount;
use bank_core::effects::{Delta, Entry, EntryKind};
use bank_core::ids::{AccountId, AllocationId, EntryId, LienId, UsageId};
use rusqlite::Row;

/// All entries from a number on with the entries that they reverse, in the column order of
/// [`entry`].
pub(super) const ENTRIES: &str =
    "SELECT e.tx, e.id, e.prev, e.kind, e.account, e.allocation, e.lien, e.usage,
         e.delta_amount, e.delta_held, e.delta_active, e.delta_shadow, e.delta_shadow_held,
         e.amount_after, e.held_after, e.project, e.user, e.machine, e.instance, e.n, c.of,
         (SELECT o.allocation FROM entry o WHERE o.id = c.of)
     FROM entry e LEFT JOIN correction c ON c.entry = e.id WHERE e.id >= ?1 ORDER BY e.id";

/// An entry out of a row of [`ENTRIES`].
pub(super) fn entry(row: &Row<'_>) -> Result<Entry, Error> {
    let kind: String = row.get(3)?;
    Ok(Entry {
        id: EntryId(row.get(1)?),
        prev: row.get::<_, Option<i64>>(2)?.map(EntryId),
        kind: codec::word("entry.kind", &kind, EntryKind::parse)?,
        account: row.get::<_, Option<i64>>(4)?.map(AccountId),
        allocation: row.get::<_, Option<i64>>(5)?.map(AllocationId),
        lien: row.get::<_, Option<i64>>(6)?.map(LienId),
        usage: row.get::<_, Option<i64>>(7)?.map(UsageId),
        takes_back: row.get::<_, Option<i64>>(20)?.map(EntryId),
        delta: Delta {
            amount: row.get(8)?,
            held: row.get(9)?,
            active: row.get(10)?,
            shadow: row.get(11)?,
            shadow_held: row.get(12)?,
        },
        amount_after: Amount(row.get(13)?),
        held_after: Amount(row.get(14)?),
        project: row.get(15)?,
        user: row.get(16)?,
        machine: row.get(17)?,
    })
}
