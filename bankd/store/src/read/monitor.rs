//! Requests that strict mode would have rejected, in the order of the journal: requests of
//! schedulers, and each use of an import.

use super::super::Error;
use super::SCAN_MAX;
use crate::numbers::{first_recorded_from, last_transaction};
use bank_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// How far a reader of the journal is: everything before a transaction, and of that one the rows up
/// to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The transaction.
    pub tx: i64,
    /// The last seen row of an import; `i64::MAX` if all were seen.
    pub row: i64,
}

impl Place {
    /// Before the first transaction.
    pub const BEGIN: Place = Place::behind(0);

    const fn behind(tx: i64) -> Place {
        Place { tx, row: i64::MAX }
    }
}

/// One refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The transaction that recorded it.
    pub tx: i64,
    /// When it was asked for, or when a use that was reported began.
    pub at: Timestamp,
    /// The id, and the machine.
    pub object: (String, String),
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// The refusal's code.
    pub code: String,
    /// The needed and the available amount, in the journal's text.
    pub figures: Option<(String, String)>,
    /// The amount available to a use of a chunk, in minor units.
    pub available: Option<i64>,
    /// The instance; none if none was created.
    pub instance: Option<i64>,
    /// The source of the use; none for a scheduler's request.
    pub source: Option<String>,
    /// Its seconds and cost, if it was part of a chunk.
    pub reported: Option<(i64, i128)>,
}

/// A page of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The rows.
    pub rows: Vec<Watched>,
    /// Where the next one goes on.
    pub next: Place,
    /// Whether there is more already.
    pub more: bool,
}

/// The next `limit` rejections that `keep` accepts, or those found in a bounded part of the
/// journal.
pub fn page(
    connection: &Connection,
    (since, until): (Option<Timestamp>, Option<Timestamp>),
    after: Place,
    limit: usize,
    keep: impl Fn(&Watched) -> bool,
) -> Result<Watch, Error> {
    let keep = |row: &Watched| {
        since.is_none_or(|since| since <= row.at)
            && until.is_none_or(|until| row.at < until)
            && keep(row)
    };
    // A use may be reported long after its start, which counts.
    let recorded = since.map(|since| first_recorded_from(connection, since));
    let first = recorded.transpose()?.unwrap_or(1).max(after.tx);
    let end = last_transaction(connection)?;
    let mut statement = connection.prepare_cached(REJECTED)?;
    let most = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let mut found = statement.query((first, most))?;
    let (mut rows, mut seen, mut looked) = (Vec::new(), after, 0_usize);
    while let Some(row) = found.next()? {
        let tx: i64 = row.get(0)?;
        let is_seen = tx < seen.tx || (tx == seen.tx && seen.row == i64::MAX);
        looked = looked.saturating_add(1);
        if is_seen {
            continue;
        }
        let op = row.get_ref(1)?.as_str().unwrap_or_default();
        if op == "import" {
            // One entry for each project; all of them are returned together.
            let from = if tx == seen.tx { seen.row } else { 0 };
            let room = limit.saturating_sub(rows.len());
            if let Some(last) = taken_in(connection, tx, from, room, &mut rows, &keep)? {
                let next = Place { tx, row: last };
                return Ok(Watch {
                    rows,
                    next,
                    more: true,
                });
            }
        } else {
            rows.extend(Some(rejected_request(connection, row)?).filter(&keep));
        }
        seen = Place::behind(tx);
        if rows.len() >= limit {
            return Ok(Watch {
                rows,
                next: seen,
                more: true,
            });
        }
    }
    let more = looked == SCAN_MAX;
    let next = if more {
        seen
    } else {
        Place::behind(end.max(seen.tx))
    };
    Ok(Watch { rows, next, more })
}

/// Rejections with their transactions, from one on.
const REJECTED: &str =
    "SELECT t.id, t.op, t.reason, t.at_effective, t.instance, e.machine, e.project, e.user,
        i.object_id, i.machine
    FROM entry e INDEXED BY entry_would_refuse JOIN tx t ON t.id = e.tx
    LEFT JOIN instance i ON i.id = coalesce(e.instance, t.instance)
    WHERE e.kind = 'would_refuse' AND e.tx >= ?1 ORDER BY e.tx, e.id LIMIT ?2";

/// The rejected request in a row of [`REJECTED`].
fn rejected_request(connection: &Connection, row: &Row<'_>) -> Result<Watched, Error> {
    let reason: String = row.get(2)?;
    let value = |name: &str| {
        let mut words = reason.split(' ');
        let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.map(str::to_owned)
    };
    let instance: Option<i64> = row.get(4)?;
    // A scheduler's request was refused before its charge: this is the charge of a finished use.
    let is_use = row.get_ref(1)?.as_str().is_ok_and(|op| op == "charge");
    let reported = match instance.filter(|_| is_use) {
        Some(instance) => reported(connection, instance)?,
        None => None,
    };
    let (start, source) = reported.unzip();
    let object: Option<String> = row.get(8)?;
    let machine = if object.is_some() { 9 } else { 5 };
    Ok(Watched {
        tx: row.get(0)?,
        at: Timestamp(start.map_or_else(|| row.get(3), Ok)?),
        object: (object.unwrap_or_default(), row.get(machine)?),
        project: row.get(6)?,
        user: row.get(7)?,
        code: value("would_refuse").unwrap_or_default(),
        figures: value("needed").zip(value("available")),
        available: None,
        instance,
        source,
        reported: None,
    })
}

/// The start of the reported use of an instance, and its source.
fn reported(connection: &Connection, instance: i64) -> Result<Option<(i64, String)>, Error> {
    let sql = "SELECT u.start_at, s.name FROM usage_identity u JOIN source s ON s.id = u.source
               WHERE u.instance = ?1 ORDER BY u.became = 'kept', u.id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([instance], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?)
}

/// Refused uses of an import behind a row, with their present figures, at most `room` that are kept. Gives the last
/// row looked at where there are more.
fn taken_in(
    connection: &Connection,
    tx: i64,
    from: i64,
    room: usize,
    rows: &mut Vec<Watched>,
    keep: &impl Fn(&Watched) -> bool,
) -> Result<Option<i64>, Error> {
    let sql =
        "SELECT u.id, u.start_at, u.object_id, u.machine, u.project, u.user, u.refusal, s.name,
            u.wall_us, u.amount, u.available
        FROM usage_identity u JOIN source s ON s.id = u.source
        WHERE u.refused_tx = ?1 AND u.id > ?2 ORDER BY u.id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params![tx, from])?;
    let (mut kept, mut last) = (0, from);
    while let Some(row) = found.next()? {
        if kept >= room {
            return Ok(Some(last));
        }
        last = row.get(0)?;
        let (wall, amount): (Option<i64>, Option<i64>) = (row.get(8)?, row.get(9)?);
        let watched = Watched {
            tx,
            at: Timestamp(row.get(1)?),
            object: (row.get(2)?, row.get(3)?),
            project: row.get(4)?,
            user: row.get(5)?,
            code: row.get(6)?,
            figures: None,
            available: row.get(10)?,
            instance: None,
            source: Some(row.get(7)?),
            reported: Some((
                wall.unwrap_or_default() / 1_000_000,
                amount.unwrap_or_default().into(),
            )),
        };
        if keep(&watched) {
            kept += 1;
            rows.push(watched);
        }
    }
    Ok(None)
}
