//! The entries of a statement in order of time: by effective time, then by entry. A bounded number
//! is read at a time.

use super::super::super::Error;
use super::super::SCAN_MAX;
use super::Frame;
use super::scan::{FIELDS, Movement, Own, Whose, is_about, movement};
use crate::numbers::{first_entry_of, first_recorded_from};
use bank_core::period::ClosedPeriod;
use bank_core::time::Timestamp;
use rusqlite::{Connection, Row};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A place in the order of a statement: the next entry to read, or the first one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    at: Timestamp,
    tx: i64,
    entry: i64,
}

impl Position {
    /// The first place of a statement. Entries that count before the period belong to it only if a
    /// close moved them into it.
    pub fn first(frame: &Frame) -> Position {
        let start = frame.period.start;
        let start = start.filter(|start| moves_into(frame, *start).is_none());
        Position::at(start.unwrap_or(Timestamp(i64::MIN)))
    }

    fn of(movement: &Movement) -> Position {
        let Movement { at, tx, entry, .. } = *movement;
        Position { at, tx, entry }
    }

    /// The place of the entry at which a visitor stopped, which the position is behind.
    #[must_use]
    pub fn again(self) -> Position {
        let entry = self.entry.saturating_sub(1);
        Position { entry, ..self }
    }

    fn at(at: Timestamp) -> Position {
        let (tx, entry) = (0, 0);
        Position { at, tx, entry }
    }

    fn after_entry(at: Timestamp, tx: i64, entry: i64) -> Position {
        let entry = entry.saturating_add(1);
        Position { at, tx, entry }
    }

    fn after_transaction(at: Timestamp, tx: i64) -> Position {
        let tx = tx.saturating_add(1);
        Position { at, tx, entry: 0 }
    }
}

impl Display for Position {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.at.0, self.tx, self.entry)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers = text.split('.').map(str::parse::<i64>);
        let mut number = || numbers.next().and_then(Result::ok).ok_or(());
        let (at, tx, entry) = (Timestamp(number()?), number()?, number()?);
        match numbers.next() {
            None => Ok(Position { at, tx, entry }),
            Some(_) => Err(()),
        }
    }
}

/// Transactions that one query reads.
const BLOCK: usize = 4_096;

/// How much is read at a time.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Transactions of one query.
    block: usize,
    /// Transactions and entries of one call.
    most: usize,
}

/// Calls `visit` with the entries from a position on, in order of time, until it returns false or a
/// bounded number of rows was read. Returns the position of the next call; none at the end.
///
/// # Errors
/// If the store cannot be read.
pub fn by_time(
    connection: &Connection,
    frame: &Frame,
    whose: &Whose,
    from: Position,
    visit: impl FnMut(&Movement) -> bool,
) -> Result<Option<Position>, Error> {
    if let Some(own) = Own::of(connection, frame, whose, frame.first)? {
        return along(connection, frame, &own, from, visit);
    }
    let bounds = Bounds {
        block: BLOCK,
        most: SCAN_MAX,
    };
    within(connection, frame, whose, from, bounds, visit)
}

/// Of entries that were found along their allocations.
fn along(
    connection: &Connection,
    frame: &Frame,
    own: &Own,
    from: Position,
    mut visit: impl FnMut(&Movement) -> bool,
) -> Result<Option<Position>, Error> {
    let from = from.max(Position::first(frame));
    let mut movements = own.movements(connection, frame)?;
    movements.retain(|movement| Position::of(movement) >= from);
    movements.sort_by_key(Position::of);
    let stopped = movements.iter().find(|movement| !visit(movement));
    Ok(stopped.map(|last| Position::after_entry(last.at, last.tx, last.entry)))
}

fn within(
    connection: &Connection,
    frame: &Frame,
    whose: &Whose,
    from: Position,
    bounds: Bounds,
    mut visit: impl FnMut(&Movement) -> bool,
) -> Result<Option<Position>, Error> {
    let mut entries = Entries::new(connection, frame, whose);
    let mut next = from;
    let mut read = 0_usize;
    loop {
        let block = block(connection, frame, next, bounds.block)?;
        let is_last = block.len() < bounds.block;
        for (at, tx) in block {
            let is_first = (at, tx) == (next.at, next.tx);
            let first = if is_first { next.entry } else { 0 };
            if let Some(entry) = entries.of(tx, at, first, &mut visit)? {
                return Ok(Some(Position::after_entry(at, tx, entry)));
            }
            next = Position::after_transaction(at, tx);
            read = read.saturating_add(1);
            if read.saturating_add(entries.read) >= bounds.most {
                return Ok(Some(next));
            }
        }
        if is_last {
            return Ok(None);
        }
    }
}

/// The first transactions from a position on, in order of time: fewer than `most` only at the end.
///
/// Each query applies the position and the range of numbers before its limit, so that none of them skips a
/// transaction that belongs before the last one of the block.
fn block(
    connection: &Connection,
    frame: &Frame,
    from: Position,
    most: usize,
) -> Result<Vec<(Timestamp, i64)>, Error> {
    let start = frame.period.start.unwrap_or(Timestamp(i64::MIN));
    let end = frame.period.end.unwrap_or(Timestamp(i64::MAX));
    let (mut all, mut from) = (Vec::new(), from);
    if from.at < start {
        all = adjustments(connection, frame, from, start, most)?;
        from = Position::at(start);
    }
    if all.len() < most {
        let numbers = (frame.first_tx, frame.upto);
        let moved = moved(connection, Access::ByTime, from, end, numbers, most)?;
        // Later transactions than those of a full block are not in it.
        let until = match moved.last() {
            Some((at, _)) if moved.len() == most => end.min(Timestamp(at.0.saturating_add(1))),
            _ => end,
        };
        all.extend(moved);
        all.extend(usual(connection, frame, from, until, most)?);
        all.sort_unstable();
        all.truncate(most);
    }
    Ok(all)
}

