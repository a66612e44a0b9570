//! Blocks: the figures of all keys in a whole day or month, measure by measure, so that a report reads them as fast as
//! they can be added (decisions 0089 and 0190).
//!
//! A block of a day replaces its rows for reports, a block of a month those of its days; without a block, the rows are
//! read. Blocks are built from committed data, outside the command transactions: [`add_up`] reads, and
//! [`Standing::place`] writes if the rows are unchanged. A transaction that changes a day deletes its block and that
//! of its month: [`Standing::touch`].

use super::super::Error;
use super::super::extent;
use super::{broken, each_hour};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::block::{Block, UNITS, Unit, unpacked};
use bank_core_figures::rollup::pack::stored;
use bank_core_figures::rollup::{Measure, Sign, Sums, day_of, hour_of, month};
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// The figures of a block before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSums {
    number: i64,
    parts: Parts,
    /// For each key that has anything.
    pub(crate) rows: BTreeMap<i64, Sums>,
}

/// What a block was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Parts {
    /// The rows of a day: their seals, added up.
    Rows(i64),
    /// The blocks of these days.
    Days(Vec<i64>),
}

/// Adds up a day or a month; none as long as a day of the month has no block. `running` of a month counts jobs that ran
/// on its first day and those that began later. Takes memory for each key that has anything in it.
///
/// # Errors
/// If the store cannot be read.
pub fn add_up(
    connection: &Connection,
    unit: Unit,
    number: i64,
) -> Result<Option<BlockSums>, Error> {
    match unit {
        Unit::Day => day(connection, number).map(Some),
        Unit::Month => month(connection, number),
    }
}

fn day(connection: &Connection, number: i64) -> Result<BlockSums, Error> {
    let mut rows = BTreeMap::new();
    let mut seals = 0;
    let behind = number.saturating_add(1);
    each_day(connection, (number, behind), |row| {
        seals = plus(seals, row.seal);
        rows.insert(row.key, row.sums());
    })?;
    rows.retain(|_, sums| !sums.is_zero());
    let parts = Parts::Rows(seals);
    Ok(BlockSums {
        number,
        parts,
        rows,
    })
}

fn month(connection: &Connection, number: i64) -> Result<Option<BlockSums>, Error> {
    let (first, _) = month::days(number);
    let days = days_of(connection, number)?;
    let mut rows: BTreeMap<i64, Sums> = BTreeMap::new();
    for day in &days {
        let Some(block) = read(connection, Unit::Day, *day)? else {
            return Ok(None);
        };
        for (key, sums) in block.rows() {
            let sums = sums.of_span(*day == first);
            rows.entry(key).or_default().add(&sums, Sign::Plus);
        }
    }
    rows.retain(|_, sums| !sums.is_zero());
    let parts = Parts::Days(days);
    Ok(Some(BlockSums {
        number,
        parts,
        rows,
    }))
}

/// The days of a month that have rows.
fn days_of(connection: &Connection, number: i64) -> Result<Vec<i64>, Error> {
    let (mut from, until) = month::days(number);
    let mut found = Vec::new();
    while let Some(day) = first_from(connection, from)?.filter(|day| *day < until) {
        found.push(day);
        from = day.saturating_add(1);
    }
    Ok(found)
}

/// A row of a day and key.
pub(crate) struct DayRow {
    pub(crate) day: i64,
    pub(crate) key: i64,
    /// The sums of its hours.
    pub(crate) hours: Sums,
    /// Jobs that ran on the day: not the sum of those of its hours.
    pub(crate) running: i128,
    seal: i64,
}

impl DayRow {
    /// The figures of the day.
    pub(crate) fn sums(&self) -> Sums {
        self.hours.with(Measure::Running, self.running)
    }
}

/// Gives each row of some days, the last exclusive, in the order of days and keys.
///
/// # Errors
/// If the store cannot be read, or a row is none that is written here.
pub(crate) fn each_day(
    connection: &Connection,
    (from, until): (i64, i64),
    mut visit: impl FnMut(&DayRow),
) -> Result<(), Error> {
    let sql = "SELECT day, key, running, hours, seal FROM rollup WHERE day >= ?1 AND day < ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((from, until))?;
    while let Some(row) = rows.next()? {
        let mut own = DayRow {
            day: row.get(0)?,
            key: row.get(1)?,
            hours: Sums::default(),
            running: row.get::<_, i64>(2)?.into(),
            seal: row.get(4)?,
        };
        let hours = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        each_hour(hours, |_, sums| own.hours.add(sums, Sign::Plus))?;
        visit(&own);
    }
    Ok(())
}

fn plus(seals: i64, seal: i64) -> i64 {
    extent::wrap(seals.saturating_add(extent::wrap(seal)))
}

impl BlockSums {
    /// Whether every figure fits its column: else the rows are used.
    fn fits(&self) -> bool {
        let figures = self.rows.values().flat_map(|sums| sums.0);
        figures
            .into_iter()
            .all(|figure| i128::from(stored(figure)) == figure)
    }
}

/// The stored block of a day or a month; none if there is no block.
///
/// # Errors
/// If the store cannot be read, or the block is none that is written here.
pub(crate) fn read(
    connection: &Connection,
    unit: Unit,
    number: i64,
) -> Result<Option<Block>, Error> {
    let bytes = bytes(connection, unit, number)?;
    bytes
        .map(|bytes| of_bytes(&bytes, &|_| true, &|_| true))
        .transpose()
}

