//! All allocations at once: from the last waypoint that is whole the journal is read in its order.

use super::super::super::{Error, allocation, codec, numbers};
use super::cut::{AsOf, Cut};
use super::one;
use super::shaped;
use super::sums::Sums;
use bank_core::effects::{Delta, EntryKind};
use bank_core::model::{Allocation, Phase};
use rusqlite::{Connection, OptionalExtension, Params, Row};
use std::collections::HashMap;

/// Every existing allocation in its past state, by number.
///
/// # Errors
/// If the store fails.
pub fn whole(
    connection: &Connection,
    as_of: impl Into<AsOf>,
) -> Result<Vec<(Allocation, Phase)>, Error> {
    let cut = Cut::new(connection, as_of.into())?;
    let mut reading = Reading::new(connection, &cut)?;
    reading.in_order(connection, &cut)?;
    reading.late(connection, &cut)?;
    let mut found = Vec::new();
    for today in &reading.today {
        let own = reading.known.get(&today.id.0);
        let there = own.is_some_and(|known| known.there) || one::is_older_than_the_journal(today);
        if let Some(known) = own.filter(|_| there) {
            found.push(shaped(connection, today, known.sums, &cut)?);
        }
    }
    Ok(found)
}

/// The state of an allocation.
struct Known {
    /// Its last entry that is in the sums.
    upto: i64,
    sums: Sums,
    there: bool,
}

struct Reading {
    today: Vec<Allocation>,
    known: HashMap<i64, Known>,
    /// Entries up to this number are in the sums of every allocation.
    floor: i64,
}

impl Reading {
    /// Begins with the sums at waypoints.
    fn new(connection: &Connection, cut: &Cut) -> Result<Reading, Error> {
        let place = one::place(connection, cut.whole)?;
        let sql = "SELECT entry FROM waypoint WHERE n <= ?1 AND whole = 1 ORDER BY n DESC LIMIT 1";
        let floor = connection.query_row(sql, [place], |r| r.get(0));
        let sql = format!(
            "SELECT {} FROM allocation ORDER BY id",
            allocation::ALLOCATION
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        let mut reading = Reading {
            today: Vec::new(),
            known: HashMap::new(),
            floor: floor.optional()?.unwrap_or(0),
        };
        while let Some(row) = rows.next()? {
            let today = allocation::read(row)?;
            let base = one::before(connection, today.id, place)?;
            let (upto, sums) = base.unwrap_or_default();
            let known = Known {
                upto,
                sums,
                there: base.is_some(),
            };
            reading.known.insert(today.id.0, known);
            reading.today.push(today);
        }
        Ok(reading)
    }

    /// Adds all that was recorded in time.
    fn in_order(&mut self, connection: &Connection, cut: &Cut) -> Result<(), Error> {
        let last = numbers::last_entry(connection)?;
        let upto = numbers::first_entry_of(connection, cut.whole.saturating_add(1), last)?;
        let floor = self.floor;
        self.add(
            connection,
            "WHERE e.id > ?1 AND e.id < ?2 ORDER BY e.id",
            (floor, upto),
        )
    }

    /// Adds entries that were recorded later and took effect in time.
    fn late(&mut self, connection: &Connection, cut: &Cut) -> Result<(), Error> {
        if cut.is_clean() {
            return Ok(());
        }
        let last = numbers::last_entry(connection)?;
        let first = numbers::first_entry_of(connection, cut.whole.saturating_add(1), last)?;
        let end = numbers::first_entry_of(connection, cut.known.saturating_add(1), last)?;
        let sql = "SELECT entry FROM waypoint WHERE tx > ?1 ORDER BY tx LIMIT 1";
        let next = connection.query_row(sql, [cut.whole], |r| r.get(0));
        let sql = "SELECT coalesce(max(entry), 0) FROM waypoint";
        let marked: i64 = connection.query_row(sql, [], |r| r.get(0))?;
        // Up to the next waypoint, and behind the last one, each entry is looked at.
        let next: i64 = next.optional()?.unwrap_or(last);
        let unmarked = marked.max(next).saturating_add(1);
        let looked_at = "JOIN tx t ON t.id = e.tx
                         WHERE e.id >= ?1 AND e.id < ?2 AND t.at_effective <= ?3 ORDER BY e.id";
        let upto = next.saturating_add(1).min(end);
        self.add(connection, looked_at, (first, upto, cut.at.0))?;
        self.add(connection, looked_at, (unmarked, end, cut.at.0))?;
        // Between them the late ones are written down.
        self.add(
            connection,
            "JOIN waypoint_late l ON l.entry = e.id
             WHERE l.at_effective <= ?3 AND l.entry > ?1 AND l.entry < ?2",
            (next, end.min(unmarked), cut.at.0),
        )
    }

    fn add(
        &mut self,
        connection: &Connection,
        which: &str,
        bounds: impl Params,
    ) -> Result<(), Error> {
        let sql = format!("{ENTRIES} {which}");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(bounds)?;
        while let Some(row) = rows.next()? {
            let Some(allocation) = row.get::<_, Option<i64>>(1)? else {
                continue;
            };
            let id: i64 = row.get(0)?;
            let Some(known) = self.known.get_mut(&allocation) else {
                continue;
            };
            if id > known.upto {
                let (kind, delta, is_use) = counted(row)?;
                known.sums.count(connection, id, kind, &delta, is_use)?;
                known.there = true;
            }
        }
        Ok(())
    }
}

/// The columns that [`counted`] reads, behind the number and the allocation.
const ENTRIES: &str = "SELECT e.id, e.allocation, e.kind, e.delta_amount,
    e.delta_held, e.delta_active, e.delta_shadow, e.delta_shadow_held, e.usage IS NOT NULL
    FROM entry e";

/// The change of an entry.
pub(crate) fn counted(row: &Row<'_>) -> Result<(EntryKind, Delta, bool), Error> {
    // Millions of words are read: none is copied.
    let word = row.get_ref(2)?.as_str().unwrap_or_default();
    let kind = codec::word("entry.kind", word, EntryKind::parse)?;
    let delta = Delta {
        amount: row.get(3)?,
        held: row.get(4)?,
        active: row.get(5)?,
        shadow: row.get(6)?,
        shadow_held: row.get(7)?,
    };
    Ok((kind, delta, row.get(8)?))
}
