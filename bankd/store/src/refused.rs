//! Refused reserves: the latest of each object.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::read::Page;
use super::{Error, seal};
use bank_core::amount::Amount;
use bank_core::effects::RefusedReserve;
use bank_core::need::Need;
use bank_core::refusal::Refusal;
use bank_core::rules::refused;
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// A refused reserve as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRow {
    /// Machine as named.
    pub machine: String,
    /// The scheduler's object id.
    pub object_id: String,
    /// The project that was named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// When it was refused last.
    pub at: Timestamp,
    /// How often so far.
    pub tries: i64,
    /// Why the last time; none if the stored code is unknown.
    pub refusal: Option<Refusal>,
}

/// Refused reserves of one object id that are read; one on each machine.
const READ_MAX: i64 = 100;

/// Remembers a refused reserve; an older one of the same object is replaced.
pub(super) fn write(connection: &Connection, row: &RefusedReserve) -> Result<(), Error> {
    let kind = row.key.object_type.word();
    let (needed, available) = refused::figures(&row.refusal);
    connection
        .prepare_cached(
            "INSERT INTO refused_reserve (machine, object_type, object_id, project, user, at,
                 started_at, tries, code, subject, needed, available)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9, ?10, ?11)
             ON CONFLICT (object_id, machine, object_type) DO UPDATE SET project = ?4, user = ?5,
                 at = ?6, started_at = coalesce(?7, started_at), tries = tries + 1, code = ?8,
                 subject = ?9, needed = ?10, available = ?11",
        )?
        .execute(params![
            row.key.machine,
            kind,
            row.key.object_id,
            row.project,
            row.user,
            row.at.0,
            row.is_start.then_some(row.at.0),
            row.refusal.code(),
            refused::subject(&row.refusal).unwrap_or_default(),
            needed.0,
            available.0,
        ])?;
    let key: &[&dyn ToSql] = &[&row.key.object_id, &row.key.machine, &kind];
    seal::renew(connection, "refused_reserve", key)
}

/// When a start of the object asked for was refused last, if that decides something.
pub(super) fn wanted(
    connection: &Connection,
    need: &Need,
    view: &View,
) -> Result<Option<Timestamp>, Error> {
    let decides = need.refused.is_some_and(|r| r.is_wanted(&view.instances));
    let Some(key) = need.instance.as_ref().filter(|_| decides) else {
        return Ok(None);
    };
    let sql = "SELECT started_at FROM refused_reserve
               WHERE object_id = ?1 AND machine = ?2 AND object_type = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let of = (&key.object_id, &key.machine, key.object_type.word());
    let at: Option<Option<i64>> = statement.query_row(of, |row| row.get(0)).optional()?;
    Ok(at.flatten().map(Timestamp))
}

/// The refused reserves of an object's id, the latest first.
///
/// # Errors
/// If the store fails.
pub fn of_object(connection: &Connection, object_id: &str) -> Result<Vec<RefusedRow>, Error> {
    let sql = "SELECT machine, object_id, project, user, at, tries, code, subject, needed,
                   available FROM refused_reserve WHERE object_id = ?1 ORDER BY at DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((object_id, READ_MAX), read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A place in the list: an instant, and the number of rows of this instant before the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    at: Timestamp,
    rows: usize,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0, self.rows)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (at, rows) = text.split_once('.').ok_or(())?;
        Ok(Self {
            at: Timestamp(at.parse().map_err(|_| ())?),
            rows: rows.parse().map_err(|_| ())?,
        })
    }
}

/// The refused reserves behind a place that are kept by a test, the latest first.
///
/// # Errors
/// If the store fails.
pub fn latest(
    connection: &Connection,
    after: Option<Place>,
    limit: usize,
    keep: impl Fn(&RefusedRow) -> bool,
) -> Result<Page<RefusedRow, Place>, Error> {
    let sql = "SELECT machine, object_id, project, user, at, tries, code, subject, needed,
                   available FROM refused_reserve WHERE at <= ?1
               ORDER BY at DESC, object_id, machine, object_type";
    let mut statement = connection.prepare_cached(sql)?;
    let from = after.map_or(Timestamp(i64::MAX), |after| after.at);
    let mut rows = statement.query_map([from.0], read)?;
    let mut place = after;
    let mut skipped = 0_usize;
    let mut page = Page {
        rows: Vec::new(),
        next: None,
    };
    while let Some(row) = rows.next().transpose()? {
        if !keep(&row) {
            continue;
        }
        if after.is_some_and(|after| after.at == row.at && skipped < after.rows) {
            skipped += 1;
            continue;
        }
        if page.rows.len() >= limit {
            page.next = place;
            break;
        }
        let before = place.filter(|place| place.at == row.at);
        let before = before.map_or(0, |place| place.rows);
        place = Some(Place {
            at: row.at,
            rows: before.saturating_add(1),
        });
        page.rows.push(row);
    }
    Ok(page)
}

fn read(row: &Row<'_>) -> rusqlite::Result<RefusedRow> {
    let (code, subject): (String, String) = (row.get(6)?, row.get(7)?);
    let figures = (Amount(row.get(8)?), Amount(row.get(9)?));
    let user: String = row.get(3)?;
    Ok(RefusedRow {
        machine: row.get(0)?,
        object_id: row.get(1)?,
        project: row.get(2)?,
        at: Timestamp(row.get(4)?),
        tries: row.get(5)?,
        refusal: refused::rebuilt(&code, &subject, &user, figures),
        user,
    })
}
