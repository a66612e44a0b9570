//! Shared parts of the writers of exports: a site's settings, and the result for a record.

use std::collections::BTreeMap;

use super::{Kind, Occasion, Record, text};

/// The facts of the bank and its settings in every export.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Site {
    /// The first 8 hex digits of the bank's UUID.
    pub bank: String,
    /// The bank's unit label.
    pub unit: String,
    /// Decimal places of the bank's amounts, 0 to 6.
    pub precision: u32,
    /// The name of the site; empty for none.
    pub name: String,
    /// `grid` or `local`.
    pub infrastructure: String,
    /// Client, computing element and batch system, such as `BANK-MOAB`.
    pub description: String,
    /// The benchmark of processors.
    pub benchmark: Option<Benchmark>,
    /// Whether processor time that nobody stated is wall time × processors, where a form demands it.
    pub full_cpu: bool,
    /// The names of projects as virtual organisations.
    pub vo: Vo,
}

/// The benchmark value of one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Benchmark {
    /// Its name, such as `HEPscore23`.
    pub name: String,
    /// Its value in billionths.
    pub value: i128,
}

/// The names of projects as virtual organisations (`usage-records.md` 6.3, note 1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vo {
    /// By project.
    pub map: BTreeMap<String, String>,
    /// For all others; `*` means the project.
    pub other: String,
}

impl Vo {
    /// The name of a project's.
    pub fn of(&self, project: &str) -> String {
        match self.map.get(project) {
            Some(name) => name.clone(),
            None => self.other.replace('*', project),
        }
    }
}

/// The result for a record in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// Its text.
    Text(String),
    /// The form cannot have it: why.
    Skipped(&'static str),
    /// It has no separate entry, such as an interim charge of an object that is written whole when it closes.
    Nothing,
}

impl Site {
    /// An amount of the bank as an exact decimal.
    pub fn amount(&self, minor: i64) -> String {
        text::decimal(minor.into(), self.precision)
    }

    /// Processor time of a record, if a form requires it: as stated, 0 if no time was used, or in full if the
    /// site's settings require it. Microseconds.
    pub(super) fn cpu(&self, record: &Record) -> Option<i128> {
        if let Some(cpu) = record.cpu() {
            return Some(cpu.into());
        }
        let wall = i128::from(record.wall?);
        match (wall, self.full_cpu) {
            (0, _) => Some(0),
            (_, true) => {
                let product = wall.checked_mul(record.usage.processors())?;
                Some(text::nearest(product, 1_000_000))
            }
            (_, false) => None,
        }
    }
}

/// Whether a record is one of an export: a closed instance that was charged, or a change after it.
pub fn is_exported(record: &Record) -> bool {
    !matches!(
        record.occasion,
        Occasion::Charge | Occasion::Close { charges: 0 }
    )
}

/// The result for a record that a form of finished jobs cannot have.
pub(super) fn unfit_for_jobs(record: &Record) -> Option<Written> {
    if !is_exported(record) {
        return Some(Written::Nothing);
    }
    if record.collected.as_ref().is_some_and(|c| c.is_withdrawn) {
        return Some(Written::Skipped(
            "its project, user or machine changed, or a charge has it now: the format cannot take back a job",
        ));
    }
    if record.kind == Kind::Reservation {
        return Some(Written::Skipped("a reservation: the format has jobs only"));
    }
    if matches!(record.occasion, Occasion::Adjustment { .. }) {
        return Some(Written::Skipped(
            "a change after the end: the format has none",
        ));
    }
    let reason = match (record.start(), record.end()) {
        (None, _) | (_, None) => "its start or end is unknown",
        (Some(start), Some(end)) if end < start => "it ended before it started",
        _ => return None,
    };
    Some(Written::Skipped(reason))
}

/// Whole seconds of microseconds, rounded half up.
pub(super) fn seconds(micros: i128) -> i128 {
    text::nearest(micros.max(0), 1_000_000)
}

/// Whole seconds since 1970, cut.
pub(super) fn epoch(micros: i64) -> i64 {
    micros.div_euclid(1_000_000)
}
