//! Grid Engine in all its dialects (`collectors.md` b): lines of fields between colons, as SGE, Son of
//! Grid Engine, Univa and Oracle write them, and the JSON lines of Open Cluster Scheduler.

use std::borrow::Cow;
use std::io::{self, BufRead};

use super::job::{Extra, Figure, Found, Job, Label, Record, State};
use super::json::Object;
use super::lines::{Line, Lines};
use super::number::Number;
use super::text::{epoch_by_size, known};
use super::{Reader, Sink};

/// Fields that every dialect has.
const FIELDS: usize = 43;

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
    slave_cpu: Option<Number>,
}

impl Sge {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            slave_cpu: None,
        }
    }
}

impl Reader for Sge {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line()? {
            if line.bytes.starts_with(b"#") || line.bytes.len() <= 1 || line.is_blank() {
                continue;
            }
            let found = self.found(&line);
            sink(Record::new(line.number, line.bytes, found))?;
        }
        Ok(())
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
        let usage = match self.dialect {
            Dialect::Colons => Usage::of_fields(&text),
            Dialect::Json => Usage::of_json(&text),
        };
        match usage.and_then(|usage| self.judged(&usage)) {
            Ok(Ok(job)) => Found::Jobs(vec![job]),
            Ok(Err(label)) => Found::Skipped(label),
            Err(why) => Found::Malformed(why),
        }
    }

    /// The job, or why nothing is charged for it; in the order of the tests of `data/LAYOUT.md`.
    fn judged(&mut self, usage: &Usage<'_>) -> Result<Result<Job, Label>, String> {
        if usage.start_us == 0 || usage.end_us < usage.start_us {
            return Ok(Err("never_started".into()));
        }
        if known(&usage.pe_task).is_some() {
            let sum = self.slave_cpu.unwrap_or_default().plus(usage.cpu);
            self.slave_cpu = Some(sum.ok_or("cpu: beyond what can be counted")?);
            return Ok(Err("slave_task".into()));
        }
        usage.job().map(Ok)
    }
}

/// What both dialects say of a job.
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
}

impl<'a> Usage<'a> {
    fn of_fields(text: &'a str) -> Result<Self, String> {
        let fields: Vec<&str> = match text.splitn(3, ':').collect::<Vec<_>>().as_slice() {
            // The reporting file has the time and the kind of the line before everything else.
            [_, "acct", rest] => rest.split(':').collect(),
            _ => text.split(':').collect(),
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
            pe_task: Cow::Borrowed(pe_task(&fields)),
            category: words(39),
        })
    }

    fn of_json(text: &str) -> Result<Self, String> {
        let object = Object::parse(text).ok_or("no JSON object")?;
        let nested = object.object("usage").unwrap_or_default();
        let mut object = object;
        for part in ["usage", "rusage"] {
            object = object.or(nested.object(part).unwrap_or_default());
        }
        let said = |name: &str| object.text(name).unwrap_or_default();
        let words = |name: &str| Cow::Owned(said(name));
        let needed = |name: &'static str| object.text(name).ok_or(format!("{name}: missing"));
        let task = object.text("task_number").unwrap_or_else(|| "0".to_owned());
        let (submit, start, end) = (
            said("submission_time"),
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
        })
    }

    fn job(&self) -> Result<Job, String> {
        let beyond = || "a figure beyond what can be counted".to_owned();
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
            state_word: Some(format!("failed={}", self.failed)),
            state: state(&self.failed, &self.exit),
            exit: known(&self.exit),
            name: known(&self.name),
            hosts: known(&self.host),
            procs: Some(slots),
            gpus: requested(&self.category, "gpu"),
            cpu: Some(self.cpu),
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

/// Submission, start and end in microseconds. The largest of them tells the unit of all.
fn times(texts: [&str; 3]) -> Result<(i64, i64, i64), String> {
    let [submit, start, end] = texts;
    let read = |text: &str, what: &str| {
        text.parse::<i64>()
            .map_err(|_| format!("{what}: {text:?} is no time"))
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
    let at = |value| epoch_by_size(value, largest).ok_or("a time beyond what can be counted");
    Ok((at(submit)?, at(start)?, at(end)?))
}

fn number(text: &str, what: &str) -> Result<Number, String> {
    Number::parse(text).ok_or_else(|| format!("{what}: {text:?} is no number"))
}

fn whole(number: Number, what: &str) -> Result<i128, String> {
    let whole = number.as_whole().filter(|slots| *slots >= 0);
    whole.ok_or_else(|| format!("{what}: {number} is no count"))
}

/// Field 42, where it looks like one: a colon in the category before it shifts it away.
fn pe_task<'a>(fields: &[&'a str]) -> &'a str {
    let task = fields.get(41).copied().unwrap_or_default();
    let looks_right = task.split_once('.').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    });
    if looks_right { task } else { "NONE" }
}

/// A complex of the `-l` list of a category, where it is a plain number.
fn requested(category: &str, name: &str) -> Option<Number> {
    let mut words = category.split_whitespace();
    while let Some(word) = words.next() {
        if word != "-l" {
            continue;
        }
        let list = words.next().unwrap_or_default();
        let found = list.split(',').find_map(|item| {
            let (key, value) = item.split_once('=')?;
            (key == name).then(|| Number::parse(value)).flatten()
        });
        if found.is_some() {
            return found;
        }
    }
    None
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
