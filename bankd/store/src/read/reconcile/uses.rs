//! The records of one collector and the charges of one object, each charge with its record.

use super::super::super::{Error, codec};
use bank_core::decimal::Decimal;
use bank_core::reconcile::{Side, paired, short_id};
use bank_core::time::{MICROS, Timestamp};
use rusqlite::{Connection, Row};

/// Records, and charges, of one object that are looked at.
pub(super) const MOST: i64 = 1_000;

/// A row of `usage_identity`.
pub(super) struct Recorded {
    pub(super) id: i64,
    /// The number and the name of its collector.
    pub(super) source: (i64, String),
    pub(super) job: String,
    pub(super) side: Side,
    pub(super) is_kept: bool,
    pub(super) amount: i64,
    pub(super) end: i64,
    pub(super) instance: Option<i64>,
    pub(super) counts: bool,
}

/// What was charged for a use.
pub(super) struct Charged {
    /// Its instance, or else the record.
    instance: Option<i64>,
    record: Option<i64>,
    pub(super) job: String,
    pub(super) side: Side,
    /// The mean of its processors over the seconds that were charged.
    mean: Option<Decimal>,
    pub(super) amount: i128,
}

pub(super) const RECORD: &str =
    "u.id, s.name, u.object_id, u.start_at, u.end_at, u.wall_us, u.millis,
    u.project, u.account, u.user, u.became, u.amount, u.instance, u.source
    FROM usage_identity u JOIN source s ON s.id = u.source";

pub(super) const CHARGE: &str = "id, object_id, coalesce(start_at, began_at),
    coalesce(end_at, used_until, closed_at), charged_s + kept_s, processors, project, user, billed,
    shadow_billed, processor_s";

/// Which records and charges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked<'a> {
    pub(super) machine: &'a str,
    /// The id without the name of a server.
    pub(super) job: String,
    /// The collector of the records.
    pub(super) source: i64,
    /// Uses that the collector has not charged yet count as charges, and no records of others.
    pub(super) waits: bool,
}

/// The records and the charges of one object.
pub(super) struct Uses {
    records: Vec<Recorded>,
    charges: Vec<Charged>,
    /// The charge of each record.
    charge_of: Vec<Option<usize>>,
}

/// A use as it was recorded, and its charge with the amount.
pub(super) type Found = (Side, Option<(Side, i128)>);

impl Uses {
    pub(super) fn read(connection: &Connection, asked: &Asked<'_>) -> Result<Self, Error> {
        let records = recorded_by(asked.source, connection, asked)?;
        let mut charges = instances(connection, asked)?;
        // A record that counts without a charge may be of a source that charged the machine before.
        let others = if asked.waits {
            Vec::new()
        } else {
            others(asked.source, connection)?
        };
        for other in others {
            let mut own = recorded_by(other, connection, asked)?;
            own.retain(|record| {
                !record.is_kept && !charges.iter().any(|charge| charge.is_that_of(record))
            });
            charges.extend(own.into_iter().map(Charged::from));
        }
        charges.sort_by_key(|charge| charge.side.start);
        let of_records: Vec<_> = records.iter().map(|r| (r.job.as_str(), &r.side)).collect();
        let of_charges: Vec<_> = charges.iter().map(|c| (c.job.as_str(), &c.side)).collect();
        let charge_of = paired(&of_records, &of_charges);
        Ok(Self {
            records,
            charges,
            charge_of,
        })
    }

    /// The use of a record that is kept; none if another record has the last part of it.
    pub(super) fn found(&self, record: &Recorded) -> Option<Found> {
        let mut places = self.records.iter().zip(&self.charge_of);
        let found = places.find(|(known, _)| known.id == record.id);
        let Some(charge) = found.and_then(|(_, charge)| *charge) else {
            return Some((record.side.clone(), None));
        };
        let of_it = self.records.iter().zip(&self.charge_of);
        let of_it = of_it.filter(|(known, of)| known.is_kept && **of == Some(charge));
        let parts: Vec<&Recorded> = of_it.map(|(known, _)| known).collect();
        if parts.last().is_some_and(|last| last.id != record.id) {
            return None;
        }
        let sides: Vec<&Side> = parts.iter().map(|part| &part.side).collect();
        let whole = Side::whole(&sides).unwrap_or_else(|| record.side.clone());
        let charge = self.charges.get(charge).map(|charge| {
            let mut side = charge.side.clone();
            if sides.len() > 1 {
                side.processors = charge.mean.or(side.processors);
            }
            (side, charge.amount)
        });
        Some((whole, charge))
    }

    /// Whether the charge of an instance has a record, or one that is not kept.
    pub(super) fn has_instance(&self, id: i64, counted: bool) -> bool {
        let mut records = self.records.iter().zip(&self.charge_of);
        records.any(|(record, charge)| {
            let charge = charge.and_then(|charge| self.charges.get(charge));
            !(counted && record.is_kept) && charge.is_some_and(|own| own.instance == Some(id))
        })
    }

