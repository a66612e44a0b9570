//! One job of Slurm, independent of the input format, and its result.

use std::borrow::Cow;

use chrono_tz::Tz;

use super::stated::Stated;
use super::tres::{self, Resources};
use crate::bounds::{too_long, too_many};
use crate::instant::Instant;
use crate::job::{Found, Job, Label, State};
use crate::number::Number;
use crate::repair::{AMBIGUOUS, REPAIRED, Span, span_of};
use crate::text::{clock, count, known, local};

/// Maximum number of array tasks of one line.
const TASKS_MAX: usize = 100_000;

/// The longest list of tasks, in bytes.
const ID_MAX: usize = 64 << 10;

/// The state of a part of a job that has another size since.
const RESIZED: &str = "RESIZING";

/// States of finished jobs.
const ENDED: [(&str, State); 11] = [
    ("BOOT_FAIL", State::Failed),
    ("CANCELLED", State::Aborted),
    ("COMPLETED", State::Completed),
    ("DEADLINE", State::Timeout),
    ("FAILED", State::Failed),
    ("NODE_FAIL", State::Failed),
    ("OUT_OF_MEMORY", State::Failed),
    ("PREEMPTED", State::Preempted),
    (RESIZED, State::Completed),
    ("REVOKED", State::Aborted),
    ("TIMEOUT", State::Timeout),
];

/// States of unfinished jobs.
const LIVE: [&str; 13] = [
    "PENDING",
    "RUNNING",
    "REQUEUED",
    RESIZED,
    "SUSPENDED",
    "COMPLETING",
    "CONFIGURING",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "SPECIAL_EXIT",
    "STAGE_OUT",
    "SIGNALING",
    "STOPPED",
];

/// A list of hosts that is there and names none.
const NO_HOSTS: &str = "(null)";

/// A time column: empty, a word for never, or a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Moment {
    /// Missing, or a word such as `Unknown`.
    #[default]
    None,
    /// A time.
    At(Instant),
    /// Something that is no time.
    Bad,
}

impl Moment {
    /// `YYYY-MM-DDTHH:MM:SS` in a zone, or a word.
    pub(super) fn read(text: &str, zone: Tz) -> Self {
        match text.trim() {
            "" | "Unknown" | "None" | "\"None\"" | "(null)" | "N/A" => Moment::None,
            text => local(text, zone).map_or(Moment::Bad, Moment::At),
        }
    }

    fn at(self) -> Option<Instant> {
        match self {
            Moment::At(at) => Some(at),
            _ => None,
        }
    }
}

/// Job values of an input format. Missing texts are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'t> {
    pub(super) id: Cow<'t, str>,
    /// The number behind the id of an array's task.
    pub(super) raw_id: Cow<'t, str>,
    pub(super) user: Cow<'t, str>,
    pub(super) account: Cow<'t, str>,
    pub(super) group: Cow<'t, str>,
    pub(super) partition: Cow<'t, str>,
    pub(super) qos: Cow<'t, str>,
    pub(super) cluster: Cow<'t, str>,
    pub(super) name: Cow<'t, str>,
    pub(super) hosts: Cow<'t, str>,
    pub(super) state: Cow<'t, str>,
    pub(super) exit: Cow<'t, str>,
    pub(super) submit: Moment,
    pub(super) start: Moment,
    pub(super) end: Moment,
    pub(super) nodes: Option<i64>,
    pub(super) cpus: Option<i64>,
    pub(super) gpus: Option<i64>,
    /// Further resources by Slurm's names.
    pub(super) resources: Vec<(String, Number)>,
    pub(super) memory_bytes: Option<Number>,
    pub(super) is_memory_decoded: bool,
    /// The resources name other counts than the columns.
    pub(super) is_disputed: bool,
    pub(super) elapsed: Option<Number>,
    /// The same of a rendering whose totals have no run time: for the times only.
    pub(super) run_time: Option<Number>,
    pub(super) cpu: Option<Number>,
    pub(super) limit_s: Option<i64>,
    /// A count of processors, nodes or GPUs that is there and cannot be read.
    pub(super) unreadable: Option<String>,
    /// Whether the rendering has a column for it.
    pub(super) has_nodes: bool,
    /// Further values of the job.
    pub(super) stated: Stated<'t>,
}

/// The tests of a rendering, in its order (`data/LAYOUT.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// `sacct`: end, start, state.
    EndStartState,
    /// `scontrol` and jobcomp: state, then the times.
    StateFirst,
}

