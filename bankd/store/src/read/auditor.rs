//! Records of AUDITOR's API that match a query, one after the other.
//!
//! Unbounded, because an answer may contain all records. The caller takes them one at a time in
//! constant memory, and stops the iteration. A sort without an index sorts only keys and positions;
//! the records are read when they are taken.

use std::ops::ControlFlow;

use rusqlite::Connection;
use rusqlite::types::{ToSql, ValueRef};

use super::super::auditor::OPEN;
use super::Error;

pub use super::super::auditor::{StoredRecord, pair, record, renewals};

/// From one value to another, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub least: Option<i64>,
    /// The largest.
    pub most: Option<i64>,
}

impl Range {
    /// Nothing below it.
    pub fn at_least(&mut self, value: i64) {
        self.least = Some(self.least.map_or(value, |least| least.max(value)));
    }

    /// Nothing above it.
    pub fn at_most(&mut self, value: i64) {
        self.most = Some(self.most.map_or(value, |most| most.min(value)));
    }

    /// Nothing at all.
    pub fn empty(&mut self) {
        self.at_least(i64::MAX);
        self.at_most(i64::MIN);
    }

    /// Whether it contains no value.
    pub fn is_empty(&self) -> bool {
        self.least
            .zip(self.most)
            .is_some_and(|(least, most)| least > most)
    }

    /// Whether it contains a value.
    pub fn holds(&self, value: i64) -> bool {
        self.least.is_none_or(|least| value >= least) && self.most.is_none_or(|most| value <= most)
    }

    fn is_bound(&self) -> bool {
        self.least.is_some() || self.most.is_some()
    }
}

/// Sort key of records; then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// When they began.
    Start,
    /// End time; open records are last ascending, first descending.
    Stop,
    /// How long they took; likewise.
    Runtime,
    /// Their names, by their bytes.
    RecordId,
}

/// Which records, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// The one of that name.
    pub record_id: Option<String>,
    /// When they began, µs.
    pub start: Range,
    /// End time, µs; an open record has none.
    pub stop: Range,
    /// Seconds; an open record has none.
    pub runtime: Range,
    /// Numbers of keys with values. Candidates only: the caller compares the values.
    pub pairs: Vec<i64>,
    /// Only the first matches are needed.
    pub limited: bool,
    /// By end time if not set.
    pub order: Option<Order>,
    /// Downwards.
    pub descending: bool,
}

/// A record on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The text up to its end, without the closing brace.
    pub head: &'a str,
    /// When it ended, µs.
    pub stop: Option<i64>,
    /// Whole seconds of it.
    pub runtime: Option<i64>,
}

/// Goes through the records until there are no more, or the taker has enough.
pub fn each(
    connection: &Connection,
    select: &Select,
    mut take: impl FnMut(Found<'_>) -> ControlFlow<()>,
) -> Result<(), Error> {
    let ranges = [select.start, select.stop, select.runtime];
    if ranges.iter().any(Range::is_empty) {
        return Ok(());
    }
    let statement = Statement::of(select, narrowest(connection, select)?);
    let mut prepared = connection.prepare_cached(&statement.sql)?;
    let bound: Vec<&dyn ToSql> = statement.bound.iter().map(|value| &**value).collect();
    let mut rows = prepared.query(bound.as_slice())?;
    while let Some(row) = rows.next()? {
        let ValueRef::Text(head) = row.get_ref(0)? else {
            return Err(unread());
        };
        let end: i64 = row.get(1)?;
        let found = Found {
            head: std::str::from_utf8(head).map_err(|_| unread())?,
            stop: (end != OPEN).then_some(end),
            runtime: row.get(2)?,
        };
        if take(found).is_break() {
            break;
        }
    }
    Ok(())
}

/// The records behind a place in the table, the first ones: places and heads, in their order. Places
/// only grow.
pub fn behind(
    connection: &Connection,
    after: i64,
    most: i64,
    mut take: impl FnMut(i64, &str),
) -> Result<(), Error> {
    let sql = "SELECT id, head FROM auditor_record WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([after, most])?;
    while let Some(row) = rows.next()? {
        let ValueRef::Text(head) = row.get_ref(1)? else {
            return Err(unread());
        };
        let head = std::str::from_utf8(head).map_err(|_| unread())?;
        take(row.get(0)?, head);
    }
    Ok(())
}

fn unread() -> Error {
    Error::Value {
        what: "auditor_record.head",
        value: "no text".to_owned(),
    }
}

/// From here on a value is common: the first records in another order that have it are found faster
/// by going through that order than by sorting all that have it (about √(100 × 2,000,000)).
const COMMON: i64 = 16_000;

/// The value that fewest records have, of those that lead through the database; none where it is
/// faster to go through all records in their order.
fn narrowest(connection: &Connection, select: &Select) -> Result<Option<i64>, Error> {
    let order = select.order.unwrap_or(Order::Stop);
    let has_index = matches!(order, Order::Start | Order::RecordId);
    let may_walk = has_index && select.limited && !select.stop.is_bound();
    let [first, rest @ ..] = select.pairs.as_slice() else {
        return Ok(None);
    };
    if rest.is_empty() && !may_walk {
        return Ok(Some(*first));
    }
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM auditor_value
             WHERE pair = ?1 AND end_at >= ?2 AND end_at <= ?3 LIMIT ?4)",
    )?;
    let (least, most) = (select.stop.least, select.stop.most);
    let (least, most) = (least.unwrap_or(i64::MIN), most.unwrap_or(i64::MAX));
    let mut fewest = (COMMON + 1, *first);
    for pair in &select.pairs {
        let count: i64 = statement.query_row([*pair, least, most, COMMON], |row| row.get(0))?;
        fewest = fewest.min((count, *pair));
    }
    let (count, pair) = fewest;
    Ok((count < COMMON || !may_walk).then_some(pair))
}

