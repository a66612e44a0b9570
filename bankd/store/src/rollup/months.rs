//! Rollups of whole months (decision 0089): the totals of a month's days, for each key, so
//! that a report of a year reads a row for a month instead of thirty.
//!
//! A month row replaces all of its days; without rows, the days are read. Rows are built from
//! committed data, outside the command transactions: [`add_up`] reads, and [`Standing::place`]
//! writes if the days are unchanged. A transaction that changes a day deletes the rows of its
//! month: [`Standing::touch`].

use super::super::Error;
use super::super::extent;
use super::pack::{self, stored};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::{Measure, Sign, Sums, day_of, hour_of, month};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Reads the days of a month, in the order of the table.
const DAYS: &str = "SELECT day, key, core, gpu, node, wall, cpu, memory, disk, factored, charge,
         shadow, measured, started, ended, running, seal
     FROM rollup WHERE day >= ?1 AND day < ?2";

/// Totals of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthSums {
    month: i64,
    /// The seals of the days that it was made of, added up.
    seals: i64,
    /// For each key that has anything.
    pub(crate) rows: BTreeMap<i64, Sums>,
}

/// Adds up the days of a month. `running` counts jobs that ran on its first day and those that began
/// later. Takes memory for each key that has anything in it.
///
/// # Errors
/// If the store cannot be read.
pub fn add_up(connection: &Connection, month: i64) -> Result<MonthSums, Error> {
    let (first, next) = month::days(month);
    let mut statement = connection.prepare_cached(DAYS)?;
    let mut days = statement.query((first, next))?;
    let mut made = MonthSums {
        month,
        seals: 0,
        rows: BTreeMap::new(),
    };
    while let Some(row) = days.next()? {
        let mut sums = Sums::default();
        for (place, figure) in (2..).zip(&mut sums.0) {
            *figure = row.get::<_, i64>(place)?.into();
        }
        if row.get::<_, i64>(0)? != first {
            sums = sums.with(Measure::Running, sums.get(Measure::Started));
        }
        made.seals = plus(made.seals, row.get(16)?);
        let own = made.rows.entry(row.get(1)?).or_default();
        own.add(&sums, Sign::Plus);
    }
    made.rows.retain(|_, sums| !sums.is_zero());
    Ok(made)
}

fn plus(seals: i64, seal: i64) -> i64 {
    extent::wrap(seals.saturating_add(extent::wrap(seal)))
}

impl MonthSums {
    /// Whether every figure fits its column: else the days are used.
    fn fits(&self) -> bool {
        let figures = self.rows.values().flat_map(|sums| sums.0);
        figures
            .into_iter()
            .all(|figure| i128::from(stored(figure)) == figure)
    }
}

/// Months that are over at an instant, have days and no rows, in order, from one on.
///
/// # Errors
/// If the store cannot be read.
pub fn next_missing(
    connection: &Connection,
    from: i64,
    now: Timestamp,
) -> Result<Option<i64>, Error> {
    let (today, _) = day_of(hour_of(now.0));
    let this = month::of_day(today);
    let mut from = from;
    while let Some(day) = first_from(connection, month::first_day(from))? {
        let found = month::of_day(day);
        if found >= this {
            break;
        }
        if !is_stored(connection, found)? {
            return Ok(Some(found));
        }
        from = found.saturating_add(1);
    }
    Ok(None)
}

/// The first day with anything from one on.
fn first_from(connection: &Connection, day: i64) -> Result<Option<i64>, Error> {
    let mut statement = connection.prepare_cached("SELECT min(day) FROM rollup WHERE day >= ?1")?;
    Ok(statement.query_row([day], |r| r.get(0))?)
}

/// Whether a month has rows.
///
/// # Errors
/// If the store cannot be read.
pub fn is_stored(connection: &Connection, month: i64) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM rollup_month WHERE month = ?1)";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([month], |r| r.get(0))?)
}

/// Gives the rows of some months, one after the other, until another, exclusive.
///
/// # Errors
/// If the store cannot be read, or a row is none that is written here.
pub(crate) fn each_row(
    connection: &Connection,
    (from, until): (i64, i64),
    mut visit: impl FnMut(i64, i64, &Sums),
) -> Result<(), Error> {
    let sql = "SELECT month, key, figures FROM rollup_month WHERE month >= ?1 AND month < ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((from, until))?;
    while let Some(row) = rows.next()? {
        let figures = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        visit(row.get(0)?, row.get(1)?, &pack::one(figures)?);
    }
    Ok(())
}

/// The range of existing month rows, for writers of days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Upper bound of existing months; none until it is read. After a rollback a month remains
    /// noted, which only costs a lookup.
    last: Option<i64>,
}

impl Standing {
    /// Deletes the months of days that are about to be written; days are in order.
    pub(super) fn touch(
        &mut self,
        connection: &Connection,
        days: impl Iterator<Item = i64>,
    ) -> Result<(), Error> {
        // The first day behind the month that was looked at last.
        let mut behind = i64::MIN;
        for day in days {
            if day < behind {
                continue;
            }
            let month = month::of_day(day);
            (_, behind) = month::days(month);
            if month <= self.last(connection)? {
                let sql = "DELETE FROM rollup_month WHERE month = ?1";
                connection.prepare_cached(sql)?.execute([month])?;
            }
        }
        Ok(())
    }

    /// Writes the totals of a month, in the open database transaction; false, without a write, if its
    /// days changed since, or the month is stored already.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) fn place(
        &mut self,
        connection: &Connection,
        made: &MonthSums,
    ) -> Result<bool, Error> {
        let month = made.month;
        let is_same = seals(connection, month)? == made.seals;
        if !is_same || !made.fits() || is_stored(connection, month)? {
            return Ok(false);
        }
        self.note(connection, month)?;
        let sql = "INSERT INTO rollup_month (month, key, figures) VALUES (?1, ?2, ?3)";
        let mut insert = connection.prepare_cached(sql)?;
        for (key, sums) in &made.rows {
            insert.execute((month, key, pack::sums(sums)))?;
        }
        Ok(true)
    }

    fn last(&mut self, connection: &Connection) -> Result<i64, Error> {
        if let Some(last) = self.last {
            return Ok(last);
        }
        let sql = "SELECT coalesce(max(month), ?1) FROM rollup_month";
        let last = connection.query_row(sql, [i64::MIN], |r| r.get(0))?;
        self.last = Some(last);
        Ok(last)
    }

    fn note(&mut self, connection: &Connection, month: i64) -> Result<(), Error> {
        self.last = Some(self.last(connection)?.max(month));
        Ok(())
    }
}

/// The seals of the days of a month, added up.
fn seals(connection: &Connection, month: i64) -> Result<i64, Error> {
    let sql = "SELECT seal FROM rollup WHERE day >= ?1 AND day < ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(month::days(month))?;
    let mut sum = 0;
    while let Some(row) = rows.next()? {
        sum = plus(sum, row.get(0)?);
    }
    Ok(sum)
}