impl Row<'_> {
    /// Its jobs, or the reason why none is charged.
    pub(super) fn found(self, order: Order) -> Found {
        match self.judged(order) {
            Ok(Ok(jobs)) => Found::Jobs(jobs),
            Ok(Err(label)) => Found::Skipped(label),
            Err(why) => Found::Malformed(why),
        }
    }

    fn judged(&self, order: Order) -> Result<Result<Vec<Job>, Label>, String> {
        let word = self.state.split(' ').next().unwrap_or_default();
        // jobcomp prints no start of such a part, and the submission separates it from the next one.
        let is_whole = self.submit.at().is_none() || order == Order::StateFirst;
        let ended = ENDED
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word) && !(is_whole && *name == RESIZED));
        let other = || {
            if LIVE.iter().any(|name| name.eq_ignore_ascii_case(word)) {
                Label::from("live_state")
            } else {
                Label::from("unknown_state")
            }
        };
        if order == Order::StateFirst && ended.is_none() {
            return Ok(Err(other()));
        }
        for (moment, what) in [(self.end, "end"), (self.start, "start")] {
            if moment == Moment::Bad {
                return Err(format!("{what}: no time"));
            }
        }
        let Some(end) = self.end.at() else {
            let label = match order {
                Order::EndStartState => "not_ended",
                Order::StateFirst => "never_started",
            };
            return Ok(Err(label.into()));
        };
        // A job that is cancelled while it waits gets the time of the cancellation as its start and its end.
        let is_moment = self.start == self.end && self.hosts == NO_HOSTS;
        let never = self.hosts == "None assigned" || is_moment;
        let Some(start) = self.start.at().filter(|_| !never) else {
            return Ok(Err("never_started".into()));
        };
        match (ended, &self.unreadable) {
            (Some(_), Some(why)) => Err(why.clone()),
            (Some((word, state)), None) => self.jobs(start, end, word, *state).map(Ok),
            (None, _) => Ok(Err(other())),
        }
    }

    fn jobs(
        &self,
        start: Instant,
        end: Instant,
        word: &str,
        state: State,
    ) -> Result<Vec<Job>, String> {
        let mut ids = expand(&self.id)?;
        let beyond = || "a figure beyond the supported range".to_owned();
        let (times, elapsed) = self.times(start, end);
        let us = times.end_us.checked_sub(times.start_us);
        let wall = Number::seconds(us.ok_or_else(beyond)?);
        let used = |count: Option<i64>| wall.times(Number::whole(count.unwrap_or(0)));
        let mut job = Job {
            id: ids.pop().unwrap_or_default(),
            start_us: times.start_us,
            end_us: times.end_us,
            submit_us: self.submit.at().map(|at| at.us),
            wall,
            user: known(&self.user),
            account: known(&self.account),
            group: known(&self.group),
            queue: known(&self.partition),
            qos: known(&self.qos),
            cluster: known(&self.cluster),
            state_word: Some(word.to_owned()),
            state,
            exit: known(&self.exit),
            name: known(&self.name),
            hosts: known(&self.hosts),
            procs: self.cpus.map(Number::whole),
            nodes: self.nodes.map(Number::whole),
            gpus: self.gpus.map(Number::whole),
            resources: self.resources.clone(),
            memory_bytes: self.memory_bytes,
            cpu: self.cpu.or_else(|| self.stated.processor_time()),
            limit_s: self.limit_s,
            stated: self.stated.pairs(),
            quantities: Vec::with_capacity(6),
            ..Job::default()
        };
        for (flag, is_set) in [
            (AMBIGUOUS, times.is_ambiguous),
            (REPAIRED, times.is_repaired),
            ("mem-decoded", self.is_memory_decoded),
            ("tres-disagrees", self.is_disputed),
        ] {
            if is_set {
                job.flags.push(flag);
            }
        }
        if !self.raw_id.is_empty() && self.raw_id != self.id {
            let raw_id = self.raw_id.clone().into_owned();
            job.attributes.insert("raw_id".to_owned(), raw_id);
        }
        job.add("wall_s", wall);
        job.add("core_s", used(self.cpus).ok_or_else(beyond)?);
        job.add("gpu_s", used(self.gpus).ok_or_else(beyond)?);
        if self.has_nodes {
            job.add("node_s", used(self.nodes).ok_or_else(beyond)?);
        }
        job.add_if("elapsed_s", elapsed);
        job.add_if("cpu_s", self.cpu);
        tasks(job, ids)
    }

    /// The times and the run time of what the record describes. `sacct` prints a record for each size of a resized job,
    /// all with the start and the run time of the job, and as submission of a later one the time of its size.
    fn times(&self, start: Instant, end: Instant) -> (Span, Option<Number>) {
        // Without a run time to go by, an end before the start is no use.
        let span = |start: Instant, end, run| {
            span_of(Some(start), Some(end), run).unwrap_or(Span::empty(start.us))
        };
        let whole = span(start, end, self.elapsed.or(self.run_time));
        let [start, end] = if whole.is_ambiguous {
            [start, end]
        } else {
            [whole.start_us, whole.end_us].map(Instant::exact)
        };
        let is_within = |at: &Instant| start.latest() < at.us && at.us <= end.latest();
        let since = self.submit.at().filter(is_within);
        let Some(since) = since.filter(|_| !whole.is_repaired) else {
            return (whole, self.elapsed);
        };
        let part = span(since, end, None);
        let earlier = Number::seconds(part.start_us.saturating_sub(whole.start_us));
        let rest = |whole: Number| whole.minus(earlier).filter(|rest| !rest.is_negative());
        let elapsed = self
            .elapsed
            .map(|whole| rest(whole).unwrap_or(Number::ZERO));
        (part, elapsed)
    }
}