/// The bytes of the stored block of a day or a month.
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn bytes(
    connection: &Connection,
    unit: Unit,
    number: i64,
) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT figures FROM rollup_block WHERE unit = ?1 AND number = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((unit.code(), number), |r| r.get(0));
    Ok(found.optional()?)
}

/// A block with the keys and the measures that are wanted out of its bytes.
///
/// # Errors
/// If they are none that are written here.
pub(crate) fn of_bytes(
    bytes: &[u8],
    keys: &dyn Fn(i64) -> bool,
    measures: &dyn Fn(usize) -> bool,
) -> Result<Block, Error> {
    unpacked(bytes, keys, measures).ok_or_else(|| broken("rollup_block.figures", bytes))
}

/// The first day or month that is over at an instant, has rows and no block, from one on.
///
/// # Errors
/// If the store cannot be read.
pub fn next_missing(
    connection: &Connection,
    unit: Unit,
    from: i64,
    now: Timestamp,
) -> Result<Option<i64>, Error> {
    let (today, _) = day_of(hour_of(now.0));
    let this = unit.of_day(today);
    let mut from = from;
    while let Some(day) = first_from(connection, unit.days(from).0)? {
        let found = unit.of_day(day);
        if found >= this {
            break;
        }
        if !is_stored(connection, unit, found)? {
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

/// Whether a day or a month has a block.
///
/// # Errors
/// If the store cannot be read.
pub fn is_stored(connection: &Connection, unit: Unit, number: i64) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM rollup_block WHERE unit = ?1 AND number = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.exists((unit.code(), number))?)
}

/// The first block of a unit behind a number.
pub(crate) fn next_stored(
    connection: &Connection,
    unit: Unit,
    behind: i64,
) -> Result<Option<i64>, Error> {
    let sql =
        "SELECT number FROM rollup_block WHERE unit = ?1 AND number > ?2 ORDER BY number LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row((unit.code(), behind), |r| r.get(0));
    Ok(found.optional()?)
}

/// The last existing blocks, for writers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Upper bounds of existing days and months; none until they are read. After a rollback a block remains noted,
    /// which only costs a lookup.
    last: Option<[i64; 2]>,
}

impl Standing {
    /// Deletes the blocks of days that are about to be written; days are in order.
    pub(super) fn touch(
        &mut self,
        connection: &Connection,
        days: impl Iterator<Item = i64>,
    ) -> Result<(), Error> {
        let last = self.last(connection)?;
        // The block of each unit that was looked at last.
        let mut looked = [None; 2];
        for day in days {
            for ((unit, last), looked) in UNITS.into_iter().zip(last).zip(&mut looked) {
                let number = unit.of_day(day);
                if number > last || *looked == Some(number) {
                    continue;
                }
                *looked = Some(number);
                let sql = "DELETE FROM rollup_block WHERE unit = ?1 AND number = ?2";
                connection
                    .prepare_cached(sql)?
                    .execute((unit.code(), number))?;
            }
        }
        Ok(())
    }

    /// Writes a block, in the open database transaction; false, without a write, if its rows changed since, or it is
    /// stored already.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) fn place(
        &mut self,
        connection: &Connection,
        made: &BlockSums,
    ) -> Result<bool, Error> {
        let number = made.number;
        let (unit, is_same) = match &made.parts {
            Parts::Rows(seals) => (Unit::Day, seals_of(connection, number)? == *seals),
            Parts::Days(days) => (Unit::Month, still_stored(connection, number, days)?),
        };
        if !is_same || !made.fits() || is_stored(connection, unit, number)? {
            return Ok(false);
        }
        self.note(connection, unit, number)?;
        let sql = "INSERT INTO rollup_block (unit, number, figures) VALUES (?1, ?2, ?3)";
        connection.prepare_cached(sql)?.execute((
            unit.code(),
            number,
            Block::of(&made.rows).packed(),
        ))?;
        Ok(true)
    }

    fn last(&mut self, connection: &Connection) -> Result<[i64; 2], Error> {
        if let Some(last) = self.last {
            return Ok(last);
        }
        let sql = "SELECT coalesce(max(number), ?2) FROM rollup_block WHERE unit = ?1";
        let mut last = [i64::MIN; 2];
        for (unit, last) in UNITS.into_iter().zip(&mut last) {
            *last = connection.query_row(sql, (unit.code(), i64::MIN), |r| r.get(0))?;
        }
        self.last = Some(last);
        Ok(last)
    }

    fn note(&mut self, connection: &Connection, unit: Unit, number: i64) -> Result<(), Error> {
        let mut last = self.last(connection)?;
        for (own, last) in UNITS.into_iter().zip(&mut last) {
            if own == unit {
                *last = number.max(*last);
            }
        }
        self.last = Some(last);
        Ok(())
    }
}

/// The seals of the rows of a day, added up.
fn seals_of(connection: &Connection, day: i64) -> Result<i64, Error> {
    let mut statement = connection.prepare_cached("SELECT seal FROM rollup WHERE day = ?1")?;
    let mut rows = statement.query([day])?;
    let mut sum = 0;
    while let Some(row) = rows.next()? {
        sum = plus(sum, row.get(0)?);
    }
    Ok(sum)
}

/// Whether a month has rows on these days only, and all of them still have their blocks: a change of a day deletes its
/// block, and only the thread that asks makes it again.
fn still_stored(connection: &Connection, month: i64, days: &[i64]) -> Result<bool, Error> {
    for day in days {
        if !is_stored(connection, Unit::Day, *day)? {
            return Ok(false);
        }
    }
    Ok(days_of(connection, month)? == days)
}
