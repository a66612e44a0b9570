//! One bucket of a report from rollups on its way: the figures of its keys, added up in slots.

use super::super::super::Error;
use super::super::super::rollup::{Unit, is_stored};
use super::keys::{Asking, Keys};
use super::reader::Reader;
use bank_core_figures::rollup::block::Block;
use bank_core_figures::rollup::cover::{Rows, cover};
use bank_core_figures::rollup::{Measure, Sign, Sums, day_of};
use std::collections::BTreeSet;

/// The full hours of a bucket.
pub(super) struct Span {
    pub(super) bucket: usize,
    pub(super) first: i64,
    /// Exclusive.
    pub(super) last: i64,
    /// The bucket begins with them: jobs that run count, not only those that begin.
    pub(super) is_first: bool,
}

/// Indicators that jobs ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) running: i128,
    pub(super) wall: i128,
}

/// Where the figures of keys are added up.
pub(super) struct Slots<'k> {
    /// By the place of a key.
    of: Vec<usize>,
    /// The values of each slot; none for all the others.
    pub(super) values: Vec<Option<&'k Vec<String>>>,
}

impl<'k> Slots<'k> {
    pub(super) fn new(keys: &'k Keys, kept: Option<&BTreeSet<Vec<String>>>) -> Slots<'k> {
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
pub(super) struct Summing<'k> {
    keys: &'k Keys,
    slots: &'k Slots<'k>,
    pub(super) of: Vec<Sums>,
    /// Whether a slot has anything.
    seen: Vec<bool>,
    /// Activity for each key; empty if no users are requested.
    ran: Vec<Ran>,
    /// Nothing of the bucket was read yet: jobs that run count, not only those that begin.
    is_first: bool,
}

impl<'k> Summing<'k> {
    pub(super) fn new(keys: &'k Keys, slots: &'k Slots<'k>, users: bool) -> Summing<'k> {
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
    pub(super) fn span(
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
    pub(super) fn end(self) -> Vec<Option<super::Figures>> {
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
