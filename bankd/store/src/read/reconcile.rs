//! Recorded usage of collectors on a machine compared with its charges, pair by pair.
//!
//! Two walks, one after the other: through the records of a period by their end, each with its
//! possible charge, and through the instances, for charges without a record. Each page reads a
//! bounded number of rows.

use super::super::Error;
use super::SCAN_MAX;
use bank_core::reconcile::{Side, short_id};
use bank_core::time::{Seconds, Timestamp};
use rusqlite::{Connection, OptionalExtension};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use uses::{Asked, CHARGE, MOST, RECORD, Recorded, Uses, charged, recorded};

mod uses;

/// Charges whose first document arrived longer than this before the period are only read if a
/// record refers to them.
const OPENED_BEFORE: Seconds = Seconds(92 * 86_400);

/// The request.
#[derive(Clone, Debug)]
pub struct Question {
    /// The machine.
    pub machine: String,
    /// Only the records of this collector.
    pub source: Option<String>,
    /// The collector that charges the machine; none where its scheduler does.
    pub charging: Option<String>,
    /// Uses that ended in this time, half open.
    pub time: (Timestamp, Timestamp),
}

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind a record, by its end and its number.
    Record(i64, i64),
    /// Behind an instance.
    Charge(i64),
}

/// A use as it was recorded, or charged, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The job, as the record prints it, else as the charge has it.
    pub job: String,
    /// The collector of the record.
    pub source: Option<String>,
    /// The recorded usage.
    pub record: Option<Side>,
    /// The charge and its amount: minor units, real and shadow together.
    pub charge: Option<(Side, i128)>,
    /// Both are charges of one use, by two sources.
    pub is_twice: bool,
}

/// The pairs of one page, and where the next one goes on.
pub fn page(
    connection: &Connection,
    question: &Question,
    after: Option<Place>,
    limit: usize,
) -> Result<(Vec<Pair>, Option<Place>), Error> {
    let walk = Walk {
        connection,
        question,
        compared: compared(connection, question)?,
        charging: charging(connection, question)?,
        read: RefCell::default(),
    };
    let (from, _) = question.time;
    let after = after.unwrap_or(Place::Record(from.0.saturating_sub(1), i64::MAX));
    let mut pairs = Vec::new();
    let next = match after {
        Place::Record(end, id) => walk.records((end, id), limit, &mut pairs)?,
        Place::Charge(id) => walk.charges(id, limit, &mut pairs)?,
    };
    Ok((pairs, next))
}

/// The collectors whose records are compared with the charges: those with stored records in this
/// period.
fn compared(connection: &Connection, question: &Question) -> Result<Vec<i64>, Error> {
    let (from, until) = question.time;
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT r.source FROM (SELECT source, became FROM usage_identity
             WHERE machine = ?1 AND end_at >= ?2 AND end_at < ?3 LIMIT ?4) r
         JOIN source s ON s.id = r.source
         WHERE r.became = 'kept' AND (?5 IS NULL OR s.name = ?5)",
    )?;
    let scanned = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let parameters = (
        &question.machine,
        from.0,
        until.0,
        scanned,
        &question.source,
    );
    let rows = statement.query_map(parameters, |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The collector that charges the machine.
fn charging(connection: &Connection, question: &Question) -> Result<Option<i64>, Error> {
    let mut statement = connection.prepare_cached("SELECT id FROM source WHERE name = ?1")?;
    let found = statement.query_row([&question.charging], |r| r.get(0));
    Ok(found.optional()?)
}

struct Walk<'a> {
    connection: &'a Connection,
    question: &'a Question,
    compared: Vec<i64>,
    charging: Option<i64>,
    /// What was read for this page.
    read: RefCell<HashMap<Asked<'a>, Rc<Uses>>>,
}

