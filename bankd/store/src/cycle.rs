//! Cycles in and out.

use super::{Error, codec};
use bank_core::amount::Amount;
use bank_core::ids::{AccountId, AllocationId, CycleId};
use bank_core::model::{Cycle, Every};
use bank_core::time::Timestamp;
use rusqlite::{Connection, Row, params};

/// Every cycle, in the columns that [`read`] takes.
pub(super) const CYCLES: &str = "SELECT id, name, account, every, amount, rollover, start_at,
    number, last, active, deleted, note FROM cycle";

pub(super) fn read(r: &Row<'_>) -> Result<Cycle, Error> {
    let every: String = r.get(3)?;
    Ok(Cycle {
        id: CycleId(r.get(0)?),
        name: r.get(1)?,
        account: AccountId(r.get(2)?),
        every: codec::word("cycle.every", &every, Every::parse)?,
        amount: Amount(r.get(4)?),
        rollover: r.get(5)?,
        start: Timestamp(r.get(6)?),
        number: r.get(7)?,
        last: r.get::<_, Option<i64>>(8)?.map(AllocationId),
        active: r.get(9)?,
        deleted: r.get(10)?,
        note: r.get(11)?,
    })
}

pub(super) fn write(connection: &Connection, c: &Cycle) -> Result<usize, Error> {
    Ok(connection.execute(
        "INSERT INTO cycle (id, name, account, every, amount, rollover, start_at, number, last,
             active, deleted, note) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (id) DO UPDATE SET account = ?3, every = ?4, amount = ?5, rollover = ?6,
             start_at = ?7, number = ?8, last = ?9, active = ?10, deleted = ?11, note = ?12",
        params![
            c.id.0,
            c.name,
            c.account.0,
            c.every.word(),
            c.amount.0,
            c.rollover,
            c.start.0,
            c.number,
            c.last.map(|a| a.0),
            c.active,
            c.deleted,
            c.note
        ],
    )?)
}
