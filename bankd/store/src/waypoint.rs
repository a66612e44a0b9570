//! Waypoints: positions in the journal with the sums of allocations, so that past balances need no
//! walk through the journal (decision note 0057).
//!
//! A [`Surveyor`] reads committed data and computes the next waypoint; the writer only stores it.
//! All of it follows from the journal: [`check`] proves it, and waypoints can be deleted without
//! loss.

mod verify;

pub(super) use verify::check;

use super::read::past::{Sums, before, counted};
use super::{Error, SqliteStore, numbers, seal};
use bank_core::ids::AllocationId;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// Distance of waypoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// Minimum number of entries between two waypoints; a waypoint is at the end of a transaction.
    pub stretch: usize,
    /// An allocation with so many entries since its last sum gets one.
    pub sum: usize,
    /// Every so many waypoints all allocations that changed get one.
    pub whole: i64,
}

impl Default for Spacing {
    /// With ten million entries a year a stretch is an hour or two, and all allocations have their sums
    /// every nine days.
    fn default() -> Spacing {
        Spacing {
            stretch: 2_048,
            sum: 64,
            whole: 128,
        }
    }
}

impl Spacing {
    fn stretch(self) -> i64 {
        i64::try_from(self.stretch.max(1)).unwrap_or(i64::MAX)
    }
}

/// A waypoint with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waypoint {
    /// Its number, from 1.
    n: i64,
    tx: i64,
    entry: i64,
    from_at: i64,
    whole: bool,
    sums: Vec<(i64, i64, Sums)>,
    /// Allocation, effective time and entry.
    late: Vec<(i64, i64, i64)>,
}

/// Changes of an allocation since its last sum.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    sums: Sums,
    /// Its last entry.
    entry: i64,
    /// Entries since its last sum.
    entries: usize,
}

/// Looks for waypoints, one after the other.
#[derive(Debug)]
pub struct Surveyor {
    spacing: Spacing,
    /// The last waypoint: its number, transaction and entry; zeros for none.
    last: (i64, i64, i64),
    /// Allocations that changed since the last whole waypoint.
    changed: BTreeMap<i64, Since>,
}

impl Surveyor {
    /// One that goes on where the waypoints of a database end.
    ///
    /// # Errors
    /// If the store fails.
    pub fn new(connection: &Connection, spacing: Spacing) -> Result<Surveyor, Error> {
        let sql = "SELECT n, tx, entry FROM waypoint ORDER BY n DESC LIMIT 1";
        let last = connection.query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)));
        let sql = "SELECT entry FROM waypoint WHERE whole = 1 ORDER BY n DESC LIMIT 1";
        let floor = connection.query_row(sql, [], |r| r.get(0)).optional()?;
        let mut surveyor = Surveyor {
            spacing,
            last: last.optional()?.unwrap_or_default(),
            changed: BTreeMap::new(),
        };
        // Allocations without a sum since their last change are read again.
        let upto = surveyor.last.2;
        surveyor.read(connection, floor.unwrap_or(0), Some(upto), |_, _| true)?;
        surveyor.changed.retain(|_, since| since.entries > 0);
        Ok(surveyor)
    }

    /// The next waypoint; none where the journal is not long enough for one yet.
    ///
    /// # Errors
    /// If the store fails. Make another surveyor then.
    pub fn next(&mut self, connection: &Connection) -> Result<Option<Waypoint>, Error> {
        let (n, tx, entry) = self.last;
        let newest = numbers::last_entry(connection)?;
        let stretch = self.spacing.stretch();
        if newest < entry.saturating_add(stretch) {
            return Ok(None);
        }
        let sql = "SELECT at_recorded FROM tx WHERE id = ?1";
        let from_at: i64 = connection.query_row(sql, [tx.saturating_add(1)], |r| r.get(0))?;
        let mut end = (tx, entry);
        let mut late = Vec::new();
        self.read(connection, entry, None, |row, allocation| {
            let is_new = row.tx != end.0;
            if is_new && row.entry > entry.saturating_add(stretch) {
                return false;
            }
            end = (row.tx, row.entry);
            if let Some(allocation) = allocation.filter(|_| row.effective < from_at) {
                late.push((allocation, row.effective, row.entry));
            }
            true
        })?;
        self.last = (n.saturating_add(1), end.0, end.1);
        let whole = self.last.0 % self.spacing.whole.max(1) == 0;
        let mut sums = Vec::new();
        for (allocation, since) in &mut self.changed {
            if since.entries >= self.spacing.sum.max(1) || (whole && since.entries > 0) {
                since.entries = 0;
                sums.push((*allocation, since.entry, since.sums));
            }
        }
        if whole {
            self.changed.clear();
        }
        Ok(Some(Waypoint {
            n: self.last.0,
            tx: end.0,
            entry: end.1,
            from_at,
            whole,
            sums,
            late,
        }))
    }

    /// Reads entries after one, up to one, or while `goes_on` returns true, and counts them.
    fn read(
        &mut self,
        connection: &Connection,
        behind: i64,
        upto: Option<i64>,
        mut goes_on: impl FnMut(&Place, Option<i64>) -> bool,
    ) -> Result<(), Error> {
        let mut statement = connection.prepare_cached(ENTRIES)?;
        let mut rows = statement.query((behind, upto.unwrap_or(i64::MAX)))?;
        while let Some(row) = rows.next()? {
            let place = Place {
                entry: row.get(0)?,
                tx: row.get(9)?,
                effective: row.get(10)?,
            };
            let allocation: Option<i64> = row.get(1)?;
            if !goes_on(&place, allocation) {
                break;
            }
            let Some(allocation) = allocation else {
                continue;
            };
            let own = match self.changed.entry(allocation) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(new) => {
                    let base = before(connection, AllocationId(allocation), self.last.0)?;
                    let (entry, sums) = base.unwrap_or_default();
                    new.insert(Since {
                        sums,
                        entry,
                        entries: 0,
                    })
                }
            };
            if place.entry > own.entry {
                let (kind, delta, is_use) = counted(row)?;
                own.sums
                    .count(connection, place.entry, kind, &delta, is_use)?;
                own.entry = place.entry;
                own.entries = own.entries.saturating_add(1);
            }
        }
        Ok(())
    }
}

