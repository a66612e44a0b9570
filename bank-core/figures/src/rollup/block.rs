//! Blocks: the figures of all keys in a whole day or month, measure by measure, in few bytes.

use super::pack::{pull, push, stored};
use super::{MEASURES, Sums, month};
use std::collections::BTreeMap;

/// The time that a block is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A UTC day, counted from 1970.
    Day,
    /// A UTC month, counted from January 1970.
    Month,
}

/// Both, in the order in which they are built.
pub const UNITS: [Unit; 2] = [Unit::Day, Unit::Month];

impl Unit {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Day => "day",
            Unit::Month => "month",
        }
    }

    /// The days of one, the last exclusive.
    pub fn days(self, number: i64) -> (i64, i64) {
        match self {
            Unit::Day => (number, number.saturating_add(1)),
            Unit::Month => month::days(number),
        }
    }

    /// The one that a day is in.
    pub fn of_day(self, day: i64) -> i64 {
        match self {
            Unit::Day => day,
            Unit::Month => month::of_day(day),
        }
    }

    /// Its number in the store.
    pub fn code(self) -> i64 {
        match self {
            Unit::Day => 1,
            Unit::Month => 2,
        }
    }
}

/// A block as it is read: its keys in order, and by measure a figure for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The keys, in order.
    pub keys: Vec<i64>,
    columns: Vec<(usize, Vec<i128>)>,
}

impl Block {
    /// Of figures by key.
    pub fn of(rows: &BTreeMap<i64, Sums>) -> Block {
        let figures = |place: usize| {
            let figure = |sums: &Sums| sums.0.get(place).copied().unwrap_or(0);
            let all: Vec<i128> = rows.values().map(figure).collect();
            all.iter()
                .any(|figure| *figure != 0)
                .then_some((place, all))
        };
        Block {
            keys: rows.keys().copied().collect(),
            columns: (0..MEASURES).filter_map(figures).collect(),
        }
    }

    /// Each measure that has anything and was wanted, by its place in [`Sums`], with a figure for each key.
    pub fn columns(&self) -> impl Iterator<Item = (usize, &[i128])> {
        self.columns
            .iter()
            .map(|(place, figures)| (*place, figures.as_slice()))
    }

    /// The same by key.
    pub fn rows(&self) -> BTreeMap<i64, Sums> {
        let mut rows: Vec<(i64, Sums)> = self
            .keys
            .iter()
            .map(|key| (*key, Sums::default()))
            .collect();
        for (place, figures) in self.columns() {
            for ((_, sums), figure) in rows.iter_mut().zip(figures) {
                if let Some(own) = sums.0.get_mut(place) {
                    *own = *figure;
                }
            }
        }
        rows.into_iter().collect()
    }

    /// The number of keys, the keys in order as differences, and each measure that has anything: its place in
    /// [`Sums`], and a figure for each key. All but the place are zigzag varints.
    /// A figure that does not fit 64 bits is cut.
    pub fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        push(
            &mut bytes,
            i64::try_from(self.keys.len()).unwrap_or(i64::MAX),
        );
        let mut last = 0;
        for key in &self.keys {
            push(&mut bytes, key.saturating_sub(last));
            last = *key;
        }
        for (place, figures) in self.columns() {
            bytes.push(u8::try_from(place).unwrap_or(u8::MAX));
            for figure in figures {
                push(&mut bytes, stored(*figure));
            }
        }
        bytes
    }
}

/// The keys and the measures that are wanted of a block, out of the bytes that [`Block::packed`] makes; none out of
/// others.
pub fn unpacked(
    bytes: &[u8],
    keys: &dyn Fn(i64) -> bool,
    measures: &dyn Fn(usize) -> bool,
) -> Option<Block> {
    let mut rest = bytes.iter().copied();
    let count = usize::try_from(pull(&mut rest)?).ok()?;
    if count > bytes.len() {
        return None;
    }
    let mut block = Block::default();
    let mut is_kept = Vec::with_capacity(count);
    let mut last = 0_i64;
    for _ in 0..count {
        last = last.checked_add(pull(&mut rest)?)?;
        is_kept.push(keys(last));
        if is_kept.last() == Some(&true) {
            block.keys.push(last);
        }
    }
    if block.keys.is_empty() {
        return Some(block);
    }
    let mut next = 0;
    while let Some(place) = rest.next() {
        let place = usize::from(place);
        if place < next || place >= MEASURES {
            return None;
        }
        next = place.saturating_add(1);
        let is_wanted = measures(place);
        let mut figures = Vec::with_capacity(if is_wanted { block.keys.len() } else { 0 });
        for is_kept in &is_kept {
            if is_wanted && *is_kept {
                figures.push(i128::from(pull(&mut rest)?));
            } else {
                // The last byte of a figure is below 128.
                while rest.next()? >= 0x80 {}
            }
        }
        if is_wanted {
            block.columns.push((place, figures));
        }
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollup::Measure;

    #[test]
    fn blocks_read_back() {
        let sums = |core, running| {
            let sums = Sums::default().with(Measure::Core, core);
            sums.with(Measure::Running, running)
        };
        let rows = BTreeMap::from([
            (3, sums(1 << 40, 1)),
            (900, sums(-7, 0)),
            (901, sums(0, 300)),
        ]);
        let bytes = Block::of(&rows).packed();
        assert_eq!(unpacked(&bytes, &|_| true, &|_| true).unwrap().rows(), rows);
        let some = unpacked(&bytes, &|_| true, &|place| {
            place == Measure::Running.place()
        })
        .unwrap();
        let columns: Vec<(usize, &[i128])> = some.columns().collect();
        assert_eq!(columns, [(Measure::Running.place(), &[1, 0, 300][..])]);
        let one = unpacked(&bytes, &|key| key == 900, &|_| true).unwrap();
        assert_eq!(one.rows(), BTreeMap::from([(900, rows[&900])]));
        for length in 0..bytes.len() {
            // Cut short, it is no block or one with fewer measures, and never a panic.
            let _ = unpacked(&bytes[..length], &|_| true, &|_| true);
            let _ = unpacked(&bytes[..length], &|_| false, &|_| true);
            let _ = unpacked(&bytes[..length], &|_| true, &|_| false);
        }
        for bad in [
            &[][..],
            &[0xff, 0xff, 3],
            &[2, 2, 200, 0],
            &[2, 2, 1, 0, 0, 0],
        ] {
            assert_eq!(unpacked(bad, &|_| true, &|_| true), None, "{bad:?}");
        }
    }
}
