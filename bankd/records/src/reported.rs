//! Facts of a job beyond the vocabulary of `nami.md` 3.1: from documents, kept verbatim with the instance,
//! from declared usage attributes, and from collectors. Every record, charged or not, gets them here.

use bank_core::decimal::Decimal;
use bank_core::host;
use bank_core::usage::kept::{is_named, names};
use bankd_emit::{Record, State};

/// Hosts of one record at most.
const HOSTS_MAX: usize = 4096;

/// Names with their values; the first of a name counts.
pub(super) struct Reported<'a>(pub(super) Vec<(&'a str, &'a str)>);

impl<'a> Reported<'a> {
    /// The facts kept with an instance. A collector has selected the attributes already.
    pub(super) fn of(other: &'a [(String, String)], attributes: &'a [(String, String)]) -> Self {
        let pair = |(name, value): &'a (String, String)| (name.as_str(), value.as_str());
        let mut all = Self(other.iter().map(pair).collect());
        if !all.is_collected() {
            all.0.extend(attributes.iter().map(pair));
        }
        all
    }
}

impl Reported<'_> {
    /// The record with all of these facts. `memory` is the memory that rates count, in bytes: schedulers
    /// report a node, and collectors the whole job (`usage-records.md` 6.3, note 9).
    pub(super) fn added_to(&self, memory: Option<i64>, record: Record) -> Record {
        let memory_total = self.number(&names::MEMORY_TOTAL);
        Record {
            job_name: self.text(&names::JOB_NAME),
            submit_host: self.text(&names::SUBMIT_HOST),
            host_type: self.text(&names::HOST_TYPE),
            hosts: host::all(&self.text(&names::HOSTS).unwrap_or_default(), HOSTS_MAX),
            cpu_user: self.micros(&names::CPU_USER),
            cpu_system: self.micros(&names::CPU_SYSTEM),
            cpu_total: self.micros(&names::CPU_TOTAL).or(record.cpu_total),
            wall: self.micros(&names::WALL).or(record.wall),
            uid: self.number(&names::UID),
            gid: self.number(&names::GID),
            requested_processors: self.micros(&names::REQUESTED_PROCESSORS),
            requested_memory: self.number(&names::REQUESTED_MEMORY),
            // Totals of earlier versions are cut, and may be a byte less.
            memory_per_node: memory
                .filter(|memory| memory_total.is_none_or(|total| memory.abs_diff(total) > 1)),
            memory_total,
            source: self.text(&names::SOURCE),
            pi: self.text(&names::PI).filter(|_| self.is_collected()),
            ..record
        }
    }

    /// The end state of a use: by the word for its end, or by that for its state, or by the exit code of a collector
    /// where the word is none of a failure, as charge policies have it.
    pub(super) fn state(&self, word: &str, exit_code: Option<i64>, is_collected: bool) -> State {
        let end = self.text(&names::END_STATE).filter(|_| is_collected);
        match State::from_word(end.as_deref().unwrap_or(word)) {
            State::Completed if is_collected && exit_code.is_some_and(|code| code != 0) => {
                State::Failed
            }
            state => state,
        }
    }

    /// Whether a collector reported it.
    pub(super) fn is_collected(&self) -> bool {
        self.text(&names::SOURCE).is_some()
    }

    /// The value of the first of the names that exists.
    pub(super) fn text(&self, wanted: &[&str]) -> Option<String> {
        let by = |wanted: &&str| self.0.iter().find(|(name, _)| is_named(name, &[*wanted]));
        let (_, value) = wanted.iter().find_map(by)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// A whole number that is not negative.
    fn number(&self, wanted: &[&str]) -> Option<i64> {
        let number = self.text(wanted)?.parse().ok();
        number.filter(|number| *number >= 0)
    }

    /// A decimal that is not negative, in millionths: seconds as microseconds.
    fn micros(&self, wanted: &[&str]) -> Option<i64> {
        let number = self.text(wanted).and_then(|text| Decimal::parse(&text))?;
        let millionths = number.billionths() / 1000;
        i64::try_from(millionths).ok().filter(|number| *number >= 0)
    }
}
