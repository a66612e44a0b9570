//! Finished uses without an instance: the ones that usage reports count beside jobs.

use super::super::rollup::{COLUMNS, Finished};
use super::super::{Error, codec};
use super::jobs::Period;
use super::{Page, scan};
use bank_core::amount::Amount;
use bank_core::decimal::Decimal;
use bank_core::model::ObjectType;
use bank_core::time::Timestamp;
use bank_core_figures::sizes::processors;
use rusqlite::{Connection, Row};

/// A finished use, as far as people see it. A text is empty if it is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRow {
    /// Row id.
    pub id: i64,
    /// Name of its source.
    pub source: String,
    /// Its id there.
    pub object_id: String,
    /// Job or reservation.
    pub object_type: ObjectType,
    /// Machine as named.
    pub machine: String,
    /// The project; empty if its names are not mapped.
    pub project: String,
    /// The account as the source names it.
    pub account: String,
    /// The user; empty if the name is not mapped.
    pub user: String,
    /// The user as the source names it.
    pub login: String,
    /// Group as named.
    pub group: String,
    /// Queue.
    pub queue: String,
    /// Quality of service.
    pub qos: String,
    /// How it ended.
    pub state: String,
    /// Submission.
    pub submit: Option<Timestamp>,
    /// Start, as reports count it.
    pub start: Timestamp,
    /// End, likewise.
    pub end: Timestamp,
    /// Wall time in seconds.
    pub wall: Decimal,
    /// Processors.
    pub processors: Option<Decimal>,
    /// Nodes.
    pub nodes: Option<i64>,
    /// Graphics processors.
    pub gpus: Option<i64>,
    /// Shadow charge.
    pub amount: Option<Amount>,
}

/// Up to `limit` uses below an id that count in reports and that `keep` accepts, newest first; of a period, if there
/// is one.
pub fn list(
    connection: &Connection,
    below: Option<i64>,
    limit: usize,
    period: Option<Period>,
    keep: impl Fn(&RecordedRow) -> bool,
) -> Result<Page<RecordedRow>, Error> {
    // Rows of instances are read too: the limit holds for all rows that are looked at.
    let sql = format!("SELECT {COLUMNS}, id FROM usage_identity WHERE id < ?1 ORDER BY id DESC");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([below.unwrap_or(i64::MAX)])?;
    scan(&mut rows, limit, |row| {
        let id = row.get(ID)?;
        let finished = Finished::of_row(row)?;
        let is_in = finished.instance.is_none()
            && finished.counts()
            && period.is_none_or(|period| period.counts(&finished.job()));
        if !is_in {
            return Ok((id, None));
        }
        let mut recorded = read(row, &finished)?;
        if !keep(&recorded) {
            return Ok((id, None));
        }
        recorded.source = name_of(connection, row.get(0)?)?;
        Ok((id, Some(recorded)))
    })
}

/// The place of the id, behind the columns of rollups.
const ID: usize = 40;

/// The name of a source.
fn name_of(connection: &Connection, source: i64) -> Result<String, Error> {
    let sql = "SELECT name FROM source WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row([source], |row| row.get(0))?)
}

/// All but the name of the source.
fn read(row: &Row<'_>, finished: &Finished<'_>) -> Result<RecordedRow, Error> {
    let (start, end) = finished.window();
    let millionths = |number: i128| Decimal::from_billionths(number.saturating_mul(1000));
    let kind: String = row.get(6)?;
    Ok(RecordedRow {
        id: row.get(ID)?,
        source: String::new(),
        object_id: row.get(1)?,
        object_type: codec::word("usage_identity.object_type", &kind, ObjectType::parse)?,
        machine: row.get(5)?,
        project: row.get(9)?,
        account: row.get(7)?,
        user: row.get(10)?,
        login: row.get(8)?,
        group: row.get(11)?,
        queue: row.get(12)?,
        qos: row.get(13)?,
        state: row.get(14)?,
        submit: finished.submit.map(Timestamp),
        start,
        end,
        wall: Decimal::from_billionths(i128::from(finished.wall()).saturating_mul(1_000)),
        processors: processors(finished.millis, finished.more).map(millionths),
        nodes: row.get(18)?,
        gpus: finished.gpus,
        amount: row.get::<_, Option<i64>>(29)?.map(Amount),
    })
}