/// Transactions that count before the period, and that a close moved into it. Only those after that close
/// can be; where these are few, they are read by number, for the index has all moved transactions before
/// the period.
fn adjustments(
    connection: &Connection,
    frame: &Frame,
    from: Position,
    start: Timestamp,
    most: usize,
) -> Result<Vec<(Timestamp, i64)>, Error> {
    let Some(close) = moves_into(frame, start) else {
        return Ok(Vec::new());
    };
    let first = frame.first_tx.max(close.tx.0.saturating_add(1));
    let after = frame.upto.saturating_sub(first);
    let access = if after <= first {
        Access::ByNumber
    } else {
        Access::ByTime
    };
    moved(connection, access, from, start, (first, frame.upto), most)
}

/// The first close that moves transactions of before the start of a period into it.
fn moves_into(frame: &Frame, start: Timestamp) -> Option<&ClosedPeriod> {
    let close = frame.closes.covering(start);
    close.filter(|close| frame.period.end.is_none_or(|end| close.end < end))
}

/// How moved transactions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// By the index of their times.
    ByTime,
    /// By their numbers.
    ByNumber,
}

impl Access {
    /// The query of moved transactions: those that count at another time than that of their record.
    fn sql(self) -> &'static str {
        match self {
            Access::ByTime => {
                "SELECT id, at_effective FROM tx INDEXED BY tx_effective
                 WHERE at_effective <> at_recorded AND (at_effective, id) >= (?1, ?2)
                     AND at_effective < ?3 AND id >= ?4 AND id <= ?5
                 ORDER BY at_effective, id LIMIT ?6"
            }
            Access::ByNumber => {
                "SELECT id, at_effective FROM tx NOT INDEXED
                 WHERE at_effective <> at_recorded AND (at_effective, id) >= (?1, ?2)
                     AND at_effective < ?3 AND id >= ?4 AND id <= ?5
                 ORDER BY at_effective, id LIMIT ?6"
            }
        }
    }
}

/// Moved transactions from a position on and before an instant, with numbers from one to another.
fn moved(
    connection: &Connection,
    access: Access,
    from: Position,
    until: Timestamp,
    (first, last): (i64, i64),
    most: usize,
) -> Result<Vec<(Timestamp, i64)>, Error> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(access.sql())?;
    let bounds = (from.at.0, from.tx, until.0, first, last, most);
    let rows = statement.query_map(bounds, transaction)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Transactions that count at the time of their record.
const USUAL: &str = "SELECT id, at_effective FROM tx
    WHERE id >= ?1 AND id <= ?2 AND at_effective = at_recorded ORDER BY id LIMIT ?3";

/// All other transactions of the period, from a position on and before an instant. Recorded times never
/// fall, so the order of numbers is the order of time.
fn usual(
    connection: &Connection,
    frame: &Frame,
    from: Position,
    until: Timestamp,
    most: usize,
) -> Result<Vec<(Timestamp, i64)>, Error> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let equal = first_recorded_from(connection, from.at)?;
    let later = first_recorded_from(connection, Timestamp(from.at.0.saturating_add(1)))?;
    // Of the transactions recorded at the time of the position, those from its number on.
    let first = from.tx.max(equal).min(later).max(frame.first_tx);
    let last = first_recorded_from(connection, until)?.saturating_sub(1);
    let mut statement = connection.prepare_cached(USUAL)?;
    let rows = statement.query_map((first, last.min(frame.upto), most), transaction)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn transaction(row: &Row<'_>) -> Result<(Timestamp, i64), rusqlite::Error> {
    Ok((Timestamp(row.get(1)?), row.get(0)?))
}

/// Reads the entries of one transaction after the other.
struct Entries<'a> {
    connection: &'a Connection,
    frame: &'a Frame,
    whose: &'a Whose,
    sql: String,
    /// The transaction after the last one, and the first entry that can be its own: most
    /// transactions follow each other in both orders.
    following: Option<(i64, i64)>,
    /// How many entries were read.
    read: usize,
}

impl<'a> Entries<'a> {
    fn new(connection: &'a Connection, frame: &'a Frame, whose: &'a Whose) -> Self {
        Entries {
            connection,
            frame,
            whose,
            sql: format!("SELECT {FIELDS}, ?2 FROM entry e WHERE e.id >= ?1 ORDER BY e.id"),
            following: None,
            read: 0,
        }
    }

    /// Calls `visit` with the entries of a transaction from a number on. Returns the entry at which
    /// it returned false.
    fn of(
        &mut self,
        tx: i64,
        at: Timestamp,
        from: i64,
        visit: &mut impl FnMut(&Movement) -> bool,
    ) -> Result<Option<i64>, Error> {
        let known = self.following.filter(|(of, _)| *of == tx);
        let first = match known {
            Some((_, first)) => first,
            None => first_entry_of(self.connection, tx, self.frame.last)?,
        };
        let mut end = first.max(from);
        let mut statement = self.connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query((end, at.0))?;
        while let Some(row) = rows.next()? {
            let (entry, of): (i64, i64) = (row.get(0)?, row.get(1)?);
            if of != tx || entry > self.frame.last {
                break;
            }
            end = entry.saturating_add(1);
            self.read = self.read.saturating_add(1);
            let has_account = row.get::<_, Option<i64>>(2)?.is_some();
            if has_account
                && is_about(row, self.whose)?
                && !visit(&movement(self.connection, row, self.frame)?)
            {
                return Ok(Some(entry));
            }
        }
        self.following = Some((tx.saturating_add(1), end));
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
