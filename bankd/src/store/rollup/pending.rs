//! What a database transaction adds to rollups: kept in memory, and written once for each day and key
//! at its end, so that a chunk of many thousand uses writes few rows.

use super::super::{Error, codec, seal};
use super::pack::{self, Hours, stored};
use bank_core::rollup::{Measure, Presence, Sign, Sums, Use, day_of, hour_of};
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use std::collections::HashMap;

/// Days that are kept at once: about 10 MB.
const FULL: usize = 2048;
/// Keys that are remembered at once.
const KEYS: usize = 20_000;

/// Whose usage it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Key<'a> {
    /// As named; empty where none was.
    pub(in crate::store) project: &'a str,
    /// 0 where no account paid.
    pub(in crate::store) account: i64,
    pub(in crate::store) user: &'a str,
    pub(in crate::store) machine: &'a str,
    /// Queue or class.
    pub(in crate::store) queue: &'a str,
    pub(in crate::store) qos: &'a str,
}

impl Key<'_> {
    /// Its bytes: no two keys have the same.
    fn bytes(&self, into: &mut Vec<u8>) {
        into.clear();
        into.extend(self.account.to_le_bytes());
        for text in [self.project, self.user, self.machine, self.queue, self.qos] {
            into.extend(text.len().to_le_bytes());
            into.extend(text.as_bytes());
        }
    }
}

/// A day of a key.
#[derive(Default)]
struct Day {
    hours: Hours,
    /// Jobs that ran on it: not the sum of those of its hours.
    running: i128,
}

/// What is to be written.
#[derive(Default)]
pub(in crate::store) struct Pending {
    days: HashMap<(i64, i64), Box<Day>>,
    keys: HashMap<Vec<u8>, i64>,
    scratch: Vec<u8>,
}

impl Pending {
    /// Adds a use over its hours, or takes it away.
    pub(in crate::store) fn spread(
        &mut self,
        connection: &Connection,
        key: &Key<'_>,
        whole: &Use,
        sign: Sign,
    ) -> Result<(), Error> {
        if whole.totals().is_zero() {
            return Ok(());
        }
        let key = self.number(connection, key)?;
        whole.hours(|hour, part| {
            self.at(hour, key, part, sign);
        });
        self.relieve(connection)
    }

    /// Counts a job, or counts it no more.
    pub(in crate::store) fn count(
        &mut self,
        connection: &Connection,
        key: &Key<'_>,
        job: &Presence,
        sign: Sign,
    ) -> Result<(), Error> {
        let key = self.number(connection, key)?;
        let (first, last) = job.hours();
        self.run(key, (first, last), None, sign);
        self.ends(key, job, sign);
        self.begins(key, job, sign);
        self.relieve(connection)
    }

    /// A job that was counted as `was` goes on, or ends, or takes back a part of it.
    pub(in crate::store) fn recount(
        &mut self,
        connection: &Connection,
        key: &Key<'_>,
        was: &Presence,
        is: &Presence,
    ) -> Result<(), Error> {
        if was == is {
            return Ok(());
        }
        let ((_, reached), (_, last)) = (was.hours(), is.hours());
        if was.start != is.start || last < reached {
            self.count(connection, key, was, Sign::Minus)?;
            return self.count(connection, key, is, Sign::Plus);
        }
        let key = self.number(connection, key)?;
        if reached < last {
            let more = (reached.saturating_add(1), last);
            self.run(key, more, Some(day_of(reached).0), Sign::Plus);
        }
        self.ends(key, was, Sign::Minus);
        self.ends(key, is, Sign::Plus);
        self.relieve(connection)
    }

    /// Counts the hours from one to another, and the days that they touch but the one that it counts
    /// on already.
    fn run(&mut self, key: i64, (first, last): (i64, i64), counted: Option<i64>, sign: Sign) {
        let one = Sums::default().with(Measure::Running, 1);
        let mut counted = counted;
        for hour in first..=last {
            let (on, _) = day_of(hour);
            let day = self.at(hour, key, &one, sign);
            if counted != Some(on) {
                day.running = match sign {
                    Sign::Plus => day.running.saturating_add(1),
                    Sign::Minus => day.running.saturating_sub(1),
                };
                counted = Some(on);
            }
        }
    }

    fn begins(&mut self, key: i64, job: &Presence, sign: Sign) {
        let one = Sums::default().with(Measure::Started, 1);
        self.at(hour_of(job.start.0), key, &one, sign);
    }

    fn ends(&mut self, key: i64, job: &Presence, sign: Sign) {
        if job.has_ended {
            let one = Sums::default().with(Measure::Ended, 1);
            self.at(hour_of(job.end.0), key, &one, sign);
        }
    }

    /// Adds to one hour; gives its day.
    fn at(&mut self, hour: i64, key: i64, sums: &Sums, sign: Sign) -> &mut Day {
        let (on, hour) = day_of(hour);
        let day = self.days.entry((on, key)).or_default();
        if let Some(own) = nth(&mut day.hours, hour) {
            own.add(sums, sign);
        }
        day
    }

