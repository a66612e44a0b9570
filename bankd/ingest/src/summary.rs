//! Result of a reader's run, in the layout of `data/LAYOUT.md`.

use std::collections::BTreeMap;
use std::io;

use bank_api::v1::{ImportSummary, ImportTotals, Quantity};

use super::days::{self, Days};
use super::identities::{Distinct, Identities};
use super::job::{Extra, Figure, Found, Job, Label, Record};
use super::kubernetes::NO_CPU_LIMIT;
use super::number::Number;
use super::tally::{Dimension, Names, Sums, Tally};

/// Counts and sums of a source, taken record by record.
#[derive(Debug, Default)]
pub struct Summary {
    records: u64,
    jobs: u64,
    without_limit: u64,
    skipped: BTreeMap<Label, u64>,
    malformed: Vec<Complaint>,
    first_us: Option<i64>,
    last_us: Option<i64>,
    names: Names,
    totals: Tally,
    by: [Dimension; 5],
    seen: Identities,
    after: Distinct,
    totals_after: Tally,
    extra: Vec<Extra>,
    days: Option<Days>,
    /// The file that is read.
    file: String,
    has_overflown: bool,
}

/// Complaints that are kept for the reader of the summary; all of them are counted.
const COMPLAINTS_MAX: usize = 100;

/// Maximum number of distinct labels: `event_X` and `object_X` come from the input.
const LABELS_MAX: usize = 1_000;

/// The longest of them, in bytes.
const LABEL_MAX: usize = 64;

/// Label of the rest.
const OTHER: &str = "other";

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The file.
    pub file: String,
    /// Which line of it, or which record where it has no lines.
    pub line: u64,
    /// Why.
    pub why: String,
}

impl Summary {
    /// One that also sums by UTC day.
    pub fn by_day() -> Self {
        Self {
            days: Some(Days::default()),
            ..Self::default()
        }
    }

    /// Sets the file of the following records.
    pub fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// Takes a record in.
    ///
    /// # Errors
    /// If the temporary file of identities cannot be written.
    pub fn take(&mut self, record: &Record) -> io::Result<()> {
        self.records = self.records.saturating_add(record.counts);
        match &record.found {
            Found::Jobs(jobs) => {
                for job in jobs {
                    self.job(job)?;
                }
            }
            // Of the input it is nothing: its sightings are.
            Found::Counts(_) => {}
            Found::Skipped(_) if record.counts == 0 => {}
            Found::Skipped(label) => self.skip(label, record.counts),
            Found::Malformed(why) => {
                self.skip(&"malformed".into(), record.counts);
                if self.malformed.len() < COMPLAINTS_MAX {
                    let (file, line) = (self.file.clone(), record.line);
                    let why = why.clone();
                    self.malformed.push(Complaint { file, line, why });
                }
            }
        }
        Ok(())
    }

    /// Adds the final figures of a reader, and finds repeated jobs.
    ///
    /// # Errors
    /// If the temporary file of identities cannot be read.
    pub fn close(&mut self, extra: Vec<Extra>) -> io::Result<()> {
        self.extra.extend(extra);
        if let Some(days) = &self.days {
            // OpenShift's sample figures are more precise than those of its jobs.
            self.extra.retain(|extra| extra.key != "by_day");
            let value = days.figure();
            self.extra.push(Extra {
                key: "by_day",
                value,
            });
        }
        self.after = self.seen.finish()?;
        match self.totals.without(&self.after.replaced) {
            Some(left) => self.totals_after = left,
            None => self.has_overflown = true,
        }
        Ok(())
    }

    /// Repeated jobs with equal numbers: replaced ones without a change.
    pub fn duplicates(&self) -> u64 {
        self.after.duplicates
    }

    /// The first lines that could not be read.
    pub fn complaints(&self) -> &[Complaint] {
        &self.malformed
    }

    /// Records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Jobs that the sums by day leave out: they last longer than a century.
    pub fn left_out(&self) -> u64 {
        self.days.as_ref().map_or(0, Days::left_out)
    }

    /// Pods with a container that has neither a limit nor a request of processors.
    pub fn without_limit(&self) -> u64 {
        self.without_limit
    }

    /// From the first start to the last end: the first day, and the day behind the last one.
    pub fn period(&self) -> Option<(String, String)> {
        let (first, last) = (self.first_us?, self.last_us?.saturating_sub(1));
        let first = days::day(first);
        let behind = days::day(last).max(first).saturating_add(1);
        Some((days::date(first), days::date(behind)))
    }

