//! Checks the waypoints: the journal is read again, and each sum and each late entry is compared.

use super::ENTRIES;
use crate::Error;
use crate::read::past::{Sums, counted};
use rusqlite::{Connection, Rows};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of findings; more would be repetitions.
const FINDINGS_MAX: usize = 20;

#[derive(Clone, Copy, Default)]
struct Own {
    sums: Sums,
    entry: i64,
    /// Whether it changed since its last sum.
    is_open: bool,
}

struct Place {
    n: i64,
    tx: i64,
    entry: i64,
    from_at: i64,
    is_whole: bool,
    /// How many sums it has.
    sums: i64,
}

struct Walk<'a> {
    connection: &'a Connection,
    own: BTreeMap<i64, Own>,
    late: BTreeSet<(i64, i64, i64)>,
    findings: Vec<String>,
}

/// Differences between the waypoints and the journal.
pub(crate) fn check(connection: &Connection) -> Result<Vec<String>, Error> {
    let places = places(connection)?;
    let mut walk = Walk {
        connection,
        own: BTreeMap::new(),
        late: BTreeSet::new(),
        findings: Vec::new(),
    };
    let mut entries = connection.prepare(ENTRIES)?;
    let mut sums = connection.prepare(
        "SELECT n, allocation, entry, amount, held, deposited, used, shadow, shadow_held
         FROM waypoint_sum ORDER BY n, allocation",
    )?;
    let mut stored = Stored {
        rows: sums.query([])?,
        waiting: None,
    };
    stored.advance()?;
    let mut before = (0, 0, 0);
    for place in &places {
        if place.n != before.0 + 1 || place.entry <= before.2 || place.tx <= before.1 {
            walk.find(format!(
                "waypoint {}: it does not follow the one before",
                place.n
            ));
            break;
        }
        let mut rows = entries.query((before.2, place.entry))?;
        let mut last = (before.1, before.2);
        while let Some(row) = rows.next()? {
            let (entry, tx, effective): (i64, i64, i64) = (row.get(0)?, row.get(9)?, row.get(10)?);
            last = (tx, entry);
            let Some(allocation) = row.get::<_, Option<i64>>(1)? else {
                continue;
            };
            let own = walk.own.entry(allocation).or_default();
            let (kind, delta, is_use) = counted(row)?;
            own.sums.count(connection, entry, kind, &delta, is_use)?;
            (own.entry, own.is_open) = (entry, true);
            if effective < place.from_at {
                walk.late.insert((allocation, effective, entry));
            }
        }
        walk.place(place, before.1, last)?;
        walk.sums_at(place, &mut stored)?;
        before = (place.n, place.tx, place.entry);
    }
    if let Some((n, allocation, ..)) = stored.waiting.filter(|_| walk.findings.is_empty()) {
        walk.find(format!(
            "waypoint {n}: it is missing, but its sum of allocation {allocation} is"
        ));
    }
    walk.compare_late()?;
    Ok(walk.findings)
}

/// The sums that are written down, in the order of their waypoints: number, allocation, entry, sums.
struct Stored<'a> {
    rows: Rows<'a>,
    waiting: Option<(i64, i64, i64, Sums)>,
}

impl Stored<'_> {
    fn advance(&mut self) -> Result<(), Error> {
        self.waiting = match self.rows.next()? {
            None => None,
            Some(row) => Some((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                Sums {
                    amount: row.get(3)?,
                    held: row.get(4)?,
                    deposited: row.get(5)?,
                    used: row.get(6)?,
                    shadow: row.get(7)?,
                    shadow_held: row.get(8)?,
                },
            )),
        };
        Ok(())
    }

    /// The next one, if it is of a waypoint.
    fn take_of(&mut self, n: i64) -> Result<Option<(i64, i64, i64, Sums)>, Error> {
        let found = self.waiting.take_if(|(own, ..)| *own == n);
        if found.is_some() {
            self.advance()?;
        }
        Ok(found)
    }
}

fn places(connection: &Connection) -> Result<Vec<Place>, Error> {
    let mut statement =
        connection.prepare("SELECT n, tx, entry, from_at, whole, sums FROM waypoint ORDER BY n")?;
    let rows = statement.query_map([], |r| {
        Ok(Place {
            n: r.get(0)?,
            tx: r.get(1)?,
            entry: r.get(2)?,
            from_at: r.get(3)?,
            is_whole: r.get(4)?,
            sums: r.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Walk<'_> {
    fn find(&mut self, finding: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// Whether a waypoint is at the end of a transaction, and its start matches.
    fn place(&mut self, place: &Place, before: i64, last: (i64, i64)) -> Result<(), Error> {
        let sql = "SELECT at_recorded FROM tx WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let from_at: i64 = statement.query_row([before + 1], |r| r.get(0))?;
        let sql = "SELECT count(*) FROM entry WHERE id = ?1 AND tx = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let next = (place.entry + 1, place.tx);
        let goes_on: bool = statement.query_row(next, |r| r.get(0))?;
        if last != (place.tx, place.entry) || from_at != place.from_at || goes_on {
            self.find(format!("waypoint {}: its position is wrong", place.n));
        }
        Ok(())
    }

    /// Compares the sums of a waypoint.
    fn sums_at(&mut self, place: &Place, stored: &mut Stored<'_>) -> Result<(), Error> {
        let (n, mut count) = (place.n, 0_i64);
        while let Some((_, allocation, entry, sums)) = stored.take_of(n)? {
            count = count.saturating_add(1);
            let own = self.own.entry(allocation).or_default();
            own.is_open = false;
            if (own.entry, own.sums) != (entry, sums) {
                let recorded = own.sums;
                self.find(format!(
                    "waypoint {n}: allocation {allocation} is {sums:?} behind entry {entry}, \
                     the journal gives {recorded:?}"
                ));
            }
        }
        if count != place.sums {
            let recorded = place.sums;
            self.find(format!("waypoint {n}: it has {count} sums of {recorded}"));
        }
        if place.is_whole {
            let mut open = self.own.iter().filter(|(_, own)| own.is_open);
            if let Some((allocation, _)) = open.next() {
                let finding = format!("waypoint {n}: allocation {allocation} has no sum");
                self.find(finding);
            }
        }
        Ok(())
    }

    fn compare_late(&mut self) -> Result<(), Error> {
        let mut statement = self
            .connection
            .prepare("SELECT allocation, at_effective, entry FROM waypoint_late")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let late: (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if !self.late.remove(&late) {
                self.find(format!("entry {}: it was not late, or not so late", late.2));
            }
        }
        if let Some((.., entry)) = self.late.first() {
            self.find(format!(
                "entry {entry}: it was late, but no waypoint lists it"
            ));
        }
        Ok(())
    }
}
