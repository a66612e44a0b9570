//! The entries of a statement in order of time: by effective time, then by entry. A bounded number
//! is read at a time.

use super::super::super::Error;
use super::super::SCAN_MAX;
use super::Frame;
use super::scan::{FIELDS, Movement, Whose, is_about, movement};
use crate::numbers::{first_entry_of, first_recorded_from};
use bank_core::time::Timestamp;
use rusqlite::{Connection, Row};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A place in the order of a statement: the next entry to read, or the first one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    at: Timestamp,
    tx: i64,
    entry: i64,
}

impl Position {
    /// The first place of a statement. Entries that count before the period belong to it only if a
    /// close moved them into it.
    pub fn first(frame: &Frame) -> Position {
        let end = frame.period.end;
        let adjusts = |start: Timestamp| {
            let mut closes = frame.closes.all().iter();
            closes.any(|close| close.end >= start && end.is_none_or(|end| close.end < end))
        };
        let start = frame.period.start.filter(|start| !adjusts(*start));
        Position {
            at: start.unwrap_or(Timestamp(i64::MIN)),
            tx: 0,
            entry: 0,
        }
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

/// Transactions that count at another time than that of their record.
const MOVED: &str = "SELECT id, at_effective FROM tx INDEXED BY tx_effective
    WHERE at_effective <> at_recorded AND (at_effective, id) >= (?1, ?2) AND at_effective < ?3
    ORDER BY at_effective, id LIMIT ?4";
/// All others: recorded times never fall, so the order of numbers is the order of time.
const USUAL: &str = "SELECT id, at_effective FROM tx
    WHERE id >= ?1 AND id < ?2 AND at_effective = at_recorded ORDER BY id LIMIT ?3";

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
    mut visit: impl FnMut(&Movement) -> bool,
) -> Result<Option<Position>, Error> {
    let transactions = transactions(connection, frame, from)?;
    let most = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let mut entries = Entries::new(connection, frame, whose);
    let mut next = from;
    let mut read = 0_i64;
    for (at, tx) in transactions {
        let is_first = (at, tx) == (from.at, from.tx);
        let first = if is_first { from.entry } else { 0 };
        if (frame.first_tx..=frame.upto).contains(&tx)
            && let Some(entry) = entries.of(tx, at, first, &mut visit)?
        {
            return Ok(Some(Position::after_entry(at, tx, entry)));
        }
        next = Position::after_transaction(at, tx);
        read = read.saturating_add(1);
        if read.saturating_add(entries.read) >= most {
            return Ok(Some(next));
        }
    }
    Ok((read == most).then_some(next))
}

/// The next transactions of a period from a position on, in order of time: a bounded number of them.
fn transactions(
    connection: &Connection,
    frame: &Frame,
    from: Position,
) -> Result<Vec<(Timestamp, i64)>, Error> {
    let most = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let end = frame.period.end.map_or(i64::MAX, |end| end.0);
    let row = |r: &Row<'_>| Ok((Timestamp(r.get(1)?), r.get(0)?));
    let mut moved = connection.prepare_cached(MOVED)?;
    let moved = moved.query_map((from.at.0, from.tx, end, most), row)?;
    let mut all: Vec<(Timestamp, i64)> = moved.collect::<Result<_, _>>()?;
    let first = first_recorded_from(connection, from.at)?;
    let after = first_recorded_from(connection, Timestamp(end))?;
    let mut usual = connection.prepare_cached(USUAL)?;
    let usual = usual.query_map((first, after, most), row)?;
    for transaction in usual {
        let transaction = transaction?;
        if transaction >= (from.at, from.tx) {
            all.push(transaction);
        }
    }
    all.sort_unstable();
    all.truncate(SCAN_MAX);
    Ok(all)
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
    read: i64,
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
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        for (at, tx, entry) in [(0, 0, 0), (i64::MIN, 1, 2), (-5, i64::MAX, 7)] {
            let at = Timestamp(at);
            let position = Position { at, tx, entry };
            assert_eq!(position.to_string().parse(), Ok(position));
        }
        for text in ["", "1", "1.2", "1.2.3.4", "1.x.3", "1.2."] {
            assert_eq!(text.parse::<Position>(), Err(()), "{text:?}");
        }
    }
}
