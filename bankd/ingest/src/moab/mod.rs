//! Workload traces of Maui and the event logs of Moab (`collectors.md` f.1, f.2): columns between
//! blanks, and in an event log also a job as pairs ([`pairs`]) or as XML ([`xml`]).

mod named;
mod pairs;
#[cfg(test)]
mod tests;
mod xml;

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use super::job::{Found, Job, Label, State};
use super::lines::{Line, each_line};
use super::number::Number;
use super::options::Options;
use super::text::known;
use super::{Reader, Sink};

/// Columns, counted from 0.
#[derive(Clone, Copy, Debug)]
struct Columns {
    id: usize,
    user: usize,
    group: usize,
    limit: usize,
    state: usize,
    class: usize,
    submit: usize,
    start: usize,
    end: usize,
    tasks: usize,
    qos: usize,
    account: usize,
    used: usize,
    procs_per_task: usize,
    hosts: usize,
    nodes: usize,
    memory_per_task: usize,
}

const TRACE: Columns = Columns {
    id: 0,
    user: 3,
    group: 4,
    limit: 5,
    state: 6,
    class: 7,
    submit: 8,
    start: 10,
    end: 11,
    tasks: 21,
    qos: 23,
    account: 25,
    used: 29,
    procs_per_task: 31,
    hosts: 37,
    nodes: 1,
    memory_per_task: 32,
};

const EVENTS: Columns = Columns {
    id: 3,
    user: 7,
    group: 8,
    limit: 9,
    state: 10,
    class: 11,
    submit: 12,
    start: 14,
    end: 15,
    tasks: 24,
    qos: 26,
    account: 28,
    used: 33,
    procs_per_task: 35,
    hosts: 41,
    nodes: 5,
    memory_per_task: 36,
};

/// The columns that options may place.
const NAMES: [&str; 17] = [
    "id",
    "user",
    "group",
    "limit",
    "state",
    "class",
    "submit",
    "start",
    "end",
    "tasks",
    "qos",
    "account",
    "used",
    "procs_per_task",
    "hosts",
    "nodes",
    "memory_per_task",
];

/// A column that no line has.
const NOWHERE: usize = usize::MAX;

/// The last column that options may name.
const COLUMNS_MAX: usize = 1_000;

impl Columns {
    fn named(&mut self, name: &str) -> Option<&mut usize> {
        let all = [
            &mut self.id,
            &mut self.user,
            &mut self.group,
            &mut self.limit,
            &mut self.state,
            &mut self.class,
            &mut self.submit,
            &mut self.start,
            &mut self.end,
            &mut self.tasks,
            &mut self.qos,
            &mut self.account,
            &mut self.used,
            &mut self.procs_per_task,
            &mut self.hosts,
            &mut self.nodes,
            &mut self.memory_per_task,
        ];
        let found = NAMES.iter().zip(all).find(|(known, _)| **known == name);
        found.map(|(_, place)| place)
    }
}

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Log {
    /// Maui's `stats/<Day>_<Mon>_<DD>_<YYYY>`: a line for each job.
    Trace,
    /// Moab's `stats/events.…`: a line for each event of each object.
    Events,
}

/// Reads either.
#[derive(Debug)]
pub(super) struct Moab {
    log: Log,
    columns: Columns,
}

impl Moab {
    /// A reader with the documented columns, or with those of options such as `account=29`: counted
    /// from 1, as in the manuals.
    ///
    /// # Errors
    /// If there is no such column.
    pub(super) fn new(log: Log, options: &Options) -> Result<Self, String> {
        let mut columns = match log {
            Log::Trace => TRACE,
            Log::Events => EVENTS,
        };
        for stated in &options.columns {
            let (name, number) = stated.split_once('=').unwrap_or((stated, ""));
            let at = number.trim().parse::<usize>().ok();
            let at = at.filter(|at| (1..=COLUMNS_MAX).contains(at));
            let place = columns.named(name.trim());
            match (place, at.and_then(|at| at.checked_sub(1))) {
                (Some(place), Some(at)) => *place = at,
                (None, _) => {
                    let names = NAMES.join(", ");
                    return Err(format!("--columns: no column {name:?}; there are {names}"));
                }
                (_, None) => {
                    return Err(format!("--columns: {stated:?}; as account=29, from 1"));
                }
            }
        }
        let is_placed = |name| {
            let mut stated = options.columns.iter();
            stated.any(|stated| stated.split('=').next().map(str::trim) == Some(name))
        };
        // The columns of a task are beside each other: the memory is not where it was if the processors are not.
        if is_placed("procs_per_task") && !is_placed("memory_per_task") {
            columns.memory_per_task = NOWHERE;
        }
        Ok(Self { log, columns })
    }
}

