//! Grid Engine in all its dialects (`collectors.md` b): lines of fields between colons, as SGE, Son of
//! Grid Engine, Univa and Oracle write them, and the JSON lines of Open Cluster Scheduler.

use std::borrow::Cow;
use std::io::{self, BufRead};

use super::job::{Extra, Figure, Found, Job, Label, State};
use super::json::Object;
use super::lines::{Line, each_line};
use super::number::Number;
use super::options::Options;
use super::split::split;
use super::text::{digits, epoch_by_size, known};
use super::{Reader, Sink};

/// Fields that every dialect has.
const FIELDS: usize = 43;
/// The index of the category, and of the task of a slave if no text before it has a colon.
const CATEGORY: usize = 39;
const PE_TASK: usize = 41;
/// Kinds of lines in the reporting file besides `acct`.
const REPORTED: &str = "new_job job_log queue queue_consumable host host_consumable sharelog new_ar ar_attr ar_log ar_acct";

/// Which of the two ways to write a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Fields between colons.
    Colons,
    /// A JSON object in a line.
    Json,
}

/// Reads accounting files of Grid Engine.
#[derive(Debug)]
pub(super) struct Sge {
    dialect: Dialect,
    gpus_per_slot: bool,
    slave_cpu: Option<Number>,
}

impl Sge {
    pub(super) fn new(dialect: Dialect, options: &Options) -> Self {
        Self {
            dialect,
            gpus_per_slot: options.gpus_per_slot,
            slave_cpu: None,
        }
    }
}

impl Reader for Sge {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        each_line(input, sink, |line| {
            let is_record = !line.bytes.starts_with(b"#") && line.bytes.len() > 1;
            is_record.then(|| self.found(line))
        })
    }

    fn finish(&mut self, _: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        let slave = self.slave_cpu.map(|cpu| Extra {
            key: "slave_cpu_s",
            value: Figure::Number(cpu),
        });
        Ok(slave.into_iter().collect())
    }
}

impl Sge {
    fn found(&mut self, line: &Line<'_>) -> Found {
        let text = line.text();
        if self.dialect == Dialect::Colons
            && let Some(kind) = reported(&text)
        {
            return Found::Skipped(format!("event_{kind}").into());
        }
        let usage = match self.dialect {
            Dialect::Colons => Usage::of_fields(&text),
            Dialect::Json => Usage::of_json(&text),
        };
        Found::of(usage.and_then(|usage| self.judged(&usage)))
    }

    /// The job, or why nothing is charged for it; in the order of the tests of `data/LAYOUT.md`.
    fn judged(&mut self, usage: &Usage<'_>) -> Result<Result<Job, Label>, String> {
        if usage.start_us <= 0 || usage.end_us < usage.start_us {
            return Ok(Err("never_started".into()));
        }
        if known(&usage.pe_task).is_some() {
            let sum = self.slave_cpu.unwrap_or_default().plus(usage.cpu);
            self.slave_cpu = Some(sum.ok_or("cpu: beyond the supported range")?);
            return Ok(Err("slave_task".into()));
        }
        let mut job = usage.job()?;
        if self.gpus_per_slot {
            job.gpus = job
                .gpus
                .zip(job.procs)
                .and_then(|(gpus, slots)| gpus.times(slots));
        }
        Ok(Ok(job))
    }
}

/// The kind of a line of the reporting file that is about no finished job (reporting(5)). An accounting line has more
/// fields, and its queue and host can have such names.
fn reported(text: &str) -> Option<&str> {
    let mut fields = text.split(':');
    let (time, kind) = (fields.next()?, fields.next()?);
    let is_event = digits(time.as_bytes()).is_some() && REPORTED.split(' ').any(|own| own == kind);
    (is_event && fields.count() < FIELDS.saturating_sub(2)).then_some(kind)
}

/// Job values of both dialects.
struct Usage<'a> {
    id: String,
    start_us: i64,
    end_us: i64,
    submit_us: i64,
    owner: Cow<'a, str>,
    group: Cow<'a, str>,
    account: Cow<'a, str>,
    project: Cow<'a, str>,
    department: Cow<'a, str>,
    queue: Cow<'a, str>,
    host: Cow<'a, str>,
    name: Cow<'a, str>,
    failed: Cow<'a, str>,
    exit: Cow<'a, str>,
    slots: i128,
    cpu: Number,
    pe_task: Cow<'a, str>,
    category: Cow<'a, str>,
    memory: Option<Number>,
}

