//! Rollup changes of a database transaction: kept in memory, and written once for each day and key
//! at its end. A chunk of many thousand uses writes few rows.

use super::super::tally::Change;
use super::super::{Error, seal};
use super::blocks::Standing;
use super::each_hour;
use bank_core_figures::rollup::pack::{self, Hours};
use bank_core_figures::rollup::{Measure, Presence, Sign, Sums, Use, day_of, hour_of};
use foldhash::HashMap;
use rusqlite::{CachedStatement, Connection, OptionalExtension};

/// Hours that are kept at once: about 15 MB with their days.
const FULL: usize = 1 << 16;
/// Keys that are remembered at once.
const KEYS: usize = 20_000;

/// Owner of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    /// As named; empty where none was.
    pub(crate) project: &'a str,
    /// 0 where no account paid.
    pub(crate) account: i64,
    pub(crate) user: &'a str,
    pub(crate) machine: &'a str,
    /// Queue or class.
    pub(crate) queue: &'a str,
    pub(crate) qos: &'a str,
    /// The principal investigator that the use has itself; empty for none.
    pub(crate) pi: &'a str,
}

impl Key<'_> {
    /// Whether both are of one project and user.
    pub(super) fn is_of(&self, other: &Key<'_>) -> bool {
        (self.project, self.user) == (other.project, other.user)
    }

    /// Its bytes: no two keys have the same.
    fn bytes(&self, into: &mut Vec<u8>) {
        into.clear();
        into.extend(self.account.to_le_bytes());
        let texts = [
            self.project,
            self.user,
            self.machine,
            self.queue,
            self.qos,
            self.pi,
        ];
        for text in texts {
            into.extend(text.len().to_le_bytes());
            into.extend(text.as_bytes());
        }
    }
}

/// A day, counted from 1970, and the number of a key.
type Place = (i64, i64);

/// A day of a key.
#[derive(Default)]
struct Day {
    hours: Hours,
    /// Jobs that ran on it: not the sum of those of its hours.
    running: i128,
}

/// Changes to write.
#[derive(Default)]
pub(crate) struct Pending {
    /// Each day of a key.
    days: Vec<(Place, Day)>,
    /// Where it is among them; the last one that was asked for mostly is the next one too.
    places: HashMap<Place, usize>,
    last: usize,
    /// How many hours they have.
    hours: usize,
    keys: HashMap<Vec<u8>, i64>,
    scratch: Vec<u8>,
    /// Written but uncounted changes.
    written: Change,
    blocks: Standing,
}

impl Pending {
    /// Adds a use over its hours, or takes it away.
    pub(crate) fn spread(
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
        self.spread_of(key, whole, sign);
        self.relieve(connection)
    }

    fn spread_of(&mut self, key: i64, whole: &Use, sign: Sign) {
        whole.hours(|hour, part| self.at(hour, key, |own, _| own.add(part, sign)));
    }

    /// Counts a job, or counts it no more.
    pub(crate) fn count(
        &mut self,
        connection: &Connection,
        key: &Key<'_>,
        job: &Presence,
        sign: Sign,
    ) -> Result<(), Error> {
        let key = self.number(connection, key)?;
        self.count_of(key, job, sign);
        self.relieve(connection)
    }

    fn count_of(&mut self, key: i64, job: &Presence, sign: Sign) {
        self.run(key, job.hours(), None, sign);
        self.ends(key, job, sign);
        self.begins(key, job, sign);
        self.submits(key, job, sign);
    }

    /// Adds or subtracts a finished use without an instance: its contribution, and its job if that
    /// counts.
    pub(crate) fn finished(
        &mut self,
        connection: &Connection,
        key: &Key<'_>,
        (whole, job): (Option<Use>, Option<Presence>),
        sign: Sign,
    ) -> Result<(), Error> {
        if whole.is_none() && job.is_none() {
            return Ok(());
        }
        let key = self.number(connection, key)?;
        self.add(key, (whole, job), sign);
        self.relieve(connection)
    }

    /// The same by the number of the key, without the database: whoever adds looks whether it is full.
    pub(crate) fn add(
        &mut self,
        key: i64,
        (whole, job): (Option<Use>, Option<Presence>),
        sign: Sign,
    ) {
        if let Some(whole) = whole {
            self.spread_of(key, &whole, sign);
        }
        if let Some(job) = job {
            self.count_of(key, &job, sign);
        }
    }

