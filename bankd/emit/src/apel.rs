//! Messages of APEL as text (`usage-records.md` 3): jobs one by one, normalised sums of months, and how
//! many jobs there were. A value can neither end a record nor leave ASCII: what would is written `%XX`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Datelike as _, Utc};

use super::export::{Benchmark, Site, Written, epoch, seconds, unfit_for_jobs};
use super::{Record, State, text};

/// The head of a message of jobs.
pub const JOBS: &str = "APEL-individual-job-message: v0.3\n";
/// The head of a message of sums.
pub const SUMMARIES: &str = "APEL-normalised-summary-message: v0.4\n";
/// The head of a message of counts.
pub const SYNC: &str = "APEL-sync-message: v0.1\n";
/// Records in one message at most.
pub const RECORDS_MAX: usize = 1000;

/// Behind this from now APEL refuses the whole message: two days, in microseconds.
const AHEAD: i64 = 2 * 86_400 * 1_000_000;
/// Bytes of a value at most; of a queue, of what describes the infrastructure, of its type.
const VALUE_MAX: usize = 255;
const QUEUE_MAX: usize = 100;
const TYPE_MAX: usize = 20;

/// A job in APEL's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Job {
    submit_host: String,
    vo: String,
    start: i64,
    end: i64,
    wall: i128,
    cpu: i128,
    processors: i128,
    nodes: Option<i64>,
}

/// The job of a record; `now` in microseconds.
fn job(record: &Record, site: &Site, now: i64) -> Result<Job, Written> {
    if let Some(unfit) = unfit_for_jobs(record) {
        return Err(unfit);
    }
    let skipped = |why| Err(Written::Skipped(why));
    if matches!(
        record.state,
        State::Running | State::Suspended | State::Held | State::Queued
    ) {
        return skipped("it has not ended");
    }
    let (Some(start), Some(end)) = (record.start(), record.end()) else {
        return skipped("its start or end is unknown");
    };
    if start < 0 || end > now.saturating_add(AHEAD) {
        return skipped("APEL does not accept its times");
    }
    let Some(wall) = record.wall else {
        return skipped("its wall time is unknown");
    };
    let Some(cpu) = site.cpu(record) else {
        return skipped("its processor time is unknown (export.assume_full_cpu)");
    };
    // Demanded by EGI; of local jobs it is the batch system's own host.
    let host = record
        .submit_host
        .as_deref()
        .filter(|host| !host.is_empty());
    Ok(Job {
        submit_host: host.unwrap_or(&record.machine).to_owned(),
        vo: site.vo.of(record.project.as_deref().unwrap_or_default()),
        start: epoch(start),
        end: epoch(end),
        wall: wall.into(),
        cpu,
        processors: text::ceiling(record.usage.processors()),
        nodes: record.nodes.filter(|nodes| *nodes > 0),
    })
}

/// The record of a job in a message of jobs.
pub fn render(record: &Record, site: &Site, now: i64) -> Written {
    let job = match job(record, site, now) {
        Ok(job) => job,
        Err(instead) => return instead,
    };
    let mut message = Message::default();
    message.say("Site", &site.name, VALUE_MAX);
    message.say("SubmitHost", &job.submit_host, VALUE_MAX);
    message.say("MachineName", &record.machine, VALUE_MAX);
    message.say(
        "Queue",
        record.class.as_deref().unwrap_or_default(),
        QUEUE_MAX,
    );
    let id = record.object_id.as_str();
    if encoded(id).len() > VALUE_MAX || id.is_empty() {
        return Written::Skipped("APEL does not accept its id");
    }
    message.say("LocalJobId", id, VALUE_MAX);
    let user = record.user.as_deref().unwrap_or_default();
    message.say("LocalUserId", user, VALUE_MAX);
    message.say("VO", &job.vo, VALUE_MAX);
    message.count("WallDuration", seconds(job.wall));
    message.count("CpuDuration", seconds(job.cpu));
    if job.processors > 0 {
        message.count("Processors", job.processors);
    }
    if let Some(nodes) = job.nodes {
        message.count("NodeCount", nodes.into());
    }
    message.count("StartTime", job.start.into());
    message.count("EndTime", job.end.into());
    message.say("InfrastructureDescription", &site.description, QUEUE_MAX);
    message.say("InfrastructureType", &site.infrastructure, TYPE_MAX);
    if let Some(bytes) = record.memory().filter(|bytes| *bytes > 0) {
        message.count("MemoryReal", text::nearest(bytes.into(), 1024));
    }
    if let Some(benchmark) = &site.benchmark {
        message.say("ServiceLevelType", &benchmark.name, VALUE_MAX);
        message.raw("ServiceLevel", &text::decimal(benchmark.value, 9));
    }
    Written::Text(message.end())
}

/// The key of a sum of jobs: month, virtual organisation and submitting host as they are written, nodes, processors.
type Group = ((i32, u32), String, String, i64, i128);

/// Sums over jobs by month.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    groups: BTreeMap<Group, Sum>,
}

#[derive(Debug, Clone, Default)]
struct Sum {
    first: i64,
    last: i64,
    wall: i128,
    cpu: i128,
    jobs: i64,
}

impl Sums {
    /// Groups at most; there are as many records as groups.
    pub const GROUPS_MAX: usize = 100_000;

