//! Reports from rollups: whole UTC months and days from their sums, the rest of a bucket from
//! hours, and partial hours from the records of that time.
//!
//! A job that runs over several days is one job in each of them. In a bucket it is counted once: those
//! that ran in its first hour, day or month, and those that began later.

use super::super::super::Error;
use super::super::super::rollup::{each_hour, each_month, is_stored};
use super::cover::{Rows, cover};
use super::edges::{self, Piece};
use super::{Answer, Figures, Owner, ReportRequest};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::{DAY, HOUR, HOURS, Measure, Sign, Sums, day_of, hour_of};
use foldhash::{HashMap, HashMapExt as _};
use rusqlite::{Connection, OptionalExtension};
use std::ops::Range;

/// The figures of some days, in the order of [`Measure`].
const DAYS: &str = "SELECT day, key, core, gpu, node, wall, cpu, memory, disk, factored, charge,
         shadow, measured, started, ended, running
     FROM rollup WHERE day >= ?1 AND day < ?2";

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

/// Answers from rollups, and from records for buckets that begin or end within an hour. It runs
/// several queries: use one snapshot if another connection may write.
///
/// # Errors
/// If the store cannot be read.
pub fn from_rollups(connection: &Connection, request: &ReportRequest<'_>) -> Result<Answer, Error> {
    let keys = keys(connection, request)?;
    let mut answer = Answer {
        from_rollups: true,
        ..Answer::default()
    };
    let mut pieces = Vec::new();
    for (bucket, (from, until)) in request.grid.buckets().enumerate() {
        let mut summing = Summing {
            keys: &keys,
            of: vec![None; keys.values.len()],
            ran: vec![Ran::default(); if request.users { keys.all.len() } else { 0 }],
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
    edges::add(connection, request, &pieces, &mut answer)?;
    Ok(answer.trimmed())
}

/// Visits the owners of usage, each once, until the visitor is done.
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
    let sql = "SELECT id, project, account, user, machine, queue, qos, pi FROM rollup_key";
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
            pi: text(7)?,
        };
        if !visit(row.get(0)?, &owner) {
            break;
        }
    }
    Ok(())
}

