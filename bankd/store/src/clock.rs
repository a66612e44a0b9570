//! The last seen time of the machine's clock, kept over a restart (decision note 0016).

use super::{Error, SqliteStore, seal};
use bank_core::clock::{Reading, Seen};
use bank_core::time::Timestamp;
use rusqlite::OptionalExtension;

impl SqliteStore {
    /// The last stored time; none in a bank that never served.
    pub fn seen(&self) -> Result<Option<Seen>, Error> {
        let sql = "SELECT clock_at, steady_us, boot, believed_at, back_from, unstepped_at
                   FROM clock
                   WHERE id = 1";
        let row = self.connection.query_row(sql, [], |r| {
            Ok(Seen {
                reading: Reading {
                    clock: Timestamp(r.get(0)?),
                    steady: Timestamp(r.get(1)?),
                    boot: r.get(2)?,
                },
                believed: Timestamp(r.get(3)?),
                back_from: r.get::<_, Option<i64>>(4)?.map(Timestamp),
                unstepped: r.get::<_, Option<i64>>(5)?.map(Timestamp),
            })
        });
        Ok(row.optional()?)
    }

    /// Keeps it.
    pub fn keep_seen(&self, seen: &Seen) -> Result<(), Error> {
        self.connection.execute(
            "INSERT INTO clock (id, clock_at, steady_us, boot, believed_at, back_from, unstepped_at)
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET clock_at = ?1, steady_us = ?2, boot = ?3,
                 believed_at = ?4, back_from = ?5, unstepped_at = ?6",
            (
                seen.reading.clock.0,
                seen.reading.steady.0,
                seen.reading.boot,
                seen.believed.0,
                seen.back_from.map(|t| t.0),
                seen.unstepped.map(|t| t.0),
            ),
        )?;
        seal::renew(&self.connection, "clock", &[&1])
    }
}