    /// A job that was counted as `was` goes on, or ends, or takes back a part of it.
    pub(crate) fn recount(
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
        if was.begun() != is.begun() {
            self.begins(key, was, Sign::Minus);
            self.begins(key, is, Sign::Plus);
        }
        if was.submit != is.submit {
            self.submits(key, was, Sign::Minus);
            self.submits(key, is, Sign::Plus);
        }
        self.relieve(connection)
    }

    /// Counts the hours from one to another, and the days that they touch but the one that it counts
    /// on already.
    fn run(&mut self, key: i64, (first, last): (i64, i64), counted: Option<i64>, sign: Sign) {
        let mut counted = counted;
        for hour in first..=last {
            let (on, _) = day_of(hour);
            let is_more = counted != Some(on);
            counted = Some(on);
            self.at(hour, key, |own, running| {
                own.count(Measure::Running, sign);
                if is_more {
                    *running = sign.added(*running, 1);
                }
            });
        }
    }

    fn begins(&mut self, key: i64, job: &Presence, sign: Sign) {
        let hour = hour_of(job.start.0);
        self.at(hour, key, |own, _| own.add(&job.begun(), sign));
    }

    fn submits(&mut self, key: i64, job: &Presence, sign: Sign) {
        if let Some(submit) = job.submit {
            let hour = hour_of(submit.0);
            self.at(hour, key, |own, _| own.count(Measure::Submitted, sign));
        }
    }

    fn ends(&mut self, key: i64, job: &Presence, sign: Sign) {
        if job.has_ended {
            let hour = hour_of(job.end.0);
            self.at(hour, key, |own, _| own.count(Measure::Ended, sign));
        }
    }

    /// Adds to one hour, and to the running jobs of its day.
    fn at(&mut self, hour: i64, key: i64, add: impl FnOnce(&mut Sums, &mut i128)) {
        let (on, hour) = day_of(hour);
        let place = (on, key);
        let is_last = self
            .days
            .get(self.last)
            .is_some_and(|(own, _)| *own == place);
        if !is_last {
            let next = self.days.len();
            self.last = *self.places.entry(place).or_insert(next);
            if self.last == next {
                self.days.push((place, Day::default()));
            }
        }
        let (Some((_, day)), Ok(hour)) = (self.days.get_mut(self.last), u8::try_from(hour)) else {
            return;
        };
        let before = day.hours.len();
        if let Some(own) = day.hours.at(hour) {
            add(own, &mut day.running);
        }
        let more = day.hours.len().saturating_sub(before);
        self.hours = self.hours.saturating_add(more);
    }

    /// The number of a key; creates a new one if needed.
    fn number(&mut self, connection: &Connection, key: &Key<'_>) -> Result<i64, Error> {
        if let Some(number) = self.known(key) {
            return Ok(number);
        }
        if self.keys.len() >= KEYS {
            self.keys.clear();
        }
        let number = find_or_make(connection, key)?;
        self.keys.insert(self.scratch.clone(), number);
        Ok(number)
    }

    /// The number of a key that was met before.
    pub(crate) fn known(&mut self, key: &Key<'_>) -> Option<i64> {
        key.bytes(&mut self.scratch);
        self.keys.get(&self.scratch).copied()
    }

    /// Whether it must be written before more is added.
    pub(crate) fn is_full(&self) -> bool {
        self.hours >= FULL
    }

    /// Writes pending changes if there are many.
    pub(crate) fn relieve(&mut self, connection: &Connection) -> Result<(), Error> {
        if self.is_full() {
            self.write(connection)?;
        }
        Ok(())
    }

    /// Writes everything that is pending: before the database transaction ends.
    pub(crate) fn write(&mut self, connection: &Connection) -> Result<(), Error> {
        if self.days.is_empty() {
            return Ok(());
        }
        let mut days = self.take();
        // In the order of the table, so that rows of a day are adjacent.
        days.sort_unstable_by_key(|(place, _)| *place);
        let touched = days.iter().map(|((day, _), _)| *day);
        self.blocks.touch(connection, touched)?;
        let mut rows = Rows::prepare(connection)?;
        for (place, day) in days {
            rows.write(place, day, &mut self.written)?;
        }
        Ok(())
    }