impl Reader for Moab {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        each_line(input, sink, |line| {
            let is_record = !line.bytes.starts_with(b"#");
            is_record.then(|| self.found(line))
        })
    }
}

impl Moab {
    fn found(&self, line: &Line<'_>) -> Found {
        let text = line.text();
        let words = Words(text.split_whitespace().collect());
        Found::of(match self.log {
            Log::Trace => trace(&words, &self.columns),
            Log::Events => match words.at(0).chars().next() {
                Some('<') => xml::contents(text.trim()).and_then(|contents| contents.judged()),
                _ if pairs::are_in(&words.0) => pairs::contents(&text, &words.0).judged(),
                _ => event(&words, &self.columns),
            },
        })
    }
}

type Judged = Result<Result<Job, Label>, String>;

fn trace(words: &Words<'_>, columns: &Columns) -> Judged {
    let there = words.0.len();
    if !(43..=44).contains(&there) {
        return Err(format!("{there} columns where a trace has 43 or 44"));
    }
    if words.at(columns.state) == "NotRun" {
        return Ok(Err("never_started".into()));
    }
    job(words, columns, Log::Trace)
}

fn event(words: &Words<'_>, columns: &Columns) -> Judged {
    let there = words.0.len();
    if there < 5 {
        return Err(format!("{there} columns where an event has at least 5"));
    }
    if !words.at(0).starts_with(|c: char| c.is_ascii_digit()) {
        return Err("the first column is not a time".to_owned());
    }
    let (object, event) = (words.at(2), words.at(4).to_ascii_lowercase());
    if object != "job" {
        return Ok(Err(format!("object_{object}").into()));
    }
    if event != "jobend" && event != "jobcancel" {
        return Ok(Err(format!("event_{event}").into()));
    }
    if there < 42 {
        return Err(format!(
            "{there} columns where the end of a job has at least 42"
        ));
    }
    if let Some(why) = shifted(words, columns) {
        return Err(why);
    }
    job(words, columns, Log::Events)
}

/// Why the columns behind the executable are not in their places: blanks in it shift them, so that one of these
/// contains the name of the partition. Columns that options place elsewhere are those of the site.
fn shifted(words: &Words<'_>, columns: &Columns) -> Option<String> {
    let places = |columns: &Columns| [columns.used, columns.procs_per_task, columns.hosts];
    if places(columns) != places(&EVENTS) {
        return None;
    }
    let is_count = |text: &str| Number::parse(text).is_some_and(|count| count.as_whole().is_some());
    // Sizes may have a unit.
    let is_size = |text: &str| text == "-" || Number::parse(text.trim_end_matches('M')).is_some();
    let sizes = [
        (36, "memory per task"),
        (37, "disk per task"),
        (38, "swap per task"),
        (39, "start date"),
        (40, "end date"),
    ];
    let processors = (EVENTS.procs_per_task, "processors per task");
    let (at, what) = if is_count(words.at(processors.0)) {
        sizes.into_iter().find(|(at, _)| !is_size(words.at(*at)))?
    } else {
        processors
    };
    let (column, text) = (at.saturating_add(1), words.at(at));
    Some(format!(
        "column {column}, {what}: {text:?}; blanks in a name shift the columns"
    ))
}

/// Hosts, else the nodes that were requested. A trace may have the first host only (Maui 3.0), so there the larger number
/// counts.
fn nodes(words: &Words<'_>, columns: &Columns, log: Log) -> Result<Option<Number>, String> {
    let hosts = distinct_hosts(words.known(columns.hosts).as_deref());
    if log == Log::Events && hosts.is_some() {
        return Ok(hosts);
    }
    let requested = match words.known(columns.nodes) {
        Some(_) => words.number(columns.nodes, "nodes requested")?,
        None => Number::ZERO,
    };
    let is_more = |hosts: &Number| hosts.minus(requested).is_some_and(Number::is_above_zero);
    let requested_if_any = Some(requested).filter(|nodes| nodes.is_above_zero());
    Ok(hosts.filter(is_more).or(requested_if_any))
}

/// Distinct names in lists such as `n1:n2` or `n1:8,n2:8`; figures are counts of tasks. A range of names is not counted.
fn distinct_hosts<'t>(lists: impl IntoIterator<Item = &'t str>) -> Option<Number> {
    let mut names = BTreeSet::new();
    for list in lists {
        if list.contains('[') {
            return None;
        }
        let parts = list.split([',', ':', ';', '+']).map(|part| {
            let name = part.split(['*', '/']).next();
            name.unwrap_or(part).trim()
        });
        names.extend(parts.filter(|name| !name.bytes().all(|b| b.is_ascii_digit())));
    }
    let count = i128::try_from(names.len()).ok().filter(|count| *count > 0);
    count.map(Number::whole)
}

