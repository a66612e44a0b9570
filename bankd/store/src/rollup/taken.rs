//! Amounts of each charge by account, from its journal entries.

use super::super::Error;
use super::super::numbers::{first_entry_of, last_entry};
use super::charge::{Charge, Class};
use super::pending::Key;
use bank_core_figures::rollup::Use;
use bank_core_figures::rollup::worth::Worth;
use rusqlite::{Connection, OptionalExtension, Row};

/// Amount of a journal entry of a charge: account and owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) account: i64,
    pub(crate) project: String,
    pub(crate) user: String,
    pub(crate) machine: String,
    /// Below zero where it went back.
    pub(crate) amount: Worth,
    /// The entry that it gives back.
    pub(crate) of: Option<i64>,
}

impl Taken {
    /// Out of the columns account, project, user, machine, `delta_amount`, `delta_shadow` and
    /// the entry that it gives back, from a place on.
    pub(crate) fn read(r: &Row<'_>, from: usize) -> Result<Taken, Error> {
        let place = |n: usize| from.saturating_add(n);
        let (amount, shadow): (i64, i64) = (r.get(place(4))?, r.get(place(5))?);
        Ok(Taken {
            account: r.get::<_, Option<i64>>(place(0))?.unwrap_or(0),
            project: r.get(place(1))?,
            user: r.get(place(2))?,
            machine: r.get(place(3))?,
            amount: taken(amount, shadow),
            of: r.get(place(6))?,
        })
    }

    /// Its amount, over the time of its charge. A reversal of a charge, or of that reversal, counts
    /// at the charge's time: usage is shown net of refunds (ledger.md, defect D9).
    pub(crate) fn worth(&self, connection: &Connection, charge: &Charge) -> Result<Use, Error> {
        let Some(of) = self.of else {
            return Ok(charge.worth(self.amount));
        };
        let sql = "SELECT e.usage, c.of FROM entry e LEFT JOIN correction c ON c.entry = e.id
                   WHERE e.id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut next = of;
        loop {
            let found = statement.query_row([next], |r| Ok((r.get(0)?, r.get(1)?)));
            // `verify` reports a missing entry, or a correction without one.
            let (usage, deeper): (Option<i64>, Option<i64>) = found.optional()?.unwrap_or_default();
            match (usage, deeper.filter(|deeper| *deeper < next)) {
                (_, Some(deeper)) => next = deeper,
                (Some(usage), None) => {
                    return Ok(Charge::of(connection, usage)?.worth(self.amount));
                }
                (None, None) => return Ok(charge.worth(self.amount)),
            }
        }
    }

    /// Whether another one took of the same account in the same names.
    pub(crate) fn is_of_same(&self, other: &Taken) -> bool {
        self.account == other.account
            && self.project == other.project
            && self.user == other.user
            && self.machine == other.machine
    }

    /// Its rollup key.
    pub(crate) fn key<'a>(&'a self, class: &'a Class) -> Key<'a> {
        Key {
            project: &self.project,
            account: self.account,
            user: &self.user,
            machine: &self.machine,
            queue: &class.queue,
            qos: &class.qos,
            pi: &class.pi,
        }
    }
}

/// The charged amount from the moved amounts.
pub(crate) fn taken(amount: i64, shadow: i64) -> Worth {
    let moved = Worth::of(amount, false).plus(Worth::of(shadow, true));
    Worth::default().minus(moved)
}

/// Amounts of the entries of a usage row. Shadow amounts without an allocation count on its first
/// one.
pub(crate) fn parts_of(connection: &Connection, charge: &Charge) -> Result<Vec<Taken>, Error> {
    let first = first_entry_of(connection, charge.tx, last_entry(connection)?)?;
    let sql = "SELECT e.tx, e.usage, e.account, e.project, e.user, e.machine, e.delta_amount,
                   e.delta_shadow, c.of
               FROM entry e LEFT JOIN correction c ON c.entry = e.id
               WHERE e.id >= ?1 ORDER BY e.id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([first])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? != charge.tx {
            break;
        }
        if row.get::<_, Option<i64>>(1)? == Some(charge.id) {
            found.push(Taken::read(row, 2)?);
        }
    }
    complete(&mut found, charge.worth);
    Ok(found)
}

/// Adds the part of a charge that its entries did not move to the first of them.
pub(crate) fn complete(parts: &mut [Taken], worth: Worth) {
    let moved = parts.iter().map(|part| part.amount);
    let moved = moved.fold(Worth::default(), Worth::plus);
    if let Some(first) = parts.first_mut() {
        first.amount = first.amount.plus(worth.minus(moved));
    }
}