impl<'a> Usage<'a> {
    fn of_fields(text: &'a str) -> Result<Self, String> {
        let all = split(text, ":", usize::MAX);
        let fields = match all.as_slice() {
            // The reporting file has the time and the kind of the line before everything else; a
            // host may be called so too.
            [time, "acct", rest @ ..] if digits(time.as_bytes()).is_some() => rest,
            all => all,
        };
        if fields.len() < FIELDS {
            let there = fields.len();
            return Err(format!(
                "{there} fields where Grid Engine has at least {FIELDS}"
            ));
        }
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let words = |at: usize| Cow::Borrowed(field(at));
        let number = |at: usize, what: &'static str| number(field(at), what);
        let (submit_us, start_us, end_us) = times([field(8), field(9), field(10)])?;
        let place = pe_task(fields)?;
        let behind = place.unwrap_or(PE_TASK).saturating_sub(1);
        let category = fields.get(CATEGORY..behind).unwrap_or_default();
        Ok(Self {
            id: id(field(5), field(35)),
            start_us,
            end_us,
            submit_us,
            owner: words(3),
            group: words(2),
            account: words(6),
            project: words(31),
            department: words(32),
            queue: words(0),
            host: words(1),
            name: words(4),
            failed: words(11),
            exit: words(12),
            slots: whole(number(34, "slots")?, "slots")?,
            cpu: number(36, "cpu")?,
            pe_task: place.map_or(Cow::Borrowed("NONE"), words),
            category: Cow::Owned(category.join(":")),
            memory: place.and_then(|at| bytes(field(at.checked_add(1)?))),
        })
    }

    fn of_json(text: &str) -> Result<Self, String> {
        let object = Object::parse(text).ok_or("no JSON object")?;
        let nested = object.object("usage").unwrap_or_default();
        let mut object = object;
        for part in ["usage", "rusage"] {
            object = object.or(nested.object(part).unwrap_or_default());
        }
        let text_of = |name: &str| object.text(name).unwrap_or_default();
        let words = |name: &str| Cow::Owned(text_of(name));
        let needed = |name: &'static str| object.text(name).ok_or(format!("{name}: missing"));
        let task = object.text("task_number").unwrap_or_else(|| "0".to_owned());
        let (submit, start, end) = (
            text_of("submission_time"),
            needed("start_time")?,
            needed("end_time")?,
        );
        let (submit_us, start_us, end_us) = times([&submit, &start, &end])?;
        Ok(Self {
            id: id(&needed("job_number")?, &task),
            start_us,
            end_us,
            submit_us,
            owner: words("owner"),
            group: words("group"),
            account: words("account"),
            project: words("project"),
            department: words("department"),
            queue: words("qname"),
            host: words("hostname"),
            name: words("job_name"),
            failed: words("failed"),
            exit: words("exit_status"),
            slots: whole(number(&needed("slots")?, "slots")?, "slots")?,
            cpu: number(&needed("cpu")?, "cpu")?,
            pe_task: words("pe_taskid"),
            category: words("category"),
            memory: bytes(&text_of("maxvmem")),
        })
    }

    fn job(&self) -> Result<Job, String> {
        let beyond = || "a figure beyond the supported range".to_owned();
        let us = self.end_us.checked_sub(self.start_us).ok_or_else(beyond)?;
        let (wall, slots) = (Number::seconds(us), Number::whole(self.slots.max(1)));
        let account = match self.account.as_ref() {
            "sge" => known(&self.project),
            account => known(account),
        };
        let mut job = Job {
            id: self.id.clone(),
            start_us: self.start_us,
            end_us: self.end_us,
            submit_us: Some(self.submit_us).filter(|at| *at > 0),
            wall,
            user: known(&self.owner),
            account,
            group: known(&self.group),
            queue: known(&self.queue),
            state_word: Some(["failed=", &self.failed].concat()),
            state: state(&self.failed, &self.exit),
            exit: known(&self.exit),
            name: known(&self.name),
            hosts: known(&self.host),
            procs: Some(slots),
            gpus: requested(&self.category, "gpu")?,
            memory_bytes: self.memory,
            cpu: Some(self.cpu),
            quantities: Vec::with_capacity(3),
            ..Job::default()
        };
        if let Some(department) = known(&self.department) {
            job.attributes.insert("department".to_owned(), department);
        }
        job.add("wall_s", wall);
        job.add("core_s", wall.times(slots).ok_or_else(beyond)?);
        job.add("cpu_s", self.cpu);
        Ok(job)
    }
}

