//! Finished uses without an instance that took shadow money, as the input of a replay of rates.

use super::super::{Error, codec, uses};
use super::SCAN_MAX;
use bank_core::amount::Amount;
use bank_core::command::HISTORY;
use bank_core::decimal::Decimal;
use bank_core::effects::Became;
use bank_core::exact::Fraction;
use bank_core::policy::Metric;
use bank_core::time::{MICROS, Seconds, Timestamp};
use bank_core::usage::Usage;
use bank_core_figures::sizes::processors;
use rusqlite::{Connection, Row, params};

/// A use of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkUse {
    /// Row id.
    pub id: i64,
    /// Start.
    pub start: Timestamp,
    /// End.
    pub end: Timestamp,
    /// Its amount in the shadow totals.
    pub amount: Amount,
    /// The priced quantities.
    pub basis: Basis,
    /// Machine as named.
    pub machine: String,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Group as named.
    pub group: String,
}

/// The quantities that made an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// No rate applies: the policy charges nothing, or another bank charged it.
    Fixed,
    /// Quantities over a time, as far as the row has them.
    Counted(Box<Usage>, Seconds),
    /// The row does not have them.
    Unknown,
}

/// The machines with finished uses.
pub fn machines(connection: &Connection) -> Result<Vec<String>, Error> {
    uses::machines(connection)
}

/// The uses of a machine that ended before an instant, behind the end and the number of another one; a bounded number
/// of them, none after the last.
pub fn page(
    connection: &Connection,
    machine: &str,
    until: Timestamp,
    (ended, id): (Timestamp, i64),
) -> Result<Vec<ChunkUse>, Error> {
    let sql = "SELECT id, start_at, end_at, amount, machine, project, user, group_name, became, policy,
            counted, millis, more, wall_us, requested_s, nodes, gpus, memory_bytes, disk_bytes, qos, queue
        FROM usage_identity
        WHERE machine = ?1 AND end_at >= ?2 AND end_at < ?3 AND (end_at > ?2 OR id > ?4)
            AND instance IS NULL AND amount IS NOT NULL
        ORDER BY end_at, id LIMIT ?5";
    let most = i64::try_from(SCAN_MAX).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![machine, ended.0, until.0, id, most])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<ChunkUse, Error> {
    Ok(ChunkUse {
        id: row.get(0)?,
        start: Timestamp(row.get(1)?),
        end: Timestamp(row.get(2)?),
        amount: Amount(row.get(3)?),
        basis: basis(row)?,
        machine: row.get(4)?,
        project: row.get(5)?,
        user: row.get(6)?,
        group: row.get(7)?,
    })
}

fn basis(row: &Row<'_>) -> Result<Basis, Error> {
    let became: String = row.get(8)?;
    let became = codec::word("usage_identity.became", &became, Became::parse)?;
    let policy: String = row.get(9)?;
    if became == Became::Free || policy == HISTORY {
        return Ok(Basis::Fixed);
    }
    let counted: String = row.get(10)?;
    let Some((metric, total)) = counted.split_once(' ') else {
        return Ok(Basis::Unknown);
    };
    let seconds = if metric == Metric::Requested.word() {
        row.get(14)?
    } else {
        // As a charge policy rounds it.
        let wall: Option<i64> = row.get(13)?;
        let rounded = |us: i64| us.saturating_add(MICROS / 2).div_euclid(MICROS);
        wall.map(|us| rounded(us).max(1))
    };
    let per_second = |seconds: i64| {
        let total = Fraction::parse(total)?;
        total.times(Fraction::new(1, seconds.into())?)
    };
    let found = seconds.and_then(|seconds: i64| Some((seconds, per_second(seconds)?)));
    let Some((seconds, counted)) = found else {
        return Ok(Basis::Unknown);
    };
    let usage = Usage {
        counted: Some(counted),
        ..quantities(row)?
    };
    Ok(Basis::Counted(Box::new(usage), Seconds(seconds)))
}

/// The quantities in the units of rates.
fn quantities(row: &Row<'_>) -> Result<Usage, Error> {
    let more: Option<String> = row.get(12)?;
    let exact = processors(row.get(11)?, more.as_deref().unwrap_or_default());
    let whole = |place| Ok::<_, Error>(row.get::<_, Option<i64>>(place)?.map(Decimal::whole));
    let megabytes = |place| {
        let bytes: Option<i64> = row.get(place)?;
        let billionths = |bytes: i64| i128::from(bytes).saturating_mul(1_000_000_000) >> 20;
        Ok::<_, Error>(bytes.map(|bytes| Decimal::from_billionths(billionths(bytes))))
    };
    let named = |place| {
        let name: String = row.get(place)?;
        Ok::<_, Error>(Some(name).filter(|name| !name.is_empty()))
    };
    let gpus = whole(16)?.map(|number| ("gpu".to_owned(), number));
    Ok(Usage {
        processors: exact
            .map(|millionths| Decimal::from_billionths(millionths.saturating_mul(1000))),
        nodes: whole(15)?,
        memory_mb: megabytes(17)?,
        disk_mb: megabytes(18)?,
        gres: gpus.into_iter().collect(),
        qos: named(19)?,
        class: named(20)?,
        ..Usage::default()
    })
}
