//! Result of a reader for one record of its input (`collectors.md` 0.1, 0.2).

use std::borrow::Cow;
use std::collections::BTreeMap;

use bank_core::command::NO_CORES;
use bank_core::usage::kept::END_STATE;

use super::number::Number;

/// Label of records that are not charged, such as `never_started` (`data/LAYOUT.md`).
pub type Label = Cow<'static, str>;

/// The largest part of the input that is kept with a record, in bytes.
pub const RAW_MAX: usize = 64 << 10;

/// One record of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its first line, or its number in an input without lines; counted from 1.
    pub line: u64,
    /// Its raw text, at most [`RAW_MAX`] bytes of it.
    pub raw: Vec<u8>,
    /// Number of input records: 1, except for samples that make one job.
    pub counts: u64,
    /// Its contents.
    pub found: Found,
}

/// Contents of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Finished usage: one job, or several if the record is an array.
    Jobs(Vec<Job>),
    /// Nothing to charge.
    Skipped(Label),
    /// It could not be read: why, in words for whoever mends it.
    Malformed(String),
    /// Counts of a snapshot beside the jobs from its sightings: no record of the input.
    Counts(Counts),
}

#[cfg(test)]
impl Found {
    /// The first job by its word; of another record the label, the error behind `!`, or the counts.
    pub(crate) fn shown(&self, word: impl FnOnce(&Job) -> String) -> String {
        match self {
            Self::Jobs(jobs) => word(&jobs[0]),
            Self::Skipped(label) => label.to_string(),
            Self::Malformed(why) => format!("!{why}"),
            Self::Counts(counts) => format!("{counts:?}"),
        }
    }
}

/// How many jobs ran and waited when a snapshot was taken: all that there were, so that whoever is not in
/// it had none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// When it was taken, microseconds since 1970 UTC.
    pub at_us: i64,
    /// Counts by owner, with the source's names.
    pub groups: Vec<Counted>,
}

/// Jobs of the same names in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The name that selects the project.
    pub account: Option<String>,
    /// The user of the jobs.
    pub user: Option<String>,
    /// Class, queue, partition.
    pub queue: Option<String>,
    /// How many ran.
    pub running: u64,
    /// How many waited for a place, or were being started.
    pub queued: u64,
}

impl Found {
    /// Of one job, or the reason why nothing is charged for it, or what is wrong with the record.
    pub(crate) fn of(judged: Result<Result<Job, Label>, String>) -> Self {
        match judged {
            Ok(Ok(job)) => Self::Jobs(vec![job]),
            Ok(Err(label)) => Self::Skipped(label),
            Err(why) => Self::Malformed(why),
        }
    }
}

impl Record {
    /// A record of one line. A count or a name that the bank cannot keep makes it unreadable.
    pub fn new(line: u64, raw: &[u8], mut found: Found) -> Self {
        let beyond = match &mut found {
            Found::Jobs(jobs) => jobs
                .iter_mut()
                .find_map(|job| job.bound().err().or_else(|| job.beyond())),
            _ => None,
        };
        Self {
            line,
            raw: raw.get(..RAW_MAX).unwrap_or(raw).to_vec(),
            counts: 1,
            found: beyond.map_or(found, Found::Malformed),
        }
    }

    /// The record without the jobs that ended before a time, in microseconds since 1970, and
    /// without the counts of an earlier snapshot.
    #[must_use]
    pub fn since(mut self, since_us: Option<i64>) -> Self {
        let is_before = |counts: &Counts| since_us.is_some_and(|since| counts.at_us < since);
        if matches!(&self.found, Found::Counts(counts) if is_before(counts)) {
            self.found = Found::Skipped("before_since".into());
        }
        if let (Found::Jobs(jobs), Some(since_us)) = (&mut self.found, since_us) {
            jobs.retain(|job| job.end_us >= since_us);
            if jobs.is_empty() {
                self.found = Found::Skipped("before_since".into());
            }
        }
        self
    }
}

