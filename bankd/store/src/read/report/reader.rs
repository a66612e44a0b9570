//! Blocks and hours of rollups, each read once for a report.

use super::super::super::Error;
use super::super::super::rollup::{self, Unit, each_day, each_hour};
use super::keys::Keys;
use bank_core_figures::rollup::block::Block;
use bank_core_figures::rollup::{Sign, Sums};
use foldhash::{HashMap, HashMapExt as _};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Reads blocks and rows, each part of a day only once.
pub(super) struct Reader<'c> {
    pub(super) connection: &'c Connection,
    /// Blocks, which each pass needs, and how many bytes these are.
    bytes: HashMap<(Unit, i64), Option<Rc<[u8]>>>,
    held: usize,
    /// Hours of days, which the buckets before and behind them need.
    hours: HashMap<(i64, i64, i64), Rc<Block>>,
}

impl<'c> Reader<'c> {
    pub(super) fn new(connection: &'c Connection) -> Reader<'c> {
        Reader {
            connection,
            bytes: HashMap::new(),
            held: 0,
            hours: HashMap::new(),
        }
    }

    /// The block of a day or a month; made of its rows where there is none.
    pub(super) fn block(
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
    pub(super) fn hours(&mut self, day: i64, hours: &Range<i64>) -> Result<Rc<Block>, Error> {
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
