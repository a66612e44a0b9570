//! Tables that are made of others, made again: rollups, their blocks, and waypoints.

use super::rollup::{self, BlockSums, UNITS, add_up, next_missing};
use super::sqlite::SqliteStore;
use super::{Error, keep_plans, tally, waypoint};
use bank_core::time::Timestamp;
use rusqlite::Connection;
use std::path::Path;

/// Rebuilds derived tables in a database that no other process uses. Rollups are recomputed;
/// waypoints are removed, and the daemon recreates them.
///
/// # Errors
/// If the database cannot be read or written; then it is unchanged.
pub fn rebuild_derived(path: &Path) -> Result<(), Error> {
    let mut connection = Connection::open(path)?;
    keep_plans(&connection)?;
    let tx = connection.transaction()?;
    tx.execute_batch("DELETE FROM waypoint_late; DELETE FROM waypoint_sum; DELETE FROM waypoint;")?;
    rollup::rebuild(&tx)?;
    tally::renew(&tx)?;
    Ok(tx.commit()?)
}

impl SqliteStore {
    /// Makes all rollups and all waypoints again; returns the number of rollup rows.
    ///
    /// # Errors
    /// If the store cannot be read or written, which leaves everything as it was.
    pub fn rebuild_rollups(&mut self) -> Result<i64, Error> {
        self.begin()?;
        let made =
            waypoint::clear(&self.connection).and_then(|()| rollup::rebuild(&self.connection));
        if let Err(error) = made.and_then(|()| self.commit()) {
            self.rollback();
            return Err(error);
        }
        self.survey(waypoint::Spacing::default())?;
        let sql = "SELECT count(*) FROM rollup";
        Ok(self.connection.query_row(sql, [], |r| r.get(0))?)
    }

    /// Writes a block of rollups, in the open database transaction; false, without a write, if its rows changed
    /// since, or it is stored already.
    ///
    /// # Errors
    /// If the store fails.
    pub fn place_block(&mut self, made: &BlockSums) -> Result<bool, Error> {
        self.rollups
            .pending
            .standing()
            .place(&self.connection, made)
    }

    /// Creates the blocks of all days and months that are over at an instant, in one database transaction. For
    /// callers with exclusive access to the bank. Returns their number.
    ///
    /// # Errors
    /// If the store fails; then none is written.
    pub fn add_up_blocks(&mut self, now: Timestamp) -> Result<u64, Error> {
        self.begin()?;
        let done = self.add_up_all(now).and_then(|done| {
            self.commit()?;
            Ok(done)
        });
        if done.is_err() {
            self.rollback();
        }
        done
    }

    fn add_up_all(&mut self, now: Timestamp) -> Result<u64, Error> {
        let mut done = 0_u64;
        for unit in UNITS {
            let mut from = i64::MIN;
            while let Some(number) = next_missing(&self.connection, unit, from, now)? {
                if let Some(made) = add_up(&self.connection, unit, number)? {
                    done = done.saturating_add(u64::from(self.place_block(&made)?));
                }
                from = number.saturating_add(1);
            }
        }
        Ok(done)
    }
}