    /// Whether the charge of a record of another collector has a record of this one.
    pub(super) fn has_record(&self, record: &Recorded) -> bool {
        let mut found = self.charge_of.iter().flatten();
        found.any(|charge| {
            let charge = self.charges.get(*charge);
            charge.is_some_and(|charge| charge.is_that_of(record))
        })
    }
}

impl Charged {
    /// Whether it is the charge of a record that was charged.
    fn is_that_of(&self, record: &Recorded) -> bool {
        self.record == Some(record.id)
            || self.instance.is_some() && self.instance == record.instance
    }
}

impl From<Recorded> for Charged {
    fn from(record: Recorded) -> Self {
        Self {
            record: Some(record.id),
            instance: record.instance,
            job: record.job,
            side: record.side,
            mean: None,
            amount: record.amount.into(),
        }
    }
}

/// Rows of the object, and of the same with the name of a server, which does not begin with a digit: an index
/// finds each of the two.
const NAMED: [&str; 2] = [
    "object_id = ?1",
    "object_id > ?1 || '.' AND object_id < ?1 || '/'",
];

/// All other collectors.
pub(super) fn others(source: i64, connection: &Connection) -> Result<Vec<i64>, Error> {
    let sql = "SELECT id FROM source WHERE id <> ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map([source], |r| r.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The records of a collector about the object, by their start.
fn recorded_by(
    source: i64,
    connection: &Connection,
    asked: &Asked<'_>,
) -> Result<Vec<Recorded>, Error> {
    let mut found = Vec::new();
    for named in NAMED {
        let sql = format!(
            "SELECT {RECORD} WHERE u.source = ?3 AND {named} AND u.machine = ?2 ORDER BY u.start_at LIMIT ?4"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((&asked.job, asked.machine, source, MOST))?;
        while let Some(row) = rows.next()? {
            found.push(recorded(row)?);
        }
    }
    found.retain(|record| short_id(&record.job) == asked.job);
    found.sort_by_key(|record| record.side.start);
    Ok(found)
}

/// The uses of the object that were charged.
fn instances(connection: &Connection, asked: &Asked<'_>) -> Result<Vec<Charged>, Error> {
    let mut found = Vec::new();
    for named in NAMED {
        let sql = format!(
            "SELECT {CHARGE} FROM instance WHERE {named} AND machine = ?2 AND object_type = 'job'
                 AND (last_usage IS NOT NULL OR ?3 AND kept_s > 0) ORDER BY number LIMIT ?4"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((&asked.job, asked.machine, asked.waits, MOST))?;
        while let Some(row) = rows.next()? {
            found.push(charged(row)?);
        }
    }
    found.retain(|charge| short_id(&charge.job) == asked.job);
    Ok(found)
}

/// A row of [`RECORD`].
pub(super) fn recorded(r: &Row<'_>) -> Result<Recorded, Error> {
    let (start, end): (i64, Option<i64>) = (r.get(3)?, r.get(4)?);
    let wall: Option<i64> = r.get(5)?;
    let millis: Option<i64> = r.get(6)?;
    let (project, account): (String, String) = (r.get(7)?, r.get(8)?);
    let became: String = r.get(10)?;
    let between = end.and_then(|end| end.checked_sub(start));
    Ok(Recorded {
        id: r.get(0)?,
        source: (r.get(13)?, r.get(1)?),
        job: r.get(2)?,
        side: Side {
            start: Some(Timestamp(start)),
            end: end.map(Timestamp),
            wall_us: wall.or(between),
            processors: millis.map(|m| Decimal::from_billionths(i128::from(m) * 1_000_000)),
            project: if project.is_empty() { account } else { project },
            user: r.get(9)?,
        },
        is_kept: became == "kept",
        counts: matches!(became.as_str(), "charged" | "adjusted" | "free"),
        instance: r.get(12)?,
        amount: r.get::<_, Option<i64>>(11)?.unwrap_or_default(),
        end: end.unwrap_or_default(),
    })
}

/// A row of [`CHARGE`].
pub(super) fn charged(r: &Row<'_>) -> Result<Charged, Error> {
    let seconds: i64 = r.get(4)?;
    let processors: Option<String> = r.get(5)?;
    let processors = processors
        .map(|text| codec::word("instance.processors", &text, Decimal::read))
        .transpose()?;
    let (real, shadow): (i64, i64) = (r.get(8)?, r.get(9)?);
    let work: String = r.get(10)?;
    let work = codec::word("instance.processor_s", &work, |text| {
        text.parse::<i128>().ok()
    })?;
    Ok(Charged {
        instance: Some(r.get(0)?),
        record: None,
        mean: work
            .checked_div(seconds.into())
            .map(Decimal::from_billionths),
        job: r.get(1)?,
        side: Side {
            start: r.get::<_, Option<i64>>(2)?.map(Timestamp),
            end: r.get::<_, Option<i64>>(3)?.map(Timestamp),
            wall_us: Some(seconds.saturating_mul(MICROS)),
            processors,
            project: r.get(6)?,
            user: r.get(7)?,
        },
        amount: i128::from(real) + i128::from(shadow),
    })
}
