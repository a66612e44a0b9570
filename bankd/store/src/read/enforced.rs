//! Input of an enforcement simulation: uses that took shadow money since an instant, and the
//! available money.

use super::super::{Error, allocation, rollup};
use super::chunked;
use super::past::walk;
use super::usage::{self, UsedRow};
use bank_core::amount::Amount;
use bank_core::command::Whose;
use bank_core::model::Allocation;
use bank_core::rules::enforce::Change;
use bank_core::time::Timestamp;
use bank_core::usage::Usage;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Most uses of one simulation.
pub const USES_MAX: usize = 500_000;

/// A use that took shadow money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// When it began.
    pub start: Timestamp,
    /// When it ended, or was charged last.
    pub end: Timestamp,
    /// Its cost, minor units.
    pub cost: i64,
    /// Its charged seconds.
    seconds: i64,
    /// Whether every charge of it was undone: it did not run.
    is_undone: bool,
    /// Its place in [`Uses::people`].
    pub who: usize,
    /// The row of its id.
    pub row: Row,
}

/// The row of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// An instance.
    Instance(i64),
    /// A use reported by a source.
    Identity(i64),
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::Instance(id) => write!(f, "i{id}"),
            Row::Identity(id) => write!(f, "u{id}"),
        }
    }
}

/// Owner of uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Machine as named.
    pub machine: String,
    /// Group; empty for none.
    pub group: String,
    /// Quality of service; empty for none.
    pub qos: String,
    /// Class; empty for none.
    pub class: String,
}

impl Who {
    /// The owner in a scheduler's request.
    pub fn whose(&self) -> Whose {
        let named = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
        Whose {
            project: named(&self.project),
            user: named(&self.user),
            machine: self.machine.clone(),
            for_reservation: false,
        }
    }

    /// Further properties that account lists use.
    pub fn usage(&self) -> Usage {
        let named = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
        Usage {
            qos: named(&self.qos),
            class: named(&self.class),
            ..Usage::default()
        }
    }
}

/// Uses in the order in which they began.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// The uses.
    pub uses: Vec<Use>,
    /// Their owners.
    pub people: Vec<Who>,
    /// Whether these are all.
    pub complete: bool,
}

/// The uses that began from an instant on and before another one.
pub fn uses(connection: &Connection, from: Timestamp, until: Timestamp) -> Result<Uses, Error> {
    let mut found = Finding::default();
    found.charged(connection, from, until)?;
    found.reported(connection, from, until)?;
    let Finding {
        mut uses, people, ..
    } = found;
    uses.sort_by_key(|one| (one.start, one.end));
    let complete = uses.len() <= USES_MAX;
    uses.truncate(USES_MAX);
    Ok(Uses {
        uses,
        people,
        complete,
    })
}

#[derive(Default)]
struct Finding {
    uses: Vec<Use>,
    people: Vec<Who>,
    places: HashMap<Who, usize>,
}