    /// Adds the job of a record.
    ///
    /// # Errors
    /// The result for a record that is no job.
    pub fn add(&mut self, record: &Record, site: &Site, now: i64) -> Result<(), Written> {
        let job = job(record, site, now)?;
        let month = DateTime::<Utc>::from_timestamp(job.end, 0);
        let Some(month) = month.map(|at| (at.year(), at.month())) else {
            return Err(Written::Skipped("its times are beyond the calendar"));
        };
        if site.benchmark.is_none() {
            return Err(Written::Skipped("no benchmark is configured"));
        }
        // APEL replaces sums of equal names: a name that is omitted is none.
        let group = (
            month,
            fitting(&job.vo, VALUE_MAX),
            fitting(&job.submit_host, VALUE_MAX),
            job.nodes.unwrap_or(0),
            job.processors,
        );
        let sum = self.groups.entry(group).or_insert_with(|| Sum {
            first: job.end,
            last: job.end,
            ..Sum::default()
        });
        sum.first = sum.first.min(job.end);
        sum.last = sum.last.max(job.end);
        sum.wall = sum.wall.saturating_add(job.wall);
        sum.cpu = sum.cpu.saturating_add(job.cpu);
        sum.jobs = sum.jobs.saturating_add(1);
        Ok(())
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The records of a message of sums, each by itself.
    pub fn summaries(&self, site: &Site) -> Vec<String> {
        let Some(benchmark) = &site.benchmark else {
            return Vec::new();
        };
        let each = self.groups.iter();
        each.map(|(group, sum)| summary(group, sum, site, benchmark))
            .collect()
    }

    /// The records of a message of counts, each by itself.
    pub fn counts(&self, site: &Site) -> Vec<String> {
        let mut counts: BTreeMap<((i32, u32), &str), i64> = BTreeMap::new();
        for ((month, _, host, ..), sum) in &self.groups {
            let count = counts.entry((*month, host)).or_default();
            *count = count.saturating_add(sum.jobs);
        }
        let each = counts.into_iter().map(|(((year, month), host), jobs)| {
            let mut message = Message::default();
            message.say("Site", &site.name, VALUE_MAX);
            message.written("SubmitHost", host);
            message.count("NumberOfJobs", jobs.into());
            message.count("Month", month.into());
            message.count("Year", year.into());
            message.end()
        });
        each.collect()
    }
}

fn summary(group: &Group, sum: &Sum, site: &Site, benchmark: &Benchmark) -> String {
    let ((year, month), vo, host, nodes, processors) = group;
    let mut message = Message::default();
    message.say("Site", &site.name, VALUE_MAX);
    message.count("Month", (*month).into());
    message.count("Year", (*year).into());
    message.written("VO", vo);
    message.written("SubmitHost", host);
    message.say("Infrastructure", &site.infrastructure, TYPE_MAX);
    if *nodes > 0 {
        message.count("NodeCount", (*nodes).into());
    }
    if *processors > 0 {
        message.count("Processors", *processors);
    }
    message.count("EarliestEndTime", sum.first.into());
    message.count("LatestEndTime", sum.last.into());
    message.count("WallDuration", seconds(sum.wall));
    message.count("CpuDuration", seconds(sum.cpu));
    // Exact seconds × value, rounded once for each printed sum (usage-records.md 6.3, units).
    let normalised = |micros: i128| {
        let product = micros.saturating_mul(benchmark.value);
        let rounded = text::nearest(product.max(0), 1_000_000_000_000_000);
        format!("{{{}: {rounded}}}", encoded(&benchmark.name))
    };
    message.raw("NormalisedWallDuration", &normalised(sum.wall));
    message.raw("NormalisedCpuDuration", &normalised(sum.cpu));
    message.count("NumberOfJobs", sum.jobs.into());
    message.end()
}

/// Records as messages of at most [`RECORDS_MAX`].
pub fn messages(head: &str, records: &[String]) -> Vec<String> {
    let each = records.chunks(RECORDS_MAX);
    each.map(|some| format!("{head}{}", some.concat()))
        .collect()
}

/// A record in the making.
#[derive(Default)]
struct Message {
    text: String,
}

impl Message {
    /// Adds a value, unless there is none; one that is too long is withheld.
    fn say(&mut self, key: &str, value: &str, most: usize) {
        self.written(key, &fitting(value, most));
    }

    /// Adds a value as it is written, unless there is none.
    fn written(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.raw(key, value);
        }
    }

    fn count(&mut self, key: &str, number: i128) {
        self.raw(key, &number.to_string());
    }

    fn raw(&mut self, key: &str, value: &str) {
        for part in [key, ": ", value, "\n"] {
            self.text.push_str(part);
        }
    }

    fn end(self) -> String {
        self.text + "%%\n"
    }
}

/// A value as it is written; empty where that is too long.
fn fitting(value: &str, most: usize) -> String {
    Some(encoded(value))
        .filter(|text| text.len() <= most)
        .unwrap_or_default()
}

/// A value in printable ASCII, without `%%`, without blanks at its ends, and none of the words for
/// nothing: bytes that would be trouble are `%XX`, and so is `%` itself.
fn encoded(value: &str) -> String {
    let is_nothing = value.eq_ignore_ascii_case("none") || value.eq_ignore_ascii_case("null");
    let last = value.len().saturating_sub(1);
    let mut text = String::with_capacity(value.len());
    for (n, byte) in value.bytes().enumerate() {
        let at_end = n == 0 || n == last;
        let is_plain = (b' '..=b'~').contains(&byte) && byte != b'%';
        let is_trimmed = byte == b' ' && at_end;
        if is_plain && !is_trimmed && !(is_nothing && n == 0) {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}