impl Walk<'_> {
    /// Records by their end; after the last one the charges follow.
    fn records(
        &self,
        (end, id): (i64, i64),
        limit: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<Option<Place>, Error> {
        let sql = format!(
            "SELECT {RECORD} WHERE u.machine = ?1 AND u.end_at >= ?2 AND u.end_at < ?4
                 AND (u.end_at > ?2 OR u.id > ?3) ORDER BY u.end_at, u.id LIMIT ?5"
        );
        let (_, until) = self.question.time;
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query((&self.question.machine, end, id, until.0, most))?;
        let (mut looked, mut last) = (0, None);
        while let Some(row) = rows.next()? {
            let record = recorded(row)?;
            looked += 1;
            last = Some(Place::Record(record.end, record.id));
            pairs.extend(self.judged(record)?);
        }
        if looked < limit {
            let first = self.first_charge()?;
            return Ok(Some(Place::Charge(first)));
        }
        Ok(last)
    }

    /// The relation of a record to the charges, if any.
    fn judged(&self, record: Recorded) -> Result<Option<Pair>, Error> {
        let wanted = self.question.source.as_ref();
        let is_wanted = wanted.is_none_or(|name| *name == record.source.1);
        let found = |record: Recorded, whole, charge, is_twice| {
            is_wanted.then_some(Pair {
                job: record.job,
                source: Some(record.source.1),
                record: Some(whole),
                charge,
                is_twice,
            })
        };
        if record.is_kept {
            if !is_wanted {
                return Ok(None);
            }
            let uses = self.uses(&record.job, record.source.0, false)?;
            let whole = uses.found(&record);
            return Ok(whole.and_then(|(whole, charge)| found(record, whole, charge, false)));
        }
        let side = record.side.clone();
        if side.is_negative() {
            return Ok(found(record, side, None, false));
        }
        if let Some(charge) = self.other_charge(&record)? {
            return Ok(found(record, side, Some(charge), true));
        }
        // It is the charge itself.
        if self.compared.is_empty() || self.is_recorded(&record)? {
            return Ok(None);
        }
        Ok(Some(Pair {
            job: record.job,
            source: None,
            record: None,
            charge: Some((side, record.amount.into())),
            is_twice: false,
        }))
    }

    /// The records of a collector about an object, and the charges of the object.
    fn uses(&self, job: &str, source: i64, waits: bool) -> Result<Rc<Uses>, Error> {
        let asked = Asked {
            machine: &self.question.machine,
            job: short_id(job).to_owned(),
            source,
            waits,
        };
        if let Some(uses) = self.read.borrow().get(&asked) {
            return Ok(Rc::clone(uses));
        }
        let uses = Rc::new(Uses::read(self.connection, &asked)?);
        self.read.borrow_mut().insert(asked, Rc::clone(&uses));
        Ok(uses)
    }

    /// Whether one of the compared collectors has a record of the use of a record that was charged.
    fn is_recorded(&self, record: &Recorded) -> Result<bool, Error> {
        let own = record.source.0;
        for source in &self.compared {
            if *source == own || self.uses(&record.job, *source, false)?.has_record(record) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Another charge of the use of a record that was charged: of an instance that is not its own, or of a
    /// collector that reported it before.
    fn other_charge(&self, record: &Recorded) -> Result<Option<(Side, i128)>, Error> {
        if !record.counts {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {CHARGE} FROM instance i WHERE object_id = ?1 AND machine = ?2
                 AND object_type = 'job' AND last_usage IS NOT NULL AND charged_s > 0
                 AND id IS NOT ?3
                 AND NOT EXISTS (SELECT 1 FROM usage_identity u WHERE u.instance = i.id)
             ORDER BY number LIMIT ?4"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let machine = &self.question.machine;
        let parameters = (&record.job, machine, record.instance, MOST);
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            let charge = charged(row)?;
            if charge.side.meets(&record.side) {
                return Ok(Some((charge.side, charge.amount)));
            }
        }
        self.other_record(record)
    }

    /// The same of a collector that reported it before.
    fn other_record(&self, record: &Recorded) -> Result<Option<(Side, i128)>, Error> {
        let sql = format!(
            "SELECT {RECORD} WHERE u.source = ?1 AND u.object_id = ?2 AND u.machine = ?3
                 AND u.became IN ('charged', 'adjusted', 'free') AND u.id < ?4 LIMIT ?5"
        );
        let machine = &self.question.machine;
        let mut sources = self
            .connection
            .prepare_cached("SELECT id FROM source WHERE name <> ?1")?;
        let mut sources = sources.query([&record.source.1])?;
        while let Some(source) = sources.next()? {
            let id: i64 = source.get(0)?;
            let mut statement = self.connection.prepare_cached(&sql)?;
            let parameters = (id, &record.job, machine, record.id, MOST);
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                let other = recorded(row)?;
                if other.side.meets(&record.side) {
                    return Ok(Some((other.side, other.amount.into())));
                }
            }
        }
        Ok(None)
    }

    /// The instance before the first one that is looked at.
    fn first_charge(&self) -> Result<i64, Error> {
        let sql = "SELECT coalesce(max(id), 0) FROM instance";
        let last = self.connection.query_row(sql, [], |r| r.get(0))?;
        let mut opened = self
            .connection
            .prepare_cached("SELECT opened_at FROM instance WHERE id >= ?1 LIMIT 1")?;
        let (from, _) = self.question.time;
        let first = from.minus(OPENED_BEFORE);
        let (mut low, mut high) = (1_i64, i64::saturating_add(last, 1));
        while low < high {
            let middle = low.midpoint(high);
            let at: Option<i64> = opened.query_row([middle], |r| r.get(0)).optional()?;
            if at.is_some_and(|at| at < first.0) {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        Ok(low.saturating_sub(1))
    }

    /// Whether a collector has a record of an instance: one of those compared, or of a kept use the one that charges
    /// the machine, or one that charged it before and counted the use.
    fn has_record(&self, instance: i64, job: &str, waits: bool) -> Result<bool, Error> {
        let all = uses::others(0, self.connection)?;
        let sources = if waits { &all } else { &self.compared };
        for source in sources {
            let counted = waits && self.charging != Some(*source);
            let uses = self.uses(job, *source, waits)?;
            if uses.has_instance(instance, counted) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Charges of the time without a record, and kept uses that wait for one.
    fn charges(
        &self,
        after: i64,
        limit: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<Option<Place>, Error> {
        if self.compared.is_empty() && self.charging.is_none() {
            return Ok(None);
        }
        // Instances with a record were seen with that record. All rows are read, so that a page
        // ends even with few matches.
        let sql = format!(
            "SELECT {CHARGE}, CASE WHEN machine = ?2 AND object_type = 'job'
                     AND closed_at IS NOT NULL AND (last_usage IS NOT NULL AND ?3 OR kept_s > 0)
                 THEN NOT EXISTS (SELECT 1 FROM usage_identity u WHERE u.instance = i.id)
                 ELSE 0 END, kept_s
             FROM instance i WHERE id > ?1 ORDER BY id"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let compares = !self.compared.is_empty();
        let mut rows = statement.query((after, &self.question.machine, compares))?;
        let (mut looked, mut meant, mut last) = (0, 0, after);
        let (from, until) = self.question.time;
        while let Some(row) = rows.next()? {
            if looked == SCAN_MAX || meant == limit {
                return Ok(Some(Place::Charge(last)));
            }
            looked += 1;
            last = row.get(0)?;
            if !row.get::<_, bool>(11)? {
                continue;
            }
            meant += 1;
            let charge = charged(row)?;
            let is_of_the_time = charge
                .side
                .end
                .is_some_and(|end| end >= from && end < until);
            // A kept use of a scheduler waits for the collector that charges the machine.
            let waits = row.get::<_, i64>(12)? > 0;
            if is_of_the_time && !self.has_record(last, &charge.job, waits)? {
                pairs.push(Pair {
                    job: charge.job,
                    source: None,
                    record: None,
                    charge: Some((charge.side, charge.amount)),
                    is_twice: false,
                });
            }
        }
        Ok(None)
    }
}
