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
            pe_task: Cow::Borrowed(pe_task(fields)),
            category: words(39),
            memory: bytes(field(42)),
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
            gpus: requested(&self.category, "gpu"),
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

/// Field 43, bytes: a number, where a colon before it did not put something else there.
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

/// Field 42, where it looks like one: a colon in the category before it shifts it away.
fn pe_task<'a>(fields: &[&'a str]) -> &'a str {
    let task = fields.get(41).copied().unwrap_or_default();
    // `1.eddie244`; a number of seconds that was shifted here has no letters.
    let looks_right = task.split_once('.').is_some_and(|(number, host)| {
        !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && host.bytes().any(|b| b.is_ascii_alphabetic())
    });
    if looks_right { task } else { "NONE" }
}

/// A complex of the `-l` list of a category, where it is a plain number.
fn requested(category: &str, name: &str) -> Option<Number> {
    if !category.contains(name) {
        return None;
    }
    let mut words = category.split_whitespace();
    while let Some(word) = words.next() {
        if word != "-l" {
            continue;
        }
        let list = words.next().unwrap_or_default();
        let found = list.split(',').find_map(|item| {
            let (key, value) = item.split_once('=')?;
            let count = (key == name).then(|| Number::parse(value)).flatten();
            count.filter(|count| !count.is_negative())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;

    /// A line of 45 fields, some of them given by their number.
    fn line(fields: &[(usize, &str)]) -> String {
        let mut all = vec!["0"; 45];
        let usual = [
            (1, "all.q"),
            (2, "n1"),
            (3, "staff"),
            (4, "amy"),
            (5, "run"),
            (6, "77"),
            (7, "sge"),
            (9, "1700000000"),
            (10, "1700000100"),
            (11, "1700000160"),
            (32, "NONE"),
            (35, "4"),
            (40, "NONE"),
            (42, "NONE"),
        ];
        for (number, text) in usual.iter().chain(fields) {
            all[number - 1] = text;
        }
        all.join(":")
    }

    fn read(options: &Options, text: &str) -> Found {
        let mut input = text.as_bytes();
        let mut found = None;
        let mut sink = |record: Record| {
            found = Some(record.found);
            Ok(())
        };
        let mut reader = Sge::new(Dialect::Colons, options);
        reader.file("accounting", &mut input, &mut sink).unwrap();
        found.unwrap()
    }

    fn job(fields: &[(usize, &str)]) -> Job {
        match read(&Options::default(), &line(fields)) {
            Found::Jobs(jobs) => jobs[0].clone(),
            other => panic!("{fields:?}: {other:?}"),
        }
    }

    #[test]
    fn who_pays_is_the_account_else_the_project() {
        for (account, project, pays) in [
            ("sge", "NONE", None),
            ("sge", "chem", Some("chem")),
            ("bio", "chem", Some("bio")),
            ("NONE", "chem", None),
        ] {
            let job = job(&[(7, account), (32, project)]);
            assert_eq!(job.account.as_deref(), pays, "{account} {project}");
        }
    }

    #[test]
    fn times_are_seconds_milliseconds_or_microseconds() {
        for unit in ["", "000", "000000"] {
            let times = ["1700000000", "1700000100", "1700000160"].map(|t| format!("{t}{unit}"));
            let [submit, start, end] = times;
            let job = job(&[(9, &submit), (10, &start), (11, &end)]);
            assert_eq!(
                (job.start_us, job.wall),
                (1_700_000_100_000_000, Number::whole(60))
            );
        }
        let job = job(&[(10, "1700000100500"), (11, "1700000160250")]);
        assert_eq!(job.wall.to_string(), "59.75");
    }

    #[test]
    fn slots_tasks_and_states() {
        for (fields, expected) in [
            (&[(35, "0")][..], "77 1 failed=0 240"),
            (&[(36, "3")], "77[3] 4 failed=0 240"),
            (&[(12, "100"), (13, "137")], "77 4 failed=100 240"),
        ] {
            let job = job(fields);
            let core = job.wall.times(job.procs.unwrap()).unwrap();
            let (word, procs) = (job.state_word.unwrap(), job.procs.unwrap());
            let core = if procs == Number::whole(1) {
                "240".to_owned()
            } else {
                core.to_string()
            };
            assert_eq!(format!("{} {procs} {word} {core}", job.id), expected);
        }
        for (fields, label) in [
            (&[(10, "0"), (11, "0")][..], "never_started"),
            (&[(10, "-5")], "never_started"),
            (&[(11, "1700000000")], "never_started"),
            (&[(42, "1.eddie244")], "slave_task"),
        ] {
            let found = read(&Options::default(), &line(fields));
            assert_eq!(found, Found::Skipped(label.into()), "{fields:?}");
        }
    }

    #[test]
    fn gpus_of_a_category_count_for_the_job_or_each_slot() {
        let category = "-u amy -l h_rt=36000,gpu=2,mem_free=2G -pe mpi 4";
        let per_slot = Options {
            gpus_per_slot: true,
            ..Options::default()
        };
        for (options, gpus) in [(&Options::default(), 2), (&per_slot, 8)] {
            let Found::Jobs(jobs) = read(options, &line(&[(40, category)])) else {
                panic!("no job");
            };
            assert_eq!(jobs[0].gpus, Some(Number::whole(gpus)));
        }
    }

    #[test]
    fn fields_behind_a_colon_in_the_category_are_not_taken_for_others() {
        // The category has a colon, so that 41 and later are one further right.
        let shifted = line(&[(40, "-l h=a:b"), (41, "0.000"), (43, "4096")]);
        let Found::Jobs(jobs) = read(&Options::default(), &shifted) else {
            panic!("no job");
        };
        assert_eq!(jobs[0].memory_bytes, None);
        assert_eq!(
            job(&[(43, "4096.000")]).memory_bytes,
            Some(Number::whole(4096))
        );
    }

    #[test]
    fn a_reporting_file_has_two_fields_more() {
        let found = read(
            &Options::default(),
            &format!("1700000161:acct:{}", line(&[])),
        );
        assert!(matches!(found, Found::Jobs(_)), "{found:?}");
        for (text, expected) in [
            ("1767571100:new_job:1767571100:9:-1:NONE", "event_new_job"),
            ("1767571200:queue:all.q:node1:1767571200:", "event_queue"),
        ] {
            let found = read(&Options::default(), text);
            assert_eq!(found, Found::Skipped(expected.into()), "{text}");
        }
        for text in ["all.q:new_job:1767571100:9", "1767571200:acct:all.q:node1"] {
            let found = read(&Options::default(), text);
            assert!(matches!(found, Found::Malformed(_)), "{text}: {found:?}");
        }
        let job = job(&[(2, "acct")]);
        assert_eq!(job.hosts.as_deref(), Some("acct"));
    }
}
