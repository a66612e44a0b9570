//! One allocation: from the waypoint before the instant along its chain, with late entries.

use super::super::super::Error;
use super::cut::Cut;
use super::steps::{self, walk};
use super::sums::Sums;
use bank_core::book::suspense_allocation;
use bank_core::ids::{AllocationId, EntryId};
use bank_core::model::Allocation;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

/// The sums of an allocation's entries that count; none if it did not exist.
pub(super) fn stood(
    connection: &Connection,
    today: &Allocation,
    cut: &Cut,
) -> Result<Option<Sums>, Error> {
    let place = place(connection, cut.whole)?;
    let base = before(connection, today.id, place)?;
    let (floor, mut sums) = base.unwrap_or_default();
    let mut there = is_older_than_the_journal(today) || base.is_some();
    let mut counted = Vec::new();
    let stretch = Stretch::new(connection, today, place)?;
    stretch.visit(connection, floor, cut, |step| {
        if cut.counts(step.tx, step.effective) {
            counted.push(*step);
        }
    })?;
    for step in &counted {
        there = true;
        sums.add(connection, step)?;
    }
    Ok(there.then_some(sums))
}

/// Whether an allocation was created with the bank, without an entry.
pub(super) fn is_older_than_the_journal(today: &Allocation) -> bool {
    today.last_entry.is_none() || today.id == suspense_allocation().id
}

/// The chain of an allocation after a waypoint: completely up to its next sum; from there on only
/// late entries and those after the last waypoint.
pub(super) struct Stretch {
    allocation: AllocationId,
    /// The newest entry of the allocation.
    newest: Option<EntryId>,
    /// Its last entry at its next sum; none where it has none behind the waypoint.
    next: Option<EntryId>,
}

impl Stretch {
    pub(super) fn new(
        connection: &Connection,
        today: &Allocation,
        place: i64,
    ) -> Result<Stretch, Error> {
        let sql = "SELECT entry FROM waypoint_sum WHERE allocation = ?1 AND n > ?2
                   ORDER BY n LIMIT 1";
        let mut statement = connection.prepare_cached(sql)?;
        let next = statement.query_row((today.id.0, place), |r| r.get(0));
        Ok(Stretch {
            allocation: today.id,
            newest: today.last_entry,
            next: next.optional()?.map(EntryId),
        })
    }

    /// Collects the numbers of its entries from one to another; false as soon as there are more than `most` numbers.
    pub(super) fn between(
        &self,
        connection: &Connection,
        (first, last): (i64, i64),
        most: usize,
        numbers: &mut Vec<i64>,
    ) -> Result<bool, Error> {
        let sql = "SELECT prev FROM entry WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut entry = self.next.or(self.newest).map(|entry| entry.0);
        let mut walked = 0_usize;
        while let Some(number) = entry.filter(|number| *number >= first) {
            if number <= last {
                numbers.push(number);
            }
            walked = walked.saturating_add(1);
            if walked > most.saturating_mul(2) || numbers.len() > most {
                return Ok(false);
            }
            // An entry refers to an older one; one that does not is for `verify` to report.
            let prev: Option<i64> = statement.query_row([number], |r| r.get(0))?;
            entry = prev.filter(|prev| *prev < number);
        }
        Ok(true)
    }

    /// Visits every step behind an entry that may count: all of them that were recorded in time, of the
    /// others at least those that take effect in time. In no order.
    pub(super) fn visit(
        &self,
        connection: &Connection,
        floor: i64,
        cut: &Cut,
        mut visit: impl FnMut(&steps::Step),
    ) -> Result<(), Error> {
        let from = self.next.or(self.newest);
        let mut each = |newest, floor: i64| {
            walk(connection, newest, |step| {
                if step.entry > floor {
                    visit(step);
                }
                step.prev.is_some_and(|prev| prev.0 > floor)
            })
        };
        each(from, floor)?;
        let Some(next) = self.next.filter(|_| !cut.is_clean()) else {
            return Ok(());
        };
        // Late entries after the last waypoint are not indexed yet.
        let sql = "SELECT coalesce(max(entry), 0) FROM waypoint";
        let last: i64 = connection
            .prepare_cached(sql)?
            .query_row([], |r| r.get(0))?;
        if self.newest.is_some_and(|newest| newest.0 > last) {
            each(self.newest, last.max(next.0))?;
        }
        for entry in self.late(connection, next, cut.at)? {
            visit(&steps::step(connection, entry)?);
        }
        Ok(())
    }

    /// Entries behind one that took effect by an instant before their stretch of the journal began.
    fn late(
        &self,
        connection: &Connection,
        behind: EntryId,
        at: Timestamp,
    ) -> Result<Vec<EntryId>, Error> {
        let sql = "SELECT entry FROM waypoint_late
                   WHERE allocation = ?1 AND at_effective <= ?2 AND entry > ?3";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map((self.allocation.0, at.0, behind.0), |r| r.get(0))?;
        let rows = rows.map(|row| row.map(EntryId));
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The number of the last waypoint whose entries are all among the transactions up to a number; 0
/// if there is none.
pub(super) fn place(connection: &Connection, tx: i64) -> Result<i64, Error> {
    let sql = "SELECT n FROM waypoint WHERE tx <= ?1 ORDER BY tx DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([tx], |r| r.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}

/// An allocation at a waypoint: its last entry up to there, and its sums.
pub(crate) fn before(
    connection: &Connection,
    allocation: AllocationId,
    place: i64,
) -> Result<Option<(i64, Sums)>, Error> {
    let sql = "SELECT entry, amount, held, deposited, used, shadow, shadow_held FROM waypoint_sum
               WHERE allocation = ?1 AND n <= ?2 ORDER BY n DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((allocation.0, place), read);
    Ok(found.optional()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Sums)> {
    let sums = Sums {
        amount: row.get(1)?,
        held: row.get(2)?,
        deposited: row.get(3)?,
        used: row.get(4)?,
        shadow: row.get(5)?,
        shadow_held: row.get(6)?,
    };
    Ok((row.get(0)?, sums))
}
