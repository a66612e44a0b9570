//! Time of reservations and of the jobs in them (decision 0171): rows of a charge, in and out.

use super::{Error, codec, seal};
use bank_core::decimal::Decimal;
use bank_core::ids::{InstanceId, TxId};
use bank_core::need::Need;
use bank_core::reservation::{ReservationKey, ReservationTime};
use bank_core::terms::Span;
use bank_core::time::Timestamp;
use bank_core::view::View;
use rusqlite::{Connection, Row, ToSql, params};
use std::collections::BTreeSet;

/// The columns of a row, which its seal is over. The first two are its key.
const COLUMNS: &str = "tx, n, instance, machine, reservation, start_at, end_at, processors, facts,
    back, exact, idle, at";

/// Adds the requested rows: of a reservation, of the instances in view, and of those of a transaction that is reversed.
pub(super) fn add(connection: &Connection, need: &Need, view: &mut View) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut query = |condition: &str, values: &[&dyn ToSql]| -> Result<(), Error> {
        let sql = format!("SELECT {COLUMNS} FROM reservation_time WHERE {condition}");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            let (key, time) = read(row)?;
            if seen.insert(key) {
                found.push((key, time));
            }
        }
        Ok(())
    };
    if let Some(times) = &need.times {
        let (start, end) = times
            .span
            .map_or((i64::MIN, i64::MAX), |span| (span.start.0, span.end.0));
        let condition = "machine = ?1 AND reservation = ?2 AND end_at > ?3 AND start_at < ?4";
        let key = &times.key;
        query(condition, params![key.machine, key.reservation, start, end])?;
    }
    if need.own_times {
        for instance in &view.instances {
            query("instance = ?1", &[&instance.id.0])?;
        }
    }
    if let Some(target) = view.past.first() {
        let of_target = "instance IN (SELECT instance FROM reservation_time WHERE tx = ?1)";
        query(of_target, &[&target.id.0])?;
    }
    found.sort_unstable_by_key(|(key, _)| *key);
    view.times = found.into_iter().map(|(_, time)| time).collect();
    Ok(())
}

/// All rows of the time of a reservation.
pub(super) fn of(
    connection: &Connection,
    machine: &str,
    reservation: &str,
) -> Result<Vec<ReservationTime>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reservation_time WHERE machine = ?1 AND reservation = ?2
         ORDER BY tx, n"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([machine, reservation])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?.1);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<((i64, i64), ReservationTime), Error> {
    let (tx, n): (i64, i64) = (row.get(0)?, row.get(1)?);
    let time = ReservationTime {
        tx: TxId(tx),
        instance: InstanceId(row.get(2)?),
        key: ReservationKey {
            machine: row.get(3)?,
            reservation: row.get(4)?,
        },
        span: Span {
            start: Timestamp(row.get(5)?),
            end: Timestamp(row.get(6)?),
        },
        processors: codec::word(
            "reservation_time.processors",
            codec::text(row, 7)?,
            Decimal::read,
        )?,
        facts: row.get(8)?,
        back: row.get(9)?,
        exact: codec::word("reservation_time.exact", codec::text(row, 10)?, |text| {
            text.parse().ok()
        })?,
        idle: match row.get::<_, Option<String>>(11)? {
            Some(text) => codec::word("reservation_time.idle", &text, |text| {
                text.parse().ok().map(Some)
            })?,
            None => None,
        },
        at: Timestamp(row.get(12)?),
    };
    Ok(((tx, n), time))
}

/// Writes the rows of a command.
pub(super) fn write(connection: &Connection, times: &[ReservationTime]) -> Result<(), Error> {
    for (place, time) in times.iter().enumerate() {
        let before = times.iter().take(place);
        let n = before.filter(|other| other.tx == time.tx).count();
        let (processors, exact) = (time.processors.to_string(), time.exact.to_string());
        let idle = time.idle.map(|idle| idle.to_string());
        let row = params![
            time.tx.0,
            i64::try_from(n).unwrap_or(i64::MAX),
            time.instance.0,
            time.key.machine,
            time.key.reservation,
            time.span.start.0,
            time.span.end.0,
            processors,
            time.facts,
            time.back,
            exact,
            idle,
            time.at.0,
        ];
        let sql = format!(
            "INSERT INTO reservation_time ({COLUMNS}, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
        );
        let seal = seal::of_values(row)?;
        let mut values: Vec<&dyn ToSql> = row.to_vec();
        values.push(&seal);
        connection
            .prepare_cached(&sql)?
            .execute(values.as_slice())?;
    }
    Ok(())
}