/// The SQL statement and its parameters.
struct Statement {
    sql: String,
    bound: Vec<Box<dyn ToSql>>,
}

impl Statement {
    fn of(select: &Select, pair: Option<i64>) -> Self {
        let mut made = Statement {
            sql: String::new(),
            bound: Vec::new(),
        };
        let order = select.order.unwrap_or(Order::Stop);
        let by_pair = pair.is_some();
        // The values' own index has the ends as well; a span of starts has the starts' index.
        let end = if by_pair { "v.end_at" } else { "r.end_at" };
        let by_start = !by_pair && !select.stop.is_bound() && select.start.least.is_some();
        let from = if by_pair {
            "auditor_value v CROSS JOIN auditor_record r ON r.id = v.record"
        } else if select.record_id.is_some() {
            "auditor_record r"
        } else if by_start || order == Order::Start && !select.stop.is_bound() {
            "auditor_record r INDEXED BY auditor_record_start"
        } else if order == Order::RecordId && !select.stop.is_bound() {
            "auditor_record r"
        } else {
            "auditor_record r INDEXED BY auditor_record_end"
        };
        let in_order = match order {
            Order::Stop => !by_start,
            Order::Start => !by_pair && !select.stop.is_bound(),
            Order::RecordId => !by_pair && !by_start && !select.stop.is_bound(),
            Order::Runtime => false,
        };
        let key = match order {
            Order::Stop => end,
            Order::Start => "r.start_at",
            Order::RecordId => "r.record_id",
            // Open records are above all others.
            Order::Runtime => "coalesce(r.runtime, 9223372036854775807)",
        };
        let place = if by_pair { "v.record" } else { "r.id" };
        let direction = if select.descending { "DESC" } else { "ASC" };
        let wanted = made.conditions(select, pair, end);
        let by = format!("ORDER BY {key} {direction}, {place}");
        made.sql = if in_order {
            format!("SELECT r.head, r.end_at, r.runtime FROM {from} WHERE {wanted} {by}")
        } else {
            format!(
                "WITH sorted AS MATERIALIZED (SELECT r.id AS place FROM {from} WHERE {wanted} {by})
                 SELECT r.head, r.end_at, r.runtime FROM sorted
                 CROSS JOIN auditor_record r ON r.id = sorted.place"
            )
        };
        made
    }

    fn conditions(&mut self, select: &Select, pair: Option<i64>, end: &str) -> String {
        let mut all = vec!["1".to_owned()];
        let mut bind = |sql: String, value: Box<dyn ToSql>| {
            self.bound.push(value);
            all.push(format!("{sql} ?{}", self.bound.len()));
        };
        if let Some(pair) = pair {
            bind("v.pair =".to_owned(), Box::new(pair));
        }
        if let Some(record_id) = &select.record_id {
            bind("r.record_id =".to_owned(), Box::new(record_id.clone()));
        }
        let mut stop = select.stop;
        if stop.is_bound() {
            stop.at_most(OPEN - 1);
        }
        for (column, range) in [
            (end, stop),
            ("r.start_at", select.start),
            ("r.runtime", select.runtime),
        ] {
            if let Some(least) = range.least {
                bind(format!("{column} >="), Box::new(least));
            }
            if let Some(most) = range.most {
                bind(format!("{column} <="), Box::new(most));
            }
        }
        all.join(" AND ")
    }
}