/// Megabytes of a task, perhaps with the unit, in bytes of so many tasks. 0 is no request.
fn memory(each: &str, tasks: Number) -> Option<Number> {
    let each = Number::parse(each.strip_suffix('M').unwrap_or(each))?;
    let bytes = each.times(tasks)?.times(Number::whole(1 << 20))?;
    Some(bytes).filter(|bytes| bytes.is_above_zero())
}

fn job(words: &Words<'_>, columns: &Columns, log: Log) -> Judged {
    let beyond = || "a figure beyond the supported range".to_owned();
    let (start, end) = (
        words.seconds(columns.start, "start")?,
        words.seconds(columns.end, "completion")?,
    );
    if start <= 0 {
        return Ok(Err("never_started".into()));
    }
    let micros = |seconds: i64| seconds.checked_mul(1_000_000).ok_or_else(beyond);
    let wall = Number::whole(end.checked_sub(start).ok_or_else(beyond)?.max(0));
    let tasks = words.number(columns.tasks, "tasks allocated")?;
    let procs = tasks
        .times(words.number(columns.procs_per_task, "processors per task")?)
        .ok_or_else(beyond)?;
    let used = words.number(columns.used, "ProcSeconds utilised")?;
    let word = words.at(columns.state);
    let event = match log {
        Log::Trace => String::new(),
        Log::Events => words.at(4).to_ascii_lowercase(),
    };
    let mut job = Job {
        id: words.at(columns.id).to_owned(),
        start_us: micros(start)?,
        end_us: micros(end.max(start))?,
        submit_us: words
            .at(columns.submit)
            .parse()
            .ok()
            .and_then(|at: i64| at.checked_mul(1_000_000)),
        wall,
        user: words.known(columns.user),
        group: words.known(columns.group),
        account: words.known(columns.account),
        queue: class(words.at(columns.class)),
        qos: words.known(columns.qos).and_then(|qos| delivered(&qos)),
        state_word: words.known(columns.state),
        state: state(&event, word),
        hosts: words.known(columns.hosts),
        procs: Some(procs),
        nodes: nodes(words, columns, log)?,
        memory_bytes: memory(words.at(columns.memory_per_task), tasks),
        cpu: Some(used),
        limit_s: words.at(columns.limit).parse().ok(),
        ..Job::default()
    };
    keep_end(&mut job);
    job.add("wall_s", wall);
    job.add("core_s", wall.times(procs).ok_or_else(beyond)?);
    job.add("psutil_s", used);
    Ok(Ok(job))
}

struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn at(&self, column: usize) -> &'a str {
        self.0.get(column).copied().unwrap_or_default()
    }

    fn known(&self, column: usize) -> Option<String> {
        known(self.at(column)).filter(|text| text != "-")
    }

    fn seconds(&self, column: usize, what: &str) -> Result<i64, String> {
        let text = self.at(column);
        text.parse()
            .map_err(|_| format!("{what}: {text:?} is not a time"))
    }

    fn number(&self, column: usize, what: &str) -> Result<Number, String> {
        let text = self.at(column);
        let number = Number::parse(text).filter(|number| !number.is_negative());
        number.ok_or_else(|| format!("{what}: {text:?} is not a number"))
    }
}

/// `[batch:1]` is the class batch.
fn class(text: &str) -> Option<String> {
    let inner = text.trim_matches(|c| c == '[' || c == ']');
    known(inner.split(':').next().unwrap_or(inner)).filter(|class| class != "-")
}

/// The delivered value of `requested:delivered`.
fn delivered(text: &str) -> Option<String> {
    let word = text.rsplit(':').next().unwrap_or(text);
    known(word).filter(|qos| qos != "-")
}

/// How a job ended: by its event, or by the state that it had at that time.
fn state(event: &str, word: &str) -> State {
    match (event, word) {
        ("jobcancel", _) | (_, "Removed") => State::Aborted,
        (_, "Completed") => State::Completed,
        (_, "Failed") => State::Failed,
        (_, "WCLimit") => State::Timeout,
        _ => State::Unknown,
    }
}

/// Keeps the end of a job whose state is that before its end, such as `Running`.
fn keep_end(job: &mut Job) {
    let word = job.state_word.as_deref().unwrap_or_default();
    let is_unclear = job.state == State::Unknown && !word.is_empty();
    if state("", word) != job.state || is_unclear {
        job.keep_end();
    }
}