/// The end of the last part of a resized job that was in the hour that clocks repeat. The next part begins there, but
/// only the run time of the last one decides between the two readings.
#[derive(Debug, Default)]
pub(super) struct Parts(Option<(String, Moment, i64)>);

impl Parts {
    /// What a record of `sacct` is, behind the ones before it.
    pub(super) fn found(&mut self, mut row: Row<'_>) -> Found {
        if let Some((id, end, end_us)) = &self.0
            && *id == row.id
            && *end == row.submit
        {
            row.submit = Moment::At(Instant::exact(*end_us));
        }
        let is_part = row.state.eq_ignore_ascii_case(RESIZED)
            && row.end.at().is_some_and(Instant::is_ambiguous);
        let part = is_part.then(|| (row.id.clone().into_owned(), row.end));
        let found = row.found(Order::EndStartState);
        if let (Some((id, end)), Found::Jobs(jobs)) = (part, &found) {
            self.0 = jobs.last().map(|job| (id, end, job.end_us));
        }
        found
    }
}

/// A job, and one for each further task of its array, which has all of its texts.
fn tasks(mut job: Job, ids: Vec<String>) -> Result<Vec<Job>, String> {
    if !ids.is_empty() {
        job.bound()?;
        if let Some(why) = too_many(ids.len(), job.bytes()) {
            return Err(why);
        }
    }
    let others = ids.into_iter().map(|id| Job { id, ..job.clone() });
    let mut jobs: Vec<Job> = others.collect();
    jobs.push(job);
    Ok(jobs)
}

/// The tasks of `123_[1-3,7,9-20:2%5]`; any other id is itself.
///
/// # Errors
/// If the brackets hold no list, or more than [`TASKS_MAX`] tasks.
pub(super) fn expand(id: &str) -> Result<Vec<String>, String> {
    if let Some(why) = too_long("job id", id).filter(|_| id.len() > ID_MAX) {
        return Err(why);
    }
    let bad = || format!("job id {id:?}: no list of tasks");
    if id.starts_with('_') || id.ends_with('_') {
        return Err(bad());
    }
    let Some((base, list)) = id.split_once("_[") else {
        return Ok(vec![id.to_owned()]);
    };
    let list = list.strip_suffix(']').ok_or_else(bad)?;
    let list = list.split('%').next().unwrap_or(list);
    let mut ids = Vec::new();
    for part in list.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, step.parse::<usize>().ok().filter(|s| *s > 0)),
            None => (part, Some(1)),
        };
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
        let (low, high) = (number(low)?, number(high)?);
        let tasks = (low..=high).step_by(step.ok_or_else(bad)?);
        for task in tasks {
            if ids.len() >= TASKS_MAX {
                return Err(format!("job id {id:?}: more than {TASKS_MAX} tasks"));
            }
            if let Some(why) = too_many(ids.len(), base.len()) {
                return Err(why);
            }
            ids.push(format!("{base}_{task}"));
        }
    }
    Ok(ids)
}

/// The list of hosts of a rendering that may have none.
pub(super) fn hosts(list: Option<&str>) -> Cow<'_, str> {
    match list {
        Some(list) if known(list).is_none() => NO_HOSTS.into(),
        list => list.unwrap_or_default().into(),
    }
}

/// Seconds of a `Timelimit`: a duration, or a word for none.
pub(super) fn limit(text: &str) -> Option<i64> {
    let seconds = clock(text)?;
    i64::try_from(seconds.as_whole().or_else(|| seconds.cut(0).as_whole())?).ok()
}

/// A whole number of at most 18 digits.
pub(super) fn integer(text: &str) -> Option<i64> {
    i64::try_from(count(text)?.as_whole()?).ok()
}

/// The first of these counts that is there and is no number, with its name. `resources` is a list of resources;
/// `columns` are the processors and nodes that the columns state.
pub(super) fn unreadable(
    counts: &[(&str, &str)],
    resources: &str,
    columns: [Option<i64>; 2],
) -> Option<String> {
    let is_bad = |(_, text): &&(&str, &str)| integer(text).is_none() && known(text).is_some();
    let bad = counts.iter().find(is_bad).copied();
    let (name, text) = bad.or_else(|| tres::unreadable(resources, columns))?;
    Some(format!("{name}: {text:?} is not a count"))
}

/// Memory: of the allocated resources, else of the requested ones, else from `ReqMem`
/// (`collectors.md` a.3); `true` if it had to be decoded.
pub(super) fn memory(
    allocated: &Resources,
    requested: &str,
    reqmem: &str,
    cpus: Option<i64>,
    nodes: Option<i64>,
) -> (Option<Number>, bool) {
    let stated = allocated.memory_bytes;
    if let Some(stated) = stated.or_else(|| Resources::read(requested).memory_bytes) {
        return (Some(stated), false);
    }
    (tres::requested_memory(reqmem, cpus, nodes), true)
}

#[cfg(test)]
mod tests;
