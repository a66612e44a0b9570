//! Reports from rollups: whole UTC months and days from their blocks, the rest of a bucket from
//! hours, and partial hours from the records of that time.
//!
//! If only the largest are asked for, the first pass adds up the measure that ranks them, and the second one all
//! measures of these, and of the others together.
//!
//! A job that runs over several days is one job in each of them. In a bucket it is counted once: those
//! that ran in its first hour, day or month, and those that began later.

use super::super::super::Error;
use super::super::super::rollup::{self, Unit, each_day, each_hour, is_stored};
use super::edges::{self, Piece};
use super::{Answer, Owner, ReportRequest, Top};
use bank_core::time::Timestamp;
use bank_core_figures::rollup::block::Block;
use bank_core_figures::rollup::cover::{Rows, cover};
use bank_core_figures::rollup::{DAY, HOUR, HOURS, Measure, Sign, Sums, day_of, hour_of};
use foldhash::{HashMap, HashMapExt as _};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

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
    let (spans, pieces) = parts(request);
    let mut edges = Answer::default();
    edges::add(connection, request, &pieces, &mut edges)?;
    let mut reader = Reader {
        connection,
        bytes: HashMap::new(),
        held: 0,
        hours: HashMap::new(),
    };
    let kept = match request.top {
        Some(top) => Some(largest(&mut reader, &keys, &spans, (&edges, top))?),
        None => None,
    };
    let slots = Slots::new(&keys, kept.as_ref());
    let mut answer = Answer {
        from_rollups: true,
        ..Answer::default()
    };
    for span in &spans {
        let mut summing = Summing::new(&keys, &slots, request.users);
        summing.span(&mut reader, span, &|_| true)?;
        for (values, figures) in slots.values.iter().zip(summing.end()) {
            if let Some(figures) = figures {
                answer.at(span.bucket, *values).add(&figures);
            }
        }
    }
    for ((bucket, values), figures) in &edges.rows {
        let is_kept = kept.as_ref().is_none_or(|kept| kept.contains(values));
        answer.at(*bucket, is_kept.then_some(values)).add(figures);
    }
    Ok(answer.trimmed())
}

/// The full hours of a bucket.
struct Span {
    bucket: usize,
    first: i64,
    /// Exclusive.
    last: i64,
    /// The bucket begins with them: jobs that run count, not only those that begin.
    is_first: bool,
}

/// The full hours of each bucket, and the rest of them.
fn parts(request: &ReportRequest<'_>) -> (Vec<Span>, Vec<Piece>) {
    let (mut spans, mut pieces) = (Vec::new(), Vec::new());
    for (bucket, (from, until)) in request.grid.buckets().enumerate() {
        let first = hour_of(from.0.saturating_add(HOUR).saturating_sub(1));
        let last = hour_of(until.0);
        let at = |hour: i64| Timestamp(hour.saturating_mul(HOUR));
        if first >= last {
            pieces.push(Piece::new(bucket, from, until, true));
            continue;
        }
        let is_first = from >= at(first);
        if !is_first {
            pieces.push(Piece::new(bucket, from, at(first), true));
        }
        spans.push(Span {
            bucket,
            first,
            last,
            is_first,
        });
        if at(last) < until {
            pieces.push(Piece::new(bucket, at(last), until, false));
        }
    }
    (spans, pieces)
}

/// The values with the largest sums over all buckets.
fn largest(
    reader: &mut Reader<'_>,
    keys: &Keys,
    spans: &[Span],
    (edges, top): (&Answer, Top),
) -> Result<BTreeSet<Vec<String>>, Error> {
    let slots = Slots::new(keys, None);
    let mut summing = Summing::new(keys, &slots, false);
    let ranks = top.measure.place();
    // Of jobs that ran, those that began count too.
    let started = (top.measure == Measure::Running).then_some(Measure::Started.place());
    for span in spans {
        summing.span(reader, span, &|place| {
            place == ranks || Some(place) == started
        })?;
    }
    let of = keys.values.iter().zip(&summing.of);
    let of = of.map(|(values, sums)| (values, sums.get(top.measure)));
    let mut sizes: BTreeMap<&Vec<String>, i128> = of.filter(|(_, size)| *size != 0).collect();
    for ((_, values), figures) in &edges.rows {
        let size = sizes.entry(values).or_default();
        *size = size.saturating_add(figures.sums.get(top.measure));
    }
    if sizes.values().filter(|size| **size > 0).count() < top.most {
        // Those that have other figures only are next.
        for values in present(reader, keys, spans)? {
            sizes.entry(values).or_default();
        }
    }
    Ok(top.of(sizes))
}

/// The values that have any figure in any bucket.
fn present<'k>(
    reader: &mut Reader<'_>,
    keys: &'k Keys,
    spans: &[Span],
) -> Result<BTreeSet<&'k Vec<String>>, Error> {
    let slots = Slots::new(keys, None);
    let mut found = BTreeSet::new();
    for span in spans {
        let mut summing = Summing::new(keys, &slots, false);
        summing.span(reader, span, &|_| true)?;
        let of = keys.values.iter().zip(&summing.of);
        found.extend(
            of.filter(|(_, sums)| !sums.is_zero())
                .map(|(values, _)| values),
        );
    }
    Ok(found)
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

