//! The numbers of rows of the journal: the last ones, and the first ones of an instant or a transaction.
//! Transactions, entries and usage rows have numbers without gaps, which never fall with time, so that
//! these are found by bisection, without an index.

use super::Error;
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

/// The number of the last transaction; 0 if there is none.
pub fn last_transaction(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM tx";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// The first eight hexadecimal digits of the hash of a transaction; none if there is no such transaction.
pub fn start_of_hash(connection: &Connection, tx: i64) -> Result<Option<String>, Error> {
    let sql = "SELECT lower(hex(substr(hash, 1, 4))) FROM tx WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([tx], |row| row.get(0)).optional()?)
}

/// The number of the last entry; 0 if there is none.
pub(super) fn last_entry(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM entry";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// The number of the first transaction recorded at an instant or later.
pub(super) fn first_recorded_from(connection: &Connection, at: Timestamp) -> Result<i64, Error> {
    let last = last_transaction(connection)?;
    let mut statement = connection.prepare_cached("SELECT at_recorded FROM tx WHERE id = ?1")?;
    let statement = std::cell::RefCell::new(&mut statement);
    lower_bound(last, at.0, |id| {
        let mut statement = statement.borrow_mut();
        Ok(statement.query_row([id], |row| row.get(0))?)
    })
}

/// The number of the first usage row of a transaction or of a later one.
pub(super) fn first_usage_of(connection: &Connection, tx: i64) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM usage";
    let last = connection.query_row(sql, [], |row| row.get(0))?;
    let mut statement = connection.prepare_cached("SELECT tx FROM usage WHERE id = ?1")?;
    let statement = std::cell::RefCell::new(&mut statement);
    lower_bound(last, tx, |id| {
        let mut statement = statement.borrow_mut();
        Ok(statement.query_row([id], |row| row.get(0))?)
    })
}

/// The number of the first entry of a transaction or of a later one.
pub(super) fn first_entry_of(connection: &Connection, tx: i64, last: i64) -> Result<i64, Error> {
    let mut statement = connection.prepare_cached("SELECT tx FROM entry WHERE id = ?1")?;
    let statement = std::cell::RefCell::new(&mut statement);
    lower_bound(last, tx, |id| {
        let mut statement = statement.borrow_mut();
        Ok(statement.query_row([id], |row| row.get(0))?)
    })
}

/// The smallest number from 1 to `last` whose value is `wanted` or more; `last + 1` if there is
/// none. Values must never decrease, and numbers have no gaps.
pub(super) fn lower_bound(
    last: i64,
    wanted: i64,
    value: impl Fn(i64) -> Result<i64, Error>,
) -> Result<i64, Error> {
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low.midpoint(high);
        if value(middle)? < wanted {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    Ok(low)
}
