//! Usage with unknown project names: the rows of `usage_identity` that wait for a project, reading
//! and writing.

use super::sqlite::SqliteStore;
use super::tally::Change;
use super::{Error, export, seal};
use bank_core::command::{HISTORY, Identity, Whose};
use bank_core::directory::Directory;
use bank_core::effects::{AssignedUse, Became, ReturnedUse, UseRow};
use bank_core::select;
use bank_core_figures::rollup::Sign;
use foldhash::HashMap;
use rusqlite::{Connection, OptionalExtension, params};
use std::fmt::Write as _;

/// The row of an identity.
macro_rules! one {
    () => {
        "(SELECT u.id FROM source s JOIN usage_identity u ON u.source = s.id
          WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3)"
    };
}

/// The finished uses that wait for a project because their names match none. A use with a project
/// costs nothing here.
pub(super) fn waiting(directory: &Directory, rows: &[UseRow]) -> Vec<bool> {
    let mut known: HashMap<&Whose, bool> = HashMap::default();
    let waits = rows.iter().map(|row| {
        let whose = &row.report.request.whose;
        let waits = if let Some(waits) = known.get(whose) {
            *waits
        } else {
            let waits = select::find(directory, whose).project.is_none();
            known.insert(whose, waits);
            waits
        };
        // The bank before this one charged history.
        waits && row.became != Became::Unused && row.policy != HISTORY
    });
    waits.collect()
}

/// Notes those of the finished uses that were just written that [wait](waiting), and that amended ones
/// do not any more; `numbers` are those of the rows that are new.
pub(super) fn note(
    connection: &Connection,
    rows: &[UseRow],
    numbers: &[Option<i64>],
    waits: &[bool],
) -> Result<(), Error> {
    let mut new = Run::default();
    for ((row, number), waits) in rows.iter().zip(numbers).zip(waits) {
        match (*waits, number) {
            (true, Some(number)) => new.add(connection, *number)?,
            (false, Some(_)) => {}
            (waits, None) => {
                // It may be a row of this very run.
                std::mem::take(&mut new).write(connection)?;
                amended(connection, row, waits)?;
            }
        }
    }
    new.write(connection)
}

/// Records the new state of an amended use.
fn amended(connection: &Connection, row: &UseRow, waits: bool) -> Result<(), Error> {
    let start = row.report.incarnation().0;
    let key = (&row.report.source, &row.report.request.object_id, start);
    let number: i64 = connection
        .prepare_cached(concat!("SELECT ", one!()))?
        .query_row(key, |r| r.get(0))?;
    set(connection, number, waits)
}

/// Notes whether a finished use that is not new waits.
fn set(connection: &Connection, number: i64, waits: bool) -> Result<(), Error> {
    if !waits {
        let sql = "DELETE FROM unmapped WHERE identity = ?1";
        connection.prepare_cached(sql)?.execute([number])?;
        return Ok(());
    }
    let sql = "SELECT 1 FROM unmapped WHERE identity = ?1";
    if connection.prepare_cached(sql)?.exists([number])? {
        return Ok(());
    }
    let mut alone = Run::default();
    alone.add(connection, number)?;
    alone.write(connection)
}

/// Rows of one statement, where there are many.
const TOGETHER: i64 = 64;

/// The statement for [`TOGETHER`] numbers from one on.
fn several() -> String {
    let mut sql = "INSERT OR FAIL INTO unmapped VALUES (?1)".to_owned();
    for n in 1..TOGETHER {
        // Writing to a string cannot fail.
        let _ = write!(sql, ", (?1 + {n})");
    }
    sql
}

/// New rows that wait, as long as their numbers follow each other: one statement writes all of them.
#[derive(Debug, Default)]
struct Run {
    first: i64,
    /// None where this is 0.
    count: i64,
}

impl Run {
    fn add(&mut self, connection: &Connection, number: i64) -> Result<(), Error> {
        if self.count > 0 && self.first.checked_add(self.count) != Some(number) {
            std::mem::take(self).write(connection)?;
        }
        if self.count == 0 {
            self.first = number;
        }
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// Writes them, and counts them as `tally` does all that is there.
    fn write(self, connection: &Connection) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        let last = self.first.saturating_add(self.count).saturating_sub(1);
        let mut first = self.first;
        let mut many = connection.prepare_cached(&several())?;
        while first.saturating_add(TOGETHER) <= last {
            many.execute([first])?;
            first = first.saturating_add(TOGETHER);
        }
        let sql = "INSERT INTO unmapped
                   SELECT id FROM usage_identity WHERE id BETWEEN ?1 AND ?2";
        connection.prepare_cached(sql)?.execute([first, last])?;
        let mut change = Change::default();
        (self.first..=last).for_each(|number| change.comes(number));
        change.write(connection, "unmapped")
    }
}

/// Assigns a finished use: it no longer waits, and its row belongs to the assigning transaction.
pub(super) fn give(
    store: &mut SqliteStore,
    row: &AssignedUse,
    tx: Option<i64>,
) -> Result<(), Error> {
    let Identity {
        source, id, start, ..
    } = &row.identity;
    let (connection, rollups) = (&store.connection, &mut store.rollups);
    let key = (source.as_str(), id.as_str(), start.0);
    rollups.stored_use(connection, key, Sign::Minus)?;
    let sql = "SELECT u.id FROM source s JOIN usage_identity u ON u.source = s.id
               WHERE s.name = ?1 AND u.object_id = ?2 AND u.start_at = ?3";
    let mut number = connection.prepare_cached(sql)?;
    let number: Option<i64> = number
        .query_row(params![source, id, start.0], |r| r.get(0))
        .optional()?;
    let before = number.map(|number| export::Before::of(connection, number));
    let before = before.transpose()?;
    let sql = concat!(
        "UPDATE usage_identity SET project = ?4, user = coalesce(?5, user), pi = coalesce(?9, pi),
             amount = coalesce(?6, amount), allocation = coalesce(?7, allocation),
             tx = coalesce(?8, tx), given = 1
         WHERE id = ",
        one!()
    );
    connection.prepare_cached(sql)?.execute(params![
        source,
        id,
        start.0,
        row.project,
        row.user,
        row.amount.map(|a| a.0),
        row.on.map(|a| a.0),
        tx,
        row.pi,
    ])?;
    if let Some((number, before)) = number.zip(before) {
        seal::renew(connection, "usage_identity", &[&number])?;
        export::changed(connection, number, before)?;
    }
    rollups.stored_use(connection, key, Sign::Plus)?;
    let sql = concat!("DELETE FROM unmapped WHERE identity = ", one!());
    let gone = params![source, id, start.0];
    connection.prepare_cached(sql)?.execute(gone)?;
    Ok(())
}

/// The finished use of an instance waits for a project again, because its assignment was undone, or waits no more, because
/// that was done again.
pub(super) fn give_back(connection: &Connection, row: &ReturnedUse) -> Result<(), Error> {
    let sql = "SELECT id FROM usage_identity WHERE instance = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([row.instance.0], |r| r.get(0))?;
    let numbers: Vec<i64> = rows.collect::<Result<_, _>>()?;
    let sql =
        "UPDATE usage_identity SET project = ?2, user = ?3, amount = ?4, given = ?5 WHERE id = ?1";
    for number in numbers {
        let before = export::Before::of(connection, number)?;
        let values = (number, &row.project, &row.user, row.amount.0, !row.waits);
        connection.prepare_cached(sql)?.execute(values)?;
        seal::renew(connection, "usage_identity", &[&number])?;
        export::changed(connection, number, before)?;
        set(connection, number, row.waits)?;
    }
    Ok(())
}