fn keys(connection: &Connection, request: &ReportRequest<'_>) -> Result<Keys, Error> {
    let mut keys = Keys::default();
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    each_key(connection, |id, owner| {
        let Some((values, user)) = (request.place)(owner, None) else {
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

/// Indicators that jobs ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ran {
    running: i128,
    wall: i128,
}

impl Ran {
    fn add(&mut self, sums: &Sums, sign: Sign) {
        for (own, more) in [
            (&mut self.running, sums.get(Measure::Running)),
            (&mut self.wall, sums.get(Measure::Wall)),
        ] {
            *own = match sign {
                Sign::Plus => own.saturating_add(more),
                Sign::Minus => own.saturating_sub(more),
            };
        }
    }
}

/// Gives the hours of a day, with their keys.
fn each_hour_of(
    connection: &Connection,
    day: i64,
    mut visit: impl FnMut(i64, i64, &Sums),
) -> Result<(), Error> {
    let sql = "SELECT key, hours FROM rollup_hour WHERE day = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([day])?;
    while let Some(row) = rows.next()? {
        let key = row.get(0)?;
        let hours = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        each_hour(hours, |hour, sums| visit(key, i64::from(hour), sums))?;
    }
    Ok(())
}

/// One bucket on its way.
struct Summing<'k> {
    keys: &'k Keys,
    of: Vec<Option<Figures>>,
    /// Activity for each key; empty if no users are requested.
    ran: Vec<Ran>,
    /// Nothing of the bucket was read yet: jobs that run count, not only those that begin.
    is_first: bool,
}

impl Summing<'_> {
    /// Reads the hours from one until another, exclusive.
    fn span(&mut self, connection: &Connection, from: i64, until: i64) -> Result<(), Error> {
        let cover = cover((from, until), |month| is_stored(connection, month))?;
        if !cover.begins && std::mem::take(&mut self.is_first) {
            self.running_at(connection, from)?;
        }
        for (sign, rows) in cover.parts {
            match rows {
                Rows::Months(months) => self.months(connection, months)?,
                Rows::Days(days) => self.days(connection, days, sign)?,
                Rows::Hours(day, hours) => self.hours(connection, day, &hours, sign)?,
            }
        }
        Ok(())
    }

    /// Whole months. Running jobs count in the first one, if no part of the bucket is before it.
    fn months(&mut self, connection: &Connection, months: Range<i64>) -> Result<(), Error> {
        let counts = std::mem::take(&mut self.is_first).then_some(months.start);
        each_month(
            connection,
            (months.start, months.end),
            |month, key, sums| {
                if let Some(key) = self.keys.places.get(&key).copied() {
                    self.add(key, sums, counts == Some(month), Sign::Plus);
                }
            },
        )
    }

    /// Whole days. There are many, and nothing is looked up for one twice.
    fn days(&mut self, connection: &Connection, days: Range<i64>, sign: Sign) -> Result<(), Error> {
        let counts = std::mem::take(&mut self.is_first).then_some(days.start);
        let mut statement = connection.prepare_cached(DAYS)?;
        let mut rows = statement.query((days.start, days.end))?;
        while let Some(row) = rows.next()? {
            let Some(key) = self.keys.places.get(&row.get(1)?).copied() else {
                continue;
            };
            let mut sums = Sums::default();
            for (place, figure) in (2..).zip(&mut sums.0) {
                *figure = row.get::<_, i64>(place)?.into();
            }
            let day = row.get(0)?;
            self.add(key, &sums, counts == Some(day), sign);
        }
        Ok(())
    }

    /// Some hours of one day.
    fn hours(
        &mut self,
        connection: &Connection,
        day: i64,
        hours: &Range<i64>,
        sign: Sign,
    ) -> Result<(), Error> {
        let counts = std::mem::take(&mut self.is_first).then_some(hours.start);
        each_hour_of(connection, day, |key, hour, sums| {
            if hours.contains(&hour)
                && let Some(key) = self.keys.places.get(&key).copied()
            {
                self.add(key, sums, counts == Some(hour), sign);
            }
        })
    }

    /// Jobs that ran when an hour began: all that ran in it but those that began in it.
    fn running_at(&mut self, connection: &Connection, hour: i64) -> Result<(), Error> {
        let (day, hour) = day_of(hour);
        each_hour_of(connection, day, |key, own, sums| {
            let running = sums.get(Measure::Running);
            let before = running.saturating_sub(sums.get(Measure::Started));
            if own == hour
                && let Some(key) = self.keys.places.get(&key).copied()
            {
                let sums = Sums::default().with(Measure::Running, before);
                self.add(key, &sums, true, Sign::Plus);
            }
        })
    }

    /// Adds figures of a key, or takes them away; with the jobs that ran, or only those that began.
    fn add(&mut self, key: usize, sums: &Sums, counts_running: bool, sign: Sign) {
        let Some(asking) = self.keys.all.get(key) else {
            return;
        };
        let running = if counts_running {
            Measure::Running
        } else {
            Measure::Started
        };
        let sums = sums.with(Measure::Running, sums.get(running));
        if let Some(figures) = self.of.get_mut(asking.values) {
            figures.get_or_insert_default().sums.add(&sums, sign);
        }
        if let Some(own) = self.ran.get_mut(key) {
            own.add(&sums, sign);
        }
    }

    /// Totals by values; with the active users, if requested.
    fn end(mut self) -> Vec<Option<Figures>> {
        let ran = self.keys.all.iter().zip(&self.ran);
        for (asking, _) in ran.filter(|(_, ran)| **ran != Ran::default()) {
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
