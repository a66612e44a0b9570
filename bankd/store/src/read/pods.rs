//! Runs of samples of pods, as finished uses have them (collectors.md h.3).

use super::super::Error;
use super::feed::Place;
use bank_core::usage::kept;
use rusqlite::{Connection, OptionalExtension, Row};

/// A finished use of a pod. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRow {
    /// Its number, which stays the same when it is amended.
    pub id: i64,
    /// Its namespace: the account as its source names it.
    pub namespace: String,
    /// The project that it was for; empty for none.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine as named.
    pub machine: String,
    /// The principal investigator from a mapping; empty for none.
    pub pi: String,
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// The stored attributes: see [`bank_core::usage::kept`].
    pub more: String,
}

/// The columns that [`PodRow::read`] reads.
const COLUMNS: &str = "id, account, project, user, machine, pi, start_at, end_at, more";

/// Uses of pods that count and have ended.
const COUNTING: &str = "(more LIKE 'pod=%' OR instr(more, char(10) || 'pod=') > 0)
    AND start_at > 0 AND end_at IS NOT NULL AND became NOT IN ('kept', 'unused', 'duplicate')";

impl PodRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<PodRow> {
        Ok(PodRow {
            id: row.get(0)?,
            namespace: row.get(1)?,
            project: row.get(2)?,
            user: row.get(3)?,
            machine: row.get(4)?,
            pi: row.get(5)?,
            start: row.get(6)?,
            end: row.get(7)?,
            more: row.get(8)?,
        })
    }

    /// The duration of each of its samples, in microseconds; none if it is unknown or does not divide it.
    pub fn step(&self) -> Option<i64> {
        let step: i64 = kept::value(&self.more, kept::SAMPLE_S)?.parse().ok()?;
        let step = step.checked_mul(1_000_000).filter(|step| *step > 0)?;
        (self.end.checked_sub(self.start)?.checked_rem(step)? == 0).then_some(step)
    }

    /// How many samples it consists of; 0 if that is unknown.
    pub fn samples(&self) -> i64 {
        let length = self.end.saturating_sub(self.start);
        let samples = self.step().and_then(|step| length.checked_div(step));
        samples.unwrap_or(0)
    }
}

/// Visits the uses of pods that ran in a half-open period, in the order of arrival; only those that
/// count. Stops when the visitor is done.
pub fn pods(
    connection: &Connection,
    (from, to): (i64, i64),
    mut take: impl FnMut(PodRow) -> bool,
) -> Result<(), Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM usage_identity
         WHERE end_at > ?1 AND start_at < ?2 AND {COUNTING} ORDER BY id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([from, to])?;
    while let Some(row) = rows.next()? {
        if !take(PodRow::read(row)?) {
            break;
        }
    }
    Ok(())
}

/// A use of a pod, and the part of it that an export does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodPart {
    /// The whole use.
    pub row: PodRow,
    /// Samples that begin at this time or later.
    pub from: i64,
    /// Samples that begin before it.
    pub to: i64,
}

/// A page of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodPortion {
    /// In their order.
    pub parts: Vec<PodPart>,
    /// Where the next page continues; its record is that of the cursor.
    pub place: Place,
    /// Whether there was more to look at.
    pub more: bool,
}

/// Samples that weigh as much as one use when a page is filled.
const WEIGHT: i64 = 64;

/// The uses of pods after a cursor: changes, then new uses, as in [`super::feed`]. The part of a run
/// that an amendment prolongs is all that it adds; any other change repeats the whole run. Reads a
/// bounded number of rows, and ends a page early if it has many samples.
pub fn page(connection: &Connection, after: Place, limit: i64) -> Result<PodPortion, Error> {
    let mut portion = PodPortion {
        place: after,
        ..PodPortion::default()
    };
    let mut left = limit;
    changes(connection, &mut portion, &mut left)?;
    if left > 0 {
        let sql = format!(
            "SELECT id, iif({COUNTING}, 1, 0) FROM usage_identity WHERE id > ?1 ORDER BY id LIMIT ?2"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([after.identity, left])?;
        while let Some(row) = rows.next()?.filter(|_| left > 0) {
            portion.place.identity = row.get(0)?;
            let counts: bool = row.get(1)?;
            left = left.saturating_sub(1);
            if counts && let Some(row) = one(connection, portion.place.identity)? {
                left = left.saturating_sub(row.samples().div_euclid(WEIGHT));
                let (from, to) = (row.start, row.end);
                portion.parts.push(PodPart { row, from, to });
            }
        }
    }
    portion.more = left <= 0;
    Ok(portion)
}

/// Changes of uses before the cursor.
fn changes(connection: &Connection, portion: &mut PodPortion, left: &mut i64) -> Result<(), Error> {
    let sql = "SELECT c.id, c.identity, c.ended_before,
                   (SELECT min(n.id) FROM use_change n WHERE n.identity = c.identity AND n.id > c.id)
               FROM use_change c WHERE c.id > ?1 ORDER BY c.id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([portion.place.change, *left])?;
    while let Some(row) = rows.next()?.filter(|_| *left > 0) {
        portion.place.change = row.get(0)?;
        *left = left.saturating_sub(1);
        let (identity, ended_before): (i64, Option<i64>) = (row.get(1)?, row.get(2)?);
        if identity > portion.place.identity {
            continue;
        }
        let next: Option<i64> = row.get(3)?;
        let until = match next {
            None => None,
            Some(next) => {
                let sql = "SELECT ended_before FROM use_change WHERE id = ?1";
                let mut statement = connection.prepare_cached(sql)?;
                let until: Option<i64> = statement.query_row([next], |r| r.get(0))?;
                // The next change repeats the whole run.
                if until.is_none() {
                    continue;
                }
                until
            }
        };
        if let Some(row) = one(connection, identity)? {
            let from = ended_before.unwrap_or(row.start);
            let to = until.unwrap_or(row.end);
            *left = left.saturating_sub(row.samples().div_euclid(WEIGHT));
            portion.parts.push(PodPart { row, from, to });
        }
    }
    Ok(())
}

/// A use that counts, by its number.
fn one(connection: &Connection, id: i64) -> Result<Option<PodRow>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM usage_identity WHERE id = ?1 AND {COUNTING}");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([id], PodRow::read).optional()?)
}
