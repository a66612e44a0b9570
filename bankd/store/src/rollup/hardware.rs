//! The factored sums of existing uses when hardware changes (decision 0083).
//!
//! A use counts with the factor that today's hardware declarations have at the job's start. A new
//! declaration changes this for existing uses: they are subtracted with the old factor and added
//! with the new one, in the transaction of the change. Other figures do not change.

use super::super::uses::machines;
use super::super::{Error, kind};
use super::charged::{self, Part};
use super::factors::Factors;
use super::finished::{COLUMNS, Finished, Owners};
use super::pending::{Key, Pending};
use bank_core::effects::DirectoryRow;
use bank_core::kind::Record;
use bank_core_figures::rollup::{Measure, Sign, Sums, Use};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// The kind whose records have factors.
const HARDWARE: &str = "hardware";

/// Hardware that a command changes: the factors before it, the machines that it is of, and since when.
pub(crate) struct Changing {
    before: Factors,
    /// Empty for every machine.
    machines: BTreeSet<String>,
    /// No job that began before this instant has another factor.
    since: i64,
}

impl Changing {
    /// Reads the affected uses before a command is written; none if it does not change hardware.
    pub(crate) fn look(
        connection: &Connection,
        rows: &[DirectoryRow],
    ) -> Result<Option<Changing>, Error> {
        let mut touched = Vec::new();
        for row in rows {
            if let DirectoryRow::Record(own) = row
                && own.kind == HARDWARE
            {
                let before = kind::of(connection, HARDWARE)?;
                touched.extend(before.ever(HARDWARE, &own.key).cloned());
                touched.push(own.clone());
            }
        }
        let begins = |own: &Record| own.window().start.map_or(i64::MIN, |at| at.0);
        let Some(since) = touched.iter().map(begins).min() else {
            return Ok(None);
        };
        let of_all = touched.iter().any(|own| own.text("machine").is_empty());
        let machines = if of_all {
            BTreeSet::new()
        } else {
            let machines = touched.iter().map(|own| own.text("machine").to_owned());
            machines.collect()
        };
        let before = Factors::read(connection, Measure::Core)?;
        Ok(Some(Changing {
            before,
            machines,
            since,
        }))
    }

    /// Counts existing uses by the factors of today, once they are written.
    pub(crate) fn recount(
        mut self,
        connection: &Connection,
        pending: &mut Pending,
    ) -> Result<(), Error> {
        let mut today = Factors::read(connection, Measure::Core)?;
        for machine in machines(connection)? {
            if !self.is_of(&machine) {
                continue;
            }
            self.finished(connection, pending, &mut today, &machine)?;
        }
        // Instances with usage rows of their own are checked whenever they began.
        let sql = "SELECT i.id, i.machine FROM instance i WHERE i.record IS NOT NULL
                   AND (i.used_until IS NULL OR i.used_until >= ?1 OR EXISTS
                       (SELECT 1 FROM usage_identity u WHERE u.instance = i.id))";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([self.since])?;
        while let Some(row) = rows.next()? {
            if self.is_of(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?) {
                self.instance(connection, pending, &mut today, row.get(0)?)?;
            }
        }
        Ok(())
    }

    fn is_of(&self, machine: &str) -> bool {
        self.machines.is_empty() || self.machines.contains(machine)
    }

    /// Finished uses without an instance: by the index of machines and ends.
    fn finished(
        &mut self,
        connection: &Connection,
        pending: &mut Pending,
        today: &mut Factors,
        machine: &str,
    ) -> Result<(), Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM usage_identity
             WHERE machine = ?1 AND end_at >= ?2 AND instance IS NULL
             UNION ALL SELECT {COLUMNS} FROM usage_identity
             WHERE machine = ?1 AND end_at IS NULL AND instance IS NULL"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((machine, self.since))?;
        let mut owners = Owners::default();
        while let Some(row) = rows.next()? {
            let own = Finished::of_row(row)?;
            if !own.counts() {
                continue;
            }
            let (was, is) = (own.used(&mut self.before), own.used(today));
            if was != is {
                let key = own.key(owners.of(connection, own.allocation)?);
                swap(connection, pending, &key, (&was, &is, Sign::Plus))?;
            }
        }
        Ok(())
    }

    fn instance(
        &mut self,
        connection: &Connection,
        pending: &mut Pending,
        today: &mut Factors,
        id: i64,
    ) -> Result<(), Error> {
        let mut was = Vec::new();
        charged::each_part(connection, &mut self.before, id, &mut |_, _, part| {
            if let Part::Used(used, _) = part {
                was.push(used);
            }
            Ok(())
        })?;
        // Both times the parts come in the same order, each with its owner.
        let mut was = was.into_iter();
        charged::each_part(connection, today, id, &mut |key, _, part| match part {
            Part::Used(is, sign) => match was.next() {
                Some(was) if was != is => swap(connection, pending, key, (&was, &is, sign)),
                _ => Ok(()),
            },
            Part::Job(_) => Ok(()),
        })
    }
}

/// Takes factored usage away as it was, and adds it as it is.
fn swap(
    connection: &Connection,
    pending: &mut Pending,
    key: &Key<'_>,
    (was, is, sign): (&Use, &Use, Sign),
) -> Result<(), Error> {
    let own = |used: &Use| {
        let factored = used.totals().get(Measure::Factored);
        let totals = Sums::default().with(Measure::Factored, factored);
        Use::new(used.start(), used.end(), totals)
    };
    pending.spread(connection, key, &own(was), sign.turned(true))?;
    pending.spread(connection, key, &own(is), sign)
}