    /// The number of a key, which is made where nobody had it before.
    fn number(&mut self, connection: &Connection, key: &Key<'_>) -> Result<i64, Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        key.bytes(&mut scratch);
        let known = self.keys.get(&scratch).copied();
        let number = if let Some(number) = known {
            number
        } else {
            if self.keys.len() >= KEYS {
                self.keys.clear();
            }
            let number = find_or_make(connection, key)?;
            self.keys.insert(scratch.clone(), number);
            number
        };
        self.scratch = scratch;
        Ok(number)
    }

    fn relieve(&mut self, connection: &Connection) -> Result<(), Error> {
        if self.days.len() < FULL {
            return Ok(());
        }
        self.write(connection)
    }

    /// Writes everything that is pending: before the database transaction ends.
    pub(in crate::store) fn write(&mut self, connection: &Connection) -> Result<(), Error> {
        if self.days.is_empty() {
            return Ok(());
        }
        // In the order of the table, so that rows of a day lie together.
        let mut days: Vec<((i64, i64), Box<Day>)> = self.days.drain().collect();
        days.sort_unstable_by_key(|(place, _)| *place);
        for ((day, key), more) in days {
            write_day(connection, (day, key), *more)?;
        }
        Ok(())
    }

    /// Forgets what was not written: the database transaction was undone, and keys with it.
    pub(in crate::store) fn forget(&mut self) {
        self.days.clear();
        self.keys.clear();
    }
}

fn nth(hours: &mut Hours, hour: i64) -> Option<&mut Sums> {
    hours.get_mut(usize::try_from(hour).ok()?)
}

fn find_or_make(connection: &Connection, key: &Key<'_>) -> Result<i64, Error> {
    let values = (
        key.project,
        key.account,
        key.user,
        key.machine,
        key.queue,
        key.qos,
    );
    let sql = "SELECT id FROM rollup_key WHERE project = ?1 AND account = ?2 AND user = ?3
                   AND machine = ?4 AND queue = ?5 AND qos = ?6";
    let mut found = connection.prepare_cached(sql)?;
    if let Some(number) = found.query_row(values, |r| r.get(0)).optional()? {
        return Ok(number);
    }
    let sql = "INSERT INTO rollup_key (project, account, user, machine, queue, qos)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(values)?;
    let number = connection.last_insert_rowid();
    seal::renew(connection, "rollup_key", &[&number])?;
    Ok(number)
}

/// Adds to the two rows of a day and key. Where nothing is left of them they go.
fn write_day(connection: &Connection, (day, key): (i64, i64), mut more: Day) -> Result<(), Error> {
    let place = (day, key);
    let sql = "SELECT hours FROM rollup_hour WHERE day = ?1 AND key = ?2";
    let hours: Option<Vec<u8>> = connection
        .prepare_cached(sql)?
        .query_row(place, |r| r.get(0))
        .optional()?;
    if let Some(hours) = &hours {
        pack::each(hours, |hour, sums| {
            if let Some(own) = more.hours.get_mut(hour) {
                own.add(sums, Sign::Plus);
            }
        })?;
        let sql = "SELECT running FROM rollup WHERE day = ?1 AND key = ?2";
        let running: Option<i64> = connection
            .prepare_cached(sql)?
            .query_row(place, |r| r.get(0))
            .optional()?;
        let running = running.ok_or_else(|| codec::broken("rollup", day))?;
        more.running = more.running.saturating_add(running.into());
    }
    let packed = pack::pack(&more.hours);
    if packed.is_empty() && more.running == 0 {
        if hours.is_some() {
            for sql in [
                "DELETE FROM rollup WHERE day = ?1 AND key = ?2",
                "DELETE FROM rollup_hour WHERE day = ?1 AND key = ?2",
            ] {
                connection.prepare_cached(sql)?.execute(place)?;
            }
        }
        return Ok(());
    }
    let sums = of_hours(&more.hours).with(Measure::Running, more.running);
    let own = [day, key].into_iter().chain(sums.0.map(stored));
    let row: Vec<i64> = own.collect();
    let seal = seal::of_values(&row)?;
    let is_new = hours.is_none();
    let sql = if is_new {
        "INSERT INTO rollup (day, key, core, gpu, node, wall, cpu, memory, disk, factored, charge,
             started, ended, running, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
    } else {
        "UPDATE rollup SET core = ?3, gpu = ?4, node = ?5, wall = ?6, cpu = ?7, memory = ?8,
             disk = ?9, factored = ?10, charge = ?11, started = ?12, ended = ?13, running = ?14,
             seal = ?15 WHERE day = ?1 AND key = ?2"
    };
    connection
        .prepare_cached(sql)?
        .execute(params_from_iter(row.iter().chain([&seal])))?;
    let values: [&dyn rusqlite::ToSql; 3] = [&day, &key, &packed];
    let seal = seal::of_values(&values)?;
    let sql = if is_new {
        "INSERT INTO rollup_hour (day, key, hours, seal) VALUES (?1, ?2, ?3, ?4)"
    } else {
        "UPDATE rollup_hour SET hours = ?3, seal = ?4 WHERE day = ?1 AND key = ?2"
    };
    connection
        .prepare_cached(sql)?
        .execute((day, key, &packed, seal))?;
    Ok(())
}

/// What a day's hours come to; its running jobs are counted for themselves.
pub(in crate::store) fn of_hours(hours: &Hours) -> Sums {
    let mut sum = Sums::default();
    for hour in hours {
        sum.add(hour, Sign::Plus);
    }
    sum.with(Measure::Running, 0)
}
