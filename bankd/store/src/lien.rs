//! Reads liens, each with its holds on allocations.

use super::{Error, codec};
use bank_core::amount::Amount;
use bank_core::ids::{AllocationId, InstanceId, LienId};
use bank_core::model::{Lien, LienState, Portion};
use bank_core::time::Timestamp;
use rusqlite::Connection;

/// A lien by its number, ended or not.
pub(super) fn one(connection: &Connection, id: LienId) -> Result<Option<Lien>, Error> {
    let sql = "SELECT l.instance, l.state, l.placed, l.start_at, l.end_at, l.shadow,
                   p.allocation, p.amount, l.lapsed
               FROM lien l LEFT JOIN lien_allocation p ON p.lien = l.id
               WHERE l.id = ?1 ORDER BY p.n";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.0])?;
    let mut found: Option<Lien> = None;
    while let Some(row) = rows.next()? {
        let lien = match &mut found {
            Some(lien) => lien,
            None => found.insert(Lien {
                id,
                instance: InstanceId(row.get(0)?),
                state: codec::word("lien.state", codec::text(row, 1)?, LienState::parse)?,
                placed: Amount(row.get(2)?),
                start: Timestamp(row.get(3)?),
                end: Timestamp(row.get(4)?),
                shadow: row.get(5)?,
                portions: Vec::new(),
                lapsed: Amount(row.get(8)?),
            }),
        };
        if let Some(allocation) = row.get::<_, Option<i64>>(6)? {
            lien.portions.push(Portion {
                allocation: AllocationId(allocation),
                amount: Amount(row.get(7)?),
            });
        }
    }
    Ok(found)
}

/// Adds the liens that hold money of an allocation, each once.
pub(super) fn on(
    connection: &Connection,
    allocation: AllocationId,
    liens: &mut Vec<Lien>,
) -> Result<(), Error> {
    let sql = "SELECT DISTINCT lien FROM lien_allocation WHERE allocation = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let ids: Vec<i64> = statement
        .query_map([allocation.0], |r| r.get(0))?
        .collect::<Result<_, _>>()?;
    for id in ids {
        if !liens.iter().any(|l| l.id.0 == id) {
            liens.extend(one(connection, LienId(id))?);
        }
    }
    Ok(())
}