/// Position of an entry.
struct Place {
    entry: i64,
    tx: i64,
    effective: i64,
}

const ENTRIES: &str = "SELECT e.id, e.allocation, e.kind, e.delta_amount, e.delta_held,
    e.delta_active, e.delta_shadow, e.delta_shadow_held, e.usage IS NOT NULL, e.tx, t.at_effective
    FROM entry e JOIN tx t ON t.id = e.tx WHERE e.id > ?1 AND e.id <= ?2 ORDER BY e.id";

/// Removes all waypoints before a rebuild. Their tally may be wrong too.
///
/// # Errors
/// If the store fails.
pub(super) fn clear(connection: &Connection) -> Result<(), Error> {
    connection.execute_batch(
        "DELETE FROM waypoint_late; DELETE FROM waypoint_sum; DELETE FROM waypoint;
         UPDATE tally SET rows = 0, seals = 0 WHERE name = 'waypoint';",
    )?;
    Ok(())
}

impl SqliteStore {
    /// Writes a waypoint down, in the open database transaction. One that does not follow the last is
    /// left out: it was written before.
    ///
    /// # Errors
    /// If the store fails.
    pub fn place_waypoint(&self, waypoint: &Waypoint) -> Result<bool, Error> {
        let sql = "SELECT coalesce(max(n), 0) + 1 FROM waypoint";
        let next: i64 = self
            .connection
            .prepare_cached(sql)?
            .query_row([], |r| r.get(0))?;
        if next != waypoint.n {
            return Ok(false);
        }
        let n = waypoint.n;
        self.connection
            .prepare_cached(
                "INSERT INTO waypoint (n, tx, entry, from_at, whole, sums)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                n,
                waypoint.tx,
                waypoint.entry,
                waypoint.from_at,
                waypoint.whole,
                i64::try_from(waypoint.sums.len()).unwrap_or(i64::MAX),
            ))?;
        seal::renew(&self.connection, "waypoint", &[&n])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO waypoint_sum (allocation, n, entry, amount, held, deposited, used, shadow,
                 shadow_held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        for (allocation, entry, sums) in &waypoint.sums {
            insert.execute((
                allocation,
                n,
                entry,
                sums.amount,
                sums.held,
                sums.deposited,
                sums.used,
                sums.shadow,
                sums.shadow_held,
            ))?;
        }
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO waypoint_late (allocation, at_effective, entry) VALUES (?1, ?2, ?3)",
        )?;
        for row in &waypoint.late {
            insert.execute(*row)?;
        }
        Ok(true)
    }

    /// Writes all waypoints for which the journal is long enough, in one database transaction. For
    /// callers with exclusive access to the bank. Returns their number.
    ///
    /// # Errors
    /// If the store fails; then none is written.
    pub fn survey(&mut self, spacing: Spacing) -> Result<u64, Error> {
        self.begin()?;
        let done = self.survey_all(spacing).and_then(|done| {
            self.commit()?;
            Ok(done)
        });
        if done.is_err() {
            self.rollback();
        }
        done
    }

    fn survey_all(&self, spacing: Spacing) -> Result<u64, Error> {
        let mut surveyor = Surveyor::new(&self.connection, spacing)?;
        let mut done = 0_u64;
        while let Some(waypoint) = surveyor.next(&self.connection)? {
            self.place_waypoint(&waypoint)?;
            done = done.saturating_add(1);
        }
        Ok(done)
    }
}