    /// Counts the written rows ([`tally`](super::super::tally)): before the database transaction
    /// ends.
    pub(crate) fn count_written(&mut self, connection: &Connection) -> Result<(), Error> {
        std::mem::take(&mut self.written).write(connection, "rollup")
    }

    fn take(&mut self) -> Vec<(Place, Day)> {
        self.places.clear();
        (self.last, self.hours) = (0, 0);
        std::mem::take(&mut self.days)
    }

    /// The existing blocks.
    pub(crate) fn standing(&mut self) -> &mut Standing {
        &mut self.blocks
    }

    /// Discards unwritten changes: the database transaction was rolled back, with its keys.
    pub(crate) fn forget(&mut self) {
        self.take();
        self.keys.clear();
        self.written = Change::default();
    }
}

fn find_or_make(connection: &Connection, key: &Key<'_>) -> Result<i64, Error> {
    let values = (
        key.project,
        key.account,
        key.user,
        key.machine,
        key.queue,
        key.qos,
        key.pi,
    );
    let sql = "SELECT id FROM rollup_key WHERE project = ?1 AND account = ?2 AND user = ?3
                   AND machine = ?4 AND queue = ?5 AND qos = ?6 AND pi = ?7";
    let mut found = connection.prepare_cached(sql)?;
    if let Some(number) = found.query_row(values, |r| r.get(0)).optional()? {
        return Ok(number);
    }
    let sql = "INSERT INTO rollup_key (project, account, user, machine, queue, qos, pi)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(values)?;
    let number = connection.last_insert_rowid();
    seal::renew(connection, "rollup_key", &[&number])?;
    Ok(number)
}

/// The statements for rows of days, found once for all that are written together.
struct Rows<'c> {
    connection: &'c Connection,
    read: CachedStatement<'c>,
    insert: CachedStatement<'c>,
    update: CachedStatement<'c>,
}

impl<'c> Rows<'c> {
    fn prepare(connection: &'c Connection) -> Result<Rows<'c>, Error> {
        let read = "SELECT hours, running, seal FROM rollup WHERE day = ?1 AND key = ?2";
        let insert =
            "INSERT INTO rollup (day, key, running, hours, seal) VALUES (?1, ?2, ?3, ?4, ?5)";
        let update =
            "UPDATE rollup SET running = ?3, hours = ?4, seal = ?5 WHERE day = ?1 AND key = ?2";
        Ok(Rows {
            connection,
            read: connection.prepare_cached(read)?,
            insert: connection.prepare_cached(insert)?,
            update: connection.prepare_cached(update)?,
        })
    }

    /// Adds to the row of a day and key. Where nothing is left of it, it goes.
    fn write(&mut self, place: Place, mut day: Day, written: &mut Change) -> Result<(), Error> {
        let before = self.read(place, &mut day)?;
        let packed = pack::pack(&day.hours);
        if packed.is_empty() && day.running == 0 {
            if before.is_some() {
                let sql = "DELETE FROM rollup WHERE day = ?1 AND key = ?2";
                self.connection.prepare_cached(sql)?.execute(place)?;
            }
            return Ok(());
        }
        let running = pack::stored(day.running);
        let values: [&dyn rusqlite::ToSql; 4] = [&place.0, &place.1, &running, &packed];
        let seal = seal::of_values(&values)?;
        let statement = match before {
            None => &mut self.insert,
            Some(_) => &mut self.update,
        };
        statement.execute((place.0, place.1, running, &packed, seal))?;
        match before {
            Some(before) => written.changes(before, seal),
            None => written.comes(seal),
        }
        Ok(())
    }

    /// Adds the existing sums of a day. Returns the seal of its row; none if it has none.
    fn read(&mut self, place: Place, day: &mut Day) -> Result<Option<i64>, Error> {
        let mut rows = self.read.query(place)?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let hours = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        each_hour(hours, |hour, sums| {
            if let Some(own) = day.hours.at(hour) {
                own.add(sums, Sign::Plus);
            }
        })?;
        let running: i64 = row.get(1)?;
        day.running = day.running.saturating_add(running.into());
        Ok(Some(row.get(2)?))
    }
}
