//! Reports from rollups: whole UTC days from their sums, the rest of a bucket from hours, and what lies
//! beside full hours from the records of that time.
//!
//! A job that runs over several days is one job in each of them. In a bucket it is counted once: those
//! that ran in its first hour or day, and those that began later.

use super::super::super::Error;
use super::super::super::rollup::each_hour;
use super::edges::{self, Piece};
use super::{Answer, Asked, Figures, Owner, ran};
use bank_core::rollup::{DAY, HOUR, HOURS, Measure, Sign, Sums, day_of, hour_of};
use bank_core::time::Timestamp;
use foldhash::{HashMap, HashMapExt as _};
use rusqlite::{Connection, OptionalExtension};

/// The figures of a day, in the order of [`Measure`], but the last.
macro_rules! figures {
    () => {
        "core, gpu, node, wall, cpu, memory, disk, factored, charge, measured, started, ended"
    };
}

/// Those of some days.
macro_rules! days {
    () => {
        "FROM rollup WHERE day >= ?1 AND day < ?2"
    };
}

/// The first day on which anything counts.
pub fn first_day(connection: &Connection) -> Result<Option<i64>, Error> {
    let sql = "SELECT day FROM rollup ORDER BY day LIMIT 1";
    Ok(connection.query_row(sql, [], |r| r.get(0)).optional()?)
}

/// The keys that are asked for.
#[derive(Default)]
struct Keys {
    /// Where each is in `all`.
    places: HashMap<i64, usize>,
    all: Vec<Asking>,
    values: Vec<Vec<String>>,
    users: Vec<String>,
}

/// Where the figures of a key go: the places of its values and of its user.
#[derive(Clone, Copy)]
struct Asking {
    values: usize,
    user: usize,
}

/// Answers from rollups; where a bucket begins or ends within an hour, with the records of that piece.
///
/// # Errors
/// If the store cannot be read.
pub fn from_rollups(connection: &Connection, asked: &Asked<'_>) -> Result<Answer, Error> {
    let keys = keys(connection, asked)?;
    let mut answer = Answer {
        from_rollups: true,
        ..Answer::default()
    };
    let mut pieces = Vec::new();
    for (bucket, (from, until)) in asked.grid.buckets().enumerate() {
        let mut summing = Summing {
            keys: &keys,
            users: asked.users,
            of: vec![None; keys.values.len()],
            ran: vec![false; keys.all.len()],
            is_first: true,
        };
        let first = hour_of(from.0.saturating_add(HOUR).saturating_sub(1));
        let last = hour_of(until.0);
        let at = |hour: i64| Timestamp(hour.saturating_mul(HOUR));
        if first >= last {
            pieces.push(Piece::new(bucket, from, until, true));
            continue;
        }
        if from < at(first) {
            pieces.push(Piece::new(bucket, from, at(first), true));
            summing.is_first = false;
        }
        summing.span(connection, first, last)?;
        if at(last) < until {
            pieces.push(Piece::new(bucket, at(last), until, false));
        }
        for (values, figures) in keys.values.iter().zip(summing.end()) {
            if let Some(figures) = figures {
                answer.at(bucket, values).add(&figures);
            }
        }
    }
    edges::add(connection, asked, &pieces, &mut answer)?;
    Ok(answer.trimmed())
}

/// Gives whose usage there is, each once, until the visitor has enough.
///
/// # Errors
/// If the store cannot be read.
pub fn each_owner(
    connection: &Connection,
    mut visit: impl FnMut(&Owner<'_>) -> bool,
) -> Result<(), Error> {
    each_key(connection, |_, owner| visit(owner))
}

/// Likewise, with the number of the key.
fn each_key(
    connection: &Connection,
    mut visit: impl FnMut(i64, &Owner<'_>) -> bool,
) -> Result<(), Error> {
    let sql = "SELECT id, project, account, user, machine, queue, qos FROM rollup_key";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |place: usize| row.get_ref(place)?.as_str().map_err(rusqlite::Error::from);
        let owner = Owner {
            project: text(1)?,
            account: row.get(2)?,
            user: text(3)?,
            machine: text(4)?,
            queue: text(5)?,
            qos: text(6)?,
        };
        if !visit(row.get(0)?, &owner) {
            break;
        }
    }
    Ok(())
}

fn keys(connection: &Connection, asked: &Asked<'_>) -> Result<Keys, Error> {
    let mut keys = Keys::default();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    each_key(connection, |id, owner| {
        let Some((values, user)) = (asked.place)(owner, None) else {
            return true;
        };
        let next = keys.values.len();
        let place = *places.entry(values.clone()).or_insert(next);
        if place == next {
            keys.values.push(values);
        }
        let next = keys.users.len();
        let who = *names.entry(user.clone()).or_insert(next);
        if who == next {
            keys.users.push(user);
        }
        keys.places.insert(id, keys.all.len());
        keys.all.push(Asking {
            values: place,
            user: who,
        });
        true
    })?;
    Ok(keys)
}

/// One bucket on its way.
struct Summing<'k> {
    keys: &'k Keys,
    users: bool,
    of: Vec<Option<Figures>>,
    /// Whether anything ran, for each key.
    ran: Vec<bool>,
    /// Nothing of the bucket was read yet: jobs that run count, not only those that begin.
    is_first: bool,
}