/// Reads blocks and rows, each part of a day only once.
struct Reader<'c> {
    connection: &'c Connection,
    /// Blocks, which each pass needs, and how many bytes these are.
    bytes: HashMap<(Unit, i64), Option<Rc<[u8]>>>,
    held: usize,
    /// Hours of days, which the buckets before and behind them need.
    hours: HashMap<(i64, i64, i64), Rc<Block>>,
}

impl Reader<'_> {
    /// The block of a day or a month; made of its rows where there is none.
    fn block(
        &mut self,
        unit: Unit,
        number: i64,
        (keys, wanted): (&Keys, &dyn Fn(usize) -> bool),
    ) -> Result<Block, Error> {
        let known = self.bytes.get(&(unit, number)).cloned();
        let bytes = match known {
            Some(bytes) => bytes,
            None => self.read(unit, number)?,
        };
        if let Some(bytes) = bytes {
            return rollup::of_bytes(&bytes, &|key| keys.places.contains_key(&key), wanted);
        }
        let days = unit.days(number);
        let mut rows: BTreeMap<i64, Sums> = BTreeMap::new();
        each_day(self.connection, days, |row| {
            let sums = row.sums().of_span(row.day == days.0);
            rows.entry(row.key).or_default().add(&sums, Sign::Plus);
        })?;
        Ok(Block::of(&rows))
    }

    /// The bytes of a block, remembered for the next pass.
    fn read(&mut self, unit: Unit, number: i64) -> Result<Option<Rc<[u8]>>, Error> {
        let bytes = rollup::bytes(self.connection, unit, number)?.map(Rc::from);
        let length = bytes.as_deref().map_or(0, <[u8]>::len);
        if self.held.saturating_add(length) <= BYTES_MAX {
            self.held = self.held.saturating_add(length);
            self.bytes.insert((unit, number), bytes.clone());
        }
        Ok(bytes)
    }

    /// Some hours of a day: `running` counts jobs that ran in the first of them and those that began later.
    fn hours(&mut self, day: i64, hours: &Range<i64>) -> Result<Rc<Block>, Error> {
        let place = (day, hours.start, hours.end);
        if let Some(known) = self.hours.get(&place) {
            return Ok(Rc::clone(known));
        }
        let mut found: BTreeMap<i64, Sums> = BTreeMap::new();
        let sql = "SELECT key, hours FROM rollup WHERE day = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([day])?;
        while let Some(row) = rows.next()? {
            let key = row.get(0)?;
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            each_hour(bytes, |hour, sums| {
                let hour = i64::from(hour);
                if !hours.contains(&hour) {
                    return;
                }
                let sums = sums.of_span(hour == hours.start);
                found.entry(key).or_default().add(&sums, Sign::Plus);
            })?;
        }
        let block = Rc::new(Block::of(&found));
        if self.hours.len() >= HOURS_MAX {
            self.hours.clear();
        }
        self.hours.insert(place, Rc::clone(&block));
        Ok(block)
    }
}

/// Bytes of blocks that are remembered at once.
const BYTES_MAX: usize = 32 << 20;
/// Parts of days that are remembered at once.
const HOURS_MAX: usize = 100;

/// Where the figures of keys are added up.
struct Slots<'k> {
    /// By the place of a key.
    of: Vec<usize>,
    /// The values of each slot; none for all the others.
    values: Vec<Option<&'k Vec<String>>>,
}

impl<'k> Slots<'k> {
    fn new(keys: &'k Keys, kept: Option<&BTreeSet<Vec<String>>>) -> Slots<'k> {
        let mut values = Vec::new();
        let places = keys.values.iter().map(|own| {
            let is_kept = kept.is_none_or(|kept| kept.contains(own));
            is_kept.then(|| {
                values.push(Some(own));
                values.len().saturating_sub(1)
            })
        });
        let places: Vec<Option<usize>> = places.collect();
        let others = values.len();
        values.push(None);
        let slot = |asking: &Asking| {
            places
                .get(asking.values)
                .copied()
                .flatten()
                .unwrap_or(others)
        };
        Slots {
            of: keys.all.iter().map(slot).collect(),
            values,
        }
    }
}

/// One bucket on its way.
struct Summing<'k> {
    keys: &'k Keys,
    slots: &'k Slots<'k>,
    of: Vec<Sums>,
    /// Whether a slot has anything.
    seen: Vec<bool>,
    /// Activity for each key; empty if no users are requested.
    ran: Vec<Ran>,
    /// Nothing of the bucket was read yet: jobs that run count, not only those that begin.
    is_first: bool,
}

