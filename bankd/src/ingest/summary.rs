//! What a run of a reader found, in the layout of `data/LAYOUT.md`.

use std::collections::{BTreeMap, HashMap};

use bank_api::v1::{ImportSummary, ImportTotals, Quantity};
use sha2::{Digest, Sha256};

use super::job::{Extra, Figure, Found, Job, Label, Record};
use super::number::Number;

/// Sums by name.
type Sums = BTreeMap<Label, Number>;

/// Counts and sums of a source, taken record by record.
#[derive(Debug, Default)]
pub struct Summary {
    records: u64,
    jobs: u64,
    skipped: BTreeMap<Label, u64>,
    malformed: Vec<Complaint>,
    first_us: Option<i64>,
    last_us: Option<i64>,
    totals: Sums,
    after: Sums,
    by: [BTreeMap<String, (u64, Sums)>; 5],
    seen: HashMap<[u8; 16], Box<[(Label, Number)]>>,
    extra: Vec<Extra>,
    has_overflown: bool,
}

/// Complaints that are kept for the reader of the summary; all of them are counted.
const COMPLAINTS_MAX: usize = 100;

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Which.
    pub line: u64,
    /// Why.
    pub why: String,
}

impl Summary {
    /// Takes a record in.
    pub fn take(&mut self, record: &Record) {
        self.records = self.records.saturating_add(record.counts);
        match &record.found {
            Found::Jobs(jobs) => jobs.iter().for_each(|job| self.job(job)),
            Found::Skipped(label) => self.skip(label.clone(), record.counts),
            Found::Malformed(why) => {
                self.skip("malformed".into(), record.counts);
                if self.malformed.len() < COMPLAINTS_MAX {
                    let (line, why) = (record.line, why.clone());
                    self.malformed.push(Complaint { line, why });
                }
            }
        }
    }

    /// Takes in what a reader says in the end.
    pub fn close(&mut self, extra: Vec<Extra>) {
        self.extra.extend(extra);
    }

    /// The first lines that could not be read.
    pub fn complaints(&self) -> &[Complaint] {
        &self.malformed
    }

    /// How many could not be read.
    pub fn malformed(&self) -> u64 {
        self.skipped.get("malformed").copied().unwrap_or_default()
    }

    /// Whether a sum left the range of exact numbers: then the totals mean nothing.
    pub fn has_overflown(&self) -> bool {
        self.has_overflown
    }

    fn skip(&mut self, label: Label, counts: u64) {
        let count = self.skipped.entry(label).or_default();
        *count = count.saturating_add(counts);
    }

    fn job(&mut self, job: &Job) {
        self.jobs = self.jobs.saturating_add(1);
        self.first_us = Some(
            self.first_us
                .map_or(job.start_us, |at| at.min(job.start_us)),
        );
        self.last_us = Some(self.last_us.map_or(job.end_us, |at| at.max(job.end_us)));
        let mut fits = add(&mut self.totals, &job.quantities);
        for (sums, value) in self.by.iter_mut().zip(dimensions(job)) {
            let (jobs, sums) = sums
                .entry(value.unwrap_or_default().to_owned())
                .or_default();
            *jobs = jobs.saturating_add(1);
            fits &= add(sums, &job.quantities);
        }
        let before = self
            .seen
            .insert(identity(job), job.quantities.clone().into_boxed_slice());
        if let Some(before) = before {
            fits &= take_away(&mut self.after, &before);
        }
        fits &= add(&mut self.after, &job.quantities);
        self.has_overflown |= !fits;
    }

    /// As the API and `--json` show it.
    pub fn shown(&self) -> ImportSummary {
        let identities = u64::try_from(self.seen.len()).unwrap_or(u64::MAX);
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
            totals: shown(&self.totals),
            totals_after_identity: shown(&self.after),
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

/// Id and start, in few bytes: two jobs of one source with equal ones are one (`collectors.md` 0.1).
fn identity(job: &Job) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(job.start_us.to_be_bytes());
    hash.update(job.id.as_bytes());
    let digest = hash.finalize();
    let mut short = [0; 16];
    for (to, from) in short.iter_mut().zip(digest) {
        *to = from;
    }
    short
}

fn add(sums: &mut Sums, quantities: &[(Label, Number)]) -> bool {
    quantities.iter().all(|(name, value)| {
        let sum = sums.entry(name.clone()).or_default();
        let grown = sum.plus(*value);
        *sum = grown.unwrap_or(*sum);
        grown.is_some()
    })
}

fn take_away(sums: &mut Sums, quantities: &[(Label, Number)]) -> bool {
    quantities.iter().all(|(name, value)| {
        let sum = sums.entry(name.clone()).or_default();
        let fallen = sum.minus(*value);
        *sum = fallen.unwrap_or(*sum);
        fallen.is_some()
    })
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

fn by(values: &BTreeMap<String, (u64, Sums)>) -> BTreeMap<String, ImportTotals> {
    let one = |(jobs, sums): &(u64, Sums)| ImportTotals {
        jobs: *jobs,
        quantities: shown(sums),
    };
    values
        .iter()
        .map(|(value, sums)| (value.clone(), one(sums)))
        .collect()
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