impl Summing<'_> {
    /// Reads the hours from one until another, exclusive.
    fn span(&mut self, connection: &Connection, from: i64, until: i64) -> Result<(), Error> {
        let (first, head) = day_of(from);
        let (last, tail) = day_of(until);
        if first == last {
            return self.hours(connection, first, (head, tail));
        }
        let mut day = first;
        if head > 0 {
            self.hours(connection, first, (head, HOURS))?;
            day = first.saturating_add(1);
        }
        if day < last {
            self.days(connection, day, last)?;
        }
        if tail > 0 {
            self.hours(connection, last, (0, tail))?;
        }
        Ok(())
    }

    /// Whole days. Jobs that ran count on the first of them, where nothing of the bucket lies before.
    fn days(&mut self, connection: &Connection, from: i64, until: i64) -> Result<(), Error> {
        let mut from = from;
        if std::mem::take(&mut self.is_first) {
            let next = from.saturating_add(1);
            let sql = concat!("SELECT key, ", figures!(), ", running ", days!());
            self.rows(connection, sql, (from, next))?;
            from = next;
        }
        let sql = concat!("SELECT key, ", figures!(), ", started ", days!());
        self.rows(connection, sql, (from, until))
    }

    /// Rows of keys with all their figures. There are many, and nothing is looked up for one twice.
    fn rows(&mut self, connection: &Connection, sql: &str, days: (i64, i64)) -> Result<(), Error> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(days)?;
        while let Some(row) = rows.next()? {
            let Some(key) = self.keys.places.get(&row.get(0)?).copied() else {
                continue;
            };
            let mut sums = Sums::default();
            for (place, figure) in (1..).zip(&mut sums.0) {
                *figure = row.get::<_, i64>(place)?.into();
            }
            self.add(key, &sums);
        }
        Ok(())
    }

    /// Some hours of one day.
    fn hours(
        &mut self,
        connection: &Connection,
        day: i64,
        (from, until): (i64, i64),
    ) -> Result<(), Error> {
        let sql = "SELECT key, hours FROM rollup_hour WHERE day = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([day])?;
        let is_first = self.is_first;
        while let Some(row) = rows.next()? {
            let Some(key) = self.keys.places.get(&row.get(0)?).copied() else {
                continue;
            };
            let hours = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            each_hour(hours, |hour, sums| {
                let hour = i64::from(hour);
                if is_first && hour == from {
                    self.add(key, sums);
                } else if from <= hour && hour < until {
                    let began = sums.get(Measure::Started);
                    self.add(key, &sums.with(Measure::Running, began));
                }
            })?;
        }
        self.is_first = false;
        Ok(())
    }

    fn add(&mut self, key: usize, sums: &Sums) {
        let Some(asking) = self.keys.all.get(key) else {
            return;
        };
        if let Some(figures) = self.of.get_mut(asking.values) {
            let figures = figures.get_or_insert_default();
            figures.sums.add(sums, Sign::Plus);
        }
        if let Some(own) = self.ran.get_mut(key) {
            *own = *own || ran(sums);
        }
    }

    /// What it came to, by values; with those who ran anything, where they are asked for.
    fn end(mut self) -> Vec<Option<Figures>> {
        let ran = self.keys.all.iter().zip(&self.ran);
        for (asking, _) in ran.filter(|(_, ran)| self.users && **ran) {
            let figures = self.of.get_mut(asking.values).and_then(Option::as_mut);
            if let (Some(figures), Some(user)) = (figures, self.keys.users.get(asking.user))
                && !figures.users.contains(user)
            {
                figures.users.insert(user.clone());
            }
        }
        self.of
    }
}

/// An hour is a whole part of a day.
const _: () = assert!(DAY == HOUR * HOURS, "a day has whole hours");
