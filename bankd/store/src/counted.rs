//! The hours that a usage record adds to `bank usage`, so that the sum over all records is the same. They
//! are read from the figures that the command has just added to rollups.

use super::Error;
use super::sqlite::SqliteStore;
use bank_core::effects::{Effects, RecordEvent, UsageRow};
use bank_core::model::Instance;
use bank_core::time::MICROS;
use bank_core_figures::rollup::{Measure, Sign, Sums};

/// The usage that a record adds. Both figures are negative if it reverses usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Processors × wall time, in microseconds.
    pub core: i64,
    /// Wall time, in microseconds.
    pub wall: i64,
    /// It takes all back that records have of the use, or adds all of it for another project or user.
    pub is_whole: bool,
}

impl Counted {
    fn of(sums: &Sums) -> Counted {
        let figure = |measure| {
            let sum = sums.get(measure);
            i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
        };
        Counted {
            core: figure(Measure::Core),
            wall: figure(Measure::Wall),
            is_whole: false,
        }
    }
}

impl SqliteStore {
    /// The usage that each record of a command adds. Call it when the command is written, before
    /// the next one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn counted(&mut self, effects: &Effects) -> Result<Vec<Counted>, Error> {
        let mut found = Vec::with_capacity(effects.records.len());
        for (place, event) in effects.records.iter().enumerate() {
            found.push(match event {
                RecordEvent::Closed { instance, .. } => {
                    Counted::of(&self.whole_use(instance, &effects.usages)?)
                }
                _ => self.change(effects, place),
            });
        }
        Ok(found)
    }

    /// All that an instance used. Mostly the charge that closes it is its only one; where there are more,
    /// the sums of the instance do not show the hours, because each charge has a rate of its own.
    fn whole_use(&mut self, instance: &Instance, written: &[UsageRow]) -> Result<Sums, Error> {
        let id = instance.id.0;
        if let Some(after) = self.rollups.added(id).after {
            return Ok(after);
        }
        let is_only = |row: &&UsageRow| row.prev.is_none() && Some(row.id) == instance.last_usage;
        let only = written.iter().find(is_only);
        let is_plain = instance.facts.usage.counted.is_none();
        if let Some(row) = only.filter(|_| is_plain)
            && !self.rollups.is_finished(&self.connection, id)?
        {
            let wall = i128::from(row.charged.0).saturating_mul(MICROS.into());
            let core = row.processors.billionths().max(0).saturating_mul(wall);
            let core = core.checked_div(1_000_000_000).unwrap_or(0);
            return Ok(Sums::default()
                .with(Measure::Core, core)
                .with(Measure::Wall, wall));
        }
        self.rollups.use_of(&self.connection, id)
    }

    /// The usage that one of a command's changes after the close adds. If it moves the use to
    /// another project or user, its first record subtracts all and its last one adds all.
    fn change(&self, effects: &Effects, place: usize) -> Counted {
        let of = |event| changed(event).map(|instance| (instance.id, owner(instance)));
        let Some((id, own)) = effects.records.get(place).and_then(of) else {
            return Counted::default();
        };
        let all = (0..).zip(&effects.records);
        let all: Vec<(usize, (&str, &str))> = all
            .filter_map(|(n, event)| of(event).map(|found| (n, found)))
            .filter(|(_, (other, _))| *other == id)
            .map(|(n, (_, owner))| (n, owner))
            .collect();
        let added = self.rollups.added(id.0);
        let last = effects.instances.iter().rev().find(|i| i.instance.id == id);
        let now = last.map(|change| owner(&change.instance));
        let of_others = |(_, other): &&(usize, (&str, &str))| Some(*other) != now;
        let moved_from = all.iter().find(of_others);
        let moved_to = all.iter().rfind(|(_, other)| Some(*other) == now);
        let (Some((from, _)), Some((to, _)), Some(after)) = (moved_from, moved_to, added.after)
        else {
            let is_last = all.last().is_some_and(|(n, _)| *n == place);
            return if is_last {
                Counted::of(&added.more)
            } else {
                Counted::default()
            };
        };
        let is_now = Some(own) == now;
        let mut sums = Sums::default();
        if place == *to {
            sums = after;
        } else if place == *from {
            sums.add(&after, Sign::Minus);
            sums.add(&added.more, Sign::Plus);
        }
        Counted {
            is_whole: place == if is_now { *to } else { *from },
            ..Counted::of(&sums)
        }
    }
}

/// The instance of a change that counts by itself. Changes before the close count with the close,
/// except refunds, which use no time.
fn changed(event: &RecordEvent) -> Option<&Instance> {
    match event {
        RecordEvent::Charged {
            instance, usage, ..
        } => usage.late.then_some(instance),
        RecordEvent::Adjusted { instance, .. } => (!instance.is_open()).then_some(instance),
        RecordEvent::Closed { .. } => None,
    }
}

/// Project and user of the usage.
fn owner(instance: &Instance) -> (&str, &str) {
    (&instance.facts.project, &instance.facts.user)
}