    /// How many could not be read.
    pub fn malformed(&self) -> u64 {
        self.skipped.get("malformed").copied().unwrap_or_default()
    }

    /// Whether a sum left the range of exact numbers: then the totals mean nothing.
    pub fn has_overflown(&self) -> bool {
        self.has_overflown || self.after.has_overflown
    }

    fn skip(&mut self, label: &Label, counts: u64) {
        if label.len() > LABEL_MAX {
            return self.skip(&OTHER.into(), counts);
        }
        if let Some(count) = self.skipped.get_mut(label) {
            *count = count.saturating_add(counts);
        } else if self.skipped.len() < LABELS_MAX {
            self.skipped.insert(label.clone(), counts);
        } else {
            let count = self.skipped.entry(OTHER.into()).or_default();
            *count = count.saturating_add(counts);
        }
    }

    fn job(&mut self, job: &Job) -> io::Result<()> {
        self.jobs = self.jobs.saturating_add(1);
        let is_without_limit = job.flags.contains(&NO_CPU_LIMIT);
        self.without_limit = self
            .without_limit
            .saturating_add(u64::from(is_without_limit));
        self.first_us = Some(
            self.first_us
                .map_or(job.start_us, |at| at.min(job.start_us)),
        );
        self.last_us = Some(self.last_us.map_or(job.end_us, |at| at.max(job.end_us)));
        let places = self.names.places(job);
        let mut fits = self.totals.add_all(places, job);
        for (dimension, value) in self.by.iter_mut().zip(dimensions(job)) {
            fits &= dimension.add(value.unwrap_or_default(), places, job);
        }
        self.has_overflown |= !fits;
        if let Some(days) = &mut self.days {
            days.add(job);
        }
        self.seen.add(places, job)
    }

    /// As the API and `--json` show it.
    pub fn shown(&self) -> ImportSummary {
        let identities = self.after.identities;
        let by = |dimension| by(dimension, &self.names);
        let [user, account, group, queue, state] = &self.by;
        let seconds = |at: Option<i64>| at.map(|us| quantity(Number::seconds(us)));
        ImportSummary {
            records: self.records,
            jobs: self.jobs,
            identities,
            replaced: self.jobs.saturating_sub(identities),
            skipped: self
                .skipped
                .iter()
                .map(|(label, count)| (label.to_string(), *count))
                .collect(),
            first_start: seconds(self.first_us),
            last_end: seconds(self.last_us),
            totals: shown(&self.totals.sums(&self.names)),
            totals_after_identity: shown(&self.totals_after.sums(&self.names)),
            by_user: by(user),
            by_account: by(account),
            by_group: by(group),
            by_queue: by(queue),
            by_state: by(state),
            extra: self
                .extra
                .iter()
                .map(|extra| (extra.key.to_owned(), figure(&extra.value)))
                .collect(),
        }
    }
}

/// User, account, group, queue and state, in the order of the summary.
fn dimensions(job: &Job) -> [Option<&str>; 5] {
    [
        job.user.as_deref(),
        job.account.as_deref(),
        job.group.as_deref(),
        job.queue.as_deref(),
        job.state_word.as_deref(),
    ]
}

fn quantity(number: Number) -> Quantity {
    match number.as_whole() {
        Some(whole) => Quantity::Whole(whole),
        None => Quantity::Decimal(number.to_string()),
    }
}

fn shown(sums: &Sums) -> BTreeMap<String, Quantity> {
    sums.iter()
        .map(|(name, value)| (name.to_string(), quantity(*value)))
        .collect()
}

fn by(dimension: &Dimension, names: &Names) -> BTreeMap<String, ImportTotals> {
    let each = dimension.each().map(|(value, jobs, tally)| {
        let quantities = shown(&tally.sums(names));
        (value.to_owned(), ImportTotals { jobs, quantities })
    });
    each.collect()
}

fn figure(value: &Figure) -> bank_api::v1::ImportFigure {
    match value {
        Figure::Number(number) => bank_api::v1::ImportFigure::Quantity(quantity(*number)),
        Figure::Map(map) => bank_api::v1::ImportFigure::Map(
            map.iter()
                .map(|(name, value)| (name.clone(), figure(value)))
                .collect(),
        ),
    }
}