impl Finding {
    /// Charges in the shadow totals, one use for each instance, of the owner that was charged last.
    fn charged(
        &mut self,
        connection: &Connection,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error> {
        let mut places: HashMap<i64, Option<usize>> = HashMap::new();
        let mut moved = BTreeMap::new();
        let mut next = usage::first_from(connection, from)?;
        while self.uses.len() <= USES_MAX {
            let page = usage::page(connection, next)?;
            let Some(last) = page.last() else { break };
            next = last.id.saturating_add(1);
            for row in page.into_iter().filter(|row| row.shadow) {
                let place = match places.get(&row.instance) {
                    Some(place) => *place,
                    None => self.meet(connection, &row, from, until)?,
                };
                places.insert(row.instance, place);
                let Some(place) = place else { continue };
                if let Some(one) = self.uses.get_mut(place) {
                    let who = self.people.get(one.who);
                    if who.is_some_and(|who| (&who.project, &who.user) != (&row.project, &row.user))
                    {
                        moved.insert(row.instance, place);
                    }
                    one.cost = one.cost.saturating_add(row.amount.0);
                    one.seconds = one.seconds.saturating_add(row.seconds.0);
                    one.end = one.end.max(row.at);
                    one.is_undone = row.reverses.is_some() && (one.cost, one.seconds) == (0, 0);
                }
            }
        }
        for (instance, place) in moved {
            self.give(connection, instance, place)?;
        }
        self.uses.retain(|one| !one.is_undone);
        Ok(())
    }

    /// Gives a use to the owner of its last charge that remains: an assignment or an amended record moved it.
    fn give(&mut self, connection: &Connection, instance: i64, place: usize) -> Result<(), Error> {
        let (project, user) = rollup::names_by(connection, instance, i64::MAX)?;
        let who = self
            .uses
            .get(place)
            .and_then(|one| self.people.get(one.who));
        let Some(who) = who.cloned() else {
            return Ok(());
        };
        let who = self.who(Who {
            project,
            user,
            ..who
        });
        if let Some(one) = self.uses.get_mut(place) {
            one.who = who;
        }
        Ok(())
    }

    /// The first charge of an instance: its use, where that began in time.
    fn meet(
        &mut self,
        connection: &Connection,
        row: &UsedRow,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Option<usize>, Error> {
        let start = began(connection, row.instance)?.unwrap_or(row.opened);
        if start < from || until <= start {
            return Ok(None);
        }
        let who = self.who(Who {
            project: row.project.clone(),
            user: row.user.clone(),
            machine: row.machine.clone(),
            group: row.group.clone(),
            qos: row.usage.qos.clone().unwrap_or_default(),
            class: row.usage.class.clone().unwrap_or_default(),
        });
        self.uses.push(Use {
            start,
            end: row.at,
            cost: 0,
            seconds: 0,
            is_undone: false,
            who,
            row: Row::Instance(row.instance),
        });
        Ok(Some(self.uses.len().saturating_sub(1)))
    }

    /// Imported uses without money: one row for each identity.
    fn reported(
        &mut self,
        connection: &Connection,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<(), Error> {
        let sql =
            "SELECT id, start_at, end_at, amount, project, user, machine, group_name, qos, queue
            FROM usage_identity
            WHERE machine = ?1 AND end_at >= ?2 AND start_at >= ?2 AND start_at < ?3
                AND instance IS NULL AND amount IS NOT NULL LIMIT ?4";
        let most = i64::try_from(USES_MAX)
            .unwrap_or(i64::MAX)
            .saturating_add(1);
        for machine in chunked::machines(connection)? {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(params![machine, from.0, until.0, most])?;
            while let Some(row) = rows.next()? {
                let start = Timestamp(row.get(1)?);
                let end: Option<i64> = row.get(2)?;
                let who = self.who(Who {
                    project: row.get(4)?,
                    user: row.get(5)?,
                    machine: row.get(6)?,
                    group: row.get(7)?,
                    qos: row.get(8)?,
                    class: row.get(9)?,
                });
                self.uses.push(Use {
                    start,
                    end: end.map_or(start, Timestamp),
                    cost: row.get(3)?,
                    seconds: 0,
                    is_undone: false,
                    who,
                    row: Row::Identity(row.get(0)?),
                });
            }
        }
        Ok(())
    }

    fn who(&mut self, who: Who) -> usize {
        if let Some(place) = self.places.get(&who) {
            return *place;
        }
        let place = self.people.len();
        self.people.push(who.clone());
        self.places.insert(who, place);
        place
    }
}

/// The start of an instance, if reported.
fn began(connection: &Connection, instance: i64) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT coalesce(began_at, start_at) FROM instance WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let at: Option<Option<i64>> = statement
        .query_row([instance], |row| row.get(0))
        .optional()?;
    Ok(at.flatten().map(Timestamp))
}

/// The id of a use as its scheduler or source has it.
pub fn id_of(connection: &Connection, row: Row) -> Result<String, Error> {
    let (sql, id) = match row {
        Row::Instance(id) => ("SELECT object_id FROM instance WHERE id = ?1", id),
        Row::Identity(id) => ("SELECT object_id FROM usage_identity WHERE id = ?1", id),
    };
    let mut statement = connection.prepare_cached(sql)?;
    let id = statement.query_row([id], |row| row.get(0)).optional()?;
    Ok(id.unwrap_or_default())
}

/// Every allocation with its money at an instant, without holds, and the later changes, in the
/// order of time.
pub fn money(
    connection: &Connection,
    from: Timestamp,
) -> Result<(Vec<Allocation>, Vec<Change>), Error> {
    let sql = format!(
        "SELECT {} FROM allocation ORDER BY id",
        allocation::ALLOCATION
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let (mut standing, mut changes) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let mut allocation = allocation::read(row)?;
        walk(connection, allocation.last_entry, |step| {
            if step.effective > from && step.delta.amount != 0 {
                let before = allocation.amount.0.saturating_sub(step.delta.amount);
                allocation.amount = Amount(before);
                changes.push(Change {
                    at: step.effective,
                    allocation: allocation.id,
                    amount: step.delta.amount,
                });
            }
            step.recorded > from
        })?;
        allocation.held = Amount::ZERO;
        standing.push(allocation);
    }
    changes.sort_by_key(|change| change.at);
    Ok((standing, changes))
}