/// One finished use (`collectors.md` 0.1). Values that the format lacks are `None` or empty. Times
/// are microseconds since 1970 UTC.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The id as the source prints it; never a number, since those wrap.
    pub id: String,
    /// When it began: with the id and the source's name its identity.
    pub start_us: i64,
    /// When it ended; never before the start.
    pub end_us: i64,
    /// When it was submitted.
    pub submit_us: Option<i64>,
    /// Charged seconds: end − start by default.
    pub wall: Number,
    /// The user.
    pub user: Option<String>,
    /// The name that selects the paying project.
    pub account: Option<String>,
    /// The group of the user.
    pub group: Option<String>,
    /// Class, queue, partition.
    pub queue: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// The cluster as the source names it.
    pub cluster: Option<String>,
    /// The source's own word for how it ended.
    pub state_word: Option<String>,
    /// Meaning of the state.
    pub state: State,
    /// The exit code, with a signal as the source prints it.
    pub exit: Option<String>,
    /// The name of the job.
    pub name: Option<String>,
    /// Its hosts, unexpanded.
    pub hosts: Option<String>,
    /// Processors; a fraction where containers share one, or where it is a mean over the run time.
    pub procs: Option<Number>,
    /// Nodes.
    pub nodes: Option<Number>,
    /// GPUs.
    pub gpus: Option<Number>,
    /// Further resources by the source's names, such as `billing`; a rate may name them.
    pub resources: Vec<(String, Number)>,
    /// Which kind of GPU.
    pub gpu_type: Option<String>,
    /// Memory that it had, in bytes.
    pub memory_bytes: Option<Number>,
    /// Disk that it had, in bytes.
    pub disk_bytes: Option<Number>,
    /// User and system seconds of its processors.
    pub cpu: Option<Number>,
    /// Seconds that it asked for.
    pub limit_s: Option<i64>,
    /// The quantities of `data/LAYOUT.md` that the format states: `wall_s`, `core_s`, …
    pub quantities: Vec<(Label, Number)>,
    /// Flags: `repaired`, `sampled`, `mem-decoded`, …
    pub flags: Vec<&'static str>,
    /// Further values by the names of [`bank_core::usage::kept`]: numbers of user and group, parts
    /// of the processor time, requested resources.
    pub stated: Vec<(&'static str, String)>,
    /// Attributes by the source's names: annotations, departments.
    pub attributes: BTreeMap<String, String>,
}

impl Job {
    /// Adds a quantity that the format states.
    pub fn add(&mut self, name: impl Into<Label>, value: Number) {
        self.quantities.push((name.into(), value));
    }

    /// The first count that is beyond the range of the bank, alone or times the run time: in words for whoever
    /// mends the record.
    fn beyond(&self) -> Option<String> {
        let counts = [
            ("processors", self.procs),
            ("nodes", self.nodes),
            ("GPUs", self.gpus),
        ];
        let fits = |count: Number| {
            let used = count.times(self.wall).and_then(Number::as_microseconds);
            used.is_some() && count.as_microseconds().is_some()
        };
        let mut beyond = counts.into_iter().filter_map(|(name, count)| {
            let count = count.filter(|count| !fits(*count))?;
            Some(format!("{name}: {count} is beyond the supported range"))
        });
        beyond.next()
    }

    /// Marks a job without processors, of a source that states all that its jobs have. Any other job without a number
    /// of them has one. The bank keeps nine decimals.
    pub(crate) fn mark_without_cores(&mut self) {
        if self.procs.is_some_and(|procs| procs.cut(9).is_zero()) {
            self.flags.push(NO_CORES);
        }
    }

    /// Keeps how the job ended beside the source's word for its state, which means nothing or another state.
    pub(crate) fn keep_end(&mut self) {
        let word = match self.state {
            State::Failed => "Failed",
            State::Timeout => "Timeout",
            State::Aborted => "Cancelled",
            State::Preempted => "Preempted",
            State::Running => return,
            State::Completed | State::Unknown => "Completed",
        };
        self.stated.push((END_STATE, word.to_owned()));
    }

    /// Adds a quantity, where it is stated.
    pub fn add_if(&mut self, name: &'static str, value: Option<Number>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}

/// How a use ended (`usage-records.md` 6.1, 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It ran to its end.
    Completed,
    /// It ended with an error, or its node did.
    Failed,
    /// It was stopped at its limit.
    Timeout,
    /// Removed by a person.
    Aborted,
    /// Another job took its place.
    Preempted,
    /// Still running; this is the usage seen so far.
    Running,
    /// Unknown.
    #[default]
    Unknown,
}

/// A figure of the whole source that no job has, such as `slave_cpu_s`.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Its key in the summary.
    pub key: &'static str,
    /// A number, or an object of them.
    pub value: Figure,
}

/// A number, or numbers by name, to any depth.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A number.
    Number(Number),
    /// Figures by name.
    Map(BTreeMap<String, Figure>),
}