impl<'k> Summing<'k> {
    fn new(keys: &'k Keys, slots: &'k Slots<'k>, users: bool) -> Summing<'k> {
        Summing {
            keys,
            slots,
            of: vec![Sums::default(); slots.values.len()],
            seen: vec![false; slots.values.len()],
            ran: vec![Ran::default(); if users { keys.all.len() } else { 0 }],
            is_first: true,
        }
    }

    /// Adds the hours of a bucket.
    fn span(
        &mut self,
        reader: &mut Reader<'_>,
        span: &Span,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Result<(), Error> {
        self.is_first = span.is_first;
        let connection = reader.connection;
        let range = (span.first, span.last);
        let cover = cover(range, |unit, number| is_stored(connection, unit, number))?;
        if !cover.begins && std::mem::take(&mut self.is_first) {
            self.running_at(reader, span.first)?;
        }
        for (sign, rows) in cover.parts {
            let (unit, numbers) = match rows {
                Rows::Months(months) => (Unit::Month, months),
                Rows::Days(days) => (Unit::Day, days),
                Rows::Hours(day, hours) => {
                    let counts_running = std::mem::take(&mut self.is_first);
                    let block = reader.hours(day, &hours)?;
                    self.add(&block, counts_running, sign);
                    continue;
                }
            };
            for number in numbers {
                let counts_running = std::mem::take(&mut self.is_first);
                let block = reader.block(unit, number, (self.keys, wanted))?;
                self.add(&block, counts_running, sign);
            }
        }
        Ok(())
    }

    /// Jobs that ran when an hour began: all that ran in it but those that began in it.
    fn running_at(&mut self, reader: &mut Reader<'_>, hour: i64) -> Result<(), Error> {
        let (day, hour) = day_of(hour);
        let block = reader.hours(day, &(hour..hour.saturating_add(1)))?;
        let rows = block.rows().into_iter().map(|(key, sums)| {
            let running = sums.get(Measure::Running);
            let before = running.saturating_sub(sums.get(Measure::Started));
            (key, Sums::default().with(Measure::Running, before))
        });
        self.add(&Block::of(&rows.collect()), true, Sign::Plus);
        Ok(())
    }

    /// Adds a block, or takes it away; with the jobs that ran, or only those that began.
    fn add(&mut self, block: &Block, counts_running: bool, sign: Sign) {
        let place = |key: &i64| self.keys.places.get(key).copied();
        let places: Vec<Option<usize>> = block.keys.iter().map(place).collect();
        let slot = |place: Option<usize>| self.slots.of.get(place?).copied();
        let slots: Vec<Option<usize>> = places.iter().copied().map(slot).collect();
        for slot in slots.iter().flatten() {
            if let Some(seen) = self.seen.get_mut(*slot) {
                *seen = true;
            }
        }
        let running = if counts_running {
            Measure::Running.place()
        } else {
            Measure::Started.place()
        };
        for (place, figures) in block.columns() {
            if place == running {
                self.column(Measure::Running.place(), (&slots, figures), sign);
                self.note(&places, figures, |ran| &mut ran.running, sign);
            }
            if place != Measure::Running.place() {
                self.column(place, (&slots, figures), sign);
            }
            if place == Measure::Wall.place() {
                self.note(&places, figures, |ran| &mut ran.wall, sign);
            }
        }
    }

    fn column(&mut self, place: usize, (slots, figures): (&[Option<usize>], &[i128]), sign: Sign) {
        for (slot, figure) in slots.iter().zip(figures) {
            let own = slot.and_then(|slot| self.of.get_mut(slot)?.0.get_mut(place));
            if let Some(own) = own {
                *own = sign.added(*own, *figure);
            }
        }
    }

    /// Notes whether jobs of keys ran; nothing if no users are requested.
    fn note(
        &mut self,
        places: &[Option<usize>],
        figures: &[i128],
        of: impl Fn(&mut Ran) -> &mut i128,
        sign: Sign,
    ) {
        if self.ran.is_empty() {
            return;
        }
        for (place, figure) in places.iter().zip(figures) {
            if let Some(ran) = place.and_then(|place| self.ran.get_mut(place)) {
                let own = of(ran);
                *own = sign.added(*own, *figure);
            }
        }
    }

    /// Totals by slot; with the active users, if requested.
    fn end(self) -> Vec<Option<super::Figures>> {
        let sums = self.of.into_iter().zip(self.seen);
        let mut all: Vec<Option<super::Figures>> = sums
            .map(|(sums, seen)| {
                seen.then(|| super::Figures {
                    sums,
                    ..super::Figures::default()
                })
            })
            .collect();
        let ran = self.keys.all.iter().zip(&self.slots.of).zip(&self.ran);
        for ((asking, slot), _) in ran.filter(|(_, ran)| **ran != Ran::default()) {
            let figures = all.get_mut(*slot).and_then(Option::as_mut);
            if let (Some(figures), Some(user)) = (figures, self.keys.users.get(asking.user))
                && !figures.users.contains(user)
            {
                figures.users.insert(user.clone());
            }
        }
        all
    }
}

/// An hour is a whole part of a day.
const _: () = assert!(DAY == HOUR * HOURS, "a day has whole hours");
