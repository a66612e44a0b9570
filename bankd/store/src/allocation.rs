//! Reads allocations: one by its number, those of an account, and the credits of one.

use super::recent::{Account, Recent};
use super::{Error, codec};
use bank_core::amount::Amount;
use bank_core::history::{self, Change};
use bank_core::ids::{AccountId, AllocationId, EntryId};
use bank_core::model::{Allocation, Phase};
use bank_core::time::{Timestamp, Window};
use rusqlite::{Connection, Row};

macro_rules! allocation_columns {
    () => {
        "id, account, start_at, end_at, phase, amount, held, credit_limit, deposited, shadow,
        shadow_held, last_entry, used, opened_at, since_at"
    };
}

/// Columns of an allocation, in the order that [`read`] reads.
pub(super) const ALLOCATION: &str = allocation_columns!();

/// The allocations of an account by number, those that ended before an instant left out.
pub(super) fn of_account(
    connection: &Connection,
    recent: &mut Recent,
    account: AccountId,
    ending_after: Option<Timestamp>,
    found: &mut Vec<Allocation>,
) -> Result<(), Error> {
    let lasts = |a: &&Allocation| {
        let over = |end: Timestamp| ending_after.is_some_and(|after| end <= after);
        !a.window.end.is_some_and(over)
    };
    let after = match recent.account(account) {
        Account::All(known) => {
            found.extend(known.iter().filter(lasts));
            return Ok(());
        }
        Account::Large => ending_after,
        Account::Unknown => None,
    };
    let sql = concat!(
        "SELECT ",
        allocation_columns!(),
        " FROM allocation WHERE account = ?1 AND (end_at IS NULL OR end_at > ?2) ORDER BY id"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((account.0, after.map_or(i64::MIN, |t| t.0)))?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    found.extend(all.iter().filter(lasts));
    if after.is_none() {
        recent.keep(account, &all);
    }
    Ok(())
}

/// Adds an allocation by its number, unless it is there.
pub(super) fn add_allocation(
    connection: &Connection,
    id: AllocationId,
    found: &mut Vec<Allocation>,
) -> Result<(), Error> {
    if found.iter().any(|a| a.id == id) {
        return Ok(());
    }
    let sql = concat!(
        "SELECT ",
        allocation_columns!(),
        " FROM allocation WHERE id = ?1"
    );
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    if let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(())
}

/// An allocation out of a row of [`ALLOCATION`].
pub(super) fn read(row: &Row<'_>) -> Result<Allocation, Error> {
    let phase = codec::word("allocation.phase", codec::text(row, 4)?, Phase::parse)?;
    Ok(Allocation {
        id: AllocationId(row.get(0)?),
        account: AccountId(row.get(1)?),
        window: Window {
            start: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            end: row.get::<_, Option<i64>>(3)?.map(Timestamp),
        },
        opened: Timestamp(row.get(13)?),
        since: Timestamp(row.get(14)?),
        phase,
        amount: Amount(row.get(5)?),
        held: Amount(row.get(6)?),
        credit_limit: Amount(row.get(7)?),
        deposited: Amount(row.get(8)?),
        used: Amount(row.get(12)?),
        shadow: Amount(row.get(9)?),
        shadow_held: Amount(row.get(10)?),
        last_entry: row.get::<_, Option<i64>>(11)?.map(EntryId),
    })
}

/// The remaining money that an allocation received after an instant, by transactions before a
/// number.
pub(super) fn came_into(
    connection: &Connection,
    id: AllocationId,
    at: Timestamp,
    before: i64,
) -> Result<Amount, Error> {
    // The condition is that of the index (`Entry::is_beside_usage`). The latest come first. No
    // entry is recorded before it takes effect, so the first one recorded by then ends the search.
    let sql = "SELECT e.id, c.of, e.delta_amount, t.at_effective, t.at_recorded
               FROM entry e JOIN tx t ON t.id = e.tx LEFT JOIN correction c ON c.entry = e.id
               WHERE e.allocation = ?1 AND e.usage IS NULL AND e.delta_amount <> 0 AND e.tx < ?2
               ORDER BY e.tx DESC, e.id DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((id.0, before))?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next()? {
        let (effective, recorded): (i64, i64) = (row.get(3)?, row.get(4)?);
        if recorded <= at.0 {
            break;
        }
        if effective > at.0 {
            changes.push(Change {
                id: EntryId(row.get(0)?),
                takes_back: row.get::<_, Option<i64>>(1)?.map(EntryId),
                amount: row.get(2)?,
            });
        }
    }
    changes.reverse();
    Ok(Amount::clamped(history::came_in(&changes)))
}
