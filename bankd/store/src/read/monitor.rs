//! Requests that strict mode would have rejected, in the order of the journal: requests of
//! schedulers, and each use of an import.

use super::super::Error;
use super::journal::{self, JournalRow, Span};
use bank_core::time::Timestamp;
use rusqlite::{Connection, params};

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
    /// The transaction.
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
    /// The amount available to a reported use, in minor units.
    pub available: Option<i64>,
    /// The instance; none if none was created.
    pub instance: Option<i64>,
    /// The source of the use; none for a scheduler's request.
    pub source: Option<String>,
    /// Its seconds and cost, if it was reported.
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
    let half_seen = after.row != i64::MAX;
    let span = Span {
        after: if half_seen {
            after.tx.saturating_sub(1)
        } else {
            after.tx
        },
        // An import contains uses that began long before: their own start counts.
        since: None,
        until: None,
        recorded_from: since,
        limit,
    };
    let is_refusal = |row: &JournalRow| {
        let entry = row.entry.as_ref();
        entry.is_some_and(|(_, entry)| entry.kind == "would_refuse")
    };
    let page = journal::page(connection, &span, is_refusal)?;
    let keep = |row: &Watched| {
        since.is_none_or(|since| since <= row.at)
            && until.is_none_or(|until| row.at < until)
            && keep(row)
    };
    let (mut rows, mut seen) = (Vec::new(), after);
    for row in &page.rows {
        if row.tx.op != "import" {
            rows.extend(Some(rejected_request(row)).filter(&keep));
        } else if row.tx.id > seen.tx || (row.tx.id == seen.tx && seen.row != i64::MAX) {
            // One entry for each project; all of them are returned together.
            let from = if row.tx.id == seen.tx { seen.row } else { 0 };
            let room = limit.saturating_sub(rows.len());
            let last = taken_in(connection, row.tx.id, from, room, &mut rows, &keep)?;
            if let Some(row_id) = last {
                let next = Place {
                    tx: row.tx.id,
                    row: row_id,
                };
                return Ok(Watch {
                    rows,
                    next,
                    more: true,
                });
            }
        }
        seen = Place::behind(row.tx.id);
        if rows.len() >= limit {
            return Ok(Watch {
                rows,
                next: seen,
                more: true,
            });
        }
    }
    let newest = "SELECT coalesce(max(id), 0) FROM tx";
    let end: i64 = connection.query_row(newest, [], |row| row.get(0))?;
    let next = Place::behind(page.next.unwrap_or(end).max(seen.tx));
    let more = page.next.is_some();
    Ok(Watch { rows, next, more })
}

/// The rejected request.
fn rejected_request(row: &JournalRow) -> Watched {
    let refusal = recorded_refusal(row);
    let entry = row.entry.as_ref().map(|(_, entry)| entry);
    let machine = entry.map(|e| e.machine.clone()).unwrap_or_default();
    let object = row.object.as_ref();
    Watched {
        tx: row.tx.id,
        at: row.tx.at_effective,
        object: object.map_or((String::new(), machine), |(id, machine, _)| {
            (id.clone(), machine.clone())
        }),
        project: entry.map(|e| e.project.clone()).unwrap_or_default(),
        user: entry.map(|e| e.user.clone()).unwrap_or_default(),
        code: refusal.code,
        figures: refusal.figures,
        available: None,
        instance: row.tx.instance,
        source: None,
        reported: None,
    }
}

/// The refusal that a transaction records.
struct RecordedRefusal {
    code: String,
    figures: Option<(String, String)>,
}

/// The refusal in the reason of a transaction.
fn recorded_refusal(row: &JournalRow) -> RecordedRefusal {
    let value = |name: &str| {
        let mut words = row.tx.reason.split(' ');
        let found = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.map(str::to_owned)
    };
    RecordedRefusal {
        code: value("would_refuse").unwrap_or_default(),
        figures: value("needed").zip(value("available")),
    }
}

/// Refused uses of an import behind a row, at most `room` that are kept. Gives the last row looked at
/// where there are more.
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
        WHERE u.tx = ?1 AND u.refusal IS NOT NULL AND u.id > ?2 ORDER BY u.id";
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