/// `JOB`, or `JOB[TASK]` of an array.
fn id(job: &str, task: &str) -> String {
    if task == "0" {
        return job.to_owned();
    }
    format!("{job}[{task}]")
}

/// Bytes of memory.
fn bytes(text: &str) -> Option<Number> {
    let bytes = Number::parse(text).filter(|bytes| bytes.is_above_zero())?;
    Some(bytes.cut(0))
}

/// Submission, start and end in microseconds. The largest of them determines the unit of all.
fn times(texts: [&str; 3]) -> Result<(i64, i64, i64), String> {
    let [submit, start, end] = texts;
    let read = |text: &str, what: &str| {
        text.parse::<i64>()
            .map_err(|_| format!("{what}: {text:?} is not a time"))
    };
    let (submit, start, end) = (
        if submit.is_empty() {
            0
        } else {
            read(submit, "submission_time")?
        },
        read(start, "start_time")?,
        read(end, "end_time")?,
    );
    let largest = submit.max(start).max(end);
    let at = |value| epoch_by_size(value, largest).ok_or("a time beyond the supported range");
    Ok((at(submit)?, at(start)?, at(end)?))
}

fn number(text: &str, what: &str) -> Result<Number, String> {
    let number = Number::parse(text).filter(|number| !number.is_negative());
    number.ok_or_else(|| format!("{what}: {text:?} is not a number"))
}

fn whole(number: Number, what: &str) -> Result<i128, String> {
    let whole = number.as_whole().filter(|slots| *slots >= 0);
    whole.ok_or_else(|| format!("{what}: {number} is not a count"))
}

/// The place of field 42, the task of a slave. The category before it is a text of the user, as are the directory and
/// the command behind it: colons in them shift it. So it is where it and the fields beside it look right. `None` where
/// none do.
///
/// # Errors
/// If several places look right, with different values: a text of the user imitates these fields.
fn pe_task(fields: &[&str]) -> Result<Option<usize>, String> {
    let field = |at: usize| fields.get(at).copied();
    let is_number = |text: &str| Number::parse(text).is_some_and(|number| !number.is_negative());
    let looks_right = |at: &usize| {
        // The time of io before it, then the memory, and since 6.2 two numbers of the advance reservation.
        let before = at.checked_sub(1).and_then(field);
        let behind = [1, 2, 3].map(|further| at.checked_add(further).and_then(field));
        field(*at).is_some_and(|task| known(task).is_none() || is_task(task))
            && before.is_some_and(is_number)
            && behind[0].is_some()
            && behind.into_iter().flatten().all(is_number)
    };
    let mut places = (PE_TASK..fields.len()).filter(looks_right);
    let first = places.next();
    let task = |at: usize| field(at).and_then(known);
    match places.find(|at| task(*at) != first.and_then(task)) {
        Some(_) => Err("pe_taskid: two fields look like it".to_owned()),
        None => Ok(first),
    }
}

/// `1.eddie244`; a number of seconds has no letters.
fn is_task(text: &str) -> bool {
    text.split_once('.').is_some_and(|(number, host)| {
        !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && host.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

/// A complex of the `-l` lists of a category.
///
/// # Errors
/// If it is not a number.
fn requested(category: &str, name: &str) -> Result<Option<Number>, String> {
    if !category.contains(name) {
        return Ok(None);
    }
    let mut words = category.split_whitespace();
    while let Some(word) = words.next() {
        if word != "-l" {
            continue;
        }
        let list = words.next().unwrap_or_default().split(',');
        let pairs = list.filter_map(|item| item.split_once('='));
        let is_boolean = |value: &str| {
            let words = ["true", "false", "t", "f"];
            words.iter().any(|word| word.eq_ignore_ascii_case(value))
        };
        // A complex of this name can also be a property of hosts.
        for (_, value) in pairs.filter(|(key, value)| *key == name && !is_boolean(value)) {
            let count = Number::parse(value);
            let count = count.ok_or_else(|| format!("{name}: {value:?} is not a count"))?;
            if !count.is_negative() {
                return Ok(Some(count));
            }
        }
    }
    Ok(None)
}

fn state(failed: &str, exit: &str) -> State {
    match (failed, exit) {
        ("0", "0") => State::Completed,
        ("37", _) => State::Timeout,
        ("100", _) => State::Aborted,
        ("25", _) => State::Preempted,
        _ => State::Failed,
    }
}

#[cfg(test)]
mod tests;
